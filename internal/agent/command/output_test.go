package command

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzDecodeOutput(f *testing.F) {
	for _, s := range []string{`{"session":null,"answer":{},"usage":null}`, `{"answer":1}{}`, "", "null", "[]", `{"answer":null}`, `{"usage":{"cost_usd":1e999},"answer":1}`, `{"session":"\ud800","answer":""}`, `{"ANSWER":{"x":1},"answer":{}}`, `{"answer":{},"answer":{}}`, `{"answer":{},"usage":{"input_tokens":1e300}}`, `{"\u0061nswer":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		res, violations := decodeOutput(raw, func(s string) string { return s })
		if len(violations) > 0 {
			return
		}
		if n := strings.Count(string(raw), "answer") + strings.Count(string(raw), `\u`); n == 0 {
			t.Errorf("an answer without its key: %q", raw)
		}
		if !json.Valid(res.Answer) || string(res.Answer) == "null" {
			t.Errorf("answer %q", res.Answer)
		}
		if res.Usage.InputTokens < 0 || res.Usage.CostUSD < 0 || len(res.Session) > maxSession {
			t.Errorf("got %+v", res)
		}
	})
}

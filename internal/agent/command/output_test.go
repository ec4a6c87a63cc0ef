package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
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

// TestNonsenseUsageCostsNoAnswer: what was used is bookkeeping.
func TestNonsenseUsageCostsNoAnswer(t *testing.T) {
	for usage, want := range map[string]work.Usage{
		`{"input_tokens":1e300,"output_tokens":4,"cost_usd":0.5}`: {InputTokens: 1e12, OutputTokens: 4, CostUSD: 0.5},
		`{"input_tokens":-5,"output_tokens":4,"cost_usd":-1}`:     {OutputTokens: 4},
		`{"input_tokens":3,"cost_usd":1e300}`:                     {InputTokens: 3, CostUSD: 1e6},
		`{"input_tokens":1e999}`:                                  {},
		`"much"`:                                                  {},
		`null`:                                                    {},
	} {
		res, violations := decodeOutput([]byte(`{"session":"s","answer":{"x":1},"usage":`+usage+`}`), func(s string) string { return s })
		if len(violations) > 0 || res.Usage != want || string(res.Answer) != `{"x":1}` || res.Session != "s" {
			t.Errorf("%s: %+v, %q", usage, res, violations)
		}
	}
}

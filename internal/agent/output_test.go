package agent

import (
	"encoding/json"
	"testing"
)

func FuzzDecodeOutput(f *testing.F) {
	for _, s := range []string{`{"session":null,"answer":{},"usage":null}`, `{"answer":1}{}`, "", "null", "[]", `{"answer":null}`, `{"usage":{"cost_usd":1e999},"answer":1}`, `{"session":"\ud800","answer":""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		res, violations := decodeOutput(raw, func(s string) string { return s })
		if len(violations) > 0 {
			return
		}
		if !json.Valid(res.Answer) || string(res.Answer) == "null" {
			t.Errorf("answer %q", res.Answer)
		}
		if res.Usage.InputTokens < 0 || res.Usage.CostUSD < 0 || len(res.Session) > maxSession {
			t.Errorf("got %+v", res)
		}
	})
}

func TestRedactorHoldsNoMoreThanItMust(t *testing.T) {
	var out sink
	r := redactor{to: &out, redact: func(s string) string { return s }}
	for range 3 * maxHeld / 10 {
		if _, err := r.Write([]byte("0123456789")); err != nil { // a line that never ends
			t.Fatal(err)
		}
	}
	if len(r.held) > maxHeld+10 {
		t.Errorf("%d bytes held", len(r.held))
	}
	r.flush()
	if out != sink(3*maxHeld/10*10) {
		t.Errorf("%d bytes passed on", out)
	}
}

type sink int

func (s *sink) Write(b []byte) (int, error) {
	*s += sink(len(b))
	return len(b), nil
}

package agent

import "testing"

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

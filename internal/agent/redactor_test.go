package agent_test

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// A line that never ends is held back to a bound, and passed on whole.
func TestRedactorHoldsNoMoreThanItMust(t *testing.T) {
	const bound = 64 << 10
	var passed sink
	log := agent.Spec{Redact: func(s string) string { return s }}.Redacted(&passed)
	written := 0
	write := func(text string) {
		n, err := log.Write([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		written += n
	}
	for range 3 * bound / 10 {
		write("0123456789")
		if held := written - int(passed); held > bound+10 {
			t.Fatalf("%d bytes held", held)
		}
	}
	write("\n")
	if int(passed) != written {
		t.Errorf("%d of %d bytes passed on", passed, written)
	}
}

type sink int

func (s *sink) Write(b []byte) (int, error) {
	*s += sink(len(b))
	return len(b), nil
}

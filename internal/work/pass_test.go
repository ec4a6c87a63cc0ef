package work

import (
	"testing"
	"time"
)

// What only waits, or is interrupted, neither ends a row of failures nor is one of them.
func TestLastPass(t *testing.T) {
	at := time.Unix(1_000, 0)
	var l LastPass
	for _, c := range []struct {
		outcome  PassOutcome
		failures int
		good     int64
		why      string
	}{
		{PassOK, 0, 1000, ""},
		{PassFailed, 1, 1000, "broken"},
		{PassWaiting, 1, 1000, "broken"},
		{PassFailed, 2, 1000, "broken"},
		{PassCancelled, 2, 1000, "broken"},
		{PassOK, 0, 1005, ""},
	} {
		l = l.After(c.outcome, at, time.Second, "broken")
		if l.Failures != c.failures || l.GoodAt.Unix() != c.good || l.Why != c.why || !l.At.Equal(at) || l.Took != time.Second {
			t.Errorf("after %s: %+v", c.outcome, l)
		}
		at = at.Add(time.Second)
	}
}

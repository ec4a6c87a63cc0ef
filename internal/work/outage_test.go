package work

import (
	"testing"
	"time"
)

// TestWhenAnotherAgentTakesOver: not before fallback_after, not once the first one is to be tried again.
func TestWhenAnotherAgentTakesOver(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	for _, c := range []struct {
		since, tried, until, now int
		after                    time.Duration
		want                     bool
	}{
		{0, 0, 5, 1, 30 * time.Minute, false},
		{0, 0, 5, 1, 0, true},
		{0, 0, 5, 5, 0, false},
		{0, 29, 34, 30, 30 * time.Minute, true},
		{0, 29, 34, 58, 30 * time.Minute, true},
		{0, 29, 34, 59, 30 * time.Minute, false}, // it is tried again
		{0, 29, 89, 80, 30 * time.Minute, true},  // its provider said until when it is out
		{0, 29, 89, 89, 30 * time.Minute, false},
		{0, 0, 60, 29, 30 * time.Minute, false},
		{0, 90, 95, 30, 30 * time.Minute, false}, // a clock was set back
	} {
		o := Outage{Agent: "a", Since: at(c.since), Tried: at(c.tried), Until: at(c.until)}
		if got := o.Takes(at(c.now), c.after); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if (Outage{}).Takes(noon, 0) {
		t.Error("no outage")
	}
}

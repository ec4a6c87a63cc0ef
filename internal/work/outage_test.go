package work

import (
	"testing"
	"time"
)

// TestAgentThatCannotWork: the first pass counts for nothing, others wait longer and longer, and another login
// is tried at once.
func TestAgentThatCannotWork(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	why, o := Reason{Kind: WhyAgentLoggedOut, Who: "a"}, Outage{Agent: "a"}
	for pass, wait := range []time.Duration{0, time.Minute, 2 * time.Minute, 4 * time.Minute, 5 * time.Minute, 5 * time.Minute} {
		began := noon.Add(time.Duration(pass) * 10 * time.Minute)
		for turn := range 3 {
			now := began.Add(time.Duration(turn+1) * time.Second)
			o = o.Meets(why, "login", began, now, time.Minute)
			if o.Until.Sub(now) != wait || o.Stands() != (pass > 0) || o.Passes != pass+1 {
				t.Errorf("pass %d, turn %d: %+v", pass, turn, o)
			}
			if o.Stops("login", now) != (pass > 0) || o.Stops("other", now) || o.Stops("login", now.Add(wait)) {
				t.Errorf("pass %d, turn %d: %+v", pass, turn, o)
			}
		}
	}
	if o.Meets(Reason{Kind: WhyAgentNoCredit}, "login", noon.Add(2*time.Hour), noon.Add(2*time.Hour), time.Minute).Stands() {
		t.Error("another reason begins anew")
	}
}

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

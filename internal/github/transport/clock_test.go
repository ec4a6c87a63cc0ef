package transport

import (
	"net/http"
	"testing"
	"time"
)

// Date has whole seconds of a moment between request and answer.
func TestClockIsToldByDate(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return noon.Add(time.Duration(seconds * float64(time.Second))) }
	for name, c := range map[string]struct {
		sent, got float64 // this machine's clock; the answer's Date is noon
		age       string
		want      time.Duration
		known     bool
	}{
		"agrees":                      {0.4, 0.6, "", 0, true},
		"within the slack":            {-1.9, -1.5, "", 0, true},
		"a slow answer says the same": {-20, 9, "", 0, true},
		"ahead":                       {400, 401, "", 400 * time.Second, true},
		"behind":                      {-901, -900, "", -900 * time.Second, true},
		"out of a cache":              {400, 401, "399", 0, false},
	} {
		var clock hostClock
		h := http.Header{"Date": {noon.Format(http.TimeFormat)}}
		if c.age != "" {
			h.Set("Age", c.age)
		}
		clock.observe(h, at(c.sent), at(c.got))
		if clock.ahead != c.want || clock.known != c.known {
			t.Errorf("%s: ahead %s, known %v; want %s, %v", name, clock.ahead, clock.known, c.want, c.known)
		}
	}
	var clock hostClock
	clock.observe(http.Header{}, noon, noon)
	if clock.known {
		t.Error("an answer without a Date told the time")
	}
}

// The difference from an earlier pass stays while answers agree with it, so that stored times do
// not move by a second.
func TestClockStaysWhileAnswersAgree(t *testing.T) {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	h := http.Header{"Date": {noon.Format(http.TimeFormat)}}
	for seconds, want := range map[float64]time.Duration{0.1: 32 * time.Second, 2.5: 32 * time.Second, -1.9: 32 * time.Second, 20: 52 * time.Second} {
		clock := hostClock{ahead: 32 * time.Second}
		at := noon.Add(32*time.Second + time.Duration(seconds*float64(time.Second)))
		clock.observe(h, at, at.Add(time.Millisecond))
		if clock.ahead != want || !clock.known {
			t.Errorf("%v s off: ahead %s, known %v; want %s", seconds, clock.ahead, clock.known, want)
		}
	}
}

package work

import (
	"testing"
	"time"
)

// What shares its second with an end of a pause is on the side that loses
// nothing that was meant for the agents, and replays nothing that was not.
func TestPauseCovers(t *testing.T) {
	at := func(s int) time.Time { return time.Date(2026, 11, 21, 12, 0, s, 0, time.UTC) }
	over, lasts := Pause{Began: at(10), Ended: at(20)}, Pause{Began: at(10)}
	for s, want := range map[int]bool{9: false, 10: true, 19: true, 20: false, 21: false} {
		if got := over.Covers(at(s)); got != want {
			t.Errorf("at %d: %v", s, got)
		}
	}
	if lasts.Covers(at(9)) || !lasts.Covers(at(59)) {
		t.Error("one that lasts has a beginning and no end")
	}
}

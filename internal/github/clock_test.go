package github

import (
	"testing"
	"time"
)

// The clock difference from an earlier pass applies until an answer comes.
func TestClockIsAssumedUntilAnAnswerComes(t *testing.T) {
	w := newWorld(t)
	w.client.Assume(time.Hour)
	if ahead, known := w.client.Ahead(); ahead != time.Hour || known {
		t.Errorf("ahead %s, known %v", ahead, known)
	}
	_, err := w.client.Repository(t.Context(), w.name)
	must(t, err)
	if ahead, known := w.client.Ahead(); ahead != 0 || !known {
		t.Errorf("after an answer: ahead %s, known %v", ahead, known)
	}
	w.client.Assume(time.Hour)
	if ahead, _ := w.client.Ahead(); ahead != 0 {
		t.Errorf("what was told is forgotten: %s", ahead)
	}
}

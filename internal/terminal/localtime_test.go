package terminal

import (
	"testing"
	"time"
)

// On a terminal times are the reader's own, with their zone; programs get UTC.
func TestTimesInSentences(t *testing.T) {
	old := time.Local
	time.Local = time.FixedZone("CET", 3600)
	t.Cleanup(func() { time.Local = old })
	for in, want := range map[string]string{
		"resumes after 2026-11-22T09:05:07Z":                       "resumes after 2026-11-22 10:05 CET",
		"paused by ann since 2026-12-31 23:30:00 UTC; and then: x": "paused by ann since 2027-01-01 00:30 CET; and then: x",
		"stopped since 2026-11-22 08:00 UTC.":                      "stopped since 2026-11-22 09:00 CET.",
		"version 2026-11-22, at 08:00":                             "version 2026-11-22, at 08:00",
		"2026-13-45T99:99:99Z":                                     "2026-13-45T99:99:99Z",
	} {
		if got := (Output{TTY: true}).Ours(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if got := (Output{}).Ours(in); got != in {
			t.Errorf("for a program, %q: %q", in, got)
		}
	}
}

package agent

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

func TestWaitsAreBounded(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := Spec{Name: "x", Now: func() time.Time { return now }}
	for told, want := range map[time.Duration]time.Duration{
		0: 5 * time.Minute, -time.Hour: 5 * time.Minute, 3 * time.Second: time.Minute, 90 * time.Second: 90 * time.Second,
		time.Hour: time.Hour, 30 * time.Hour: time.Hour,
	} {
		wait, ok := errors.AsType[*work.WaitError](s.Wait("why", now.Add(told), 5*time.Minute))
		if !ok || wait.Until.Sub(now) != want {
			t.Errorf("told %s: %v until %s, want %s", told, wait, wait.Until, want)
		}
		if long := told > time.Hour; long != strings.Contains(explain.What(wait.Reason, explain.Place{Comments: true}), "until 2026-11-22 18:00 UTC") {
			t.Errorf("told %s: %q", told, explain.What(wait.Reason, explain.Place{Comments: true}))
		}
	}
}

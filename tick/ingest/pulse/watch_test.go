package pulse

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A look that is due comes with the next pass; its time is not in the past.
func TestWatchSaysWhenARepositoryIsLookedAtNext(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	ago := now.Add(-10 * time.Second)
	many := Handful + 1
	for name, c := range map[string]struct {
		repo   work.Repo
		n      int
		hidden bool
		manner Manner
		next   time.Time
	}{
		"each pass, due":        {work.Repo{HeartbeatAt: now.Add(-time.Hour)}, 1, false, EachPass, time.Time{}},
		"each pass, later":      {work.Repo{HeartbeatAt: ago}, 1, false, EachPass, ago.Add(time.Minute)},
		"each pass, deferred":   {work.Repo{HeartbeatAt: ago, NotBefore: now.Add(time.Hour)}, 1, false, EachPass, now.Add(time.Hour)},
		"each pass, now":        {work.Repo{HeartbeatAt: now.Add(-time.Minute)}, 1, false, EachPass, time.Time{}},
		"never looked at":       {work.Repo{}, many, false, ByPulse, time.Time{}},
		"by pulse, due":         {work.Repo{Pulse: work.Pulse{At: now.Add(-time.Hour)}}, many, false, ByPulse, time.Time{}},
		"in turn, due":          {work.Repo{Pulse: work.Pulse{At: now.Add(-time.Hour)}}, many, true, ByTurn, time.Time{}},
		"deferred, and is over": {work.Repo{NotBefore: ago}, many, false, ByPulse, time.Time{}},
	} {
		manner, next := Watch(c.repo, c.n, c.hidden, time.Minute, now)
		if manner != c.manner || !next.Equal(c.next) || next.IsZero() != c.next.IsZero() {
			t.Errorf("%s: %s at %v, not %s at %v", name, manner, next, c.manner, c.next)
		}
	}
}

package env

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// One clock: GitHub's. Nearly everything that a pass decides by time compares with
// a stamp of GitHub's, so a pass goes by GitHub's clock as well, told by the
// Date of each answer. This machine's own clock may be wrong.

// ClockWarning is how far this machine's clock may be from GitHub's before
// somebody is told.
const ClockWarning = work.ClockSlack

// AssumeClocks has the pass go by the clock of its first repository's host, and
// what concerns a repository by that of its own. Until a host answers, it counts
// how far off this machine's clock was when it answered last.
func (p *Env) AssumeClocks(ctx context.Context, tx *store.Tx) error {
	ahead, err := tx.ListClocks(ctx)
	if err != nil {
		return err
	}
	for _, r := range p.All {
		r.GitHub.Assume(ahead[r.Name.Host])
	}
	if len(p.All) > 0 {
		p.Now = p.All[0].GitHub.Now
		p.Store.GoBy(p.Now)
	}
	return nil
}

// Future reports whether a stamp of ours cannot be right: it was made by a clock
// that was wrong, and nothing waits for it.
func Future(at, now time.Time, most time.Duration) bool { return at.After(now.Add(most)) }

// KeepClock stores what the host's answers told: what is put off until a moment of
// its clock is looked at by the next pass, before that is told anything.
func (r *Repo) KeepClock(ctx context.Context, tx *store.Tx) error {
	ahead, known := r.GitHub.Ahead()
	if !known {
		return nil
	}
	return tx.SetClock(ctx, r.Name.Host, ahead)
}

// WarnOfClocks logs how wrong this machine's clock is.
func (p *Env) WarnOfClocks(ctx context.Context) {
	told := map[string]bool{}
	for _, r := range p.All {
		ahead, known := r.GitHub.Ahead()
		if why := ClockTrouble(r.Name.Host, ahead); known && why != "" && !told[r.Name.Host] {
			told[r.Name.Host] = true
			p.Log.WarnContext(ctx, "the clock of this machine is wrong", "host", r.Name.Host, "ahead", ahead.String())
		}
	}
}

// ClockTrouble says that this machine's clock is far from a host's; empty when it
// is not.
func ClockTrouble(host string, ahead time.Duration) string {
	if ahead.Abs() <= ClockWarning {
		return ""
	}
	way := "ahead of"
	if ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s that of %s, by which gh mergexo goes; set it, or have it set by NTP", ahead.Abs().Round(time.Second), way, host)
}

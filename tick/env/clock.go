package env

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A pass uses GitHub's clock, taken from the Date header of each answer, because most times that it
// compares are GitHub's. This machine's clock may be wrong.

// ClockWarning is the difference between this machine's clock and GitHub's from which on a warning
// is logged.
const ClockWarning = work.ClockSlack

// AssumeClocks makes the pass use the clock of its first repository's host, and each repository
// that of its own host. Until a host answers, the offset of its last known answer is used: ahead
// has it by host.
func (p *Env) AssumeClocks(ahead map[string]time.Duration) {
	for _, r := range p.All {
		r.GitHub.Assume(ahead[r.Name.Host])
	}
	if len(p.All) > 0 {
		p.Now = p.All[0].GitHub.Now
		p.Store.GoBy(p.Now)
	}
}

// Future reports whether a stored time lies more than most ahead of now. A wrong clock made it, so
// nothing waits for it.
func Future(at, now time.Time, most time.Duration) bool { return at.After(now.Add(most)) }

// KeepClock stores the host's clock offset, and who gh is logged in as there. The next pass needs
// them before its first answer, to check times until which repositories and limits are postponed.
func (p *Env) KeepClock(ctx context.Context, tx *store.Tx, r *Repo) error {
	ahead, known := r.GitHub.Ahead()
	if !known {
		return nil
	}
	return tx.SetClock(ctx, r.Name.Host, ahead, p.Accounts.loggedIn(r.Name.Host))
}

// WarnOfClocks logs a warning once per host from which this machine's clock differs too much.
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

// ClockTrouble returns a text if this machine's clock differs from a host's by more than
// ClockWarning, else "".
func ClockTrouble(host string, ahead time.Duration) string {
	if ahead.Abs() <= ClockWarning {
		return ""
	}
	way := "ahead of"
	if ahead < 0 {
		way = "behind"
	}
	return fmt.Sprintf("this machine's clock is %s %s that of %s, which gh mergexo uses; correct it, or set it by NTP", ahead.Abs().Round(time.Second), way, host)
}

// IgnoredStamps zeroes times of a repository's row that lie too far in the future, which passes
// ignore, and returns a text for each.
func IgnoredStamps(r *work.Repo, now time.Time) (told []string) {
	const why = ", which lies in the future: a clock was wrong then, and the time is ignored"
	if Future(r.HeartbeatAt, now, ClockWarning) {
		told = append(told, "last read at "+work.Stamp(r.HeartbeatAt)+why)
		r.HeartbeatAt = time.Time{}
	}
	if Future(r.NotBefore, now, work.LongestWait) {
		told = append(told, fmt.Sprintf("not to be asked before %s%s", work.Stamp(r.NotBefore), why))
		r.NotBefore = time.Time{}
	}
	return told
}

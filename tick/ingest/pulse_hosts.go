package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// checksFor is how long after a change of a pull request each pass looks for results of its checks.
const checksFor = time.Hour

// detailsAge is the age at which the details of a pull request are read again, if there is time,
// although nothing shows a change.
const detailsAge = 30 * time.Minute

// PulsePass asks for the pulse of a host's repositories and chooses which to read.
type PulsePass struct {
	*env.Env
	Host  string
	Repos []*env.Repo // the repositories that a pass may read
	// Others are those for which other machines plan. With Repos they are more than handful. One
	// machine of each account asks for all, because a query costs as much for one as for a hundred;
	// the others find in the rows what it learned.
	Others []*env.Repo
}

// all is how many repositories share the account's limits.
func (p PulsePass) all() int { return len(p.Repos) + len(p.Others) }

type Chosen struct {
	*env.Repo
	Look *PulseLook
}

// Skipped is a repository that is not read in this pass.
type Skipped struct {
	*env.Repo
	Note  string    // why not; "" if nothing in it is new
	Until time.Time // when it is looked at next; zero: in the next pass
	Err   error     // why the pulse failed
	Asked bool      // its pulse was asked for
}

// choose returns the repositories that this pass reads, and the others.
func (p PulsePass) choose(ctx context.Context) ([]Chosen, []Skipped, error) {
	now := p.now()
	found, err := p.find(ctx, now)
	if err != nil {
		return nil, nil, err
	}
	every := PulseWait(p.all(), p.Config.Runtime.MinInterval)
	asked, err := p.ask(ctx, found, now)
	if err != nil {
		return nil, nil, err
	}
	whys := make([]ReadReason, len(p.Repos))
	all := make([]PulseRepo, len(p.Repos))
	for i, r := range p.Repos {
		all[i] = PulseRepo{Row: r.Row, Shown: asked.shown[r.Row.ID], Unread: found.mustRead(r)}
		heard := !all[i].Shown.Asked && p.heard(r.Row, now)
		if heard {
			all[i].Shown = PulseShown{Asked: true, Known: true, Issues: r.Row.Pulse.Issues, Pulls: r.Row.Pulse.Pulls}
		}
		whys[i] = all[i].Judge(now, p.all())
		switch {
		case heard && r.Row.Pulse.Changed.After(r.Row.HeartbeatAt):
			whys[i] = Moved
		case asked.failed[r.Row.ID] != nil, !all[i].Shown.Asked && p.tooSoon(r.Row.HeartbeatAt, found.again, now):
			whys[i] = Quiet
		case whys[i] == InTurn && !Spare(asked.remaining, asked.resetAt, now, every, p.all()):
			whys[i] = Quiet
		}
	}
	chosen := ChooseRepos(all, whys, Allowance(now.Sub(found.last), found.recent))
	return p.split(ctx, chosen, all, whys, asked, found, every, now)
}

// heard reports whether another machine has asked for a repository's pulse since it was last read.
func (p PulsePass) heard(row work.Repo, now time.Time) bool {
	return p.Session != nil && row.NodeID != "" && !row.HeartbeatAt.IsZero() && row.Pulse.At.After(row.HeartbeatAt) &&
		!p.tooSoon(row.HeartbeatAt, p.Config.Runtime.MinInterval, now)
}

func (p PulsePass) now() time.Time { return p.Repos[0].GitHub.Now() }

func (p PulsePass) tooSoon(last time.Time, every time.Duration, now time.Time) bool {
	return !p.AtOnce && last.Add(every).After(now) && !env.Future(last, now, env.ClockWarning)
}

// found is what the database has about all repositories.
type found struct {
	unread store.BusySet
	labels map[int64][]string // labels whose open issues were listed once
	pulls  int                // tracked open pull requests
	login  int64              // the account that gh is logged in with here; 0: not known yet
	again  time.Duration      // after which repositories are read again that are read regardless of their pulse
	last   time.Time          // when one of the repositories was last looked at
	recent int                // repositories that were read within a minute
}

func (p PulsePass) find(ctx context.Context, now time.Time) (f found, err error) {
	err = p.Store.Glance(ctx, func(tx *store.Tx) error {
		if f.unread, err = tx.ListUnread(ctx, now.Add(-checksFor), now); err != nil {
			return err
		}
		if f.labels, err = tx.ListAllSeenLabels(ctx); err != nil {
			return err
		}
		var loginErr error
		f.login, loginErr = tx.AccountOn(ctx, p.Host)
		f.pulls, err = tx.CountOpenPulls(ctx)
		return errors.Join(err, loginErr)
	})
	unread := 0
	for _, r := range slices.Concat(p.Repos, p.Others) {
		if at := r.Row.LookedAt(); at.After(f.last) && !at.After(now) {
			f.last = at
		}
		if since := now.Sub(r.Row.HeartbeatAt); since >= 0 && since < time.Minute {
			f.recent++
		}
		if f.mustRead(r) {
			unread++
		}
	}
	f.again = UnreadWait(unread, p.Config.Runtime.MinInterval)
	return f, err
}

// mustRead reports whether a repository is read regardless of its pulse.
func (f found) mustRead(r *env.Repo) bool { return f.unread[r.Row.ID] || f.labelUnlisted(r) }

// labelUnlisted reports whether the config names a label whose open issues were not listed yet.
func (f found) labelUnlisted(r *env.Repo) bool {
	seen := f.labels[r.Row.ID]
	return slices.ContainsFunc(r.Settings.StartLabels(), func(label string) bool { return !slices.Contains(seen, label) })
}

// asked is the answer of the pulse, by row id.
type asked struct {
	mu        sync.Mutex
	shown     map[int64]PulseShown
	failed    map[int64]error // why there was no answer
	broken    error           // why nothing more is asked
	remaining int             // GraphQL points left
	resetAt   time.Time
}

func (a *asked) over() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.broken
}

// ask asks for the pulse of the known repositories for which it is due, and records that: a pass
// that dies afterwards has used the points.
func (p PulsePass) ask(ctx context.Context, f found, now time.Time) (*asked, error) {
	var due []*env.Repo
	for _, r := range slices.Concat(p.Repos, p.Others) {
		if p.due(r, f, now) {
			due = append(due, r)
		}
	}
	a := &asked{shown: map[int64]PulseShown{}, failed: map[int64]error{}}
	if len(due) == 0 {
		return a, nil
	}
	if ok, err := p.TryPulse(ctx, p.Host, f.login); err != nil || !ok {
		return a, err
	}
	var wg work.Group
	slots := make(chan struct{}, queriesAtOnce)
	for some := range slices.Chunk(due, github.MaxPulse) {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if err := a.over(); err != nil { // the others would fail, too
				a.fail(some, err)
				return
			}
			p.query(ctx, some, a)
		})
	}
	wg.Wait()
	if err := p.storeAsked(context.WithoutCancel(ctx), due, a, now); err != nil {
		return a, fmt.Errorf("note that the pulse was asked: %w", err)
	}
	return a, nil
}

// due reports whether a repository's pulse is asked for now.
func (p PulsePass) due(r *env.Repo, f found, now time.Time) bool {
	wait := PulseWait(p.all(), p.Config.Runtime.MinInterval)
	if f.mustRead(r) {
		wait = f.again
	}
	return r.Row.NodeID != "" && !r.Row.HeartbeatAt.IsZero() && !p.tooSoon(r.Row.Pulse.At, wait, now)
}

// storeAsked stores for which repositories the pulse was asked, and why it failed for others.
func (p PulsePass) storeAsked(ctx context.Context, due []*env.Repo, a *asked, now time.Time) error {
	var ids []int64
	failed := map[string][]int64{}
	for _, r := range due {
		if err := a.failed[r.Row.ID]; err != nil {
			why := p.StoredReason(p.Causes(r, err))
			failed[why] = append(failed[why], r.Row.ID)
			continue
		}
		ids = append(ids, r.Row.ID)
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		for why, some := range failed {
			if err := tx.MarkPulseFailed(ctx, some, why); err != nil {
				return err
			}
		}
		if len(ids) == 0 {
			return p.KeepClock(ctx, tx, due[0])
		}
		return errors.Join(p.KeepClock(ctx, tx, due[0]), tx.MarkPulseRead(ctx, ids, now), p.noteMoved(ctx, tx, a, now))
	})
}

// noteMoved stores which repositories changed, for the machines that plan for them, and for a pass that
// reads later what this one has no requests for: that Changed is later than the last read says that they
// are to be read. A machine alone asks again.
func (p PulsePass) noteMoved(ctx context.Context, tx *store.Tx, a *asked, now time.Time) error {
	if p.Session == nil {
		return nil
	}
	for _, r := range slices.Concat(p.Repos, p.Others) {
		shown, first := a.shown[r.Row.ID], r.Row.Pulse.Issues.IsZero() && r.Row.Pulse.Pulls.IsZero()
		if !shown.Known || first || !shown.moved(r.Row.Pulse) { // what it showed first may be old
			continue
		}
		if err := tx.PutPulse(ctx, r.Row.ID, work.Pulse{Issues: shown.Issues, Pulls: shown.Pulls, Changed: now}); err != nil {
			return err
		}
	}
	return nil
}

// query asks for the pulse of some repositories. If GitHub cannot answer for all of them, it asks
// in halves; a single one is then read as if it had no pulse.
func (p PulsePass) query(ctx context.Context, some []*env.Repo, a *asked) {
	ids := make([]string, len(some))
	for i, r := range some {
		ids[i] = r.Row.NodeID
	}
	ctx, cancel := context.WithTimeout(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	seen, err := some[0].GitHub.Pulse(ctx, ids)
	if err == nil && seen.Viewer.ID != 0 {
		err = p.AcceptAccount(ctx, p.Host, seen.Viewer)
	}
	switch half := len(some) / 2; {
	case err == nil:
		a.take(some, seen, nil)
	case !github.IsItemError(err), p.Accounts.HostSkipped(p.Host) != nil:
		a.fail(some, err)
	case half == 0:
		a.take(some, github.Pulse{}, err)
	default:
		p.query(ctx, some[:half], a)
		p.query(ctx, some[half:], a)
	}
}

func (a *asked) take(some []*env.Repo, seen github.Pulse, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, r := range some {
		one, known := seen.Repos[r.Row.NodeID]
		s := PulseShown{Asked: true, Known: known, Viewer: seen.Viewer.ID != 0, Issues: one.Issues, Pulls: one.Pulls, Err: err}
		same := strings.EqualFold(one.FullName, r.Row.Current.FullName()) && !one.Archived
		if s.Doubted = known && !same; known && same {
			r.Confirm(r.GitHub.Now())
		}
		a.shown[r.Row.ID] = s
	}
	if a.resetAt.IsZero() || !seen.ResetAt.IsZero() && seen.Remaining < a.remaining {
		a.remaining, a.resetAt = seen.Remaining, seen.ResetAt
	}
}

func (a *asked) fail(some []*env.Repo, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.broken = err
	for _, r := range some {
		a.failed[r.Row.ID] = err
	}
}

// split returns the repositories that are read, and the others.
func (p PulsePass) split(ctx context.Context, chosen []int, all []PulseRepo, whys []ReadReason, a *asked, f found, every time.Duration, now time.Time) ([]Chosen, []Skipped, error) {
	sweeper := newSweeper(p.sweep)
	reads := map[int]bool{}
	var read []Chosen
	var ids []int64
	for _, i := range chosen {
		r := p.Repos[i]
		reads[i] = true
		ids = append(ids, r.Row.ID)
		read = append(read, Chosen{r, &PulseLook{PulseReader: sweeper.reader(), Shown: all[i].Shown, Why: whys[i], Every: LightInterval(f.pulls)}})
	}
	err := p.Store.Glance(ctx, func(tx *store.Tx) error {
		old, err := tx.ListOldDetails(ctx, ids, now.Add(-detailsAge), OldDetails(now.Sub(f.last)))
		for _, c := range read {
			c.Look.Old = old
		}
		return err
	})
	var left []Skipped
	for i, r := range p.Repos {
		if reads[i] {
			continue
		}
		l := Skipped{Repo: r, Err: a.failed[r.Row.ID], Asked: all[i].Shown.Asked}
		switch {
		case l.Err != nil:
		case whys[i] != Quiet:
			l.Note = fmt.Sprintf("it is read by one of the next passes: %d repositories share GitHub's limits", p.all())
		case !l.Asked:
			l.Note, l.Until = fmt.Sprintf("%d repositories are looked at every %s", p.all(), every.Round(time.Second)), r.Row.Pulse.At.Add(every)
		}
		left = append(left, l)
	}
	return read, left, err
}

func (p PulsePass) sweep(ctx context.Context, repo work.RepoName, ids []string) (github.Sweep, error) {
	s, err := p.Repos[0].GitHub.Sweep(ctx, repo, ids)
	if err != nil {
		return s, err
	}
	return s, p.AcceptAccount(ctx, p.Host, s.Viewer)
}

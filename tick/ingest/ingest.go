// Package ingest reads from GitHub what is new in a repository and stores it item by item, each in one
// transaction.
//
// changed.go finds the numbers of what changed, and first.go those of what a lost database knew. number.go
// has the order in which they are read, ahead.go what is read of the next ones first; issues.go, pulls.go and
// comments.go turn what was read into events; judge.go decides which of them count.
package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// ReadAll reads the selected repositories from GitHub, side by side, and returns those that can be
// planned for. A repository whose ingest failed is returned, because it may have pending events; a
// repository that was never read is not. If a host has at most handful repositories, all are read.
// If it has more, those that changed are read, and the others in turn (readMany).
func (p *Ingest) ReadAll(ctx context.Context, rep *env.Report) []*env.Repo {
	var wg sync.WaitGroup
	byHost, others := p.byHost(rep)
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		wg.Go(func() {
			repos, n := p.notTooSoon(byHost[host], rep), len(byHost[host])+others[host]
			if n > handful {
				p.readMany(ctx, repos, n, rep)
				return
			}
			for _, r := range repos {
				wg.Go(func() { p.ingestOne(ctx, r, nil, rep) })
			}
		})
	}
	wg.Wait()
	p.env.WarnOfClocks(ctx)
	var ready []*env.Repo
	for _, r := range p.env.All {
		if p.env.Selected(r) && r.Row.NodeID != "" && p.env.Accounts.RepoSkipped(r.Name) == nil {
			r.Ready = true
			ready = append(ready, r)
		}
	}
	return ready
}

// byHost returns the selected repositories that may be asked, by host, and how many of each host other machines plan for.
func (p *Ingest) byHost(rep *env.Report) (all map[string][]*env.Repo, others map[string]int) {
	all, others = map[string][]*env.Repo{}, map[string]int{}
	for _, r := range p.env.All {
		until, wait := p.env.Postponed(r)
		switch {
		case !p.env.Selected(r):
			if p.env.Only == nil && !p.env.Mine(r.Row.ID) && !wait {
				others[r.Name.Host]++
			}
		case wait:
			rep.Repo(p.env.Config.Called(r.Name), func(x *env.RepoReport) { x.Note, x.Until = r.Row.LastError, &until })
		default:
			all[r.Name.Host] = append(all[r.Name.Host], r)
		}
	}
	return all, others
}

// ingestOne reads one repository and records how that went.
func (p *Ingest) ingestOne(ctx context.Context, r *env.Repo, shown *stamps, rep *env.Report) {
	err := p.env.Contain(ctx, "read "+p.env.Config.Called(r.Name), r, func() error { return p.ingestRepo(ctx, r, shown, rep) })
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrTaken) {
		p.env.RepoFailed(ctx, r, err, rep)
	}
}

// ingestRepo reads one repository. shown is nil unless it is one of many.
func (p *Ingest) ingestRepo(ctx context.Context, r *env.Repo, shown *stamps, rep *env.Report) error {
	name := p.env.Config.Called(r.Name)
	if r.Row.HeartbeatAt.IsZero() {
		defer p.env.Slowly(name + ": the first look at its issues and pull requests")()
	}
	ctx, cancel := p.until(ctx, p.env.Config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r, shown)
	if err != nil {
		h, err = p.gatherAgain(ctx, r, shown, err)
	}
	if r.Replaced != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Replaced = r.Replaced })
	}
	if err != nil {
		return err
	}
	rep.Repo(name, func(x *env.RepoReport) {
		x.Ingested, x.Events, x.Ignored, x.Note = true, h.added, h.ignored, h.note
	})
	if wait, ok := errors.AsType[*work.WaitError](h.incomplete); ok {
		return wait
	}
	return nil
}

// gather reads and stores what is new in one repository.
func (p *Ingest) gather(ctx context.Context, r *env.Repo, shown *stamps) (*reading, error) {
	if why := p.env.BesideUs(r); why != nil {
		return nil, why
	}
	_, clock := r.GitHub.Ahead()
	if r.Row.NodeID == "" || r.Row.IssuesSince.IsZero() && !clock { // the first "since" is computed from GitHub's time
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
	}
	h := newReading(p, r)
	if h.shown = shown; shown != nil {
		h.doubtful = shown.doubted // the name is settled before anything is judged
		if shown.err != nil {
			h.tellUnread(shown.err)
		}
	}
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	err := h.read(ctx)
	if h.sign.ID != "" {
		err = cmp.Or(p.env.MeetSign(context.WithoutCancel(ctx), r, h.sign), err)
	}
	return h, err
}

// Ingest reads what is new on GitHub.
type Ingest struct {
	env     *env.Env // repositories, accounts, clients, the database and the clock of the pass
	notices *tell.Notices
	until   func(context.Context, time.Duration) (context.Context, context.CancelFunc) // a context with a timeout; tests replace it
}

// New makes an Ingest.
func New(e *env.Env, n *tell.Notices) *Ingest { return &Ingest{e, n, context.WithTimeout} }

// notTooSoon returns the repositories that this pass may ask about, and reports the others.
func (p *Ingest) notTooSoon(all []*env.Repo, rep *env.Report) (some []*env.Repo) {
	least := p.env.Config.Runtime.MinInterval
	for _, r := range all {
		now := r.GitHub.Now()
		if p.env.AtOnce || !r.Row.HeartbeatAt.Add(least).After(now) || env.Future(r.Row.HeartbeatAt, now, env.ClockWarning) {
			some = append(some, r)
			continue
		}
		note := fmt.Sprintf("read %s ago, and every %s at most", now.Sub(r.Row.HeartbeatAt).Round(time.Second), least)
		rep.Repo(p.env.Config.Called(r.Name), func(x *env.RepoReport) { x.Note = note })
	}
	return some
}

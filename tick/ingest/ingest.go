// Package ingest reads from GitHub what is new in a repository and stores it slice by slice, each
// in one transaction.
//
// slices.go has the order of reads, walk.go reads one list, and issues.go, comments.go and pulls.go
// ingest what the lists show. search.go and adopt.go find again what a lost database knew.
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

// The time for one repository's ingest is limited, because tick.lock is held; the next pass reads
// the rest. These are the tenths of runtime.ingest_timeout after which no more issues, no more pull
// requests and nothing more at all are read, so that none of them takes all the time. The remainder
// is for judging what was read.
const (
	issuesUntil = 5
	pullsUntil  = 7
	readUntil   = 9
)

// ReadAll reads the selected repositories from GitHub, side by side, and returns those that can be
// planned for. A repository whose ingest failed is returned, because it may have pending events; a
// repository that was never read is not. If a host has at most handful repositories, all are read.
// If it has more, those that changed are read, and the others in turn.
func (p *Ingest) ReadAll(ctx context.Context, rep *env.Report) []*env.Repo {
	var wg sync.WaitGroup
	byHost, others := p.byHost(rep), p.byOthers()
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		wg.Go(func() {
			if len(byHost[host])+len(others[host]) > handful {
				p.readMany(ctx, PulsePass{Env: p.Env, Host: host, Repos: byHost[host], Others: others[host]}, rep)
				return
			}
			p.readFew(ctx, byHost[host], rep)
		})
	}
	wg.Wait()
	p.WarnOfClocks(ctx)
	var ready []*env.Repo
	for _, r := range p.All {
		if p.Selected(r) && r.Row.NodeID != "" && p.Accounts.RepoSkipped(r.Name) == nil {
			r.Ready = true
			ready = append(ready, r)
		}
	}
	return ready
}

// byHost returns the selected repositories that may be asked, by host.
func (p *Ingest) byHost(rep *env.Report) map[string][]*env.Repo {
	all := map[string][]*env.Repo{}
	for _, r := range p.All {
		if !p.Selected(r) {
			continue
		}
		if until, ok := p.Postponed(r); ok {
			rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Note, x.Until = r.Row.LastError, &until })
			continue
		}
		all[r.Name.Host] = append(all[r.Name.Host], r)
	}
	return all
}

// byOthers returns the repositories that other machines plan for, by host.
func (p *Ingest) byOthers() map[string][]*env.Repo {
	all := map[string][]*env.Repo{}
	for _, r := range p.All {
		if _, wait := p.Postponed(r); p.Only == nil && !p.Mine(r.Row.ID) && !wait {
			all[r.Name.Host] = append(all[r.Name.Host], r)
		}
	}
	return all
}

func (p *Ingest) readFew(ctx context.Context, repos []*env.Repo, rep *env.Report) {
	var wg sync.WaitGroup
	for _, r := range repos {
		if note := p.tooSoon(r); note != "" {
			rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Note = note })
			continue
		}
		wg.Go(func() { p.ingestOne(ctx, r, nil, rep) })
	}
	wg.Wait()
}

// ingestOne reads one repository and records how that went.
func (p *Ingest) ingestOne(ctx context.Context, r *env.Repo, look *PulseLook, rep *env.Report) {
	err := p.Contain(ctx, "read "+p.Config.Called(r.Name), r, func() error { return p.ingestRepo(ctx, r, look, rep) })
	if err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, store.ErrTaken) {
		p.RepoFailed(ctx, r, err, rep)
	}
}

// ingestRepo reads one repository. look is nil unless it is one of many.
func (p *Ingest) ingestRepo(ctx context.Context, r *env.Repo, look *PulseLook, rep *env.Report) error {
	name := p.Config.Called(r.Name)
	if r.Row.HeartbeatAt.IsZero() {
		defer p.Slowly(name + ": the first look at its issues and pull requests")()
	}
	ctx, cancel := p.until(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r, look)
	if err != nil {
		h, err = p.gatherAgain(ctx, r, look, err)
	}
	if r.Replaced != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Replaced = r.Replaced })
	}
	if err != nil {
		return err
	}
	rep.Repo(name, func(x *env.RepoReport) {
		x.Ingested, x.Events, x.Ignored, x.Note = true, h.added, h.ignored, cmp.Or(h.long, h.note)
	})
	if wait, ok := errors.AsType[*work.WaitError](h.incomplete); ok {
		return wait
	}
	return nil
}

// gather reads and stores what is new in one repository.
func (p *Ingest) gather(ctx context.Context, r *env.Repo, look *PulseLook) (*reading, error) {
	if r.Row.NodeID == "" {
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := p.clockOf(ctx, r); err != nil {
		return nil, err
	}
	h := newReading(p, r)
	if h.look = look; look != nil {
		h.doubtful = look.Shown.Doubted // the name is settled before anything is judged
		if look.Shown.Err != nil {
			h.tellUnread(fmt.Errorf("read whether it changed: %w", look.Shown.Err))
		}
	}
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	return h, h.read(ctx)
}

// clockOf asks for GitHub's time before the first "since" is computed from it.
func (p *Ingest) clockOf(ctx context.Context, r *env.Repo) error {
	began := !r.Row.IssuesSince.IsZero() && !r.Row.CommentsSince.IsZero() && !r.Row.ReviewCommentsSince.IsZero()
	if _, known := r.GitHub.Ahead(); known || began {
		return nil
	}
	return p.follow(ctx, r)
}

// Ingest reads what is new on GitHub.
type Ingest struct {
	*env.Env
	notices *tell.Notices
	until   func(context.Context, time.Duration) (context.Context, context.CancelFunc) // a context with a timeout; tests replace it
}

// New makes an Ingest.
func New(e *env.Env, n *tell.Notices) *Ingest { return &Ingest{e, n, context.WithTimeout} }

// manyAtOnce is how many of many repositories are read side by side.
const manyAtOnce = 24

// readMany reads those of a host's many repositories that the pulse chooses.
func (p *Ingest) readMany(ctx context.Context, many PulsePass, rep *env.Report) {
	var chosen []Chosen
	var left []Skipped
	err := p.Contain(ctx, "choose what is read on "+many.Host, many.Repos[0], func() (err error) { chosen, left, err = many.choose(ctx); return err })
	if errors.Is(err, context.Canceled) || errors.Is(err, store.ErrTaken) {
		return
	}
	if err != nil {
		for _, r := range many.Repos {
			p.RepoFailed(ctx, r, fmt.Errorf("choose what is read: %w", err), rep)
		}
		return
	}
	for _, l := range left {
		p.reportSkipped(l, rep)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, manyAtOnce)
	for _, c := range chosen {
		slots <- struct{}{}
		c.Look.enter()
		wg.Go(func() {
			defer func() { <-slots }()
			defer c.Look.leave()
			p.ingestOne(ctx, c.Repo, c.Look, rep)
		})
	}
	wg.Wait()
}

// reportSkipped reports a repository that this pass does not read. If its pulse query failed, the
// pulse's row has the reason; the repository itself does not count as failed.
func (p *Ingest) reportSkipped(l Skipped, rep *env.Report) {
	name := p.Config.Called(l.Name)
	if l.Err == nil || errors.Is(l.Err, context.Canceled) {
		rep.Repo(name, func(x *env.RepoReport) {
			if x.Ingested, x.Note = l.Asked && l.Note == "", l.Note; !l.Until.IsZero() {
				x.Until = &l.Until
			}
		})
		return
	}
	err, shut := l.Err, p.Accounts.SkipIfShut(l.Name, l.Err)
	causes := p.Causes(l.Repo, err)
	wait, waits := errors.AsType[*work.WaitError](err)
	rep.Repo(name, func(x *env.RepoReport) {
		x.Failed, x.Note, x.Causes = !waits, env.ReasonOf(causes), causes
		if waits {
			x.Until = &wait.Until
		}
	})
	if !waits && shut {
		rep.TellShut(l.Name)
	}
}

// tooSoon returns why a repository is not asked in this pass; "" if it is.
func (p *Ingest) tooSoon(r *env.Repo) string {
	now := r.GitHub.Now()
	if p.AtOnce {
		return ""
	}
	if next := r.Row.HeartbeatAt.Add(p.Config.Runtime.MinInterval); next.After(now) && !env.Future(r.Row.HeartbeatAt, now, env.ClockWarning) {
		return fmt.Sprintf("read %s ago; min_interval is %s", now.Sub(r.Row.HeartbeatAt).Round(time.Second), p.Config.Runtime.MinInterval)
	}
	return ""
}

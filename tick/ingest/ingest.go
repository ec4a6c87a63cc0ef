package ingest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// The time for one repository's ingest is bounded, because tick.lock is held: what
// is left is read by the next pass. It is shared out, so that nothing takes all of
// it from the rest: in tenths of runtime.ingest_timeout, when no further issue is looked
// into, no further pull request read, nothing further read at all. The rest
// is for judging what was read.
const (
	issuesUntil = 5
	pullsUntil  = 7
	readUntil   = 9
)

// ReadAll reads the selected repositories from GitHub, side by side, and
// returns those that can be planned for: also one whose ingest failed has
// events that wait, but one that was never read has nothing. Of a few of one host
// each is read; of more only those in which something changed, and the others in turn.
func (p *Ingest) ReadAll(ctx context.Context, rep *env.Report) []*env.Repo {
	var wg sync.WaitGroup
	byHost := p.byHost(rep)
	for _, host := range slices.Sorted(maps.Keys(byHost)) {
		read := p.readFew
		if len(byHost[host]) > pulse.Handful {
			read = p.readMany
		}
		wg.Go(func() { read(ctx, host, byHost[host], rep) })
	}
	wg.Wait()
	p.WarnOfClocks(ctx)
	var ready []*env.Repo
	for _, r := range p.Repositories() {
		if p.Selected(r) && r.Row.NodeID != "" && p.Accounts.ShutOut(r.Name.Host) == nil {
			r.Ready = true
			ready = append(ready, r)
		}
	}
	return ready
}

// byHost are the selected repositories that may be asked, by their hosts.
func (p *Ingest) byHost(rep *env.Report) map[string][]*env.Repo {
	all := map[string][]*env.Repo{}
	for _, r := range p.Repositories() {
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

// readFew reads each repository.
func (p *Ingest) readFew(ctx context.Context, _ string, repos []*env.Repo, rep *env.Report) {
	var wg sync.WaitGroup
	for _, r := range repos {
		if note := p.tooSoon(r); note != "" {
			rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) { x.Note = note })
			continue
		}
		wg.Go(func() { p.concludeIngest(ctx, r, p.ingestRepo(ctx, r, nil, rep), rep) })
	}
	wg.Wait()
}

// ingestRepo reads one repository; of many, as the look says.
func (p *Ingest) ingestRepo(ctx context.Context, r *env.Repo, look *pulse.Look, rep *env.Report) error {
	name := p.Config.Called(r.Name)
	if r.Row.HeartbeatAt.IsZero() {
		defer p.Slowly(name + ": the first look at its issues and pull requests")()
	}
	ctx, cancel := p.until(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r, look)
	if err != nil {
		h, err = p.regather(ctx, r, look, err)
	}
	if r.Replaced != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Replaced = r.Replaced })
	}
	if err != nil {
		return err
	}
	rep.Repo(name, func(x *env.RepoReport) { x.Ingested, x.Events, x.Ignored, x.Note = true, h.Added, h.Ignored, h.Note })
	if wait, ok := errors.AsType[*work.WaitError](h.Incomplete); ok {
		return wait
	}
	return nil
}

// gather reads what is new in one repository, and stores it.
func (p *Ingest) gather(ctx context.Context, r *env.Repo, look *pulse.Look) (*Reading, error) {
	if r.Row.NodeID == "" {
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := p.clockOf(ctx, r); err != nil {
		return nil, err
	}
	h := newReading(p, r)
	h.lookFor(look)
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	return h, h.read(ctx)
}

// concludeIngest records how a repository's ingest went: a limit makes it wait
// and is no failure, anything else backs off, and neither touches the others.
func (p *Ingest) concludeIngest(ctx context.Context, r *env.Repo, err error, rep *env.Report) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	err = p.shutIfLoggedOut(r.Name.Host, err)
	now := r.GitHub.Now()
	until, failed := now.Add(work.Backoff(p.Config.Runtime.RetryBase, r.Row.Failures+1)), true
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		until, failed = wait.Until, false
	}
	if p.Accounts.ShutOut(r.Name.Host) != nil { // with the right login it is asked at once
		until = time.Time{}
	}
	if env.Future(until, now, work.LongestWait) {
		until = now.Add(work.LongestWait)
	}
	causes := p.Causes(r, err)
	reason := env.ReasonOf(causes)
	p.Log.WarnContext(ctx, "repository not read", "repo_full_name", r.Name.FullName(), "code", causes[0].Code, "reason", reason, "until", until, "error", err)
	rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) {
		x.Failed, x.Note, x.Causes = failed, reason, causes
		if !failed {
			x.Until = &until
		}
	})
	if failed && p.Accounts.ShutOut(r.Name.Host) != nil {
		rep.TellShut(r.Name.Host)
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(r.KeepClock(ctx, tx), tx.DeferRepo(ctx, r.Row.ID, until, reason, failed && !until.IsZero()))
	})
	if err != nil {
		p.Log.ErrorContext(ctx, "could not record a failed ingest", "repo_full_name", r.Name.FullName(), "error", err)
	}
}

// shutIfLoggedOut leaves a host alone that gh is not logged in to.
func (p *Ingest) shutIfLoggedOut(host string, err error) error {
	if out, ok := errors.AsType[*github.NotLoggedInError](err); ok {
		return p.Accounts.ShutHost(host, out)
	}
	return err
}

// clockOf asks for GitHub's time before the first "since" is made of it.
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
	notices *notice.Notices
	until   func(context.Context, time.Duration) (context.Context, context.CancelFunc) // a context that ends after that time
}

// New makes an Ingest.
func New(e *env.Env, n *notice.Notices) *Ingest { return &Ingest{e, n, context.WithTimeout} }

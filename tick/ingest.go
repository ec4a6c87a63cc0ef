package tick

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// The time for one repository's ingest is bounded, because tick.lock is held: what
// is left is read by the next pass. It is shared out, so that nothing takes all of
// it from the rest: in tenths of runtime.ingest_timeout, when no further list page
// is asked for, no further issue looked into, nothing further read at all. The rest
// is for judging what was read.
const (
	listsUntil  = 4
	issuesUntil = 6
	readUntil   = 8
)

const (
	// overlap is re-read before the newest thing seen: GitHub's lists may lag
	// and its stamps have one-second resolution.
	overlap = 5 * time.Minute
)

// readAll reads every selected repository from GitHub, side by side, and
// returns those that can be planned for: also one whose ingest failed has
// events that wait, but one that was never read has nothing.
func (p *Ingest) readAll(ctx context.Context, rep *Report) []*remote {
	var wg sync.WaitGroup
	for _, r := range p.remotes() {
		if !p.selected(r) {
			continue
		}
		wg.Go(func() {
			err := p.ingestRepo(ctx, r, rep)
			p.concludeIngest(ctx, r, err, rep)
		})
	}
	wg.Wait()
	p.warnOfClocks(ctx)
	var ready []*remote
	for _, r := range p.remotes() {
		if p.selected(r) && r.repo.NodeID != "" && p.accounts.shutOut(r.Name.Host) == nil {
			r.ready = true
			ready = append(ready, r)
		}
	}
	return ready
}

// tooSoon says why a repository is not asked in this pass; empty when it is.
func (p *Ingest) tooSoon(r *remote) string {
	now := r.GitHub.Now()
	if next := r.repo.HeartbeatAt.Add(p.Config.Runtime.MinInterval); next.After(now) && !future(r.repo.HeartbeatAt, now, clockWarning) {
		return fmt.Sprintf("read %s ago; min_interval is %s", now.Sub(r.repo.HeartbeatAt).Round(time.Second), p.Config.Runtime.MinInterval)
	}
	return ""
}

func (p *Ingest) ingestRepo(ctx context.Context, r *remote, rep *Report) error {
	name := p.Config.Called(r.Name)
	if until, ok := p.postponed(r); ok {
		rep.repo(name, func(x *RepoReport) { x.Note, x.Until = r.repo.LastError, &until })
		return nil
	}
	if note := p.tooSoon(r); note != "" {
		rep.repo(name, func(x *RepoReport) { x.Note = note })
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r)
	if err != nil {
		h, err = p.regather(ctx, r, err)
	}
	if r.replaced != "" {
		rep.repo(name, func(x *RepoReport) { x.Replaced = r.replaced })
	}
	if err != nil {
		return err
	}
	// What was read is stored even if the time is up meanwhile.
	ctx = context.WithoutCancel(ctx)
	h.comments.logQueued(ctx, "issue comments seen")
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return h.store(ctx, tx, h.now()) }); err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	p.setRepo(r, h.repo)
	h.log(ctx)
	h.comments.logQueued(ctx, "issue comments queued")
	rep.repo(name, func(x *RepoReport) { x.Ingested, x.Events, x.Ignored, x.Note = true, h.added, h.ignored, h.note })
	if wait, ok := errors.AsType[*work.WaitError](h.late); ok {
		return wait
	}
	return nil
}

// gather reads what is new in one repository. Nothing is written meanwhile.
func (p *Ingest) gather(ctx context.Context, r *remote) (*Reading, error) {
	if r.repo.NodeID == "" {
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := p.clockOf(ctx, r); err != nil {
		return nil, err
	}
	h := newReading(p, r)
	if err := h.load(ctx); err != nil {
		return nil, err
	}
	if err := h.read(ctx); err != nil {
		return nil, err
	}
	for _, sift := range []func(context.Context) error{h.comments.storePauses, h.comments.intakeComments, h.comments.judge, h.issues.askCommandersAgain, h.rebuild.readJournals} {
		if err := sift(ctx); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// read asks GitHub. That the time is up is no failure: what was read is kept.
func (h *Reading) read(ctx context.Context) error {
	until := func(tenths int) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, h.p.Config.Runtime.IngestTimeout*time.Duration(tenths)/10)
	}
	listing, endLists := until(listsUntil)
	defer endLists()
	issues, endIssues := until(issuesUntil)
	defer endIssues()
	reading, cancel := until(readUntil)
	defer cancel()
	h.enough = func() bool { return listing.Err() != nil }
	if err := h.fetch(reading); err != nil { // who we are decides what is ours: nothing is judged without
		return err
	}
	if err := h.identify(reading); err != nil {
		return err
	}
	defer h.dropHalf()
	if err := h.rebuild.adopt(reading); err != nil || h.rebuilding {
		return err
	}
	for _, step := range []struct {
		ctx  context.Context
		read func(context.Context) error
	}{{issues, h.issues.firstSight}, {issues, h.issues.intakeIssues}, {reading, h.pulls.readPulls}, {reading, h.issues.readDependencies}} {
		if err := step.read(step.ctx); late(err) {
			h.cut(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// concludeIngest records how a repository's ingest went: a limit makes it wait
// and is no failure, anything else backs off, and neither touches the others.
func (p *Ingest) concludeIngest(ctx context.Context, r *remote, err error, rep *Report) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if out, ok := errors.AsType[*github.NotLoggedInError](err); ok {
		err = p.accounts.shutHost(r.Name.Host, out)
	}
	now := r.GitHub.Now()
	until, failed := now.Add(work.Backoff(p.Config.Runtime.RetryBase, r.repo.Failures+1)), true
	if wait, ok := errors.AsType[*work.WaitError](err); ok {
		until, failed = wait.Until, false
	}
	if p.accounts.shutOut(r.Name.Host) != nil { // with the right login it is asked at once
		until = time.Time{}
	}
	if future(until, now, work.LongestWait) {
		until = now.Add(work.LongestWait)
	}
	causes := p.causes(r, err)
	reason := reasonOf(causes)
	p.Log.WarnContext(ctx, "repository not read", "repo_full_name", r.Name.FullName(), "code", causes[0].Code, "reason", reason, "until", until, "error", err)
	rep.repo(p.Config.Called(r.Name), func(x *RepoReport) {
		x.Failed, x.Note, x.Causes = failed, reason, causes
		if !failed {
			x.Until = &until
		}
	})
	if failed && p.accounts.shutOut(r.Name.Host) != nil {
		rep.tellShut(r.Name.Host)
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		return errors.Join(r.keepClock(ctx, tx), tx.DeferRepo(ctx, r.repo.ID, until, reason, failed && !until.IsZero()))
	})
	if err != nil {
		p.Log.ErrorContext(ctx, "could not record a failed ingest", "repo_full_name", r.Name.FullName(), "error", err)
	}
}

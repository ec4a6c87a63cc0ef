package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
	"github.com/mergexo/gh-mergexo/tick/notice"
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

// ReadAll reads every selected repository from GitHub, side by side, and
// returns those that can be planned for: also one whose ingest failed has
// events that wait, but one that was never read has nothing.
func (p *Ingest) ReadAll(ctx context.Context, rep *env.Report) []*env.Repo {
	var wg sync.WaitGroup
	for _, r := range p.Repositories() {
		if !p.Selected(r) {
			continue
		}
		wg.Go(func() {
			err := p.ingestRepo(ctx, r, rep)
			p.concludeIngest(ctx, r, err, rep)
		})
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

// tooSoon says why a repository is not asked in this pass; empty when it is.
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

func (p *Ingest) ingestRepo(ctx context.Context, r *env.Repo, rep *env.Report) error {
	name := p.Config.Called(r.Name)
	if until, ok := p.Postponed(r); ok {
		rep.Repo(name, func(x *env.RepoReport) { x.Note, x.Until = r.Row.LastError, &until })
		return nil
	}
	if note := p.tooSoon(r); note != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Note = note })
		return nil
	}
	if r.Row.HeartbeatAt.IsZero() {
		defer p.Slowly(name + ": the first look at its issues and pull requests")()
	}
	ctx, cancel := context.WithTimeout(ctx, p.Config.Runtime.IngestTimeout)
	defer cancel()
	h, err := p.gather(ctx, r)
	if err != nil {
		h, err = p.regather(ctx, r, err)
	}
	if r.Replaced != "" {
		rep.Repo(name, func(x *env.RepoReport) { x.Replaced = r.Replaced })
	}
	if err != nil {
		return err
	}
	// What was read is stored even if the time is up.
	ctx = context.WithoutCancel(ctx)
	h.Comments.LogQueued(ctx, "issue comments seen")
	if err := p.Store.Update(ctx, func(tx *store.Tx) error { return h.store(ctx, tx, h.Now()) }); err != nil {
		return fmt.Errorf("store what was read: %w", err)
	}
	p.setRepo(r, h.Repo)
	h.log(ctx)
	h.Comments.LogQueued(ctx, "issue comments queued")
	rep.Repo(name, func(x *env.RepoReport) { x.Ingested, x.Events, x.Ignored, x.Note = true, h.Added, h.Ignored, h.Note })
	if wait, ok := errors.AsType[*work.WaitError](h.Incomplete); ok {
		return wait
	}
	return nil
}

// gather reads what is new in one repository. Nothing is written yet.
func (p *Ingest) gather(ctx context.Context, r *env.Repo) (*Reading, error) {
	if r.Row.NodeID == "" {
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
	for _, sift := range []func(context.Context) error{h.Comments.StorePauses, h.Comments.IntakeComments, h.Comments.FilterEvents, h.Issues.askCommandersAgain, h.Rebuild.readJournals} {
		if err := sift(ctx); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// read asks GitHub. That the time is up is no failure: what was read is kept.
func (h *Reading) read(ctx context.Context) error {
	until := func(tenths int) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, h.P.Config.Runtime.IngestTimeout*time.Duration(tenths)/10)
	}
	listing, endLists := until(listsUntil)
	defer endLists()
	issues, endIssues := until(issuesUntil)
	defer endIssues()
	reading, cancel := until(readUntil)
	defer cancel()
	h.Enough = func() bool { return listing.Err() != nil }
	if err := h.fetch(reading); err != nil { // who we are decides what is ours: nothing is judged without
		return err
	}
	if err := (env.Speakers{Env: h.P}).MeetAll(reading, h.R); err != nil {
		return err
	}
	if err := h.identify(reading); err != nil {
		return err
	}
	defer h.DropHalf()
	if err := h.Rebuild.adopt(reading); err != nil || h.Rebuilding {
		return err
	}
	for _, step := range []struct {
		ctx  context.Context
		read func(context.Context) error
	}{{issues, h.Issues.firstSight}, {issues, h.Issues.intakeIssues}, {reading, h.pulls.ReadPulls}, {reading, h.merges.Read}, {reading, h.Issues.readDependencies}} {
		if err := step.read(step.ctx); batch.OutOfTime(err) {
			h.StopReading(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// concludeIngest records how a repository's ingest went: a limit makes it wait
// and is no failure, anything else backs off, and neither touches the others.
func (p *Ingest) concludeIngest(ctx context.Context, r *env.Repo, err error, rep *env.Report) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	ctx = context.WithoutCancel(ctx)
	if out, ok := errors.AsType[*github.NotLoggedInError](err); ok {
		err = p.Accounts.ShutHost(r.Name.Host, out)
	}
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
}

// New makes an Ingest.
func New(e *env.Env, n *notice.Notices) *Ingest { return &Ingest{e, n} }

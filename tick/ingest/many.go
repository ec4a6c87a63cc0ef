package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
)

// manyAtOnce bounds how many of many repositories are read side by side.
const manyAtOnce = 24

// readMany reads those of many repositories of a host that their pulse chooses.
func (p *Ingest) readMany(ctx context.Context, host string, repos []*env.Repo, rep *env.Report) {
	chosen, left, err := pulse.Pass{Env: p.Env, Host: host, Repos: repos}.Choose(ctx)
	if err != nil {
		for _, r := range repos {
			p.concludeIngest(ctx, r, fmt.Errorf("choose what is read: %w", err), rep)
		}
		return
	}
	for _, l := range left {
		p.tellLeft(l, rep)
	}
	var wg sync.WaitGroup
	slots := make(chan struct{}, manyAtOnce)
	for _, c := range chosen {
		slots <- struct{}{}
		c.Look.Enter()
		wg.Go(func() {
			defer func() { <-slots }()
			defer c.Look.Leave()
			err := p.ingestRepo(ctx, c.Repo, c.Look, rep)
			p.concludeIngest(ctx, c.Repo, err, rep)
			if err == nil {
				p.tellHidden(ctx, c, rep)
			}
		})
	}
	wg.Wait()
}

// tellLeft tells of a repository that is not read in this pass. Why its pulse could not be
// asked is stored with it, and is no failure of its own.
func (p *Ingest) tellLeft(l pulse.Left, rep *env.Report) {
	name := p.Config.Called(l.Name)
	if l.Err == nil || errors.Is(l.Err, context.Canceled) {
		rep.Repo(name, func(x *env.RepoReport) {
			if x.Ingested, x.Note = l.Asked && l.Note == "", l.Note; !l.Until.IsZero() {
				x.Until = &l.Until
			}
		})
		return
	}
	err := p.shutIfLoggedOut(l.Name.Host, l.Err)
	causes := p.Causes(l.Repo, err)
	wait, waits := errors.AsType[*work.WaitError](err)
	rep.Repo(name, func(x *env.RepoReport) {
		x.Failed, x.Note, x.Causes = !waits, env.ReasonOf(causes), causes
		if waits {
			x.Until = &wait.Until
		}
	})
	if !waits && p.Accounts.ShutOut(l.Name.Host) != nil {
		rep.TellShut(l.Name.Host)
	}
}

// tellHidden tells once of a repository that GitHub shows where it is read, and hides from the
// pulse: as it reads what it says about an organization that does not let the token in.
func (p *Ingest) tellHidden(ctx context.Context, c pulse.Chosen, rep *env.Report) {
	if c.Look.Shown.Hidden == "" || c.Look.Told {
		return
	}
	err := p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error { return tx.PutHidden(ctx, c.Row.ID, true) })
	if err != nil {
		p.Log.ErrorContext(ctx, "could not note that a repository is hidden", "repo_full_name", c.Name.FullName(), "error", err)
		return
	}
	why := fmt.Sprintf("GitHub does not say whether something changed there (%q); it is read in turn instead, and costs more requests", c.Look.Shown.Hidden)
	p.Log.WarnContext(ctx, "a repository has no pulse", "repo_full_name", c.Name.FullName(), "why", why)
	rep.Repo(p.Config.Called(c.Name), func(x *env.RepoReport) { x.Warnings = append(x.Warnings, why) })
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

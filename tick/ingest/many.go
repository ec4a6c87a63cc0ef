package ingest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
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
			p.concludeIngest(ctx, c.Repo, p.ingestRepo(ctx, c.Repo, c.Look, rep), rep)
		})
	}
	wg.Wait()
}

// tellLeft tells of a repository that is not read in this pass. Why its pulse could not be
// asked is stored with it, and is no failure of its own.
func (p *Ingest) tellLeft(l pulse.Left, rep *env.Report) {
	name := p.Config.Called(l.Name)
	if l.Err == nil || errors.Is(l.Err, context.Canceled) {
		rep.Repo(name, func(x *env.RepoReport) { x.Ingested, x.Note = l.Asked && l.Note == "", l.Note })
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

// Package tick makes exactly one reconcile pass: recover, ingest, route,
// claim, then notices beside restore, execute and finalize for as many turns
// as there are slots. One phase is one file. No phase calls the next.
package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Pass is one reconcile pass, ready to run.
type Pass struct {
	*Env
	Wait     time.Duration // how long to wait for another pass's planning
	MaxTurns int           // --max-turns; 0 means the config's

	// OpenStore opens the database; required for Run, which calls it under
	// tick.lock: a missing database is made there, by one pass alone.
	OpenStore func(context.Context) (*store.DB, error)

	loader  *Loader
	ingest  *Ingest
	notices *Notices
	turns   *Turns
}

// Run makes the pass. A tick.lock held by another pass is no error: the
// report says so.
func (p *Pass) Run(ctx context.Context) (rep *Report, err error) {
	p.assemble()
	p.local = p.Now
	rep = newReport(p.local())
	planning, ok, err := p.lockPlanning(ctx, p.Wait)
	if err != nil || !ok {
		rep.Skipped = "another pass is planning"
		return rep, err
	}
	unlock := sync.OnceFunc(planning.unlock)
	defer unlock()
	if h, halted := p.Dirs.Halted(); halted {
		rep.Halt, rep.EndedAt = &h, p.local()
		return rep, nil
	}
	if p.Store, err = p.OpenStore(ctx); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Store.Close()) }()
	leases, err := p.plan(ctx, rep)
	if p.Config.Runtime.Overlap {
		unlock()
	}
	if err != nil {
		for _, l := range leases {
			l.release()
		}
		return rep, err
	}
	p.work(ctx, leases, rep)
	p.forget(ctx, len(leases))
	p.sumUp(ctx, rep)
	rep.Shut = p.accounts.shutHosts(rep.tells)
	return rep, errors.Join(ctx.Err(), p.missingAgents(), p.accounts.shutHosts(func(host string) bool { return !rep.tells(host) }))
}

// plan is the part of the pass that only one pass at a time may do.
func (p *Pass) plan(ctx context.Context, rep *Report) ([]*lease, error) {
	leases, err := p.recover(ctx)
	if err != nil {
		return leases, fmt.Errorf("recover: %w", err)
	}
	if err := p.letGo(ctx); err != nil {
		return leases, fmt.Errorf("let go of repositories that were left: %w", err)
	}
	ready := p.ingest.readAll(ctx, rep)
	if leases, err = p.open(sameRepos(leases)); err != nil {
		return leases, err
	}
	if _, halted := p.Dirs.Halted(); halted { // meanwhile: what was read waits, and what was recovered finds out itself
		return leases, nil
	}
	plans, err := p.route(ctx, ready)
	if err != nil {
		return leases, fmt.Errorf("route: %w", err)
	}
	fresh, err := p.claim(ctx, plans, len(leases))
	if err != nil {
		err = fmt.Errorf("claim: %w", err)
	}
	p.tellDay(ctx, plans, len(fresh), rep)
	return append(leases, fresh...), err
}

// work sends notices and runs every leased turn, side by side.
func (p *Pass) work(ctx context.Context, leases []*lease, rep *Report) {
	var wg sync.WaitGroup
	for _, r := range slices.Concat(p.remotes(), p.left) {
		wg.Go(func() { p.notices.sendNotices(ctx, r, rep) })
	}
	for _, l := range leases {
		wg.Go(func() {
			defer l.release()
			p.turns.settle(ctx, l, p.step(ctx, l), rep)
			p.notices.sendNotices(ctx, l.remote, rep)
		})
	}
	var beside sync.WaitGroup
	over := make(chan struct{})
	beside.Go(func() { p.notices.showWorking(ctx, leases, over, rep) })
	wg.Wait()
	close(over)
	beside.Wait()
}

// step carries one turn as far as it comes. Each phase stores its result
// before it returns; a turn that was resumed skips what it has stored.
func (p *Pass) step(ctx context.Context, l *lease) error {
	for _, phase := range []struct {
		at  work.Step
		run func(context.Context, *lease) error
	}{
		{work.StepClaimed, p.turns.restorer.restore},
		{work.StepClaimed, p.turns.runner.execute},
		{work.StepAnswered, p.turns.finalize},
		{work.StepPushed, p.turns.apply},
		{work.StepApplied, p.turns.finish},
	} {
		if l.turn.Step != phase.at {
			continue
		}
		if phase.at == work.StepClaimed || phase.at == work.StepAnswered {
			if err := p.turns.looks.notLeft(ctx, l); err != nil {
				return err
			}
		}
		within := sameFor
		if phase.at == work.StepAnswered {
			within = 0 // its agent may have worked for an hour
		}
		if err := p.stillSame(ctx, l.remote, within); err != nil {
			return err
		}
		if err := phase.run(ctx, l); err != nil {
			if phase.at == work.StepClaimed {
				l.remote.confirm(time.Time{}) // the same, before what came of it is told
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// scope is where the actions of a repository take place.
func (p *Env) scope(r *remote) actions.Scope {
	return actions.Scope{Repo: r.repo, GitHub: r.GitHub, Branches: r.mirror(), Accounts: p.accounts.ids(r.Name.Host)}
}

func (p *Env) effects() *actions.Runner {
	return &actions.Runner{Store: p.Store, Now: p.Now, Log: p.Log, SettleAfter: p.Config.Runtime.SettleAfter}
}

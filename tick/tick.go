// Package tick runs one reconcile pass: recover, ingest, route and claim, then notices and merges
// beside restore, execute, finalize and apply for as many turns as there are slots. No phase calls
// the next.
package tick

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/merge"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
	"github.com/mergexo/gh-mergexo/tick/tell"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// Pass is one reconcile pass, ready to run.
type Pass struct {
	*env.Env
	Wait     time.Duration // how long to wait for another pass's planning
	MaxTurns int           // --max-turns; 0 means the config's
	Listeners

	// OpenStore opens the database; required for Run. Run calls it under tick.lock, so that only
	// one pass creates a missing database.
	OpenStore func(context.Context) (*store.DB, error)

	loader  *snapshot.Loader
	ingest  *ingest.Ingest
	notices *tell.Notices
	turns   *turn.Turns
	merging *merge.Merging
	chosen  map[int64][]string // tokens of the merging actions that the plan chose, by repository
	noted   work.Machine       // this machine's row, as the pass found or left it when it began
	busy    store.BusySet      // where there is something to decide or to send; nil: that has changed
}

// Run runs the pass. If another pass holds tick.lock, that is no error; the report has it.
func (p *Pass) Run(ctx context.Context) (rep *env.Report, err error) {
	p.Local = p.Now
	rep = env.NewReport(p.Local())
	planning, ok, err := p.Dirs.LockPlanning(ctx, p.Wait, p.Local())
	if err == nil && !ok { // this pass shows that the machine works
		rep.Skipped = "another pass is planning"
		err = p.useFolder(ctx)
	}
	if err != nil || !ok {
		return rep, err
	}
	unlock := sync.OnceFunc(planning.Unlock)
	defer unlock()
	if h, halted := p.Dirs.Halted(); halted && !h.Fleet {
		rep.Halt, rep.EndedAt = &h, p.Local()
		return rep, nil
	}
	if err = p.open(ctx); err != nil {
		return nil, err
	}
	p.tellDeaths(ctx)
	working, stop := p.Session.Watch(ctx)
	err = p.run(working, rep, unlock)
	if errors.Is(err, store.ErrTaken) { // a lost session looks like that, too
		_ = p.Session.Alive(ctx)
	}
	stop()
	switch lost := p.Session.Lost(); {
	case lost != nil: // the rest followed from it, and looks as if a person had interrupted the pass
		err = lost
	case rep.Halt == nil && !rep.EndedAt.IsZero(): // else a later pass says it
		err = errors.Join(err, p.merging.Stopped(ctx))
	}
	if _, is := errors.AsType[*namesakeError](err); is { // nothing of it is stored under the other one's name
		return nil, errors.Join(err, p.close(ctx))
	}
	return rep, finishPass(ctx, p, rep, err) // not deferred: a pass that panics has no end
}

// run runs the pass with an open database. It calls planned when another pass of this machine may plan.
func (p *Pass) run(ctx context.Context, rep *env.Report, planned func()) error {
	if err := p.useFolder(ctx); err != nil {
		return err
	}
	leases, err := p.plan(ctx, rep)
	p.UnlockPlanning(ctx)
	planned()
	if err != nil {
		for _, l := range leases {
			l.Release()
		}
		return err
	}
	if rep.Halt != nil {
		rep.EndedAt = p.Local()
		return nil
	}
	p.work(ctx, leases, rep)
	p.pruneFinished(ctx, len(leases))
	rep.EndedAt = p.Local()
	tell.Aside(ctx, p.Log, "the summary", func(ctx context.Context) error { p.sumUp(ctx, rep); return nil })
	rep.Shut = p.Accounts.SkippedHosts(rep.Tells)
	return errors.Join(ctx.Err(), p.Faults(), p.MissingAgents(), p.Accounts.SkippedHosts(func(host string) bool { return !rep.Tells(host) }))
}

// useFolder stops the pass if another machine is at work with the same state folder, or with the one
// that it is a copy of.
func (p *Pass) useFolder(ctx context.Context) error {
	former, err := p.Dirs.UseOn(folder.ThisMachine(), p.Local())
	if err == nil && former != nil {
		p.Log.WarnContext(ctx, "the state folder was used on another machine before; no pass may run there any more", "machine", former.Name, "until", former.At)
	}
	return err
}

// plan runs the phases that only one pass at a time may run.
func (p *Pass) plan(ctx context.Context, rep *env.Report) ([]*env.Lease, error) {
	fleet, err := p.begin(ctx, p.describeMachine(ctx))
	if err != nil {
		return nil, fmt.Errorf("recover: %w", err)
	}
	rep.Machines = p.otherMachines()
	switch h, halted, err := env.HaltedWith(p.Dirs, fleet); {
	case err != nil:
		return nil, err
	case halted:
		rep.Halt = &h
		return nil, nil
	}
	elsewhere, err := p.LockPreferred(ctx)
	if err != nil {
		return nil, err
	}
	leases, err := p.recover(ctx)
	if err != nil {
		return leases, fmt.Errorf("recover: %w", err)
	}
	if err := p.endRemovedTurns(ctx); err != nil {
		return leases, fmt.Errorf("end turns of removed repositories: %w", err)
	}
	ready := p.ingest.ReadAll(ctx, rep)
	p.WarnOfClocks(ctx)
	leases = p.dropSkippedHosts(ingest.SameRepos(leases))
	if halted, err := p.findBusy(ctx); err != nil || halted { // paused since the pass began: new events wait, and recovered turns check it themselves
		return leases, err
	}
	plans, err := p.route(ctx, ready, rep)
	if err != nil {
		return leases, fmt.Errorf("route: %w", err)
	}
	p.chosen = map[int64][]string{}
	p.chooseMerges(plans)
	fresh, err := p.claim(ctx, plans, len(leases))
	if err == nil {
		var again []plan.Plan
		var more []*env.Lease
		p.UnlockPlanning(ctx) // two passes never hold what the other one tries for
		again, more, err = p.lookAgain(ctx, elsewhere, len(leases)+len(fresh), rep)
		plans, fresh = append(plans, again...), append(fresh, more...)
	}
	if err != nil {
		err = fmt.Errorf("begin turns: %w", err)
	}
	p.reportHeldTurns(ctx, plans, len(fresh), rep)
	return append(leases, fresh...), err
}

// work sends notices, merges and runs the claimed turns, all in parallel.
func (p *Pass) work(ctx context.Context, leases []*env.Lease, rep *env.Report) {
	var wg sync.WaitGroup
	for _, r := range reposToSend(ctx, p) {
		startSends(ctx, p, r, &wg, rep)
	}
	for _, l := range leases {
		wg.Go(func() {
			defer l.Release()
			_ = p.ContainRepo(ctx, "end a turn in", l.Repo, rep, func() error { runTurn(ctx, p, l, rep); return nil })
			p.notices.SendNotices(ctx, l.Repo, rep)
		})
	}
	p.beginNotifying(ctx, leases, rep)
	var beside sync.WaitGroup
	over := make(chan struct{})
	beside.Go(func() { p.notices.ShowWorking(ctx, leases, over, rep) })
	wg.Wait()
	close(over)
	beside.Wait()
}

// step runs a turn's phases. Each that ends a step stores its result before it returns; a resumed turn skips
// these.
func (p *Pass) step(ctx context.Context, l *env.Lease) error {
	for _, phase := range []struct {
		at   work.Step
		name string
		run  func(context.Context, *env.Lease) error
	}{
		{work.StepClaimed, "restore", p.turns.Restorer.Restore},
		{work.StepClaimed, "execute", p.turns.Runner.Execute},
		{work.StepAnswered, "finalize", p.turns.Finalize},
		{work.StepPushed, "apply", p.turns.Apply},
		{work.StepApplied, "finish", p.turns.Finish},
	} {
		if l.Turn.Step != phase.at {
			continue
		}
		if err := p.Contain(ctx, "look at the repository of a turn", l.Repo, func() error { return checkSameRepo(ctx, p, l) }); err != nil {
			return err
		}
		doing := phase.name + " " + work.Ref(l.Repo.Name, l.Turn.Number)
		if err := p.Contain(ctx, doing, l.Repo, func() error { return phase.run(ctx, l) }); err != nil {
			if phase.at == work.StepClaimed {
				l.Repo.Confirm(time.Time{}) // StillSame asks GitHub again before the result is published
			}
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

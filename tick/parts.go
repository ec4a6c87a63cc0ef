package tick

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/merge"
	"github.com/mergexo/gh-mergexo/tick/snapshot"
	"github.com/mergexo/gh-mergexo/tick/tell"
	"github.com/mergexo/gh-mergexo/tick/turn"
)

// Listeners are called during a pass and when it has ended.
type Listeners struct {
	After  []tell.Observer // called when it has ended; see end
	Notify tell.Send       // sends a message; nil: none are sent

	notifier *tell.Notifier // nil: no messages are sent
}

// beginNotifying sends messages while turns run, if there are any.
func (l Listeners) beginNotifying(ctx context.Context, leases []*env.Lease, rep *env.Report) {
	if l.notifier != nil && len(leases) > 0 {
		l.notifier.Begin(ctx, rep.StartedAt)
	}
}

// assemble makes the parts of a pass that has begun.
func (p *Pass) assemble() {
	e := p.Env
	p.loader, p.notices = snapshot.New(e), tell.NewNotices(e)
	p.ingest = ingest.New(e, p.notices)
	reader := p.ingest.Reader()
	p.turns = turn.New(e, reader, p.notices)
	p.merging = merge.New(e, p.loader, reader.MayApprove, p.notices.ContainItem, p.notices.SendNotices)
}

// startSends sends notices and merges in a repository, in parallel with everything else. It first
// checks one repository after another whether anything is due: a parallel reader opens another
// database connection, which takes longer than the check.
func startSends(ctx context.Context, p *Pass, r *env.Repo, wg *sync.WaitGroup, rep *env.Report) {
	chosen := p.chosen[r.Row.ID]
	toSend, toMerge := p.notices.Waiting(ctx, r), p.merging.Waiting(ctx, r, chosen)
	if toSend {
		wg.Go(func() { p.notices.SendNotices(ctx, r, rep) })
	}
	if toMerge {
		wg.Go(func() {
			_ = p.ContainRepo(ctx, "merge in", r, rep, func() error { p.merging.Run(ctx, r, chosen, rep); return nil })
		})
	}
}

// finishPass is called once for each pass with a database, however it ended; not for a dry run. The
// After functions cannot fail the pass.
func finishPass(ctx context.Context, p *Pass, rep *env.Report, err error) error {
	for _, r := range slices.Concat(p.All, p.Removed) {
		r.Close()
	}
	if _, named := errors.AsType[*store.DamagedError](err); !named {
		err = errors.Join(err, p.Store.Damage())
	}
	after := p.After
	if p.notifier != nil {
		after = append(after, tell.Observer{Name: "messages", Do: p.notifier.After})
	}
	if rep.Halt != nil {
		after = nil
	}
	after = append([]tell.Observer{{Name: "the row of this machine", Do: p.noteEnd}}, after...)
	tell.ObservePass(ctx, p.Env, rep, err, after)
	return errors.Join(err, p.close(ctx))
}

// tellDeaths logs the passes that died before this one, and tells the operator if they are many.
func (p *Pass) tellDeaths(ctx context.Context) {
	died := p.Begun.Deaths()
	if len(died) == 0 {
		return
	}
	for _, b := range died {
		p.Log.WarnContext(ctx, "a pass died", "process", b.PID, "began", b.At)
	}
	tell.Aside(ctx, p.Log, "the counts of passes", func(ctx context.Context) error { return tell.CountDeaths(ctx, p.Env) })
	if p.notifier == nil {
		return
	}
	facts, err := p.Dirs.Passes(p.Config.PassLimits(), p.Local())
	if err == nil {
		facts.Begun = nil // this pass among them
		p.notifier.Died(ctx, facts)
	}
}

// runTurn runs one turn as far as possible and stores the result.
func runTurn(ctx context.Context, p *Pass, l *env.Lease, rep *env.Report) {
	ctx, end := context.WithCancel(store.Under(ctx, store.HoldTurn(l.Turn)))
	defer end() // of an agent whose phase panicked
	p.turns.Settle(ctx, l, p.step(ctx, l), rep)
}

// checkSameRepo checks before a turn's next step that its repository is still the same.
func checkSameRepo(ctx context.Context, p *Pass, l *env.Lease) error {
	if l.Turn.Step == work.StepAnswered {
		return nil // Finalize asks, beside its other reads
	}
	return p.StillSame(ctx, l.Repo, env.SameFor)
}

// open opens the database, and a session on one that other machines have, too.
func (p *Pass) open(ctx context.Context) (err error) {
	if p.Store, err = p.OpenStore(ctx); err != nil {
		return err
	}
	if p.Session, err = p.Store.Session(ctx); err != nil {
		return errors.Join(err, p.Store.Close())
	}
	if p.Notify != nil {
		p.notifier = tell.NewNotifier(p.Env, p.Notify)
	}
	return nil
}

func (p *Pass) close(ctx context.Context) error {
	p.Session.Close(ctx)
	return p.Store.Close()
}

// lockPlanningOf takes the planning of the repository that a command is about.
func (p *Pass) lockPlanningOf(ctx context.Context, r *env.Repo) error {
	elsewhere, err := p.LockPlanning(ctx, []*env.Repo{r})
	if err == nil && len(elsewhere) > 0 {
		err = fmt.Errorf("another machine plans for %s just now, and nothing was done; try again", p.Config.Called(r.Name))
	}
	return err
}

// begin loads the rows of the configured repositories, clocks, limits, our accounts, and what holds
// for all machines. A pass calls it once, with its machine as describeMachine returns it; a command
// with its machine alone, which is not stored.
func (p *Pass) begin(ctx context.Context, machine work.Machine) (fleet store.Fleet, err error) {
	var clocks map[string]time.Duration
	var limits []work.Limit
	var gone []work.RepoName
	var note machineNote
	remembered, err := p.Dirs.Fleet()
	if err != nil {
		return fleet, err
	}
	ours, err := p.Dirs.Installations()
	if err != nil {
		return fleet, err
	}
	accounts, err := p.Dirs.Accounts()
	if err != nil {
		return fleet, err
	}
	err = p.Store.UpdateIfNeeded(ctx, func(tx *store.Tx) (err error) {
		if err := p.OpenRepos(ctx, tx); err != nil {
			return err
		}
		if err := p.LoadInstallations(ctx, tx, ours); err != nil {
			return err
		}
		if clocks, err = tx.ListClocks(ctx, machine.Name); err != nil {
			return err
		}
		if note, fleet, err = p.noteMachine(ctx, tx, machine, p.firstAhead(clocks), remembered); err != nil {
			return err
		}
		if limits, err = tx.ListLimits(ctx); err != nil {
			return err
		}
		if err := p.LoadAccounts(ctx, tx, accounts); err != nil {
			return err
		}
		gone, err = p.OpenRemovedRepos(ctx, tx)
		return err
	})
	if err == nil {
		err = p.storeMachine(ctx, note)
		p.noted = cmp.Or(note.row, note.known)
	}
	if err == nil && !machine.BeganAt.IsZero() && !p.Ours.Same(ours) { // a dry run writes nothing
		err = p.Dirs.RememberInstallations(p.Ours.All)
	}
	if err == nil && !machine.BeganAt.IsZero() {
		err = p.RememberAccounts(accounts)
	}
	if err != nil {
		return fleet, err
	}
	p.AssumeClocks(clocks)
	p.Began = p.Now()
	if note.former != "" {
		p.Log.WarnContext(ctx, "another state folder had this machine's name before", "machine", machine.Name, "before", note.former, "now", machine.Installation)
	}
	p.HoldLimits(ctx, limits)
	p.assemble()
	for _, name := range gone {
		p.Log.InfoContext(ctx, "a repository is not in the config any more", "repo_full_name", name.FullName())
	}
	return fleet, nil
}

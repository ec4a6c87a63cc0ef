package tell

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/metrics"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
)

// WriteMetrics writes the Prometheus file atomically. A pass that did not start, because another
// was planning or everything is paused, leaves the file: it opens no database.
func WriteMetrics(file string, build metrics.Build) Observer {
	return Observer{"the metrics", func(ctx context.Context, e *PassEnd) error {
		v, err := values(ctx, e)
		if err != nil {
			return fmt.Errorf("read the metrics: %w", err)
		}
		v.Build, v.Build.Machine = build, e.Machine.Name
		return files.Publish(file, metrics.Text(metrics.Families(v)))
	}}
}

// own selects what this machine did. Where several share the database, each writes its own counters,
// so that their sum counts everything once; what is true of all of them is a gauge that each writes.
type own struct {
	shared  bool
	machine string
}

// by adds the machine to the dimensions of a sum.
func (o own) by(by ...store.By) []store.By {
	if o.shared {
		by = append(by, store.ByMachine)
	}
	return by
}

// has reports whether a line of such a sum, or a run, is this machine's.
func (o own) has(machine string) bool { return !o.shared || machine == o.machine }

// values returns the metrics of this machine, of what it shares with others, and of this pass.
func values(ctx context.Context, e *PassEnd) (v metrics.Values, err error) {
	mine := own{e.Store.Shared(), e.Machine.Name}
	v.Last, v.Work, v.Queue, v.Workers = e.Passes.Last, !work.JudgePasses(e.Passes).Bad(), e.Report.Due, e.Config.Runtime.Workers
	live, err := e.dirs.LiveTurns() // HeldSlots would briefly take free slots from starting passes
	if err != nil {
		return v, err
	}
	v.Running = len(live)
	return v, e.Store.View(ctx, func(tx *store.Tx) error {
		var errs [5]error
		v.Turns, v.Failures, v.Used, v.TurnTime, v.Answers = nil, nil, nil, metrics.Times{}, metrics.Times{}
		v.Passes, errs[0] = tx.ListPasses(ctx)
		v.Requests, errs[1] = tx.ListRequests(ctx)
		v.Limits, errs[2] = tx.ListRateLimits(ctx)
		v.Items, errs[3] = items(ctx, tx, e)
		if mine.shared {
			v.Machines, errs[4] = machines(ctx, tx, e)
		}
		return errors.Join(append(errs[:], mine.addTurns(ctx, tx, &v), mine.addTimes(ctx, tx, &v), mine.addUsed(ctx, tx, &v))...)
	})
}

// states are all states of work items, so that an empty one is reported as 0.
var states = []work.State{
	work.StatePending, work.StateReady, work.StateRunning, work.StateAwaitingFeedback, work.StateAwaitingIssueFollowup, work.StateBlocked,
	work.StateMerged, work.StateCompleted, work.StateClosed,
}

// items counts the items of the configured repositories.
func items(ctx context.Context, tx *store.Tx, e *PassEnd) (all []metrics.Items, err error) {
	known, err := tx.CountItems(ctx)
	for _, r := range e.Repos {
		for _, s := range states {
			n := 0
			if at := slices.IndexFunc(known, func(c work.ItemCount) bool { return c.RepoID == r.Row.ID && c.State == s }); at >= 0 {
				n = known[at].Count
			}
			all = append(all, metrics.Items{Repo: e.Config.Called(r.Name), State: s, Count: n})
		}
	}
	return all, err
}

// machines returns which machines are silent.
func machines(ctx context.Context, tx *store.Tx, e *PassEnd) (all []metrics.Machine, err error) {
	known, err := tx.ListMachines(ctx)
	for _, m := range known {
		_, silent := m.Silent(e.now())
		all = append(all, metrics.Machine{Name: m.Name, Silent: silent && m.Name != e.Machine.Name})
	}
	return all, err
}

func (o own) addTurns(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	turns, err := tx.Turns(ctx, ever, o.by(store.ByKind, store.ByAgent, store.ByOutcome)...)
	for _, t := range turns {
		if o.has(t.Machine) {
			v.Turns = append(v.Turns, metrics.Turns{Kind: t.Kind, Agent: t.Agent, Outcome: t.Outcome, Count: t.Count})
		}
	}
	failures, failedErr := tx.Failures(ctx, ever, o.by(store.ByKind)...)
	for _, f := range failures {
		if o.has(f.Machine) {
			v.Failures = append(v.Failures, metrics.Failures{Kind: work.ReasonKind(f.Kind), Count: f.Count})
		}
	}
	return errors.Join(err, failedErr)
}

func (o own) addTimes(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	var errs []error
	for what, into := range map[store.Timed]*metrics.Times{store.TimeTurn: &v.TurnTime, store.TimeAnswer: &v.Answers} {
		into.Bounds = store.TimeBounds()
		lines, err := tx.Times(ctx, what, ever, o.by()...)
		for _, l := range lines {
			if o.has(l.Machine) {
				into.Add(l.Most, l.Count, l.Sum)
			}
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addUsed counts ended runs only: the usage of an open run may be corrected downwards, and
// Prometheus takes a falling counter for a restart.
func (o own) addUsed(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	costs, err := tx.Costs(ctx, ever, o.by(store.ByAgent)...)
	open, openErr := tx.ListOpenRuns(ctx)
	for _, c := range costs {
		if !o.has(c.Machine) {
			continue
		}
		sum, runs := c.UsageSum, c.Runs
		for _, r := range open {
			if r.Agent == c.Agent && o.has(r.Machine) {
				of := work.UsageSum{}.Add(r.Usage, r.Known)
				runs--
				sum.InputTokens -= of.InputTokens
				sum.OutputTokens -= of.OutputTokens
				sum.CostUSD -= of.CostUSD
				sum.UnknownTokens -= of.UnknownTokens
				sum.UnknownCost -= of.UnknownCost
			}
		}
		u := metrics.Used{Agent: c.Agent, Runs: runs, UsageSum: sum}
		v.Used = append(v.Used, u)
	}
	return errors.Join(err, openErr)
}

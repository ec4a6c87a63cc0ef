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
		v.Build = build
		return files.Publish(file, metrics.Text(metrics.Families(v)))
	}}
}

// values returns the metrics of the whole database and of this pass.
func values(ctx context.Context, e *PassEnd) (v metrics.Values, err error) {
	v.Last, v.Work, v.Queue, v.Workers = e.Passes.Last, !work.JudgePasses(e.Passes).Bad(), e.Report.Due, e.Config.Runtime.Workers
	live, err := e.Dirs.LiveTurns() // HeldSlots would briefly take free slots from starting passes
	if err != nil {
		return v, err
	}
	v.Running = len(live)
	return v, e.Store.View(ctx, func(tx *store.Tx) error {
		var errs [4]error
		v.Passes, errs[0] = tx.ListPasses(ctx)
		v.Requests, errs[1] = tx.ListRequests(ctx)
		v.Limits, errs[2] = tx.ListRateLimits(ctx)
		v.Items, errs[3] = items(ctx, tx, e)
		return errors.Join(append(errs[:], addTurns(ctx, tx, &v), addTimes(ctx, tx, &v), addUsed(ctx, tx, &v))...)
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
	for _, r := range e.All {
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

func addTurns(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	turns, err := tx.Turns(ctx, ever, store.ByKind, store.ByAgent, store.ByOutcome)
	for _, t := range turns {
		v.Turns = append(v.Turns, metrics.Turns{Kind: t.Kind, Agent: t.Agent, Outcome: t.Outcome, Count: t.Count})
	}
	failures, failedErr := tx.Failures(ctx, ever, store.ByKind)
	for _, f := range failures {
		v.Failures = append(v.Failures, metrics.Failures{Kind: work.ReasonKind(f.Kind), Count: f.Count})
	}
	return errors.Join(err, failedErr)
}

func addTimes(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	var errs []error
	for what, into := range map[store.Timed]*metrics.Times{store.TimeTurn: &v.TurnTime, store.TimeAnswer: &v.Answers} {
		into.Bounds = store.TimeBounds()
		lines, err := tx.Times(ctx, what, ever)
		for _, l := range lines {
			into.Add(l.Most, l.Count, l.Sum)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// addUsed counts ended runs only: the usage of an open run may be corrected downwards, and
// Prometheus takes a falling counter for a restart.
func addUsed(ctx context.Context, tx *store.Tx, v *metrics.Values) error {
	costs, err := tx.Costs(ctx, ever, store.ByAgent)
	open, openErr := tx.ListOpenRuns(ctx)
	for _, c := range costs {
		sum, runs := c.UsageSum, c.Runs
		for _, r := range open {
			if r.Agent == c.Agent {
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

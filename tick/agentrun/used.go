package agentrun

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/recheck"
)

// noteEvery is how often at most it is stored what a run has used so far: for the
// budgets of other passes, and in case this one dies.
const noteEvery = 10 * time.Second

// noting stores what a run uses while it runs: its session at once, without which
// nobody finds its record. It ends a run that takes its turn past a limit.
func (p *Runner) noting(ctx context.Context, l *env.Lease, run work.Run) func(agent.Used) error {
	noted, before := agent.Used{Session: run.Session}, l.Turn.Usage
	var at time.Time
	return func(u agent.Used) error {
		now := p.Local()
		if spent := recheck.OverLimit(before.Add(u.Usage), p.Config.Runtime.Budgets); !spent.None() {
			spent.Count = 1
			return &work.BlockedError{Reason: spent}
		}
		if u.Session == noted.Session && (u.Usage == noted.Usage || now.Before(at.Add(noteEvery))) {
			return nil
		}
		usage, _ := p.plausible(ctx, p.TurnAttrs(l), run, u.Usage)
		err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.NoteRun(ctx, run.ID, u.Session, usage) })
		if err != nil {
			p.Log.DebugContext(ctx, "could not note what a run has used so far", p.TurnAttrs(l, "error", err)...)
		}
		noted, at = u, now
		return nil
	}
}

// EndDeadRuns ends the runs that ended with their passes, and counts what they
// used as far as anything says so. What such a run left running is ended first:
// it would use on.
func (p *Runner) EndDeadRuns(ctx context.Context) error {
	var open []work.Run
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		open, err = tx.ListOpenRuns(ctx)
		return err
	})
	for _, run := range open {
		if err := p.endDeadRun(ctx, run); err != nil {
			return fmt.Errorf("count what run %d used: %w", run.ID, err)
		}
	}
	return err
}

func (p *Runner) endDeadRun(ctx context.Context, run work.Run) error {
	var turn work.Turn
	var counted work.Usage
	var attrs []any
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		if turn, err = tx.GetTurn(ctx, run.Turn); err != nil {
			return err
		}
		if run.Session != "" {
			counted, err = tx.GetSessionUsage(ctx, turn.ItemID, run.Agent, run.Session)
		}
		item, itemErr := tx.GetItem(ctx, turn.ItemID)
		repo, repoErr := tx.GetRepo(ctx, turn.RepoID)
		attrs = env.AttrsOf(repo.Name, item, turn)
		return errors.Join(err, itemErr, repoErr)
	})
	if err != nil || p.InFlight(turn.Key) {
		return err
	}
	if _, err := p.Orphans.EndMarked(ctx, p.Mark(turn)); err != nil {
		p.Log.WarnContext(ctx, "could not look for what a dead pass left running", append(attrs, "error", err)...)
	}
	began := run.Began.Add(p.Local().Sub(p.Now())).Add(-clockSlack) // by this machine's clock, as records are
	used, known := p.Agents.Used(run, counted, began)
	believed := known
	if known {
		run.Usage, believed = p.plausible(ctx, attrs, run, used.Usage)
	}
	run.Unknown, run.Ended = !known, p.Now()
	p.Log.WarnContext(ctx, "a run of an agent ended with its pass", append(attrs, "agent", run.Agent, "used_is_known", known,
		"input_tokens", run.Usage.InputTokens, "output_tokens", run.Usage.OutputTokens, "cost_usd", run.Usage.CostUSD)...)
	return p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.EndRun(ctx, run); err != nil {
			return err
		}
		if known {
			if err := p.countSession(ctx, tx, turn, run, used.Counted, believed); err != nil {
				return err
			}
		}
		return tx.AddTurnUsage(ctx, turn.ID, run.Usage)
	})
}

// clockSlack is by how much the beginning of a run, which is stored by GitHub's
// clock, may seem later than it was.
const clockSlack = 2 * time.Second

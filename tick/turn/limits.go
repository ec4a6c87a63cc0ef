package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// plausible is what counts of what a run says that it used. An agent can write its
// program's output, and one forged number must not stop all repositories for a
// day: a run takes at most what its item may cost, or a turn, or half a day where
// neither has a limit. believed is false where more was told, or more tokens than a
// run can use before it is ended at its limit.
func (p *runner) plausible(ctx context.Context, attrs []any, run work.Run, u work.Usage) (counts work.Usage, believed bool) {
	b := p.Config.Runtime.Budgets
	most := max(b.CostPerItem, b.CostPerTurn)
	if most == 0 {
		most = b.CostPerDay / 2
	}
	told := u.CostUSD
	if !(u.CostUSD >= 0) { // not a number, too
		u.CostUSD = 0
	}
	if most > 0 && u.CostUSD > most {
		u.CostUSD = most
	}
	believed = true
	if u.CostUSD != told {
		believed = false
		p.Log.WarnContext(ctx, "a run tells a cost that cannot be", append(attrs, "run", run.ID, "agent", run.Agent, "told_usd", told, "counted_usd", u.CostUSD)...)
	}
	if tokens := allTokens(u); b.TokensPerTurn > 0 && tokens > int64(b.TokensPerTurn)+overshoot {
		believed = false
		p.Log.WarnContext(ctx, "a run tells of more tokens than can be", append(attrs, "run", run.ID, "agent", run.Agent, "told_tokens", tokens)...)
	}
	return u, believed
}

// overshoot is how many tokens a run may use past its turn's limit before it is
// ended: a few responses of the largest models, cached input included.
const overshoot = 10_000_000

// limits are what no push of the turn may carry.
func (p *runner) limits(l *env.Lease) git.Limits {
	r := l.Repo.Settings
	limits := git.Limits{
		MaxFiles: r.MaxFiles, MaxFileBytes: r.MaxFileBytes, Protected: r.ProtectedPaths, Secrets: p.Secrets.Find,
	}
	if l.Turn.Kind == work.KindImplementationStart {
		limits.NotOnly = Documents
	}
	return limits
}

// noteEvery is how often at most it is stored what a run has used so far: for the
// budgets of other passes, and in case this one dies.
const noteEvery = 10 * time.Second

// noting stores what a run uses while it runs: its session at once, without which
// nobody finds its record. It ends a run that takes its turn past a limit.
func (p *runner) noting(ctx context.Context, l *env.Lease, run work.Run) func(agent.Used) error {
	noted, before := agent.Used{Session: run.Session}, l.Turn.Usage
	var at time.Time
	return func(u agent.Used) error {
		now := p.Local()
		if spent := overLimit(before.Add(u.Usage), p.Config.Runtime.Budgets); !spent.None() {
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
func (p *runner) EndDeadRuns(ctx context.Context) error {
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

func (p *runner) endDeadRun(ctx context.Context, run work.Run) error {
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

// overLimit says which of the limits of one turn leaves nothing of what it has
// used; none when none does. A comment makes another turn, which has the limits of a
// turn and what is left of its item's budgets.
func overLimit(u work.Usage, b work.Budgets) work.Reason {
	tokens := allTokens(u)
	switch {
	case b.CostPerTurn > 0 && u.CostUSD >= b.CostPerTurn:
		return work.Reason{Kind: work.WhyTurnLimit, Name: work.MaxCostPerTurn, Used: u.CostUSD, Limit: b.CostPerTurn}
	case b.TokensPerTurn > 0 && tokens >= int64(b.TokensPerTurn):
		return work.Reason{Kind: work.WhyTurnLimit, Name: work.MaxTokensPerTurn, Used: float64(tokens), Limit: float64(b.TokensPerTurn)}
	}
	return work.Reason{}
}

// allTokens counts what was read, from a cache or not, and written.
func allTokens(u work.Usage) int64 {
	return u.Add(work.Usage{InputTokens: u.OutputTokens}).InputTokens
}

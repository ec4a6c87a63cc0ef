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

// plausible limits the usage that a run reports. An agent can forge its program's output, and one
// forged number must not stop all repositories for a day: a run counts at most the larger of the
// limits per item and per turn, or half of the day's if neither is set. believed is false if the
// reported cost was more, or the tokens were more than a run can use before it is ended at its
// limit.
func (p *runner) plausible(ctx context.Context, attrs []any, run work.Run, u work.Usage) (counts work.Usage, believed bool) {
	b := p.Config.Runtime.Budgets
	most := max(b.CostPerItem, b.CostPerTurn)
	if most == 0 {
		most = b.CostPerDay / 2
	}
	told := u.CostUSD
	if !(u.CostUSD >= 0) { // NaN too
		u.CostUSD = 0
	}
	if most > 0 && u.CostUSD > most {
		u.CostUSD = most
	}
	believed = true
	if u.CostUSD != told {
		believed = false
		p.Log.WarnContext(ctx, "a run reports an impossible cost", append(attrs, "run", run.ID, "agent", run.Agent, "told_usd", told, "counted_usd", u.CostUSD)...)
	}
	if tokens := allTokens(u); b.TokensPerTurn > 0 && tokens > int64(b.TokensPerTurn)+overshoot {
		believed = false
		p.Log.WarnContext(ctx, "a run reports an impossible number of tokens", append(attrs, "run", run.ID, "agent", run.Agent, "told_tokens", tokens)...)
	}
	return u, believed
}

// overshoot is how many tokens a run may use beyond its turn's limit before it is ended: a few
// responses of the largest models, with cached input.
const overshoot = 10_000_000

// limits returns what the gates refuse in a push of the turn.
func (p *runner) limits(l *env.Lease) git.Limits {
	run := &p.Config.Runtime
	limits := git.Limits{
		MaxFiles: run.MaxFiles, MaxFileBytes: run.MaxFileBytes, Protected: l.Repo.Settings.ProtectedPaths, Secrets: p.Secrets.Find,
	}
	if l.Turn.Kind == work.KindImplementationStart {
		limits.NotOnly = documents
	}
	return limits
}

// noteEvery is the shortest interval between stores of a run's usage so far. Other passes' budgets
// need it, and it remains if this pass dies.
const noteEvery = 10 * time.Second

// noting returns a function that stores a run's usage while it runs. A new session is stored at
// once, because the run's record is found only by it. The function's error ends a run that takes
// its turn over a limit.
func (p *runner) noting(ctx context.Context, l *env.Lease, run work.Run) func(agent.Used) error {
	noted, before := agent.Used{Session: run.Session}, l.Turn.Used.Usage
	var at time.Time
	return func(u agent.Used) error {
		now := p.Local()
		if spent := overLimit(before.Add(u.Usage), p.Config.Runtime.Budgets); !spent.None() {
			spent.Count = 1
			return &work.BlockedError{Reason: spent}
		}
		if u.Session == noted.Session && (u.Usage == noted.Usage && u.Known == noted.Known || now.Before(at.Add(noteEvery))) {
			return nil
		}
		usage, _ := p.plausible(ctx, p.TurnAttrs(l), run, u.Usage)
		err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.NoteRun(ctx, run.ID, u.Session, usage, u.Known) })
		if err != nil {
			p.Log.DebugContext(ctx, "could not store the usage of a run so far", p.TurnAttrs(l, "error", err)...)
		}
		noted, at = u, now
		return nil
	}
}

// EndDeadRuns ends those of the open runs whose passes were killed, and counts their usage as far as it is
// recorded. It first ends processes that are still running, as they would use more.
func (p *runner) EndDeadRuns(ctx context.Context, open []work.Run) error {
	for _, run := range open {
		if err := p.endDeadRun(ctx, run); err != nil {
			return fmt.Errorf("count what run %d used: %w", run.ID, err)
		}
	}
	return nil
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
	if err != nil || p.InFlight(turn) || !p.Mine(turn.RepoID) {
		return err
	}
	if _, err := p.Orphans.EndMarked(ctx, p.Mark(turn)); err != nil {
		p.Log.WarnContext(ctx, "could not look for processes of a killed pass", append(attrs, "error", err)...)
	}
	began := run.Began.Add(p.Local().Sub(p.Now())).Add(-clockSlack) // records use this machine's clock
	used, known := p.Agents.Used(run, counted, began)
	believed := known
	if known {
		var read work.Usage
		read, believed = p.plausible(ctx, attrs, run, used.Usage)
		noted := run.Usage // while the run was watched; its record may have less
		run.Usage = work.Usage{InputTokens: max(read.InputTokens, noted.InputTokens), OutputTokens: max(read.OutputTokens, noted.OutputTokens), CostUSD: max(read.CostUSD, noted.CostUSD)}
		if run.Usage.InputTokens > read.InputTokens || run.Usage.OutputTokens > read.OutputTokens {
			used.Known = work.Known{}
		}
	}
	run.Known, run.Ended = used.Known, p.Now()
	p.Log.WarnContext(ctx, "a run of an agent ended with its pass", append(attrs, "agent", run.Agent, "tokens_known", run.Known.Tokens, "cost_known", run.Known.Cost,
		"input_tokens", run.Usage.InputTokens, "output_tokens", run.Usage.OutputTokens, "cost_usd", run.Usage.CostUSD)...)
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if _, err := tx.TakeTurn(ctx, turn); err != nil {
			return err
		}
		if err := tx.EndRun(ctx, run); err != nil {
			return err
		}
		if known {
			if err := p.countSession(ctx, tx, turn, run, used.Counted, believed); err != nil {
				return err
			}
		}
		return tx.AddTurnUsage(ctx, turn.ID, run.Usage, run.Known)
	})
	if errors.Is(err, store.ErrTaken) { // another pass resumes the turn, and counts its run
		return nil
	}
	return err
}

// clockSlack is how much too late a run's start may seem: it is stored by GitHub's clock, and
// records use this machine's.
const clockSlack = 2 * time.Second

// overLimit returns which limit of a turn is used up; none: none is. A comment makes another turn
// with fresh turn limits and the rest of its item's budgets.
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

// allTokens returns all tokens: input, cached input and output.
func allTokens(u work.Usage) int64 {
	return u.Add(work.Usage{InputTokens: u.OutputTokens}).InputTokens
}

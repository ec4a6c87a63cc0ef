package tick

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// overLimit says which of the limits of one turn leaves nothing of what it has
// used; empty when none does.
func overLimit(u work.Usage, b work.Budgets) string {
	tokens := allTokens(u)
	switch {
	case b.CostPerTurn > 0 && u.CostUSD >= b.CostPerTurn:
		return fmt.Sprintf("this turn has cost %.2f USD; max_cost_per_turn_usd is %.2f", u.CostUSD, b.CostPerTurn)
	case b.TokensPerTurn > 0 && tokens >= int64(b.TokensPerTurn):
		return fmt.Sprintf("this turn has used %d tokens; max_tokens_per_turn is %d", tokens, b.TokensPerTurn)
	}
	return ""
}

// atLimit says that a turn's agent was ended at such a limit, or is not run again.
// A comment makes another turn, which has the limits of a turn and what is left of
// its item's budgets.
func atLimit(what, why string) error {
	return &work.BlockedError{
		Reason: what + ": " + why,
		Hint:   "what it made so far is kept; comment to have another turn continue from there, or raise the limit in the config first",
	}
}

// plausible is what counts of what a run says that it used. An agent can write its
// program's output, and one forged number must not stop all repositories for a
// day: a run takes at most what its item may cost, or a turn, or half a day where
// neither has a limit. believed is false where more was told, or more tokens than a
// run can use before it is ended at its limit.
func (p *Runner) plausible(ctx context.Context, attrs []any, run work.Run, u work.Usage) (counts work.Usage, believed bool) {
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

func allTokens(u work.Usage) int64 {
	return u.Add(work.Usage{InputTokens: u.OutputTokens}).InputTokens
}

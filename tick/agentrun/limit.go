package agentrun

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/recheck"
)

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
	if tokens := recheck.AllTokens(u); b.TokensPerTurn > 0 && tokens > int64(b.TokensPerTurn)+overshoot {
		believed = false
		p.Log.WarnContext(ctx, "a run tells of more tokens than can be", append(attrs, "run", run.ID, "agent", run.Agent, "told_tokens", tokens)...)
	}
	return u, believed
}

// overshoot is how many tokens a run may use past its turn's limit before it is
// ended: a few responses of the largest models, cached input included.
const overshoot = 10_000_000

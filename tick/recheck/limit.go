package recheck

import "github.com/mergexo/gh-mergexo/internal/work"

// OverLimit says which of the limits of one turn leaves nothing of what it has
// used; none when none does. A comment makes another turn, which has the limits of a
// turn and what is left of its item's budgets.
func OverLimit(u work.Usage, b work.Budgets) work.Reason {
	tokens := AllTokens(u)
	switch {
	case b.CostPerTurn > 0 && u.CostUSD >= b.CostPerTurn:
		return work.Reason{Kind: work.WhyTurnLimit, Name: work.MaxCostPerTurn, Used: u.CostUSD, Limit: b.CostPerTurn}
	case b.TokensPerTurn > 0 && tokens >= int64(b.TokensPerTurn):
		return work.Reason{Kind: work.WhyTurnLimit, Name: work.MaxTokensPerTurn, Used: float64(tokens), Limit: float64(b.TokensPerTurn)}
	}
	return work.Reason{}
}

// AllTokens counts what was read, from a cache or not, and written.
func AllTokens(u work.Usage) int64 {
	return u.Add(work.Usage{InputTokens: u.OutputTokens}).InputTokens
}

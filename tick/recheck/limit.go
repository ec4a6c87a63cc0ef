package recheck

import (
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// OverLimit says which of the limits of one turn leaves nothing of what it has
// used; empty when none does.
func OverLimit(u work.Usage, b work.Budgets) string {
	tokens := AllTokens(u)
	switch {
	case b.CostPerTurn > 0 && u.CostUSD >= b.CostPerTurn:
		return fmt.Sprintf("this turn has cost %.2f USD; max_cost_per_turn_usd is %.2f", u.CostUSD, b.CostPerTurn)
	case b.TokensPerTurn > 0 && tokens >= int64(b.TokensPerTurn):
		return fmt.Sprintf("this turn has used %d tokens; max_tokens_per_turn is %d", tokens, b.TokensPerTurn)
	}
	return ""
}

// AtLimit says that a turn's agent was ended at such a limit, or is not run again.
// A comment makes another turn, which has the limits of a turn and what is left of
// its item's budgets.
func AtLimit(what, why string) error {
	return &work.BlockedError{
		Reason: what + ": " + why,
		Hint:   "what it made so far is kept; comment to have another turn continue from there, or raise the limit in the config first",
	}
}

// AllTokens counts what was read, from a cache or not, and written.
func AllTokens(u work.Usage) int64 {
	return u.Add(work.Usage{InputTokens: u.OutputTokens}).InputTokens
}

package acp

import (
	"encoding/json"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// tokens are the counts of a turn. Programs do not agree on whether the cached tokens are part of
// the input; the total shows it.
type tokens struct {
	Input       agent.Count `json:"inputTokens"`
	Output      agent.Count `json:"outputTokens"`
	CachedRead  agent.Count `json:"cachedReadTokens"`
	CachedWrite agent.Count `json:"cachedWriteTokens"`
	Total       agent.Count `json:"totalTokens"`
}

// UnmarshalJSON never fails. A value of another type has no counts.
func (c *tokens) UnmarshalJSON(raw []byte) error {
	type plain tokens
	*c = tokens{}
	_ = json.Unmarshal(raw, (*plain)(c))
	return nil
}

// money is what a session has cost so far.
type money struct {
	Amount   agent.Count `json:"amount"`
	Currency string      `json:"currency"`
}

// UnmarshalJSON never fails. A value of another type has no amount.
func (m *money) UnmarshalJSON(raw []byte) error {
	type plain money
	*m = money{}
	_ = json.Unmarshal(raw, (*plain)(m))
	return nil
}

// usage is what a turn used. Tokens are told at its end. The cost is told as the session's sum: what
// was told before the prompt is of earlier turns.
type usage struct {
	told         bool // the turn has ended, and tokens are what it told
	tokens       tokens
	before, last agent.Count
	partial      bool // the tokens are not those of the whole turn
}

// spent takes the session's cost.
func (u *usage) spent(m money, prompting bool) {
	switch {
	case !m.Amount.Known || !strings.EqualFold(m.Currency, "usd"):
	case prompting:
		u.last = m.Amount
	default:
		u.before = m.Amount
	}
}

// known reports whether the counts are complete. Those of a cache may be absent.
func (u *usage) known() bool {
	t := u.tokens
	return u.told && !u.partial && t.Input.Known && t.Output.Known && !t.CachedRead.Unreadable && !t.CachedWrite.Unreadable
}

// counted returns the tokens. Cached ones are taken out of an input that includes them.
func (u *usage) counted() spending.Tokens {
	t := u.tokens
	all := spending.Tokens{Input: t.Input.Tokens(), CacheRead: t.CachedRead.Tokens(), CacheWrite: t.CachedWrite.Tokens(), Output: t.Output.Tokens()}
	cached := all.CacheRead + all.CacheWrite
	if t.Total.Known && t.Total.Tokens() < all.Input+cached+all.Output && cached <= all.Input {
		all.Input -= cached
	}
	return all
}

func (u *usage) cost() float64 {
	if cost := u.last.Cost() - u.before.Cost(); cost > 0 {
		return cost
	}
	return 0
}

// costKnown reports whether the cost is complete: it is told until the turn ends.
func (u *usage) costKnown() bool { return u.told && u.last.Known }

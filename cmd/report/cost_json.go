package report

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

type costView struct {
	Day       string  `json:"day,omitempty"`      // with --by day
	Repo      string  `json:"repo,omitempty"`     // with --by repo or item
	Number    int     `json:"number,omitempty"`   // of the issue, with --by item
	Title     string  `json:"title,omitempty"`    // likewise
	Agent     string  `json:"agent,omitempty"`    // with --by agent
	Kind      string  `json:"kind,omitempty"`     // of turn, with --by kind
	Runs      int     `json:"runs"`               // starts of an agent
	Turns     int     `json:"turns"`              // those of them that budgets count as a turn
	Unknown   int     `json:"runsOfUnknownUsage"` // of which nothing says how much was used in the end
	Input     int64   `json:"inputTokens"`
	Output    int64   `json:"outputTokens"`
	CostInUSD float64 `json:"costUSD"`
}

func (c *costs) object() map[string]any {
	view := func(l store.CostLine) costView {
		v := costView{
			Day: l.Day, Number: l.Number, Title: l.Title, Agent: l.Agent, Kind: l.Kind,
			Runs: l.Runs, Turns: l.Turns, Unknown: l.Unknown, Input: l.InputTokens, Output: l.OutputTokens, CostInUSD: l.CostUSD,
		}
		if l.RepoID != 0 {
			v.Repo = c.cfg.Called(l.Repo)
		}
		return v
	}
	return map[string]any{"by": c.by, "since": sinceView(c.since), "lines": terminal.Each(c.lines, view), "total": view(c.total())}
}

// sinceView is the first day that counts; null: there is none.
func sinceView(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	day := at.Format(time.DateOnly)
	return &day
}

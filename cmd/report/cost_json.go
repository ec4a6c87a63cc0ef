package report

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/store"
)

// costsView is the output of cost.
type costsView struct {
	By    string     `json:"by"`    // the key of the lines
	Since *string    `json:"since"` // the first day that counts; null: from the beginning
	Lines []costView `json:"lines"` // what agents used
	Total costView   `json:"total"` // all of it
}

// costView is one line of usage.
type costView struct {
	Day       string  `json:"day,omitempty"`      // the day, by this machine's clock
	Repo      string  `json:"repo,omitempty"`     // with --by repo or item
	Number    int     `json:"number,omitempty"`   // of the issue, with --by item
	Title     string  `json:"title,omitempty"`    // the title
	Agent     string  `json:"agent,omitempty"`    // with --by agent
	Kind      string  `json:"kind,omitempty"`     // the kind of turn
	Runs      int     `json:"runs"`               // how often an agent's program was started
	Turns     int     `json:"turns"`              // those of them that budgets count as a turn
	Unknown   int     `json:"runsOfUnknownUsage"` // runs among them with unknown usage
	Input     int64   `json:"inputTokens"`        // tokens that agents read
	Output    int64   `json:"outputTokens"`       // tokens that agents wrote
	CostInUSD float64 `json:"costUSD"`            // cost in US dollars, as far as it is known
}

func (c *costs) view() costsView {
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
	return costsView{c.by, sinceView(c.since), terminal.Each(c.lines, view), view(c.total())}
}

// sinceView returns the first counted day; null if counting starts at the beginning.
func sinceView(at time.Time) *string {
	if at.IsZero() {
		return nil
	}
	day := at.Format(time.DateOnly)
	return &day
}

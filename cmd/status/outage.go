package status

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Outage is an agent whose provider was out when it ran last.
type Outage struct {
	Agent     string        `json:"agent"`     // its name in the config
	Since     terminal.Time `json:"since"`     // since when no run of it was answered
	Fallback  string        `json:"fallback"`  // the agent that works in its place; empty: none
	TakesOver bool          `json:"takesOver"` // whether turns that begin now go to the fallback

	from, now time.Time // when the fallback begins to work, and when this was read
}

// loadOutages reads the outages of the config's agents. One that nothing was tried in for a day is
// over, as far as anybody knows.
func loadOutages(ctx context.Context, tx *store.Tx, cfg *config.Config, now time.Time) ([]Outage, error) {
	all := []Outage{}
	stored, err := tx.ListOutages(ctx)
	for _, o := range stored {
		a, known := cfg.Agents[o.Agent]
		if !known || now.Sub(o.Tried) > work.OutageForgotten {
			continue
		}
		all = append(all, Outage{
			Agent: a.Name, Since: terminal.Stamp(o.Since), Fallback: a.Fallback, TakesOver: a.Fallback != "" && o.Takes(now, a.FallbackAfter),
			from: o.Since.Add(a.FallbackAfter), now: now,
		})
	}
	return all, err
}

// says describes it in one line.
func (x Outage) says() string {
	line := fmt.Sprintf("agent %q: its provider is out since %s", x.Agent, work.Stamp(x.Since.Time))
	switch {
	case x.Fallback == "":
		return line
	case x.TakesOver:
		return line + fmt.Sprintf("; agent %q works in its place", x.Fallback)
	case x.from.After(x.now):
		return line + fmt.Sprintf("; agent %q works in its place from %s", x.Fallback, work.Stamp(x.from))
	}
	return line + "; the next turn tries it again"
}

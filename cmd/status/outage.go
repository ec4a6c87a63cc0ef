package status

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
)

// Outage is an agent that could not work when it ran last: its provider was out, or a person has to act.
type Outage struct {
	Agent     string          `json:"agent"`
	Since     terminal.Time   `json:"since"`      // no run of it was answered
	Fallback  string          `json:"fallback"`   // the agent that may work in its place
	TakesOver bool            `json:"takesOver"`  // turns that begin now go to the fallback
	Machine   string          `json:"machine"`    // where a person has to act
	Code      work.ReasonKind `json:"reasonCode"` // empty: its provider is out
	Why       string          `json:"reason"`
	Do        string          `json:"nextStep"`

	from, now time.Time // when the fallback begins to work, and when this was read
}

// loadOutages reads the outages of the config's agents. One that nothing was tried in for a day is
// over, as far as anybody knows.
func loadOutages(ctx context.Context, tx *store.Tx, cfg *config.Config, now time.Time) ([]Outage, error) {
	all := []Outage{}
	stored, err := tx.ListOutages(ctx)
	for _, o := range stored {
		a, known := cfg.Agents[o.Agent]
		if !known || now.Sub(o.Tried) > work.OutageForgotten || !o.Why.None() && !o.Stands() {
			continue
		}
		if o.Stands() {
			said := explain.Reason(o.Why, explain.Place{})
			all = append(all, Outage{Agent: a.Name, Since: terminal.Stamp(o.Since), Machine: o.Machine, Code: o.Why.Kind, Why: said.Here(), Do: said.Fix})
			continue
		}
		all = append(all, Outage{
			Agent: a.Name, Since: terminal.Stamp(o.Since), Fallback: a.Fallback, TakesOver: a.Fallback != "" && o.Takes(now, cfg.Runtime.FallbackAfter),
			from: o.Since.Add(cfg.Runtime.FallbackAfter), now: now,
		})
	}
	return all, err
}

// says describes it in one line.
func (x Outage) says() string {
	if x.Why != "" {
		return fmt.Sprintf("agent %q: its turns wait since %s: %s; %s", x.Agent, work.Stamp(x.Since.Time), strings.TrimSuffix(x.Why, "."), x.Do)
	}
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

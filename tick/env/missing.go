package env

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Startable reports whether the agent for a kind of turn can be started. A turn whose agent is not
// installed waits until it is. Turns of other agents start.
//
// A turn without the sandbox that it needs is started and then blocked, so that GitHub shows that a
// person must act.
func (p *Env) Startable(ctx context.Context, repoID int64, kind work.Kind, reviewer string) bool {
	hired, err := p.Agents.Agent(ctx, p.RemoteByID(repoID).Row, kind, reviewer)
	if _, blocked := errors.AsType[*work.BlockedError](err); blocked || err == nil {
		return true
	}
	if p.missing == nil {
		p.missing = map[string]error{}
	}
	p.missing[hired.Name] = err
	return false
}

// MissingAgents returns one error line per agent that could not be started; nil: none.
func (p *Env) MissingAgents() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.missing)) {
		errs = append(errs, p.missing[name])
	}
	return errors.Join(errs...)
}

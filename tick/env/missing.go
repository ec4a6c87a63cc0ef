package env

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Startable reports whether the agent for a kind of turn can be started. A
// turn whose agent is not installed is not begun, and begins by itself once
// it is; those of other agents begin.
//
// One without the sandbox that it needs is begun, and blocked: a person has to
// act, and GitHub says so.
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

// MissingAgents is the error of a pass that had turns for agents that cannot
// be started: a line for each.
func (p *Env) MissingAgents() error {
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.missing)) {
		errs = append(errs, p.missing[name])
	}
	return errors.Join(errs...)
}

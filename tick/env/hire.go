package env

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// AgentFor returns the agent that works on a kind of turn now: the one that the config names, or its
// fallback while its provider is out. insteadOf is the former then. reviewer is the author of a review
// turn.
func (p *Env) AgentFor(ctx context.Context, repo work.RepoName, kind work.Kind, reviewer string) (a config.Agent, insteadOf string, err error) {
	a, ok := p.Config.AgentFor(repo, kind, reviewer)
	if !ok {
		return a, "", fmt.Errorf("no agent is configured for %s", kind)
	}
	other, ok := p.Config.FallbackOf(a.Name)
	if !ok {
		return a, "", nil
	}
	var out work.Outage
	err = p.Store.View(ctx, func(tx *store.Tx) (err error) {
		out, _, err = tx.FindOutage(ctx, a.Name)
		return err
	})
	if err != nil {
		return a, "", fmt.Errorf("look whether the provider of agent %q is out: %w", a.Name, err)
	}
	if out.Takes(p.Now(), p.Config.Runtime.FallbackAfter) {
		return other, a.Name, nil
	}
	return a, "", nil
}

// Hire returns the agent of AgentFor, ready to run. Its name is set even with an error of Agents.
func (p *Env) Hire(ctx context.Context, repo work.Repo, kind work.Kind, reviewer string) (Hired, error) {
	a, insteadOf, err := p.AgentFor(ctx, repo.Name, kind, reviewer)
	if err != nil {
		return Hired{}, err
	}
	hired, err := p.Agents.Agent(ctx, repo, a.Name)
	hired.InsteadOf = insteadOf
	return hired, err
}

package cmd

import (
	"context"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
)

// addVersions asks the agents' programs for their versions, side by side.
func addVersions(ctx context.Context, env config.Env, cfg *config.Config, all []protectionView) {
	var wg sync.WaitGroup
	for i := range all {
		v := &all[i]
		if !v.Found {
			continue
		}
		wg.Go(func() {
			spec := programOf(env, cfg.Agents[v.Agent])
			v.Version = agent.Version(ctx, spec)
			v.Drift = agent.Drift(spec, v.Version)
		})
	}
	wg.Wait()
}

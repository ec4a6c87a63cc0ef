package machine

import (
	"context"
	"os"
	"path/filepath"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// addVersions asks the agents' programs for their versions in parallel.
func (m *Machine) addVersions(ctx context.Context, all []AgentState) {
	var wg sync.WaitGroup
	for i := range all {
		v := &all[i]
		if !v.Found {
			continue
		}
		wg.Go(func() {
			spec := programOf(m.env, m.cfg.Agents[v.Agent])
			v.Version = m.versionOf(ctx, spec, v.Hides)
			v.Drift, v.TooOld = agent.Drift(spec, v.Version), agent.TooOld(spec, v.Version)
		})
	}
	wg.Wait()
}

// versionOf asks a program for its version, in the agent's sandbox if that hides files: the agent
// may have modified the program.
func (m *Machine) versionOf(ctx context.Context, spec agent.Spec, hides bool) string {
	scratch, err := os.MkdirTemp("", "mergexo-version-")
	if err != nil {
		return ""
	}
	defer func() { _ = sandbox.Remove(scratch) }()
	dir := filepath.Join(scratch, "empty")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return ""
	}
	if hides {
		own := &Machine{cfg: m.cfg, env: m.env, dirs: m.dirs, scratch: scratch}
		b := own.box(work.Repo{Name: m.cfg.Repos[0].Name}, m.cfg.Agents[spec.Name])
		spec.Wrap = func(argv []string, j work.Job) ([]string, error) { return m.sandbox.tool.Wrap(b, argv, j) }
	}
	return agent.Version(ctx, spec, dir)
}

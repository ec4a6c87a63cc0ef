package cmd

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// sandboxFinder looks once for the machine's sandbox: that takes a moment.
type sandboxFinder struct {
	once sync.Once
	tool sandbox.Tool
	err  error
}

func (f *sandboxFinder) find(ctx context.Context, path string) (sandbox.Tool, error) {
	f.once.Do(func() { f.tool, f.err = sandbox.Find(ctx, path) })
	return f.tool, f.err
}

// protection is what is in force for an agent on this machine.
func (f *sandboxFinder) protection(ctx context.Context, cfg *config.Config, env config.Env, a config.Agent) (sandbox.Protection, error) {
	asked := cfg.Sandbox(a)
	own := sandbox.NoneOfItsOwn
	if a.Adapter == agent.AdapterCodex {
		own = sandbox.HasItsOwn
	}
	if asked == work.SandboxNone || asked == work.SandboxAgent {
		return sandbox.Choose(asked, own, sandbox.Tool{}, nil)
	}
	tool, err := f.find(ctx, env.Path)
	if ctx.Err() != nil {
		return sandbox.Protection{}, ctx.Err()
	}
	return sandbox.Choose(asked, own, tool, err)
}

// protect says what is in force for an agent, and puts it in front of it.
func (m *machine) protect(ctx context.Context, repo work.RepoName, a config.Agent) (sandbox.Protection, func([]string, string) []string, error) {
	p, err := m.sandbox.protection(ctx, m.cfg, m.env, a)
	if err != nil || !p.Hides() {
		return p, nil, err
	}
	b := m.box(repo, a)
	return p, func(argv []string, dir string) []string { return m.sandbox.tool.Wrap(b, argv, dir) }, nil
}

// agentsHome is where agents find the configurations that we write for them.
func (m *machine) agentsHome() string { return filepath.Join(m.dirs.State, "agents") }

// environOf is what an agent sees of our environment.
func (m *machine) environOf(a config.Agent) []string {
	return m.env.Agent(append(agent.Variables(a.Adapter), a.EnvPass...))
}

// box is what an agent sees of this machine. The homes of other agents hold
// their logins.
func (m *machine) box(repo work.RepoName, a config.Agent) sandbox.Box {
	environ := m.environOf(a)
	homes := agent.Homes(a.Adapter, environ)
	hidden := []string{m.dirs.State}
	for _, other := range []string{agent.AdapterCodex, agent.AdapterClaude} {
		if other != a.Adapter {
			hidden = append(hidden, agent.Homes(other, m.env.All())...)
		}
	}
	for _, name := range []string{"GH_CONFIG_DIR", "GNUPGHOME", "XDG_RUNTIME_DIR"} {
		if dir, ok := m.env.Lookup(name); ok && filepath.IsAbs(dir) {
			hidden = append(hidden, dir)
		}
	}
	b := sandbox.Box{
		Home: m.env.Home, Path: m.env.Path, Hidden: hidden, Writable: slices.Concat(homes, a.Writable),
		Readable: []string{m.agentsHome(), filepath.Join(m.dirs.MirrorDir(repo), "objects")},
	}
	b.Config, _ = m.env.Lookup("XDG_CONFIG_HOME")
	for _, name := range []string{"TMPDIR", "TMP", "TEMP"} {
		if dir, ok := m.env.Lookup(name); ok && filepath.IsAbs(dir) {
			b.Temp = append(b.Temp, dir)
		}
	}
	return b
}

func usedAgent(cfg *config.Config, name string) bool {
	if cfg.Runtime.Agent == name {
		return true
	}
	for _, r := range cfg.Repos {
		if slices.Contains(slices.Collect(maps.Values(r.Agents)), name) {
			return true
		}
	}
	return false
}

// protections say, for each agent that is used, what is in force on this
// machine.
func protections(ctx context.Context, cfg *config.Config) []protectionView {
	var f sandboxFinder
	env := config.Environ()
	var all []protectionView
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if !usedAgent(cfg, name) {
			continue
		}
		p, err := f.protection(ctx, cfg, env, cfg.Agents[name])
		v := protectionView{Agent: name, Found: true, Sandbox: string(p.Kind), Hides: p.Hides(), Says: p.String()}
		if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
			v.Says = "its turns are blocked: " + blocked.Reason
		}
		v.notFound(agent.Find(programOf(env, cfg.Agents[name])))
		all = append(all, v)
	}
	addVersions(ctx, env, cfg, all)
	return all
}

// programOf names an agent's program, and where it is looked for.
func programOf(env config.Env, a config.Agent) agent.Spec {
	return agent.Spec{Name: a.Name, Adapter: a.Adapter, Command: a.Command, Environ: env.Agent(append(agent.Variables(a.Adapter), a.EnvPass...))}
}

type protectionView struct {
	Agent   string `json:"agent"`
	Found   bool   `json:"found"` // its program
	Missing string `json:"missing,omitempty"`
	Sandbox string `json:"sandbox"`
	Hides   bool   `json:"hidesFiles"`
	Says    string `json:"says"`
	Version string `json:"version,omitempty"`     // of its program; empty where that does not say
	Drift   string `json:"versionNote,omitempty"` // it is too old, or nobody has tried it
}

// notFound notes why an agent's program cannot be started; nil: it can.
func (v *protectionView) notFound(err error) {
	if err != nil {
		v.Found, v.Missing = false, err.Error()
	}
}

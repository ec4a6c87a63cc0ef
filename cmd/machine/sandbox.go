package machine

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// sandboxFinder looks for the machine's sandbox once: that takes a moment.
type sandboxFinder struct {
	once sync.Once
	tool sandbox.Tool
	err  error
}

func (f *sandboxFinder) find(ctx context.Context, path string) (sandbox.Tool, error) {
	f.once.Do(func() { f.tool, f.err = sandbox.Find(ctx, path) })
	return f.tool, f.err
}

// wrapper puts a sandbox in front of a command.
type wrapper func(argv []string, j work.Job) ([]string, error)

// Protection returns the protection of an agent on this machine.
func (m *Machine) Protection(ctx context.Context, a config.Agent) (sandbox.Protection, error) {
	asked := m.cfg.Sandbox(a)
	own := sandbox.NoneOfItsOwn
	if a.Adapter == config.AdapterCodex {
		own = sandbox.HasItsOwn
	}
	if asked == work.SandboxNone || asked == work.SandboxAgent {
		return sandbox.Choose(asked, own, sandbox.Tool{}, nil)
	}
	tool, err := m.sandbox.find(ctx, hostPath(m.cfg, m.env))
	if ctx.Err() != nil {
		return sandbox.Protection{}, ctx.Err()
	}
	return sandbox.Choose(asked, own, tool, err)
}

// protect returns an agent's protection and, if it hides files, its wrapper.
func (m *Machine) protect(ctx context.Context, repo work.Repo, a config.Agent) (sandbox.Protection, wrapper, error) {
	p, err := m.Protection(ctx, a)
	if err != nil || !p.Hides() {
		return p, nil, err
	}
	b := m.box(repo, a)
	return p, func(argv []string, j work.Job) ([]string, error) { return m.sandbox.tool.Wrap(b, argv, j) }, nil
}

// warning tells what an agent without a sandbox can do, with the remedy; "" if it has one.
func warning(name string, asked work.Sandbox, p sandbox.Protection) string {
	how := sandbox.Remedy() + `, or set sandbox = "required" so that nothing starts without one`
	switch {
	case p.Hides():
		return ""
	case asked == work.SandboxNone, asked == work.SandboxAgent:
		how = `set sandbox = "auto" or "required" in the config`
	}
	return fmt.Sprintf("agent %q runs with %s; %s", name, p, how)
}

// remedy tells how an agent gets a sandbox that hides files.
func remedy(asked work.Sandbox) string {
	if asked == work.SandboxNone || asked == work.SandboxAgent {
		return `set sandbox = "auto" in the config`
	}
	return sandbox.Remedy()
}

// agentsHome holds the configurations that we write for agents.
func (m *Machine) agentsHome() string {
	return filepath.Join(cmp.Or(m.scratch, m.dirs.State), "agents")
}

// environOf returns the part of our environment that an agent sees.
func (m *Machine) environOf(a config.Agent) []string {
	return agent.WithNeighbours(programOf(m.env, a))
}

// box returns what an agent can see of this machine.
func (m *Machine) box(repo work.Repo, a config.Agent) sandbox.Box {
	environ := m.environOf(a)
	b := sandbox.Box{
		Agent: a.Name, Home: m.env.Home, Path: agent.PathOf(environ), Temp: m.folders("TMPDIR", "TMP", "TEMP"),
		Trusted: trusted(environ), Programs: absolutePaths(a.Command), Homes: adapters[a.Adapter].Homes(environ),
		Readable: slices.Concat(m.cfg.Runtime.Readable, a.Readable), Writable: a.Writable,
		Kept: append(m.env.Kept(), m.dirs.State), Hidden: m.hidden(a),
		Ours: []string{m.agentsHome(), filepath.Join(m.dirs.MirrorDir(repo), "objects")}, Items: m.dirs.HomesDir(repo),
		MaxHome: m.cfg.Runtime.MaxDisk / 2, // leaves a run room in its home
	}
	if m.scratch != "" {
		b.Items, b.Own = "", filepath.Join(m.scratch, "box")
	}
	return b
}

// hidden lists folders that may lie inside visible system folders but that an agent must not see:
// homes of other agents hold their logins.
func (m *Machine) hidden(a config.Agent) []string {
	all := m.folders("GNUPGHOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME")
	for _, other := range slices.Sorted(maps.Keys(adapters)) {
		if other != a.Adapter {
			all = append(all, adapters[other].Homes(m.env.All())...)
		}
	}
	return all
}

// folders returns the folders that these variables name.
func (m *Machine) folders(names ...string) []string {
	var all []string
	for _, name := range names {
		if dir, ok := m.env.Lookup(name); ok {
			all = append(all, dir)
		}
	}
	return absolutePaths(all)
}

func absolutePaths(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(p string) bool { return !filepath.IsAbs(p) })
}

// trustVariables name files and folders of certificates.
var trustVariables = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "CODEX_CA_CERTIFICATE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "AWS_CA_BUNDLE",
}

// trusted returns the certificate paths that an agent's environment names.
func trusted(environ []string) []string {
	var all []string
	for _, v := range environ {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(trustVariables, name) {
			all = append(all, filepath.SplitList(value)...)
		}
	}
	return absolutePaths(all)
}

// programOf names an agent's program and where to find it.
func programOf(env environ.Env, a config.Agent) agent.Spec {
	return agent.Spec{Name: a.Name, Adapter: adapters[a.Adapter], Command: a.Command, Environ: ofAgent(env, a)}
}

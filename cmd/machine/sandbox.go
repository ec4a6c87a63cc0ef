package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
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
type wrapper func(argv []string, j work.Job) (line, writable []string, err error)

// Protection returns the protection of an agent on this machine.
func (m *Machine) Protection(ctx context.Context, a config.Agent) (sandbox.Protection, error) {
	asked := m.cfg.Runtime.Sandbox
	own := sandbox.NoneOfItsOwn
	switch a.Adapter {
	case config.AdapterCodex:
		own = sandbox.HasItsOwn
	case config.AdapterACP:
		own = sandbox.NeedsOne
	}
	if asked == work.SandboxNone || asked == work.SandboxAgent {
		return sandbox.Choose(asked, own, sandbox.Tool{}, nil)
	}
	tool, err := m.sandbox.find(ctx, m.path())
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
	return p, func(argv []string, j work.Job) ([]string, []string, error) { return m.sandbox.tool.Wrap(b, argv, j) }, nil
}

// ofDemo reports whether an agent is the demo's. Its rules and its log lie where a sandbox would hide them.
func ofDemo(a config.Agent) bool { return slices.Contains(a.Command, "demo-agent") }

// remedy tells how an agent gets a sandbox that hides files.
func remedy(a config.Agent, asked work.Sandbox) string {
	if ofDemo(a) {
		return "leave it so: the demo's agent works without a sandbox"
	}
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

// tasksOfProcess is how many tasks, itself and its further threads, a process of a run may have on
// average. Processes are counted each second; the kernel bounds tasks at once.
const tasksOfProcess = 4

// box returns what an agent can see of this machine.
func (m *Machine) box(repo work.Repo, a config.Agent) sandbox.Box {
	environ := m.environOf(a)
	b := sandbox.Box{
		Agent: a.Name, Home: m.env.Home, Path: agent.PathOf(environ), Temp: m.folders("TMPDIR", "TMP", "TEMP"),
		Trusted: trusted(environ), Programs: absolutePaths(a.Command), Homes: adapterOf(a).Homes(environ), Settings: adapterOf(a).Reads(environ),
		Readable: m.cfg.Runtime.Readable, Writable: a.Writable,
		Kept: append(m.env.Kept(), m.dirs.State), Hidden: m.hidden(a),
		Ours: []string{m.agentsHome(), filepath.Join(m.dirs.MirrorDir(repo), "objects")}, Items: m.dirs.HomesDir(repo),
		MaxHome:  m.cfg.Runtime.MaxDisk / 2, // so that a run may still add to its home within max_disk
		MaxTasks: tasksOfProcess * m.cfg.Runtime.MaxProcesses,
	}
	if r, known := m.cfg.Repo(repo.Name); known && len(r.Setup) > 0 {
		b.SetUp = m.dirs.SetupCheckout(repo).Dir
	}
	if tool := answerTool(); tool != nil && adapterOf(a).Tool != nil {
		b.Ours = append(b.Ours, tool[0])
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
	of := func(adapter agent.Adapter, environ []string) []string {
		return append(adapter.Homes(environ), adapter.Reads(environ)...)
	}
	own := of(adapterOf(a), ofAgent(m.env, a))
	for _, other := range knownAdapters() {
		for _, path := range of(other, m.env.All()) {
			if !slices.Contains(own, path) && !slices.Contains(all, path) {
				all = append(all, path)
			}
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

// Advice is the remedy for a protection that hides nothing.
func (m *Machine) Advice(p sandbox.Protection, a config.Agent) string {
	if p.Hides() {
		return ""
	}
	return "; " + remedy(a, m.cfg.Runtime.Sandbox)
}

// VisibleEntries lists what an agent's turn can see in a checkout of the repository.
func (m *Machine) VisibleEntries(p sandbox.Protection, repo work.Repo, a config.Agent) []sandbox.Entry {
	program := programOf(m.env, a)
	path := a.Adapter
	if found, err := agent.Program(program); err == nil {
		path = found
	}
	job := work.Job{Dir: filepath.Join(m.dirs.CheckoutParent(repo), "worker-0"), For: work.RunsAgent}
	if adapterOf(a).Tool != nil {
		job.Answer = agent.AnswerFolder(job.Dir)
	}
	return slices.DeleteFunc(m.box(repo, a).Plan(p.Kind, path, job), sandbox.Entry.Alias)
}

// Trial is a command to run like an agent's own program.
type Trial struct {
	Agent   config.Agent
	Repo    work.Repo
	Command []string
	Dir     string // empty: a temporary empty folder
	Streams proc.Streams
}

// Try runs a command in an agent's sandbox and returns its exit code. It writes nothing to the
// state.
func (m *Machine) Try(ctx context.Context, t Trial) (code int, err error) {
	if m.scratch, err = os.MkdirTemp("", "mergexo-sandbox-"); err != nil {
		return 0, fmt.Errorf("make a folder for the sandbox: %w", err)
	}
	m.scratch = files.Resolve(m.scratch) // TMPDIR may lead through a link
	defer func() { err = errors.Join(err, sandbox.Remove(m.scratch)) }()
	dir, err := m.workFolder(t.Dir)
	if err != nil {
		return 0, err
	}
	spec := m.spec(t.Agent)
	protection, wrap, err := m.protect(ctx, t.Repo, t.Agent)
	switch {
	case err != nil:
		return 0, err
	case !protection.Hides():
		return 0, fmt.Errorf("nothing was run: agent %q has %s; %s", t.Agent.Name, protection, remedy(t.Agent, m.cfg.Runtime.Sandbox))
	}
	if err := agent.Find(spec); err != nil { // before the sandbox makes its home folder
		return 0, fmt.Errorf("nothing was run: %w", err)
	}
	spec.Wrap = wrap
	program, err := findIn(m.env, dir, t.Command[0])
	if err != nil {
		return 0, err
	}
	line, env, err := spec.Line(agent.Request{Turn: "sandbox-run", Dir: dir}, append([]string{program}, t.Command[1:]...))
	if err != nil {
		return 0, err
	}
	return proc.Attach(ctx, proc.Cmd{Path: line[0], Args: line[1:], Dir: dir, Env: env, OwnKeyring: true}, t.Streams)
}

// FolderError is why no command may write to a folder.
type FolderError struct{ Dir, Why string }

func (e *FolderError) Error() string {
	return fmt.Sprintf("%s: it %s, which no command in a sandbox may write to; name a smaller folder", e.Dir, e.Why)
}

// workFolder returns the folder in which a command works and writes: never one that holds the home,
// the state or gh's login.
func (m *Machine) workFolder(dir string) (string, error) {
	if dir == "" {
		dir = filepath.Join(m.scratch, "checkout")
		return dir, os.Mkdir(dir, 0o700)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("find the folder %q: %w", dir, err)
	}
	if why := m.cfg.TooMuch(m.env, abs); why != "" {
		return "", &FolderError{Dir: dir, Why: why}
	}
	return abs, nil
}

// findIn finds a command as a shell in the folder would.
func findIn(env environ.Env, dir, name string) (string, error) {
	if strings.ContainsRune(name, '/') && !filepath.IsAbs(name) {
		return filepath.Join(dir, name), nil
	}
	path, err := proc.LookPath(name, env.Path)
	if err != nil {
		return "", fmt.Errorf("%q is not on PATH: %w", name, err)
	}
	return path, nil
}

// Package machine is this machine as the config describes it: the state folder, git, the agents,
// their sandboxes, and GitHub's clients. It connects a pass to them, and reports what is missing.
package machine

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Options configure a machine.
type Options struct {
	Config  *config.Config    // required
	Env     environ.Env       // required
	Secrets *secrets.Redactor // required, like Now, for a pass and for running an agent
	Now     func() time.Time

	Strict bool // for tests: see store.Options.ClaimedOnly
	Twice  bool // for tests: see store.Options.RunTwice
	Shared bool // the state database counts as one that other machines have, too, for tests
}

// Open checks the state folder, which decides what is pushed and which programs run: a folder that
// others could change is an error.
func Open(opt Options) (*Machine, error) {
	if err := GuardState(opt.Config.Runtime.StateDir); err != nil {
		return nil, err
	}
	return New(opt), nil
}

// New is Open without the check of the state folder, for callers that do not use it.
func New(opt Options) *Machine {
	return &Machine{
		cfg: opt.Config, env: opt.Env.Hide(opt.Config.Runtime.Hidden()), secrets: cmp.Or(opt.Secrets, &secrets.Redactor{}), now: opt.Now, strict: opt.Strict, twice: opt.Twice, shared: opt.Shared,
		dirs: folder.At(opt.Config.Runtime.StateDir), clients: map[string]*github.Client{}, accounts: accounts{tokens: map[login]tokenOrError{}, clients: map[login]*github.Client{}},
	}
}

// Machine is this machine as a pass uses it: git, agents, GitHub, the state folder. Git is opened
// when a turn needs it: an idle pass starts no program.
type Machine struct {
	cfg      *config.Config
	env      environ.Env
	secrets  *secrets.Redactor
	dirs     folder.Dirs
	now      func() time.Time
	clients  map[string]*github.Client
	readOnly bool            // the clients write nothing
	strict   bool            // see Options
	twice    bool            // see Options
	shared   bool            // the database, for tests
	newLog   bool            // the pass made the log of its day
	tally    transport.Tally // counts the clients' requests

	accounts accounts

	opened sync.Once
	git    *git.Git
	noGit  error

	tried sync.Once
	err   error

	found  sync.Once
	onPath string // hostPath, found once: git, gh and the sandbox's program come from the same folders

	sandbox sandboxFinder
	scratch string // holds files written outside the state folder; empty: none
}

// preflight checks, before a turn is claimed, that the programs it needs exist and that the state
// folder can be written.
func (m *Machine) preflight(ctx context.Context) error {
	m.tried.Do(func() {
		if _, m.err = m.Git(ctx); m.err == nil {
			m.err = m.tryMachine()
		}
	})
	return m.err
}

// Git opens git, once.
func (m *Machine) Git(ctx context.Context) (*git.Git, error) {
	m.opened.Do(func() {
		gh, _ := proc.LookPath("gh", m.path()) // empty: there is none
		m.git, m.noGit = git.Open(ctx, git.Options{Env: m.hostGit(), GhPath: gh, Token: func(ctx context.Context, host string) string {
			token, _ := m.Token(ctx, host) // a host without one is skipped before git is asked
			return token
		}})
	})
	return m.git, m.noGit
}

// Agent finds an agent. If its program is missing, the error is one line with the remedy.
func (m *Machine) Agent(ctx context.Context, repo work.Repo, name string) (env.Hired, error) {
	a, ok := m.cfg.Agents[name]
	if !ok {
		return env.Hired{Name: name}, fmt.Errorf("the config has no agent %q", name)
	}
	spec := m.spec(a)
	hired := env.Hired{Name: a.Name, Setup: agent.SetupOf(spec)}
	if err := agent.Find(spec); err != nil {
		return hired, err
	}
	protection, wrap, err := m.protect(ctx, repo, a)
	if err != nil {
		return hired, err
	}
	if wrap != nil {
		spec.Rooms = m.box(repo, a)
	}
	if !protection.Hides() {
		hired.Remedy = remedy(a, m.cfg.Runtime.Sandbox)
		hired.Warning = fmt.Sprintf(`agent %q runs with %s; %s`, a.Name, protection, hired.Remedy)
		if !ofDemo(a) {
			hired.Warning += `, or set sandbox = "required" so that nothing starts without one`
		}
	}
	spec.Wrap, hired.Sandbox = wrap, protection.Kind
	hired.Agent, err = agent.New(spec)
	return hired, err
}

// Used reads the usage of a run that ended with its pass.
func (m *Machine) Used(run work.Run, counted work.Usage, began time.Time) (agent.Used, bool) {
	a, ok := m.cfg.Agents[run.Agent]
	if !ok || run.Session == "" {
		return agent.Used{}, false
	}
	return agent.Recorded(m.spec(a), agent.Request{Session: run.Session, Counted: counted}, began)
}

func (m *Machine) spec(a config.Agent) agent.Spec {
	return agent.Spec{
		Name: a.Name, Adapter: adapterOf(a), Command: a.Command, Model: a.Model, Effort: a.Effort, Args: a.Args, Writable: a.Writable, Prices: a.Prices,
		Environ: m.environOf(a), Plain: m.env.Agent(nil), Home: m.agentsHome(), Redact: m.redactorFor(a.EnvPass), Now: m.now,
		MaxMemory: m.cfg.Runtime.MaxMemory, MaxProcesses: m.cfg.Runtime.MaxProcesses, MaxDisk: m.cfg.Runtime.MaxDisk, Tool: answerTool(),
	}
}

// answerTool returns the command that serves the tool for an agent's answer: this program. If it
// cannot be found, agents answer in their last message.
func answerTool() []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return []string{self, "answer-tool"}
}

// redactorFor removes secrets from an agent's output: known patterns, and the values that env_pass
// gives it.
func (m *Machine) redactorFor(pass []string) func(string) string {
	var pairs []string
	for _, name := range pass {
		if value, _ := m.env.Lookup(name); len(value) >= shortestSecret {
			pairs = append(pairs, value, "["+name+"]")
		}
	}
	mask := strings.NewReplacer(pairs...)
	return func(s string) string { return m.secrets.Redact(mask.Replace(s)) }
}

// shortestSecret keeps "1" and "true" readable.
const shortestSecret = 6

// EndMarked ends processes that the agent of a killed pass left running: those with its mark in their
// environment, and all in its sandbox.
func (m *Machine) EndMarked(ctx context.Context, mark string) (int, error) {
	ended, err := proc.EndMarked(ctx, mark)
	parents, _ := filepath.Glob(m.dirs.CheckoutParents()) // only a bad pattern is an error
	return ended + sandbox.EndLeft(ctx, parents, mark), err
}

// Inside reports whether a process works in a folder.
func (m *Machine) Inside(ctx context.Context, dir string) (bool, error) { return proc.Inside(ctx, dir) }

// hostPath is PATH for programs that we run outside every sandbox, such as git and bwrap. It omits
// folders that an agent can write to, where it could have put a program of the same name.
func hostPath(cfg *config.Config, env environ.Env) string {
	written := []string{cfg.Runtime.StateDir}
	for _, a := range cfg.Agents {
		written = slices.Concat(written, a.Writable, homes(env, a))
	}
	written = slices.DeleteFunc(written, func(w string) bool { return w == "" })
	for _, w := range written {
		written = append(written, files.Resolve(w))
	}
	slices.Sort(written)
	written = slices.Compact(written)
	trusted := slices.DeleteFunc(filepath.SplitList(env.Path), func(dir string) bool {
		at := files.Resolve(dir)
		return slices.ContainsFunc(written, func(w string) bool { return within(dir, w) || within(at, w) })
	})
	return strings.Join(trusted, string(filepath.ListSeparator))
}

func (m *Machine) path() string {
	m.found.Do(func() { m.onPath = hostPath(m.cfg, m.env) })
	return m.onPath
}

// hostGit is git's environment with the same PATH: git starts programs, too.
func (m *Machine) hostGit() []string {
	return append(slices.DeleteFunc(m.env.Git(), func(v string) bool { return isPath(v) || hasToken(v) }), "PATH="+m.path())
}

// isPath reports whether a NAME=value sets PATH.
func isPath(v string) bool {
	name, _, _ := strings.Cut(v, "=")
	return strings.EqualFold(name, "PATH")
}

func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

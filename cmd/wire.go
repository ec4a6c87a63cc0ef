package cmd

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick"
)

// newPass connects a pass to the real things. done releases them.
func (a *app) newPass(ctx context.Context, cfg *config.Config, opt *tickOptions) (pass *tick.Pass, done func() error, err error) {
	pass, _, done, err = a.wire(ctx, cfg, opt)
	return pass, done, err
}

// wire makes the machine and a pass on it.
func (a *app) wire(ctx context.Context, cfg *config.Config, opt *tickOptions) (pass *tick.Pass, m *machine, done func() error, err error) {
	if err := guardState(cfg.Runtime.StateDir); err != nil {
		return nil, nil, nil, err
	}
	only, err := opt.only(cfg)
	if err != nil {
		return nil, nil, nil, err
	}
	pack, err := prompts.Load(cfg.Runtime.PromptsDir)
	if err != nil {
		return nil, nil, nil, err
	}
	m = &machine{cfg: cfg, env: config.Environ(), secrets: a.secrets(), dirs: tick.Dirs{State: cfg.Runtime.StateDir}, now: a.now, clients: map[string]*github.Client{}}
	log, closeLog, err := m.openLog(a, opt.dryRun)
	if err != nil {
		return nil, nil, nil, err
	}
	remotes, err := m.remotes(log, a.now)
	if err != nil {
		return nil, nil, nil, errors.Join(err, closeLog())
	}
	pass = &tick.Pass{
		Env: &tick.Env{
			Config: cfg, Dirs: m.dirs, Remotes: remotes, Agents: m, Orphans: m, Now: a.now, Log: log, Prompts: pack, Secrets: m.secrets,
			Only: only, Preflight: m.preflight, Host: func(name string) tick.GitHub { return m.otherHost(name, log) },
		},
		Wait: opt.wait, MaxTurns: opt.maxTurns,
		OpenStore: func(ctx context.Context) (*store.DB, error) { return m.openStore(ctx, a.now) },
	}
	done = closeLog
	if opt.dryRun {
		done, err = m.throwAway(ctx, pass, a.now)
	} else if out := newOutput(a.env); out.tty && !opt.json.asked() {
		pass.Progress = a.progress()
	}
	if err != nil {
		return nil, nil, nil, err
	}
	return pass, m, done, nil
}

// machine is this machine as a pass uses it: git, agents, GitHub, the state
// folder. Git is opened when a turn needs it: an idle pass starts no program.
type machine struct {
	cfg     *config.Config
	env     config.Env
	secrets *secrets.Redactor
	dirs    tick.Dirs
	now     func() time.Time
	clients map[string]*github.Client

	once sync.Once
	git  *git.Git
	err  error

	sandbox sandboxFinder
	scratch string // holds what is written beside the state; empty: nothing is
}

func (m *machine) openStore(ctx context.Context, now func() time.Time) (*store.DB, error) {
	if err := writable(m.dirs.State); err != nil {
		return nil, err
	}
	return store.Open(ctx, filepath.Join(m.dirs.State, "state.db"), store.Options{Now: now, Redact: m.secrets.Redact})
}

// writable makes a folder, and says what to do when that cannot be.
func writable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the state folder cannot be made: %w; set runtime.state_dir in the config to a folder that you may write to", err)
	}
	return nil
}

// throwAway gives a dry run a copy of the database in a folder of its own.
func (m *machine) throwAway(ctx context.Context, pass *tick.Pass, now func() time.Time) (func() error, error) {
	dir, err := os.MkdirTemp("", "mergexo-dry-run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the dry run: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	db, err := m.copyStore(ctx, filepath.Join(dir, "state.db"), now)
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	pass.Store = db
	return func() error { return errors.Join(db.Close(), remove()) }, nil
}

func (m *machine) copyStore(ctx context.Context, to string, now func() time.Time) (*store.DB, error) {
	db, ok, err := store.OpenReadOnly(ctx, filepath.Join(m.dirs.State, "state.db"))
	if err != nil {
		return nil, err
	}
	if ok {
		err := errors.Join(db.Snapshot(ctx, to), db.Close())
		if err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, to, store.Options{Now: now})
}

// remotes connects every configured repository. All of a host share a client.
func (m *machine) remotes(log *slog.Logger, now func() time.Time) ([]tick.Remote, error) {
	var all []tick.Remote
	var out []error // hosts without a login
	for _, r := range m.cfg.Repos {
		client, ok := m.clients[r.Name.Host]
		if !ok {
			var err error
			token := github.Token(r.Name.Host)
			m.secrets.Add(token, "gh's token")
			client, err = github.New(github.Options{Host: r.Name.Host, Token: token, Now: now, Log: log})
			if notLoggedIn(err) { // that is for its own repositories to say
				client, err = github.LoggedOut(r.Name.Host, now), nil
				out = append(out, &github.NotLoggedInError{Host: r.Name.Host})
			}
			if err != nil {
				return nil, err
			}
			m.clients[r.Name.Host] = client
		}
		all = append(all, tick.Remote{
			Name: r.Name, Settings: r, GitHub: client,
			Mirror: func(repo work.Repo) tick.Mirror { return m.mirror(r, repo) },
		})
	}
	if len(out) > 0 && len(out) == len(m.clients) {
		return nil, out[0]
	}
	return all, nil
}

// otherHost is the client of a host that the config does not name; nil without a login.
func (m *machine) otherHost(name string, log *slog.Logger) tick.GitHub {
	token := github.Token(name)
	m.secrets.Add(token, "gh's token")
	client, err := github.New(github.Options{Host: name, Token: token, Now: m.now, Log: log})
	if err != nil {
		return nil
	}
	return client
}

func (m *machine) mirror(r config.Repo, repo work.Repo) tick.Mirror {
	return m.git.Mirror(m.dirs.MirrorDir(repo), m.remoteURL(r, repo), m.dirs.RepoLock(repo)).Speaking(voice(r.Voice))
}

// voice is whom a repository's commits are by.
func voice(v config.Voice) git.Voice {
	who := func(p config.Person) git.Identity { return git.Identity{Name: p.Name, Email: p.Mail} }
	return git.Voice{Author: who(v.Author), Committer: who(v.Committer), SignOff: v.SignOff, Signer: who(v.Signer)}
}

func (m *machine) remoteURL(r config.Repo, repo work.Repo) string {
	if r.RemoteURL != "" {
		return r.RemoteURL
	}
	return github.RemoteURL(repo.Current)
}

// preflight finds out, before a turn is claimed, whether the programs that it
// needs are there.
func (m *machine) preflight(ctx context.Context) error {
	m.once.Do(func() { m.err = m.openPrograms(ctx) })
	return m.err
}

func (m *machine) openPrograms(ctx context.Context) error {
	gh, err := proc.LookPath("gh", hostPath(m.cfg, m.env))
	if err != nil {
		gh = ""
	}
	m.git, err = git.Open(ctx, git.Options{Env: m.hostGit(), Identity: git.Identity{Name: "gh mergexo", Email: "noreply@mergexo.invalid"}, GhPath: gh})
	if errors.Is(err, proc.ErrNotFound) {
		return errors.New("git is not to be found on PATH; install git 2.38 or later")
	}
	return err
}

// Agent finds the agent for a kind of turn. One whose program is missing is an
// error, in one line that says how to get it.
func (m *machine) Agent(ctx context.Context, repo work.Repo, kind work.Kind) (tick.Hired, error) {
	a, ok := m.cfg.Agent(repo.Name, kind)
	if !ok {
		return tick.Hired{}, fmt.Errorf("no agent is configured for %s", kind)
	}
	spec := m.spec(a)
	hired := tick.Hired{Name: a.Name}
	if err := agent.Find(spec); err != nil {
		return hired, err
	}
	protection, wrap, err := m.protect(ctx, repo, a)
	if err != nil {
		return hired, err
	}
	if wrap != nil { // there the home is a private one
		spec.Writable = append(sandbox.Caches(m.env.Home), spec.Writable...)
		spec.Rooms = m.box(repo, a)
	}
	spec.Wrap, hired.Sandbox, hired.Warning = wrap, protection.Kind, warning(a.Name, m.cfg.Sandbox(a), protection)
	hired.Agent, err = agent.New(spec)
	return hired, err
}

// Used reads what a run has used that ended with its pass.
func (m *machine) Used(run work.Run, counted work.Usage, began time.Time) (agent.Used, bool) {
	a, ok := m.cfg.Agents[run.Agent]
	if !ok || run.Session == "" {
		return agent.Used{}, false
	}
	return agent.Recorded(m.spec(a), agent.Request{Session: run.Session, Counted: counted}, began)
}

func (m *machine) spec(a config.Agent) agent.Spec {
	return agent.Spec{
		Name: a.Name, Adapter: adapters[a.Adapter], Command: a.Command, Model: a.Model, Effort: a.Effort, Args: a.Args, Writable: a.Writable, Prices: a.Prices,
		Environ: m.environOf(a), Plain: m.env.Agent(nil), Home: m.agentsHome(), Redact: m.masking(a.EnvPass), Now: m.now,
		MaxMemory: m.cfg.Runtime.MaxMemory, MaxDisk: m.cfg.Runtime.MaxDisk,
	}
}

// masking takes secrets out of what an agent prints: known shapes, and the
// values that env_pass gives it.
func (m *machine) masking(pass []string) func(string) string {
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

// EndMarked ends what a dead pass's agent left running.
func (m *machine) EndMarked(ctx context.Context, mark string) (int, error) {
	return proc.EndMarked(ctx, mark)
}

// Inside reports whether somebody works in a folder.
func (m *machine) Inside(ctx context.Context, dir string) (bool, error) { return proc.Inside(ctx, dir) }

// detach starts the same pass in a session of its own: schedulers that skip a
// firing while their job runs must not wait for a long turn.
func (a *app) detach(ctx context.Context, cfg *config.Config, opt *tickOptions) error {
	env := config.Environ()
	if err := guardState(cfg.Runtime.StateDir); err != nil {
		return err
	}
	if err := writable(filepath.Join(cfg.Runtime.StateDir, "logs")); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	args := []string{"tick", "--config", cfg.Path}
	if opt.repo != "" {
		args = append(args, "--repo", opt.repo)
	}
	if opt.maxTurns > 0 {
		args = append(args, "--max-turns", fmt.Sprint(opt.maxTurns))
	}
	if opt.wait > 0 {
		args = append(args, "--wait", opt.wait.String())
	}
	return proc.Detach(ctx, self, args, env.All(), cfg.Runtime.StateDir, filepath.Join(cfg.Runtime.StateDir, "logs", "detached.log"))
}

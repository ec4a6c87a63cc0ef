package machine

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/acp"
	"github.com/mergexo/gh-mergexo/internal/agent/claude"
	"github.com/mergexo/gh-mergexo/internal/agent/codex"
	"github.com/mergexo/gh-mergexo/internal/agent/command"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/conformance"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// adapterOf returns the adapter of an agent.
func adapterOf(a config.Agent) agent.Adapter {
	switch a.Adapter {
	case config.AdapterCodex:
		return codex.Adapter
	case config.AdapterClaude:
		return claude.Adapter
	case config.AdapterACP:
		return acp.Adapter(a.Command)
	case config.AdapterCommand:
		return command.Adapter
	}
	return agent.Adapter{}
}

// knownAdapters are those of every program that we know.
func knownAdapters() []agent.Adapter {
	all := []agent.Adapter{codex.Adapter, claude.Adapter}
	for _, p := range acp.Programs() {
		all = append(all, acp.Adapter(p.Command))
	}
	return all
}

// Logins returns the places where the programs that we know keep their logins and settings in this
// environment, as environ.Env.Secrets takes them.
func Logins(env environ.Env) []string {
	all := []string{".config/goose"} // a program that speaks the protocol, without a preset
	for _, a := range knownAdapters() {
		all = slices.Concat(all, a.InHome, a.Settings, a.Homes(env.All()))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ofAgent returns the part of our environment that an agent sees.
func ofAgent(env environ.Env, a config.Agent) []string {
	return env.Agent(append(adapterOf(a).Variables(), a.EnvPass...))
}

// homes returns the folders in which an agent's program keeps its login and sessions.
func homes(env environ.Env, a config.Agent) []string {
	return adapterOf(a).Homes(ofAgent(env, a))
}

// programOf names an agent's program and where to find it.
func programOf(env environ.Env, a config.Agent) agent.Spec {
	return agent.Spec{Name: a.Name, Adapter: adapterOf(a), Command: a.Command, Environ: ofAgent(env, a)}
}

// ProgramOf returns the program of an agent, as it is looked for.
func ProgramOf(a config.Agent) string { return programOf(environ.Env{}, a).CommandLine()[0] }

// Missing says that an agent's program is found neither in this environment nor on another PATH; nil: it is.
func Missing(env environ.Env, a config.Agent, path string) *Trouble {
	if _, err := proc.LookPath(ProgramOf(a), path); err == nil {
		return nil
	}
	if missing := agent.Missing(programOf(env, a)); missing != nil {
		return &Trouble{missing.Says, missing.Do}
	}
	return nil
}

// used returns the names of the agents that the config uses, their fallbacks included.
func used(cfg *config.Config) []string {
	names := named(cfg)
	for _, name := range slices.Clone(names) {
		if other, ok := cfg.FallbackOf(name); ok {
			names = append(names, other.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// named returns the names of the agents that the config names for a kind of turn or a reviewer.
func named(cfg *config.Config) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(cfg.Agents)), func(name string) bool {
		return cfg.Runtime.Agent != name && !slices.ContainsFunc(cfg.Repos, func(r config.Repo) bool {
			return r.Agent == name || r.ReviewAgent == name ||
				r.Review.Enabled && slices.ContainsFunc(r.Reviewers, func(x config.Reviewer) bool { return x.Agent == name })
		})
	})
}

// Agent is an agent on this machine: its program, and the protection around it.
type Agent struct {
	Name    string              // in the config
	Missing *agent.MissingError // nil: its program is there
	Path    string              // of its program
	Version string              // of its program; empty: that is not asked
	Broken  *Trouble            // its program does not start, or prints no version; nil: it does
	Drift   string              // it is too old, or nobody has tried it
	TooOld  bool
	Login   agent.Login
	Tells   string // what its program tells of a turn's usage; empty: nothing to report
	Any     bool   // any program, which may begin to work when it is started: only a turn starts it
	NoCost  bool   // its program reports no cost, and the config has no prices

	Hides   bool   // your files are hidden from it
	Blocked bool   // its turns are blocked, for want of a sandbox
	Says    string // what surrounds it
	Remedy  string // how it gets a sandbox that hides files
}

// Agents examines agents on this machine; without names, those that the config uses. It asks their
// programs for their versions, in their sandboxes, and writes nothing to the state folder.
func (m *Machine) Agents(ctx context.Context, names ...string) []Agent {
	if len(names) == 0 {
		names = used(m.cfg)
	}
	all := make([]Agent, len(names))
	var each sync.WaitGroup
	for i, name := range names {
		each.Go(func() { all[i] = m.examine(ctx, m.cfg.Agents[name]) })
	}
	each.Wait()
	return all
}

func (m *Machine) examine(ctx context.Context, a config.Agent) Agent {
	p, err := m.Protection(ctx, a)
	g := Agent{
		Name: a.Name, Hides: p.Hides(), Says: p.String(), Blocked: err != nil, Remedy: remedy(a, m.cfg.Runtime.Sandbox),
		Any: a.Adapter == config.AdapterCommand, NoCost: adapterOf(a).NoCost && a.Prices == nil, Tells: tells(a),
	}
	if t := TroubleOf(err, ""); t != nil {
		g.Says = "its turns are blocked: " + t.Says
	}
	spec := programOf(m.env, a)
	if g.Missing = agent.Missing(spec); g.Missing == nil {
		g.Path, _ = agent.Program(spec) // it was found just now
		if g.Version, err = m.start(ctx, a, "", false); err == nil {
			g.Drift, g.TooOld = strings.TrimPrefix(agent.Drift(spec, g.Version), fmt.Sprintf("agent %q: ", a.Name)), agent.TooOld(spec, g.Version)
		} else if !g.Blocked {
			g.Broken = TroubleOf(err, fmt.Sprintf("gh mergexo doctor --sandbox %s lists what it sees; readable in [agents.%s] lets in more", g.Name, g.Name))
		}
	}
	spec.Args = a.Args
	g.Login = agent.LoginOf(spec)
	return g
}

// Start starts an agent's program and makes the check that stands before a turn, in a new folder in place.
func (m *Machine) Start(ctx context.Context, name, place string) error {
	_, err := m.start(ctx, m.cfg.Agents[name], place, true)
	return err
}

// PlaceToStart makes the folder of the checkouts, or returns an empty name without a state folder, or if it cannot
// be made. remove removes what was made, unless somebody has put anything there.
func (m *Machine) PlaceToStart() (place string, remove func()) {
	if !files.Exists(m.dirs.State) {
		return "", func() {}
	}
	place = m.dirs.CheckoutParent(m.someRepo())
	left, _ := filepath.Glob(filepath.Join(place, tryPrefix+"*")) // only a bad pattern is an error
	for _, dir := range left {
		if info, err := os.Lstat(dir); err == nil && time.Since(info.ModTime()) > longestLeft { //nolint:forbidigo // the file system's clock is this machine's
			_ = sandbox.Remove(dir) // of a command that was killed
		}
	}
	var made []string // inner ones first
	for d := place; !files.Exists(d); d = filepath.Dir(d) {
		made = append(made, d)
	}
	if os.MkdirAll(place, 0o700) != nil { // the check of the state folder tells
		place = ""
	}
	return place, func() {
		for _, dir := range made {
			_ = os.Remove(dir) // it fails where there is something
		}
	}
}

// someRepo returns the first repository of the config, to see what a sandbox lets in there.
func (m *Machine) someRepo() (repo work.Repo) {
	if len(m.cfg.Repos) > 0 {
		repo.Name = m.cfg.Repos[0].Name
	}
	return repo
}

// start starts an agent's program as a turn does, to print its version. If ready is set, it then makes
// the check that stands before a turn, with the same code, which may write to the agent's own home.
func (m *Machine) start(ctx context.Context, a config.Agent, place string, ready bool) (version string, err error) {
	spec, dir, leave, err := m.tryOut(ctx, a, place)
	if err != nil {
		return "", err
	}
	defer leave()
	if version, err = agent.Start(ctx, spec, dir); !ready || agent.TooOld(spec, version) {
		return version, err
	}
	ag, err := agent.New(spec) // its check decides, as before a turn
	if err == nil {
		err = ag.Check(ctx, agent.Request{Turn: "check", Mark: markOf(dir), Mode: work.ModeWrite, Dir: dir})
	}
	return version, err
}

// markOf marks the processes of an agent that is tried out in a folder.
func markOf(dir string) string { return "MERGEXO_CHECK=" + filepath.Dir(dir) }

// tryOut returns an agent as a turn has it, in its sandbox if that hides files, and a new checkout for it in
// place, or in a temporary folder. leave removes all that its runs left.
func (m *Machine) tryOut(ctx context.Context, a config.Agent, place string) (spec agent.Spec, dir string, leave func(), err error) {
	own := &Machine{cfg: m.cfg, env: m.env, dirs: m.dirs, secrets: m.secrets, now: m.now}
	if own.now == nil {
		own.now = func() time.Time { return time.Time{} } // a check has no use for it
	}
	if own.scratch, err = os.MkdirTemp(place, tryPrefix); err != nil {
		return spec, "", nil, err
	}
	own.scratch = files.Resolve(own.scratch)
	leave = func() { _ = sandbox.Remove(own.scratch) }
	dir = filepath.Join(own.scratch, "checkout")
	if err := os.Mkdir(dir, 0o700); err != nil {
		leave()
		return spec, "", nil, err
	}
	spec = own.spec(a)
	if p, err := m.Protection(ctx, a); err == nil && p.Hides() {
		b := own.box(m.someRepo(), a)
		spec.Rooms = b
		spec.Wrap = func(argv []string, j work.Job) ([]string, []string, error) { return m.sandbox.tool.Wrap(b, argv, j) }
		leave = func() {
			b.Leave(work.Job{Dir: dir})
			_ = sandbox.Remove(own.scratch)
		}
	}
	return spec, dir, leave, nil
}

// Play plays what turns need of an agent, in a new repository in place. Its runs are paid. told is called before
// each step.
func (m *Machine) Play(ctx context.Context, a config.Agent, place string, log io.Writer, told func(step string)) (all []conformance.Outcome, used work.Usage, err error) {
	if _, err := m.Protection(ctx, a); err != nil { // its turns are blocked
		return nil, used, err
	}
	spec, dir, leave, err := m.tryOut(ctx, a, place)
	if err != nil {
		return nil, used, err
	}
	defer leave()
	if err := agent.Find(spec); err != nil {
		return nil, used, err
	}
	g, err := m.Git(ctx)
	if err == nil {
		err = g.Init(ctx, dir)
	}
	if err != nil {
		return nil, used, err
	}
	ag, err := agent.New(spec)
	if err != nil {
		return nil, used, err
	}
	form, err := prompts.AnswerForm(spec.Adapter.Name)
	if err != nil {
		return nil, used, err
	}
	_, offered := spec.Server(agent.Request{Dir: dir, Mode: work.ModeWrite, Kind: work.KindBugfixStart})
	t := conformance.Trial{Name: a.Name, Agent: ag, Form: form, Tool: offered, Dir: dir, Mark: markOf(dir), Wall: longestTry, Log: log}
	all = conformance.Play(ctx, &t, told)
	return all, t.Used, nil
}

// tryPrefix begins the names of the folders in which agents are tried, and longestLeft is after how long one is
// certainly left by a command that was killed.
const (
	tryPrefix   = "start-"
	longestLeft = 24 * time.Hour
)

// longestTry is how long one run of Play may take, waits for a busy provider included.
const longestTry = 5 * time.Minute

// Writes lists what an agent may write besides its checkout and its own home.
func (m *Machine) Writes(ctx context.Context, name string) (all []string) {
	a, repo := m.cfg.Agents[name], m.someRepo()
	p, _ := m.Protection(ctx, a) // an agent without one is no matter of this
	for _, e := range m.VisibleEntries(p, repo, a) {
		if e.How == sandbox.Write && filepath.Dir(e.Path) != m.dirs.CheckoutParent(repo) {
			all = append(all, e.Path)
		}
	}
	return all
}

// Keeps returns why an agent cannot write the folders with its login and sessions; nil: it can. A
// missing one is made by its first turn.
func (m *Machine) Keeps(name string) *Trouble {
	for _, path := range homes(m.env, m.cfg.Agents[name]) {
		there := existing(path)
		if there != path && filepath.Ext(path) == ".json" { // a file beside a folder; the program makes it if it needs one
			continue
		}
		if err := mayWrite(there); err != nil {
			return TroubleOf(fmt.Errorf("it cannot write %s: %w", path, err), work.LetUse(there))
		}
	}
	return nil
}

// Installed returns the first agent of a config whose program is installed, or else the config's
// default agent.
func Installed(cfg *config.Config, env environ.Env) string {
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if agent.Find(programOf(env, cfg.Agents[name])) == nil {
			return name
		}
	}
	return cfg.Runtime.Agent
}

// Doubts returns what the config names for the used agents but this machine lacks, and the
// reviewers whose verdicts GitHub does not accept.
func Doubts(cfg *config.Config, env environ.Env) []string {
	return append(SettingDoubts(cfg, env), testDoubts(cfg, env)...)
}

// SettingDoubts returns Doubts without the programs of required tests, for which doctor has a check.
func SettingDoubts(cfg *config.Config, env environ.Env) []string {
	all := append(config.AuthorDoubts(cfg, func(host string) string { return cmp.Or(cfg.AccountOn(host), github.LoggedIn(host)) }), cfg.NotifyDoubts(env)...)
	for _, n := range cfg.Notify {
		if _, err := proc.LookPath(n.Command[0], hostPath(cfg, env)); err != nil {
			all = append(all, fmt.Sprintf("the program %q of [[notify]] %s was not found, so no message arrives; correct its command", n.Command[0], n.Name))
		}
	}
	for _, name := range used(cfg) {
		for _, d := range cfg.Doubts(env, cfg.Agents[name]) {
			if !slices.Contains(all, d) {
				all = append(all, d)
			}
		}
	}
	return all
}

// testDoubts returns the programs of required tests that the agents of their repositories do not find.
func testDoubts(cfg *config.Config, env environ.Env) (all []string) {
	for _, c := range New(Options{Config: cfg, Env: env}).MissingCommands() {
		if c.Needed {
			all = append(all, fmt.Sprintf("%s of %s: agent %q does not find %q; install it, or name its absolute path", c.Key, c.Repo, c.Agent, c.Program))
		}
	}
	return all
}

// Command is the program of a command in a repository's config that its agent does not find.
type Command struct {
	Repo    string // as in the config
	Key     string // of the config: required_tests, setup
	Agent   string // whose runs look for it
	Program string
	Needed  bool // turns stop without it
}

// MissingCommands looks for the programs of the repositories' commands as their agents' runs do. Those
// in the checkout are left out.
func (m *Machine) MissingCommands() (all []Command) {
	for _, r := range m.cfg.Repos {
		a, _ := m.cfg.AgentFor(r.Name, work.KindBugfixStart, "")
		for _, c := range []struct {
			key    string
			argv   []string
			needed bool
		}{{"required_tests", r.RequiredTests, true}, {"setup", r.Setup, false}} {
			if len(c.argv) == 0 || strings.ContainsAny(c.argv[0], `/\\`) && !filepath.IsAbs(c.argv[0]) {
				continue
			}
			if _, err := proc.LookPath(c.argv[0], agent.PathOf(m.environOf(a))); err != nil {
				all = append(all, Command{m.cfg.Called(r.Name), c.key, a.Name, c.argv[0], c.needed})
			}
		}
	}
	return all
}

// DoubtsOf are the doubts about one agent.
func (m *Machine) DoubtsOf(a config.Agent) []string { return m.cfg.Doubts(m.env, a) }

// Program is a program that passes find by PATH.
type Program struct{ Name, Path string } // Path is empty: it is not on PATH

// Programs returns the programs that passes find by PATH: gh, git and the agents in use.
func Programs(cfg *config.Config, env environ.Env) []Program {
	var all []Program
	for _, name := range []string{"gh", "git"} {
		path, _ := proc.LookPath(name, hostPath(cfg, env))
		all = append(all, Program{Name: name, Path: path})
	}
	for _, name := range used(cfg) {
		spec := programOf(env, cfg.Agents[name])
		program := spec.CommandLine()[0]
		known := slices.ContainsFunc(all, func(p Program) bool { return p.Name == program })
		if !known && !strings.ContainsAny(program, `/\`) {
			path, _ := agent.Program(spec)
			all = append(all, Program{Name: program, Path: path})
		}
	}
	return all
}

// LoginsLacking returns the agents that are logged in here, and not in the environment of a scheduler's
// job; locked: that job may not read the keychain.
func LoginsLacking(cfg *config.Config, here, job environ.Env, scheduler string, locked bool) (all []Trouble) {
	for _, name := range used(cfg) {
		of := cfg.Agents[name]
		if t := loginLacking(name, scheduler, agent.LoginOf(programOf(here, of)), agent.LoginOf(programOf(job, of)), locked); t != nil {
			all = append(all, *t)
		}
	}
	return all
}

func loginLacking(name, scheduler string, here, job agent.Login, locked bool) *Trouble {
	switch {
	case here.In && job.Known && !job.In:
		return &Trouble{
			Says: fmt.Sprintf("agent %q has a login here (%s), but not in %s's job: %s", name, here.Says, scheduler, job.Says),
			Do:   "where to put secrets for the job: https://github.com/mergexo/gh-mergexo/blob/main/docs/deploy.md#secrets",
		}
	case job.Keychain && locked:
		return &Trouble{Says: fmt.Sprintf("agent %q keeps its login in the keychain, which is locked for %s's job: nobody is logged in at the screen", name, scheduler), Do: claude.TokenForJob(name)}
	}
	return nil
}

// PassedOn returns the variables that are passed to used agents and set here.
func PassedOn(cfg *config.Config, env environ.Env) []string {
	var all []string
	for _, name := range used(cfg) {
		for _, v := range cfg.Agents[name].EnvPass {
			if value, _ := env.Lookup(v); value != "" && !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

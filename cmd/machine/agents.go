package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/prompts/secrets"
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
func Missing(env environ.Env, a config.Agent, path string) *doctor.Trouble {
	if _, err := proc.LookPath(ProgramOf(a), path); err == nil {
		return nil
	}
	if says, do := agent.Missing(programOf(env, a)); says != "" {
		return &doctor.Trouble{Says: says, Do: do}
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

// Agents examines agents on this machine; without names, those that the config uses. It asks their
// programs for their versions and writes nothing to the state folder.
func Agents(ctx context.Context, cfg *config.Config, env environ.Env, names ...string) []doctor.Agent {
	if len(names) == 0 {
		names = used(cfg)
	}
	return newMachine(Options{Config: cfg, Env: env}).examineAgents(ctx, names, "", false)
}

// examineAgents examines agents. Their programs are started in a new folder in place, or in a
// temporary one. ready: the check that stands before a turn is made, too.
func (m *Machine) examineAgents(ctx context.Context, names []string, place string, ready bool) []doctor.Agent {
	all := make([]doctor.Agent, len(names))
	var each sync.WaitGroup
	for i, name := range names {
		each.Go(func() { all[i] = m.examineAgent(ctx, m.cfg.Agents[name], place, ready) })
	}
	each.Wait()
	return all
}

// examineUsed examines the agents that the config uses, among the checkouts if there is a state
// folder.
func (m *Machine) examineUsed(ctx context.Context) []doctor.Agent {
	place := ""
	if files.Exists(m.dirs.State) {
		place = m.dirs.CheckoutParent(m.someRepo())
		made, err := makeFolders(place)
		defer removeEmpty(made)
		if err != nil { // the check of the state folder tells
			place = ""
		}
	}
	return m.examineAgents(ctx, used(m.cfg), place, true)
}

func (m *Machine) examineAgent(ctx context.Context, a config.Agent, place string, ready bool) doctor.Agent {
	p, err := m.Protection(ctx, a)
	g := doctor.Agent{
		Name: a.Name, Hides: p.Hides(), Says: p.String(), Blocked: err != nil, Remedy: remedy(a, m.cfg.Runtime.Sandbox),
		CostUnknown: adapterOf(a).NoCost && a.Prices == nil, Tells: tells(a),
	}
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		g.Says = "its turns are blocked: " + explain.Reason(blocked.Reason, explain.Place{}).Here()
	}
	spec := programOf(m.env, a)
	bare := func(says string) string { return strings.TrimPrefix(says, fmt.Sprintf("agent %q: ", a.Name)) }
	if missing := agent.Find(spec); missing != nil {
		g.Missing = bare(missing.Error())
	} else {
		if g.Version, err = m.start(ctx, a, g.Hides, place, ready); err != nil && ctx.Err() == nil {
			g.Fails = startTrouble(err)
		}
		g.Keeps = m.keeps(a)
		if g.Fails == nil || g.Version != "" {
			g.Drift, g.TooOld = bare(agent.Drift(spec, g.Version)), agent.TooOld(spec, g.Version)
		}
		g.Path, _ = agent.Program(spec) // it was found just now
	}
	spec.Args = a.Args
	g.Login = doctor.Login(agent.LoginOf(spec))
	if g.Hides {
		repo := m.someRepo()
		for _, e := range m.VisibleEntries(p, repo, a) {
			if e.How == string(sandbox.Write) && filepath.Dir(e.Path) != m.dirs.CheckoutParent(repo) {
				g.Writes = append(g.Writes, e.Path)
			}
		}
	}
	return g
}

// startTrouble explains why a program does not start.
func startTrouble(err error) *doctor.Trouble {
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		said := explain.Reason(blocked.Reason, explain.Place{})
		return &doctor.Trouble{Says: said.Here(), Do: cmp.Or(said.Fix, said.Next())}
	}
	return &doctor.Trouble{Says: err.Error()}
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
// Both are in the agent's sandbox if that hides files, in a new folder in place, or in a temporary one.
func (m *Machine) start(ctx context.Context, a config.Agent, hides bool, place string, ready bool) (version string, err error) {
	own := &Machine{cfg: m.cfg, env: m.env, dirs: m.dirs, secrets: cmp.Or(m.secrets, &secrets.Redactor{}), now: m.now}
	if own.now == nil {
		own.now = func() time.Time { return time.Time{} } // a check has no use for it
	}
	if own.scratch, err = os.MkdirTemp(place, "start-"); err != nil {
		return "", err
	}
	own.scratch = files.Resolve(own.scratch)
	defer func() { _ = sandbox.Remove(own.scratch) }()
	dir := filepath.Join(own.scratch, "checkout")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", err
	}
	spec := own.spec(a)
	if hides {
		b := own.box(m.someRepo(), a)
		defer b.Leave(work.Job{Dir: dir})
		spec.Wrap = func(argv []string, j work.Job) ([]string, []string, error) { return m.sandbox.tool.Wrap(b, argv, j) }
	}
	if version, err = agent.Start(ctx, spec, dir); !ready || agent.TooOld(spec, version) {
		return version, err
	}
	ag, err := agent.New(spec) // its check decides, as before a turn
	if err == nil {
		err = ag.Check(ctx, agent.Request{Turn: "check", Mark: "MERGEXO_CHECK=" + own.scratch, Mode: work.ModeWrite, Dir: dir})
	}
	return version, err
}

// makeFolders makes a folder and returns those that were missing, inner ones first.
func makeFolders(dir string) (made []string, err error) {
	for d := dir; !files.Exists(d); d = filepath.Dir(d) {
		made = append(made, d)
	}
	return made, os.MkdirAll(dir, 0o700)
}

// removeEmpty removes folders in which nobody has put anything.
func removeEmpty(all []string) {
	for _, dir := range all {
		_ = os.Remove(dir) // it fails where there is something
	}
}

// keeps returns why an agent cannot write the folders with its login and sessions; nil: it can. A
// missing one is made by its first turn.
func (m *Machine) keeps(a config.Agent) *doctor.Trouble {
	for _, path := range homes(m.env, a) {
		there := existing(path)
		if there != path && filepath.Ext(path) == ".json" { // a file beside a folder; the program makes it if it needs one
			continue
		}
		if err := mayWrite(there); err != nil {
			return &doctor.Trouble{Says: fmt.Sprintf("it cannot write %s: %v", path, err), Do: cmp.Or(examineFolder(there).Do, work.LetUse(there))}
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
	for _, c := range newMachine(Options{Config: cfg, Env: env}).examineCommands() {
		if c.Missing && c.Needed {
			all = append(all, fmt.Sprintf("%s of %s: agent %q does not find %q; install it, or name its absolute path", c.Key, c.Repo, c.Agent, c.Program))
		}
	}
	return all
}

// DoubtsOf are the doubts about one agent.
func (m *Machine) DoubtsOf(a config.Agent) []string { return m.cfg.Doubts(m.env, a) }

// Programs returns the programs that passes find by PATH: gh, git and the agents in use.
func Programs(cfg *config.Config, env environ.Env) []doctor.Program {
	var all []doctor.Program
	for _, name := range []string{"gh", "git"} {
		path, _ := proc.LookPath(name, hostPath(cfg, env))
		all = append(all, doctor.Program{Name: name, Path: path})
	}
	for _, name := range used(cfg) {
		spec := programOf(env, cfg.Agents[name])
		program := spec.CommandLine()[0]
		known := slices.ContainsFunc(all, func(p doctor.Program) bool { return p.Name == program })
		if !known && !strings.ContainsAny(program, `/\`) {
			path, _ := agent.Program(spec)
			all = append(all, doctor.Program{Name: program, Path: path})
		}
	}
	return all
}

// LoginsLacking returns the agents that are logged in here, and not in the environment of a scheduler's
// job; locked: that job may not read the keychain.
func LoginsLacking(cfg *config.Config, here, job environ.Env, scheduler string, locked bool) (all []doctor.Trouble) {
	for _, name := range used(cfg) {
		of := cfg.Agents[name]
		if t := loginLacking(name, scheduler, agent.LoginOf(programOf(here, of)), agent.LoginOf(programOf(job, of)), locked); t != nil {
			all = append(all, *t)
		}
	}
	return all
}

func loginLacking(name, scheduler string, here, job agent.Login, locked bool) *doctor.Trouble {
	switch {
	case here.In && job.Known && !job.In:
		return &doctor.Trouble{
			Says: fmt.Sprintf("agent %q has a login here (%s), but not in %s's job: %s", name, here.Says, scheduler, job.Says),
			Do:   "where to put secrets for the job: https://github.com/mergexo/gh-mergexo/blob/main/docs/deploy.md#secrets",
		}
	case job.Keychain && locked:
		return &doctor.Trouble{Says: fmt.Sprintf("agent %q keeps its login in the keychain, which is locked for %s's job: nobody is logged in at the screen", name, scheduler), Do: claude.TokenForJob(name)}
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

package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// examineTime limits each examination.
const examineTime = 20 * time.Second

// examiner is a machine that is only examined.
type examiner struct{ *Machine }

// Examine collects facts about this machine without a network: programs, agents and their
// sandboxes, folders, the database. Each is examined on its own, and nothing is written.
func Examine(ctx context.Context, cfg *config.Config, env environ.Env) doctor.Facts {
	m := examiner{newMachine(Options{Config: cfg, Env: env})}
	var f doctor.Facts
	var wg sync.WaitGroup
	for _, look := range []func(context.Context){
		func(ctx context.Context) { f.Gh = m.examineGh(ctx) },
		func(ctx context.Context) { f.Git = m.examineGit(ctx) },
		func(ctx context.Context) { f.Agents = m.examineAgents(ctx) },
		func(ctx context.Context) { f.Database = examineDatabase(ctx, m.dirs.State) },
		func(context.Context) { f.Home, f.State, f.Disk = m.examineFolders() },
	} {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, examineTime)
			defer cancel()
			look(ctx)
		})
	}
	wg.Wait()
	return f
}

func (m examiner) examineGh(ctx context.Context) *doctor.Program {
	const do = "install it: https://cli.github.com; under cron PATH is short"
	path, err := proc.LookPath("gh", hostPath(m.cfg, m.env))
	if err != nil {
		return &doctor.Program{Trouble: "gh is not on PATH; git asks it for the login when it pushes", Do: do}
	}
	g := &ghProgram{path: path, environ: ghEnviron(m.env.All())}
	said, err := g.ask(ctx, "--version")
	if err != nil {
		return &doctor.Program{Path: path, Trouble: "gh does not start: " + err.Error(), Do: do}
	}
	p := &doctor.Program{Path: path}
	if v := ghVersion().FindStringSubmatch(said); v != nil {
		p.Version = v[1]
	}
	if why := m.needsAccounts(ctx); why != "" {
		p.Trouble, p.Do = why, fmt.Sprintf("install gh %d.%d or later (https://cli.github.com), or remove account from the config", multiAccount[0], multiAccount[1])
	}
	return p
}

// needsAccounts returns why gh cannot have the reviewers' accounts; empty if it can, or the config
// names none.
func (m examiner) needsAccounts(ctx context.Context) string {
	for _, r := range m.cfg.Repos {
		for _, x := range r.Reviewers {
			if !r.Review.Enabled || x.Account == "" {
				continue
			}
			if missing := m.findGh(ctx).missing; missing != nil {
				return missing.Text
			}
			return ""
		}
	}
	return ""
}

func (m examiner) examineGit(ctx context.Context) *doctor.Program {
	const do = "install git 2.38 or later"
	opt := git.Options{Env: m.hostGit(), Identity: git.Identity{Name: "gh mergexo", Email: "noreply@mergexo.invalid"}}
	g, err := git.Open(ctx, opt)
	if errors.Is(err, proc.ErrNotFound) {
		return &doctor.Program{Trouble: "git is not on PATH", Do: do}
	}
	if err != nil {
		return &doctor.Program{Trouble: err.Error(), Do: do}
	}
	return &doctor.Program{Path: g.Path(), Version: g.Version()}
}

func (m examiner) examineAgents(ctx context.Context) []doctor.Agent {
	var all []doctor.Agent
	for _, p := range Protections(ctx, m.cfg, m.env) {
		a := m.cfg.Agents[p.Agent]
		spec := programOf(m.env, a)
		spec.Args = a.Args
		path, _ := agent.Program(spec) // if it is not found, Missing tells so
		login := agent.LoginOf(spec)
		all = append(all, doctor.Agent{
			Name: p.Agent, Path: path, Missing: p.Missing, Version: p.Version, Drift: p.Drift, TooOld: p.TooOld,
			Login:   doctor.Login{Known: login.Known, In: login.In, Says: login.Says, Do: login.Do},
			Sandbox: m.examineSandbox(ctx, a, p),
		})
	}
	return all
}

func (m examiner) examineSandbox(ctx context.Context, a config.Agent, p AgentState) doctor.Sandbox {
	protection, err := m.Protection(ctx, a)
	s := doctor.Sandbox{Says: p.Says, Hides: p.Hides, Do: remedy(m.cfg.Sandbox(a))}
	if err != nil {
		s.Blocked = p.Says
		return s
	}
	if p.Hides {
		repo := work.Repo{}
		if len(m.cfg.Repos) > 0 {
			repo.Name = m.cfg.Repos[0].Name
		}
		checkout := m.dirs.CheckoutParent(repo)
		for _, e := range m.LetIn(protection, repo, a) {
			if e.How == string(sandbox.Write) && filepath.Dir(e.Path) != checkout {
				s.Writes = append(s.Writes, e.Path)
			}
		}
	}
	return s
}

// examineFolders checks the home folder, where agents keep their logins, the state folder, and the
// free disk space.
func (m examiner) examineFolders() (home, state *doctor.Folder, disk *doctor.Disk) {
	if m.env.Home != "" {
		home = examineFolder(m.env.Home, "mount it for writing, or set HOME to a folder that you may write to: agents keep their logins and sessions there")
	}
	dir := m.dirs.State
	if dir == "" {
		return home, &doctor.Folder{Trouble: "no folder for the state is known: HOME is not set", Do: "set HOME, or state_dir in [runtime] to an absolute path"}, nil
	}
	state = examineFolder(dir, anotherFolder)
	if err := GuardState(dir); err != nil {
		state.Trouble, state.Do = err.Error(), ""
	}
	if free, known := freeSpace(existing(dir)); known {
		disk = &doctor.Disk{Path: dir, Free: free, Most: m.cfg.Runtime.MaxDisk}
	}
	return home, state, disk
}

// examineFolder checks whether a folder can be written, or created.
func examineFolder(dir, do string) *doctor.Folder {
	f := &doctor.Folder{Path: dir}
	there := existing(dir)
	f.New = there != dir
	info, err := os.Stat(there)
	switch {
	case err != nil:
		f.Trouble, f.Do = fmt.Sprintf("%s: %v", there, err), do
	case !info.IsDir():
		f.Trouble, f.Do = there+" is no folder", do
	default:
		if err := mayWrite(there); err != nil {
			f.Trouble, f.Do = fmt.Sprintf("%s cannot be written: %v", there, err), do
		}
	}
	return f
}

// existing returns the folder, or its nearest existing parent.
func existing(dir string) string {
	for {
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return dir
		}
		dir = up
	}
}

// examineDatabase lets SQLite check the whole file.
func examineDatabase(ctx context.Context, state string) *doctor.Database {
	d := &doctor.Database{Path: filepath.Join(state, "state.db")}
	if state == "" || GuardState(state) != nil { // reported with the folder
		return nil
	}
	db, there, err := store.OpenReadOnly(ctx, d.Path)
	switch {
	case errors.Is(err, store.ErrOlder):
		d.Older = true
	case err != nil:
		d.Trouble = err.Error()
	case !there:
		d.Missing = true
	default:
		err = db.Check(ctx)
		if err = errors.Join(err, db.Close()); err != nil {
			d.Trouble = d.Path + " is damaged: " + err.Error()
			d.Do = fmt.Sprintf("mv %q %q && gh mergexo tick; the next pass finds the work again on GitHub (docs/guarantees.md)", d.Path, d.Path+".damaged")
		}
	}
	return d
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

package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// examineTime limits each examination.
const examineTime = 20 * time.Second

// Examine collects facts about this machine without a network: programs, agents and their
// sandboxes, folders, the database. Each is examined on its own. What is written to try it is
// removed.
func Examine(ctx context.Context, cfg *config.Config, env environ.Env, now func() time.Time) doctor.Facts {
	m := newMachine(Options{Config: cfg, Env: env, Now: now})
	var f doctor.Facts
	var wg sync.WaitGroup
	for _, look := range []func(context.Context){
		func(ctx context.Context) { f.Gh = m.examineGh(ctx) },
		func(ctx context.Context) { f.Git = m.examineGit(ctx) },
		func(ctx context.Context) { f.Agents = m.examineUsed(ctx) },
		func(ctx context.Context) { f.Database = examineDatabase(ctx, cfg) },
		func(context.Context) {
			f.Home, f.State, f.Disk = m.examineHome(), m.examineState(ofRepos), m.examineDisk()
			f.Metrics = examineMetrics(cfg.Runtime.MetricsFile)
			f.Commands = m.examineCommands()
		},
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

// examineGit opens git as a pass does.
func (m *Machine) examineGit(ctx context.Context) *doctor.Program {
	p := &doctor.Program{Name: "git"}
	switch err := m.openGit(ctx); {
	case err == nil:
		p.Path, p.Version = m.git.Path(), m.git.Version()
	case !errors.Is(err, proc.ErrNotFound):
		p.Trouble = err.Error()
	}
	return p
}

// examineHome checks the home folder; nil: none is known.
func (m *Machine) examineHome() *doctor.Folder {
	if m.env.Home == "" {
		return nil
	}
	return examineFolder(m.env.Home)
}

// examineMetrics checks the folder of metrics_file, which must exist; nil: there is no such file.
func examineMetrics(file string) *doctor.Folder {
	if file == "" {
		return nil
	}
	f := examineFolder(filepath.Dir(file))
	if f.New && f.Trouble == "" {
		f.Trouble, f.Do = f.Path+" does not exist", fmt.Sprintf("mkdir -p %q", f.Path)
	}
	return f
}

// examineCommands looks for the programs of the repositories' commands as their agents' runs do. Those
// in the checkout are left out.
func (m *Machine) examineCommands() (all []doctor.Command) {
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
			_, err := proc.LookPath(c.argv[0], agent.PathOf(m.environOf(a)))
			all = append(all, doctor.Command{Repo: m.cfg.Called(r.Name), Key: c.key, Agent: a.Name, Program: c.argv[0], Needed: c.needed, Missing: err != nil})
		}
	}
	return all
}

// examineFolder checks whether a folder can be written, or created.
func examineFolder(dir string) *doctor.Folder {
	there := existing(dir)
	f := &doctor.Folder{Path: dir, New: there != dir}
	if info, err := os.Stat(there); err != nil {
		f.Trouble = fmt.Sprintf("%s: %v", there, err)
	} else if !info.IsDir() {
		f.Trouble = there + " is no folder"
	} else if err := mayWrite(there); err != nil {
		f.Trouble = fmt.Sprintf("%s cannot be written: %v", there, err)
		if errors.Is(err, syscall.EROFS) {
			f.Do = work.MountForWriting
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

// examineDatabase writes to the database as a pass does, and has it checked. Of a file SQLite checks all
// of it.
func examineDatabase(ctx context.Context, cfg *config.Config) *doctor.Database {
	state := cfg.Runtime.StateDir
	if state == "" || GuardState(state) != nil { // reported with the folder
		return nil
	}
	at, err := DatabaseAt(cfg)
	if wrong, ok := errors.AsType[*config.DatabaseError](err); ok {
		return &doctor.Database{Trouble: wrong.Error(), Do: wrong.Do}
	}
	if err != nil {
		d := &doctor.Database{}
		d.Trouble, d.Do = troubleOf(err)
		return d
	}
	if cfg.Runtime.DatabaseKey() != "" {
		return examineServer(ctx, at)
	}
	d := &doctor.Database{Path: at}
	var unwritable error
	if files.Exists(d.Path) {
		unwritable = store.TryWrite(ctx, at)
	}
	if locked, ok := errors.AsType[*store.LockedError](unwritable); ok {
		d.Trouble, d.Do = locked.Error(), fmt.Sprintf("find the program and end it: fuser -v %q", d.Path)
		return d
	}
	there, err := checkDatabase(ctx, at)
	damaged, isDamaged := errors.AsType[*store.DamagedError](err)
	switch {
	case isDamaged:
		d.Damage, d.Mend = damaged.Words, damaged.MoveAway()
	case errors.Is(err, store.ErrOlder):
		d.Older = true
	case err != nil:
		d.Trouble, d.Do = troubleOf(err)
	case !there:
		d.Missing = true
	case unwritable != nil:
		d.Trouble, d.Do = unwritable.Error(), "run gh mergexo as the user to whom the state folder belongs, and make room"
	}
	return d
}

// examineServer tries a database on a server.
func examineServer(ctx context.Context, at string) *doctor.Database {
	s, err := store.Inspect(ctx, at)
	if err == nil && s.Schema == s.Newest {
		_, err = checkDatabase(ctx, at)
	}
	if err != nil {
		d := &doctor.Database{}
		d.Trouble, d.Do = troubleOf(err)
		return d
	}
	return &doctor.Database{
		Path: s.Address, Missing: s.Schema == 0, Older: s.Schema != 0 && s.Schema < s.Newest,
		Server: &doctor.Server{Address: s.Address, Version: s.Version, TLS: s.TLS, Schema: s.Schema, Ahead: s.Behind, Free: s.Free, Lossy: s.Lossy, Public: s.Public},
	}
}

// troubleOf returns what is wrong, and what fixes it, if that is known.
func troubleOf(err error) (says, do string) {
	if fault, ok := work.MachineFault(err); ok {
		return fault.Err.Error(), fault.Do
	}
	return err.Error(), ""
}

// checkDatabase has a database check what it stores; false: there is none yet.
func checkDatabase(ctx context.Context, at string) (there bool, err error) {
	db, there, err := store.OpenReadOnly(ctx, at)
	if there {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	return there, err
}

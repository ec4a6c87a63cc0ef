package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/store"
)

// examineTime limits each examination.
const examineTime = 20 * time.Second

// Examine collects facts about this machine without a network: programs, agents and their
// sandboxes, folders, the database. Each is examined on its own, and nothing is written.
func Examine(ctx context.Context, cfg *config.Config, env environ.Env) doctor.Facts {
	m := newMachine(Options{Config: cfg, Env: env})
	var f doctor.Facts
	var wg sync.WaitGroup
	for _, look := range []func(context.Context){
		func(ctx context.Context) { f.Gh = m.examineGh(ctx) },
		func(ctx context.Context) { f.Git = m.examineGit(ctx) },
		func(ctx context.Context) { f.Agents = Agents(ctx, cfg, env) },
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

// examineFolders checks the home folder, where agents keep their logins, the state folder, and the
// free disk space.
func (m *Machine) examineFolders() (home, state *doctor.Folder, disk *doctor.Disk) {
	if m.env.Home != "" {
		home = examineFolder(m.env.Home)
	}
	dir := m.dirs.State
	if dir == "" {
		return home, &doctor.Folder{}, nil
	}
	state = examineFolder(dir)
	if err := GuardState(dir); err != nil {
		state.Unsafe = err.Error()
	}
	if free, known := freeSpace(existing(dir)); known {
		disk = &doctor.Disk{Path: dir, Free: free}
	}
	return home, state, disk
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
	if there {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	damaged, isDamaged := errors.AsType[*store.DamagedError](err)
	switch {
	case isDamaged:
		d.Damage, d.Mend = damaged.Words, damaged.MoveAway()
	case errors.Is(err, store.ErrOlder):
		d.Older = true
	case err != nil:
		d.Trouble = err.Error()
	case !there:
		d.Missing = true
	}
	return d
}

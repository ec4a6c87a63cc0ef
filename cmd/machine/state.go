package machine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// GuardState rejects a state folder that another user could change or redirect: its content decides
// what is pushed and which programs run. A missing folder is fine. The folder itself may be a link
// of the user's own, for example to another disk, but nothing inside it may be a link.
func GuardState(dir string) error {
	link, err := os.Lstat(dir)
	if err != nil {
		return nil //nolint:nilerr // the folder is missing; MakeFolder explains why it cannot be made
	}
	linked := link.Mode()&fs.ModeSymlink != 0
	if owner, ours := files.OwnerOf(link); linked && !ours {
		return unsafe(folderOfYourOwn, "the state folder %q is a symbolic link that belongs to user %d", dir, owner)
	}
	info, err := os.Stat(dir)
	if linked && errors.Is(err, fs.ErrNotExist) {
		return unsafe("mount its disk, or "+work.AnotherFolder, "the state folder %q is a symbolic link to a folder that does not exist", dir)
	}
	if err != nil {
		return fmt.Errorf("look at the state folder: %w", err)
	}
	if !info.IsDir() {
		return unsafe(work.AnotherFolder, "the state folder %q is no folder", dir)
	}
	if owner, ours := files.OwnerOf(info); !ours {
		return unsafe("run gh mergexo as that user, or "+folderOfYourOwn, "the state folder %q belongs to user %d, and you are user %d", dir, owner, os.Geteuid())
	}
	if files.WritableByOthers(info) {
		return unsafe(fmt.Sprintf("chmod go-w %q", dir), "the state folder %q can be written to by other users", dir)
	}
	return guardEntries(dir)
}

// guardEntries checks the entries of the state folder.
func guardEntries(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look into the state folder: %w", err)
	}
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // the database's own files come and go
		}
		if err != nil {
			return fmt.Errorf("look into the state folder: %w", err)
		}
		owner, ours := files.OwnerOf(info)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			return linkIn(path)
		case !ours:
			return unsafe(fmt.Sprintf("sudo chown -R %d %q", os.Geteuid(), dir), "%q in the state folder belongs to user %d", path, owner)
		case info.IsDir() && e.Name() == "state.db":
			return unsafe(fmt.Sprintf("mv %q %q", path, path+".folder"), "%q is a folder, and the database belongs there", path)
		case files.WritableByOthers(info):
			return unsafe(fmt.Sprintf("chmod go-w %q", path), "%q in the state folder can be written to by other users", path)
		case info.IsDir() && (e.Name() == "logs" || e.Name() == "locks"):
			if err := guardLinks(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// guardLinks rejects links in a folder whose files are written in place.
func guardLinks(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil //nolint:nilerr // its reader explains why it cannot be read
	}
	for _, e := range entries {
		if e.Type()&fs.ModeSymlink != 0 {
			return linkIn(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

func linkIn(path string) error {
	return unsafe("replace it with its target, or set runtime.state_dir in the config to a folder on the other disk", "%q in the state folder is a symbolic link", path)
}

// unsafe says why the state folder is rejected, and what to do.
func unsafe(do, format string, args ...any) error {
	return &work.MachineError{Err: fmt.Errorf(format, args...), Do: do}
}

const folderOfYourOwn = "set runtime.state_dir in the config to a folder of your own"

// DiskTrouble returns in one line the problem with the disk, the state folder or the database behind
// err, with the remedy; empty if there is none.
func DiskTrouble(err error, state string) string {
	where := filepath.Join(state, "state.db")
	file, named := errors.AsType[*fs.PathError](err)
	if named {
		where = file.Path
	}
	full, isFull := errors.AsType[*store.DiskError](err)
	fault, known := errors.AsType[*work.MachineError](err)
	damaged, isDamaged := errors.AsType[*store.DamagedError](err)
	switch {
	case known && !isFull:
		return terminal.OneLine(fault.Error())
	case isDamaged:
		return fmt.Sprintf("%s is damaged (%s); to have the next pass make it again from GitHub: %s", damaged.Path, terminal.OneLine(damaged.Words), damaged.MoveAway())
	case errors.Is(err, syscall.EROFS):
		return where + ": it cannot be written, the file system is read-only; mount it for writing, or " + work.AnotherFolder
	case isFull:
		return fmt.Sprintf("%s: it cannot be written, the disk may be full; make room and run a pass again: nothing is lost (%s)", filepath.Join(state, "state.db"), terminal.OneLine(full.Words))
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return where + ": it cannot be written, the disk is full; make room and run a pass again: nothing is lost"
	case named && errors.Is(err, fs.ErrPermission) && state != "" && strings.HasPrefix(where, state):
		return fmt.Sprintf("%s: you may not use it (%v); give the folder %s to the user who runs gh mergexo, or %s", where, file.Err, state, work.AnotherFolder)
	case named && errors.Is(err, syscall.ENOTDIR) && state != "" && strings.HasPrefix(where, state):
		return fmt.Sprintf("%s: %v; %s", where, file.Err, work.AnotherFolder)
	}
	return ""
}

// DatabaseAt returns where the state database is. A file on a network file system is refused: its WAL needs memory
// that all its users share, and locks of one machine may not hold on another.
func DatabaseAt(cfg *config.Config) (string, error) {
	at, err := cfg.Runtime.DatabaseAt()
	if err != nil || cfg.Runtime.DatabaseKey() != "" || cfg.Runtime.StateDir == "" {
		return at, err
	}
	if kind := files.NetworkFileSystem(existing(cfg.Runtime.StateDir)); kind != "" {
		return "", &work.MachineError{
			Err: fmt.Errorf("the state folder %q is on a network file system (%s), which may damage a SQLite database", cfg.Runtime.StateDir, kind),
			Do:  "set runtime.state_dir in the config to a folder on a disk of this machine, or runtime.database to a PostgreSQL database (docs/fleet.md#the-database)",
		}
	}
	return at, nil
}

// openForPass opens the database, and connects for the session of a pass.
func (m *Machine) openForPass(ctx context.Context) (*store.DB, error) { return m.open(ctx, true) }

func (m *Machine) open(ctx context.Context, session bool) (*store.DB, error) {
	if err := MakeFolder(m.dirs.State); err != nil {
		return nil, err
	}
	self, err := m.self(false)
	if err != nil {
		return nil, err
	}
	at, err := DatabaseAt(m.cfg)
	if err != nil {
		return nil, err
	}
	return store.Open(ctx, at, store.Options{
		Now: m.now, Redact: m.secrets.Redact, RunTwice: m.twice, ClaimedOnly: m.strict, Machine: self.Name, Shared: m.shared, Session: session,
	})
}

// Shared reports whether other machines may have this machine's database.
func (m *Machine) Shared() bool { return m.shared || m.cfg.Runtime.DatabaseKey() != "" }

// OpenShared opens the database that other machines have, too, for a command: it needs no tick.lock.
func (m *Machine) OpenShared(ctx context.Context) (*store.DB, error) { return m.open(ctx, false) }

// self returns this machine as others know it, without its version. A state folder that has no name
// yet gets one, unless nothing may be written.
func (m *Machine) self(readOnly bool) (self work.Machine, err error) {
	if !readOnly {
		if self.Installation, err = m.dirs.Installation(folder.MachineID()); err != nil {
			return self, fmt.Errorf("name this machine: %w", err)
		}
	}
	self.Host = folder.ThisMachine().Name
	self.Name, err = m.dirs.MachineName(m.cfg.Runtime.Machine)
	return self, err
}

// MakeFolder creates a folder; its error has the remedy.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the state folder cannot be created: %w; %s", err, work.AnotherFolder)
	}
	return nil
}

// useScratchStore gives a dry run a temporary copy of the database.
func (m *Machine) useScratchStore(ctx context.Context, pass *tick.Pass) (func() error, error) {
	at, err := DatabaseAt(m.cfg)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "mergexo-dry-run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the dry run: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	db, err := store.OpenScratch(ctx, at, dir, store.Options{Now: m.now, RunTwice: m.twice, ClaimedOnly: m.strict, Machine: pass.Machine.Name, Shared: m.shared})
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	pass.Store = db
	return func() error { return errors.Join(db.Close(), remove()) }, nil
}

// View runs fn by store.DB.View; false if there is no database yet.
func View(ctx context.Context, cfg *config.Config, fn func(*store.Tx) error) (found bool, err error) {
	return read(ctx, cfg, func(db *store.DB) error { return db.View(ctx, fn) })
}

func read(ctx context.Context, cfg *config.Config, do func(*store.DB) error) (found bool, err error) {
	if err := GuardState(cfg.Runtime.StateDir); err != nil {
		return false, err
	}
	at, err := DatabaseAt(cfg)
	if err != nil {
		return false, err
	}
	db, ok, err := store.OpenReadOnly(ctx, at)
	if err != nil || !ok {
		return ok, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return true, do(db)
}

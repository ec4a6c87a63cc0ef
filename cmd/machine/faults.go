package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Trouble is what is wrong, and what mends it.
type Trouble struct{ Says, Do string }

// TroubleOf returns what an error says is wrong, and what mends it: its own advice, else do. nil: no error.
func TroubleOf(err error, do string) *Trouble {
	if err == nil {
		return nil
	}
	if blocked, ok := errors.AsType[*work.BlockedError](err); ok {
		said := explain.Reason(blocked.Reason, explain.Place{})
		return &Trouble{said.Here(), cmp.Or(said.Fix, said.Next(), do)}
	}
	if fault, ok := work.MachineFault(err); ok {
		return &Trouble{fault.Err.Error(), cmp.Or(fault.Do, do)}
	}
	return &Trouble{err.Error(), do}
}

// tryMachine returns a fault of this machine that every turn would meet.
func (m *Machine) tryMachine() error {
	if m.readOnly {
		return nil // a dry run writes nothing
	}
	if err := m.TryState(); err != nil {
		return err
	}
	_, _, err := m.Room()
	return err
}

// fault returns a fault of this machine that a turn of a repository would meet.
func (m *Machine) fault(_ context.Context, repo work.Repo) error {
	if err := m.tryMachine(); err != nil {
		return err
	}
	return stateFault(m.dirs, tryMirror(m.dirs.MirrorDir(repo)))
}

// TryState writes to the state folder as a pass does, and leaves nothing behind. Its error is a
// *work.MachineError. A folder that is missing is fine if it can be made.
func (m *Machine) TryState() error {
	dir := m.dirs.State
	if dir == "" {
		return &work.MachineError{Err: errors.New("no folder for the state is known: HOME is not set"), Do: "set HOME, or state_dir in [runtime] to an absolute path"}
	}
	err := GuardState(dir)
	if err == nil {
		err = TryFolder(dir)
	}
	if err == nil && files.Exists(dir) {
		err = cmp.Or(usable(dir, ofHosts), tryFile(dir), tryFile(filepath.Join(dir, "locks")))
	}
	return stateFault(m.dirs, err)
}

// TryWholeState is TryState with what only some turns meet: the folders of each repository, each log,
// lock and mirror, and that another machine has used the folder.
func (m *Machine) TryWholeState() error {
	dir := m.dirs.State
	if err := m.TryState(); err != nil || !files.Exists(dir) {
		return err
	}
	if elsewhere := m.dirs.Elsewhere(folder.ThisMachine(), m.now()); elsewhere != nil {
		return &work.MachineError{Err: elsewhere, Do: elsewhere.Do()}
	}
	err := cmp.Or(usable(dir, ofRepos), usableFiles(dir), usableFiles(filepath.Join(dir, "logs")), usableFiles(filepath.Join(dir, "locks")))
	mirrors, _ := filepath.Glob(filepath.Join(dir, "repos", "*", "*.git")) // only a bad pattern is an error
	for _, mirror := range mirrors {
		err = cmp.Or(err, tryMirror(mirror))
	}
	return stateFault(m.dirs, err)
}

// stateFault returns what is wrong with the state folder, with the remedy; nil: nothing.
func stateFault(dirs folder.Dirs, err error) error {
	if err == nil {
		return nil
	}
	if fault, ok := work.MachineFault(err); ok {
		return fault
	}
	fault := &work.MachineError{Err: err, Do: work.AnotherFolder}
	if errors.Is(err, fs.ErrPermission) {
		fault.Do = work.LetUse(dirs.State)
	}
	return fault
}

// TryFolder returns why a folder can be neither written nor made; nil: it can.
func TryFolder(dir string) error {
	there := existing(dir)
	info, err := os.Stat(there)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no folder", there)
	}
	if err := mayWrite(there); err != nil {
		return fmt.Errorf("%s cannot be written: %w", there, err)
	}
	return nil
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

// The depths of folders below the state folder: kind, host, repository. Before each turn those of
// the repositories are left out: there may be thousands. In a mirror, objects have folders of their own.
const (
	ofHosts   = 2
	ofRepos   = 3
	ofObjects = 2
)

// usable returns why a folder, and those below it down to a depth, may not be read and written; nil: they may.
func usable(root string, deepest int) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(root, path); {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !d.IsDir():
			return nil // another pass removed it, or it is a file
		case err != nil:
			return err
		case rel != "." && strings.Count(filepath.ToSlash(rel), "/")+1 >= deepest:
			return cmp.Or(mayUse(path), fs.SkipDir)
		}
		return mayUse(path)
	})
}

// usableFiles returns why what a folder holds may not be read and written; nil: it may.
func usableFiles(dir string) error {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = cmp.Or(err, mayUse(filepath.Join(dir, e.Name())))
	}
	return err
}

// tryMirror looks whether git may use a mirror: the files at its top, and its folders down to those of
// single objects.
func tryMirror(mirror string) error { return cmp.Or(usableFiles(mirror), usable(mirror, ofObjects)) }

// tryFile writes a file in a folder, locks it and removes it. A file of its own keeps no pass from a lock, and
// no other trial.
func tryFile(dir string) error {
	f, err := os.CreateTemp(dir, probeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first pass makes the folder
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	l, free, unlocked := folder.TryLock(f.Name())
	if unlocked == nil && free {
		l.Unlock()
	}
	return errors.Join(err, unlocked, f.Close(), os.Remove(f.Name()))
}

// probeName matches the files of tryFile, which a killed process may leave.
const probeName = ".probe-*"

// mayUse returns why a path may not be read and written; nil: it may, or it is gone. It opens nothing:
// closing a database's file ends SQLite's locks on it.
func mayUse(path string) error {
	if err := mayReadWrite(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &fs.PathError{Op: "read and write", Path: path, Err: err}
	}
	return nil
}

// Below noRoom a pass cannot even record what it does; below littleRoom a checkout may not fit.
// With fewer than noInodes no checkout does.
const (
	noRoom     = 64 << 20
	littleRoom = 1 << 30
	noInodes   = 1000
)

// Room returns the room on the disk of the state folder in words, empty if unknown, and whether it is
// little. The error, a *work.MachineError with the same remedy, is that no turn can work with it.
func (m *Machine) Room() (left string, little bool, err error) {
	free, inodes, known := roomOn(existing(m.dirs.State))
	if m.dirs.State == "" || !known {
		return "", false, nil
	}
	return judgeRoom(m.dirs.State, free, inodes)
}

// judgeRoom judges free bytes and inodes; inodes below 0 are not counted.
func judgeRoom(dir string, free, inodes int64) (left string, little bool, err error) {
	switch {
	case free < noRoom:
		return "", true, &work.MachineError{Err: fmt.Errorf("the disk of %s is full: %s left", dir, size(free)), Do: MoreRoom}
	case inodes >= 0 && inodes < noInodes:
		return "", true, &work.MachineError{
			Err: fmt.Errorf("the disk of %s has %s left: it can hold hardly any more files", dir, work.Count(int(inodes), "inode")),
			Do:  "delete files there (df -i shows how many it can hold), or " + work.AnotherFolder,
		}
	}
	return size(free), free < littleRoom, nil
}

// MoreRoom is what mends a disk that is nearly full.
const MoreRoom = "make room: 64 MiB for a pass, 1 GiB or more for mirrors and checkouts; or set runtime.state_dir in the config to a folder on a larger disk"

// size formats a number of bytes roughly, for people.
func size(n int64) string {
	unit, value := 0, float64(n)
	units := []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for value >= 1<<10 && unit < len(units)-1 {
		value, unit = value/(1<<10), unit+1
	}
	return fmt.Sprintf("%.4g %s", value, units[unit])
}

// Plain says for a terminal what a blocked error says for GitHub.
func Plain(err error) error {
	if _, blocked := errors.AsType[*work.BlockedError](err); blocked {
		t := TroubleOf(err, "")
		return fmt.Errorf("%s; %s", strings.TrimRight(t.Says, "."), t.Do)
	}
	return err
}

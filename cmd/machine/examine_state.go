package machine

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/doctor"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// tryState writes to the state folder as a pass does, in the folders below it down to a depth, and
// leaves nothing behind. It returns the first fault.
func tryState(dirs folder.Dirs, deepest int) *work.MachineError {
	all, err := stateFolders(dirs.State, deepest)
	for _, dir := range all {
		if err == nil {
			err = tryFolder(dir)
		}
	}
	if err == nil {
		err = tryLock(dirs)
	}
	return stateFault(dirs, err)
}

// The depths of folders below the state folder: kind, host, repository. Before each turn those of
// the repositories are left out: there may be thousands.
const (
	ofHosts = 2
	ofRepos = 3
)

// stateFolders lists the state folder and the folders below it. Mirrors and checkouts are left out:
// git and agents write there.
func stateFolders(state string, deepest int) (all []string, err error) {
	err = filepath.WalkDir(state, func(path string, d fs.DirEntry, err error) error {
		switch rel, _ := filepath.Rel(state, path); {
		case errors.Is(err, fs.ErrNotExist) || err == nil && !d.IsDir():
			return nil // another pass removed it, or it is a file
		case err != nil:
			return err
		case strings.HasPrefix(rel, "repos") && strings.HasSuffix(rel, ".git"):
			return fs.SkipDir
		case rel != "." && strings.Count(filepath.ToSlash(rel), "/") >= deepest:
			return fs.SkipDir
		}
		all = append(all, path)
		return nil
	})
	return all, err
}

// tryFolder writes a file in a folder and removes it.
func tryFolder(dir string) error {
	f, err := os.CreateTemp(dir, probeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another pass removed the folder
	}
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	err = errors.Join(err, f.Close())
	return errors.Join(err, os.Remove(f.Name()))
}

// probeName matches the files of tryFolder, which a killed process may leave.
const probeName = ".probe-*"

// tryLock takes a lock of its own, so that it keeps no pass from one, and no other trial.
func tryLock(dirs folder.Dirs) error {
	f, err := os.CreateTemp(filepath.Join(dirs.State, "locks"), probeName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the first pass makes the folder
	}
	if err != nil {
		return err
	}
	l, free, err := folder.TryLock(f.Name())
	if err == nil && free {
		l.Unlock()
	}
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

// tryFiles opens, as passes do, the logs for appending and the files of locks. Of other files it
// only looks at the permissions: closing a database's file ends SQLite's locks on it.
func tryFiles(dirs folder.Dirs) *work.MachineError {
	var all []error
	for _, dir := range []string{"logs", "locks", "."} {
		entries, err := os.ReadDir(filepath.Join(dirs.State, dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return stateFault(dirs, err)
		}
		for _, e := range entries {
			path := filepath.Join(dirs.State, dir, e.Name())
			switch {
			case !e.Type().IsRegular():
			case dir == ".":
				all = append(all, mayUse(path))
			default:
				f, err := files.OpenOwn(path, os.O_APPEND|os.O_WRONLY)
				if err == nil {
					err = f.Close()
				}
				all = append(all, err)
			}
		}
	}
	all = slices.DeleteFunc(all, func(err error) bool { return err == nil || errors.Is(err, fs.ErrNotExist) })
	if len(all) == 0 {
		return nil
	}
	return stateFault(dirs, all[0])
}

// tryMirror looks whether git may use a mirror: its folders, but for those of single objects, and
// the files at its top.
func tryMirror(dirs folder.Dirs, mirror string) *work.MachineError {
	objects := filepath.Join(mirror, "objects")
	err := filepath.WalkDir(mirror, func(path string, d fs.DirEntry, err error) error {
		const ofObjects = 2 // hexadecimal digits in the name of a folder of objects
		if err == nil && d.IsDir() && filepath.Dir(path) == objects && len(d.Name()) == ofObjects {
			return fs.SkipDir
		}
		if err == nil && (d.IsDir() || filepath.Dir(path) == mirror) {
			err = mayUse(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return stateFault(dirs, err)
}

// mayUse returns why a path may not be read and written; nil: it may.
func mayUse(path string) error {
	if err := mayReadWrite(path); err != nil {
		return &fs.PathError{Op: "read and write", Path: path, Err: err}
	}
	return nil
}

// stateFault returns what is wrong with the state folder, with the remedy; nil: nothing.
func stateFault(dirs folder.Dirs, err error) *work.MachineError {
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

// examineState tries the state folder, as before a turn or, for doctor, with each repository's
// folders, each file and each mirror.
func (m *Machine) examineState(deepest int) *doctor.Folder {
	dir := m.dirs.State
	if dir == "" {
		return &doctor.Folder{}
	}
	state := examineFolder(dir)
	if err := GuardState(m.cfg.Runtime.StateDir); err != nil {
		fault := stateFault(m.dirs, err)
		state.Trouble, state.Do = fault.Err.Error(), fault.Do
		return state
	}
	if state.New {
		return state
	}
	if deepest == ofRepos {
		if elsewhere := m.dirs.Elsewhere(folder.ThisMachine(), m.now()); elsewhere != nil {
			state.Trouble, state.Do = elsewhere.Error(), elsewhere.Do()
			return state
		}
	}
	tries := []func() *work.MachineError{func() *work.MachineError { return tryState(m.dirs, deepest) }}
	if deepest == ofRepos {
		tries = append(tries, func() *work.MachineError { return tryFiles(m.dirs) })
		mirrors, _ := filepath.Glob(filepath.Join(dir, "repos", "*", "*.git")) // only a bad pattern is an error
		for _, mirror := range mirrors {
			tries = append(tries, func() *work.MachineError { return tryMirror(m.dirs, mirror) })
		}
	}
	for _, try := range tries {
		if fault := try(); fault != nil {
			state.Trouble, state.Do = fault.Err.Error(), fault.Do
			break
		}
	}
	return state
}

// tryMachine makes the checks that stand before a turn, but for git.
func (m *Machine) tryMachine() error {
	if m.readOnly {
		return nil // a dry run writes nothing
	}
	return refuse(doctor.Facts{State: m.examineState(ofHosts), Disk: m.examineDisk()})
}

// fault returns a fault of this machine that a turn of a repository would meet.
func (m *Machine) fault(_ context.Context, repo work.Repo) error {
	if err := m.tryMachine(); err != nil {
		return err
	}
	if fault := tryMirror(m.dirs, m.dirs.MirrorDir(repo)); fault != nil {
		return fault
	}
	return nil
}

// refuse returns the first failure of the checks before a turn as a *work.MachineError.
func refuse(f doctor.Facts) error {
	failed := doctor.Only(doctor.Run(f, doctor.BeforeTurn), doctor.Failure)
	if len(failed) == 0 {
		return nil
	}
	return &work.MachineError{Err: errors.New(failed[0].What()), Do: failed[0].Do}
}

// examineDisk returns the room on the disk of the state folder; nil: unknown.
func (m *Machine) examineDisk() *doctor.Disk {
	free, inodes, known := roomOn(existing(m.dirs.State))
	if m.dirs.State == "" || !known {
		return nil
	}
	return &doctor.Disk{Path: m.dirs.State, Free: free, Inodes: inodes}
}

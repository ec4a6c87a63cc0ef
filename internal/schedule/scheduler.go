package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Scheduler is one of a machine's schedulers.
type Scheduler interface {
	// Kind returns its name.
	Kind() Kind
	// There returns nil if this machine has it, or else the reason.
	There(ctx context.Context) error
	// Installed reads what is installed for a job, and whether the scheduler runs it.
	Installed(ctx context.Context, j Job) (Installed, error)
	// Install writes the job and starts it.
	Install(ctx context.Context, j Job) error
	// Remove removes the job and nothing else.
	Remove(ctx context.Context, j Job) error
	// Files returns what Install would write, and where.
	Files(j Job) ([]File, error)
}

// File is a file, or a part of one, written for a job.
type File struct {
	Path string // or another description of the place
	Text string
}

// Installed is what is installed for a job.
type Installed struct {
	Job   Job    // the installed job; parts that cannot be parsed are empty
	Files []File // empty: not installed
	Runs  bool   // the scheduler runs it
}

// Found reports whether anything is installed.
func (i Installed) Found() bool { return len(i.Files) > 0 }

// Same reports whether Install would write the same job.
func (i Installed) Same(s Scheduler, j Job) bool {
	j.Since = i.Job.Since
	wanted, err := s.Files(j)
	if err != nil || len(wanted) != len(i.Files) {
		return false
	}
	for n, f := range wanted {
		if i.Files[n] != f {
			return false
		}
	}
	return true
}

// Machine is how schedulers are reached.
type Machine struct {
	Home       string   // required
	ConfigHome string   // required: the folder of this user's settings
	Path       string   // required: where to find programs
	Env        []string // required: environment of the schedulers' programs
	UID        int
	RunDir     string // the folder of sockets of this user's session
}

// Of returns one of this machine's schedulers.
func (m Machine) Of(k Kind) (Scheduler, error) {
	switch k {
	case Launchd:
		return launchd{m}, nil
	case Systemd:
		return systemd{m}, nil
	case Cron:
		return cron{m}, nil
	}
	return nil, fmt.Errorf("no scheduler %q: want launchd, systemd or cron", k)
}

// NoProgramError means that a scheduler's program is missing.
type NoProgramError struct{ Name string }

func (e *NoProgramError) Error() string { return "there is no " + e.Name + " here" }

// askTime limits a scheduler's answer.
const askTime = 20 * time.Second

// ask runs a scheduler's program.
func (m Machine) ask(ctx context.Context, stdin, name string, args ...string) (proc.Result, error) {
	path, err := proc.LookPath(name, m.Path)
	if errors.Is(err, proc.ErrNotFound) {
		return proc.Result{}, &NoProgramError{name}
	}
	if err != nil {
		return proc.Result{}, err
	}
	res, err := proc.Run(ctx, proc.Cmd{
		Path: path, Args: args, Dir: "/", Env: append(append([]string{}, m.Env...), "LC_ALL=C"), Stdin: []byte(stdin),
		Wall: askTime, Survivors: proc.LeaveSurvivors,
	})
	if err == nil && res.TimedOut != proc.NoLimit {
		err = fmt.Errorf("%s did not answer within %s", name, askTime)
	}
	return res, err
}

// tell is ask, but a nonzero exit code is an error with the program's output.
func (m Machine) tell(ctx context.Context, stdin, name string, args ...string) error {
	res, err := m.ask(ctx, stdin, name, args...)
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), said(res))
	}
	return err
}

// said is a failed program's output in one line.
func said(res proc.Result) string {
	words := strings.Join(strings.Fields(string(res.Stderr)+" "+string(res.Stdout)), " ")
	if words == "" {
		return fmt.Sprintf("exit code %d", res.Code)
	}
	return words
}

// readFiles reads the files of a job; missing ones are omitted.
func readFiles(paths ...string) ([]File, error) {
	var all []File
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		if !ours(string(text)) {
			return nil, fmt.Errorf("%s was not written by gh mergexo: move it away; nothing was changed", path)
		}
		all = append(all, File{path, string(text)})
	}
	return all, nil
}

func writeFiles(all []File) error {
	for _, f := range all {
		if err := files.Replace(f.Path, f.Text); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return nil
}

func removeFiles(all []File) error {
	var errs []error
	for _, f := range all {
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove %s: %w", f.Path, err))
		}
	}
	return errors.Join(errs...)
}

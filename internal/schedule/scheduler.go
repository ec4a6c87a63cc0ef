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
	// Kind names it.
	Kind() Kind
	// There says whether this machine has it, and else why not.
	There(ctx context.Context) error
	// Installed reads what is written for a job, and whether it is in force.
	Installed(ctx context.Context, j Job) (Installed, error)
	// Install writes the job and has it repeated from now on.
	Install(ctx context.Context, j Job) error
	// Remove takes the job away, and nothing else.
	Remove(ctx context.Context, j Job) error
	// Files are what would be written, and where.
	Files(j Job) ([]File, error)
}

// File is a file, or a part of one, that is written for a job.
type File struct {
	Path string // or what else tells people where it is
	Text string
}

// Installed is what stands on a machine for a job.
type Installed struct {
	Job   Job    // as it was read; what could not be read is empty
	Files []File // none: it is not installed
	Runs  bool   // the scheduler has it in force
}

// Found tells whether anything is installed.
func (i Installed) Found() bool { return len(i.Files) > 0 }

// Same tells whether a job would be written as it stands there.
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

// Machine is what schedulers are reached through.
type Machine struct {
	Home       string   // required
	ConfigHome string   // required: where programs of this user have their settings
	Path       string   // required: where programs are
	Env        []string // required: of the programs that are asked
	UID        int
	RunDir     string // where a session of this user has its sockets
}

// Of gives one of this machine's schedulers.
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

// NoProgramError says that a scheduler's program is not on this machine.
type NoProgramError struct{ Name string }

func (e *NoProgramError) Error() string { return "there is no " + e.Name + " here" }

// askTime bounds how long a scheduler may take for an answer.
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

// tell runs it likewise; an exit code other than 0 is an error with its words.
func (m Machine) tell(ctx context.Context, stdin, name string, args ...string) error {
	res, err := m.ask(ctx, stdin, name, args...)
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("%s %s: %s", name, strings.Join(args, " "), said(res))
	}
	return err
}

// said is what a program said of why it failed, on one line.
func said(res proc.Result) string {
	words := strings.Join(strings.Fields(string(res.Stderr)+" "+string(res.Stdout)), " ")
	if words == "" {
		return fmt.Sprintf("exit code %d", res.Code)
	}
	return words
}

// readFiles reads the files of a job; none when one is not there.
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
			return nil, fmt.Errorf("%s was not written by gh mergexo schedule: move it away, and nothing was changed", path)
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

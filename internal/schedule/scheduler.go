package schedule

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// form is what differs between schedulers: what they read of a job, and the commands that they obey.
type form struct {
	files func(m Machine, j Job) ([]File, error) // all of a job, the one with its interval last
	every func(time.Duration) string             // the interval as that one has it

	// place finds where the scheduler has this user's jobs. An error says that it does not answer here.
	place func(ctx context.Context, m Machine) (string, error)

	// The commands for a job, at its place in the scheduler.
	active, start, stop func(m Machine, j Job, at string) []command
}

// forms are the forms of all schedulers.
var forms = map[Kind]form{
	Launchd: {properties, startInterval, launchdDomain, launchdActive, launchdStart, launchdStop},
	Systemd: {units, onUnitActive, systemdAnswers, systemdActive, systemdStart, systemdStop},
	Cron:    {cronFiles, cronBegins, cronAnswers, noCommands, noCommands, noCommands},
}

// command is a command to a scheduler.
type command struct {
	words   []string
	maybe   bool // it may fail
	patient bool // it is tried again for some seconds
}

func noCommands(Machine, Job, string) []command { return nil }

// Scheduler is one of a machine's schedulers.
type Scheduler struct {
	Machine
	kind Kind
	form
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
	return err == nil && slices.Equal(wanted, i.Files)
}

// All returns this machine's schedulers in order of preference.
func (m Machine) All() (all []Scheduler) {
	for _, k := range []Kind{Launchd, Systemd, Cron} {
		all = append(all, Scheduler{m, k, forms[k]})
	}
	return all
}

// Of returns one of this machine's schedulers.
func (m Machine) Of(k Kind) (Scheduler, error) {
	f, ok := forms[k]
	if !ok {
		return Scheduler{}, fmt.Errorf("no scheduler %q: want launchd, systemd or cron", k)
	}
	return Scheduler{m, k, f}, nil
}

// Kind returns its name.
func (s Scheduler) Kind() Kind { return s.kind }

// There returns nil if this machine has it, or else the reason.
func (s Scheduler) There(ctx context.Context) error {
	_, err := s.place(ctx, s.Machine)
	return err
}

// Files returns what Install would write, and where.
func (s Scheduler) Files(j Job) ([]File, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	return s.files(s.Machine, j)
}

// Installed reads what is installed for a job, and whether the scheduler runs it.
func (s Scheduler) Installed(ctx context.Context, j Job) (Installed, error) {
	all, err := s.read(ctx, j)
	if err != nil || len(all) == 0 {
		return Installed{}, err
	}
	found := Installed{Job: jobOf(all[len(all)-1], s.every), Files: all}
	if at, err := s.place(ctx, s.Machine); err == nil {
		found.Runs = s.obey(ctx, s.active(s.Machine, j, at)) == nil
	}
	return found, nil
}

// Install writes the job and starts it.
func (s Scheduler) Install(ctx context.Context, j Job) error {
	all, err := s.Files(j)
	if err != nil {
		return err
	}
	if _, err := s.read(ctx, j); err != nil { // another program's file is in its place
		return err
	}
	at, err := s.place(ctx, s.Machine)
	if err != nil {
		return err
	}
	if s.kind == Cron {
		return s.writeCrontab(ctx, j, all[0].Text)
	}
	for _, f := range all {
		if err := files.Replace(f.Path, f.Text); err != nil {
			return fmt.Errorf("write %s: %w", f.Path, err)
		}
	}
	return s.obey(ctx, s.start(s.Machine, j, at))
}

// Remove removes the job and nothing else. What may be active stays: it would start passes without files
// by which it is found.
func (s Scheduler) Remove(ctx context.Context, j Job) error {
	all, err := s.read(ctx, j)
	if err != nil || len(all) == 0 {
		return err
	}
	if s.kind == Cron {
		return s.writeCrontab(ctx, j, "")
	}
	at, err := s.place(ctx, s.Machine)
	if err != nil {
		return fmt.Errorf("%w; nothing was removed, because the job may be active: run it in a session of this user", err)
	}
	whole, _ := s.files(s.Machine, j)
	err = s.obey(ctx, s.stop(s.Machine, j, at))
	if err != nil && len(all) == len(whole) && s.obey(ctx, s.active(s.Machine, j, at)) == nil { // of an interrupted installation nothing is active
		return fmt.Errorf("%w; nothing was removed, because the job is active", err)
	}
	var errs []error
	for _, f := range all {
		if err := os.Remove(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, fmt.Errorf("remove %s: %w", f.Path, err))
		}
	}
	if s.kind == Systemd {
		errs = append(errs, s.tell(ctx, "", "systemctl", "--user", "daemon-reload"))
	}
	return errors.Join(errs...)
}

// read reads what is installed of a job; nothing: it is not.
func (s Scheduler) read(ctx context.Context, j Job) (all []File, err error) {
	if s.kind == Cron {
		tab, err := s.listCrontab(ctx)
		if err != nil {
			return nil, err
		}
		_, block, _, err := cutCron(j, tab)
		if err != nil || block == "" {
			return nil, err
		}
		return []File{{"crontab", block}}, nil
	}
	named, _ := s.files(s.Machine, j)
	for _, f := range named {
		text, err := os.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Path, err)
		case !strings.Contains(string(text), written):
			return nil, fmt.Errorf("%s was not written by gh mergexo: move it away; nothing was changed", f.Path)
		default:
			all = append(all, File{f.Path, string(text)})
		}
	}
	return all, nil
}

// obey gives the scheduler commands until one fails that must not.
func (s Scheduler) obey(ctx context.Context, all []command) error {
	for _, c := range all {
		err := s.tell(ctx, "", c.words[0], c.words[1:]...)
		for n := 1; err != nil && c.patient && n < 10; n++ {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(300 * time.Millisecond):
			}
			err = s.tell(ctx, "", c.words[0], c.words[1:]...)
		}
		if err != nil && !c.maybe {
			return err
		}
	}
	return nil
}

// Machine is how schedulers are reached.
type Machine struct {
	Home       string   // required
	ConfigHome string   // required: the folder of this user's settings
	Path       string   // required: where to find programs
	Env        []string // required: environment of the schedulers' programs
	UID        int
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

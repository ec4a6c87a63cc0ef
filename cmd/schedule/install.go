package schedule

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/schedule"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// standing is a scheduler and the job that is installed in it.
type standing struct {
	s     schedule.Scheduler
	found schedule.Installed
}

// survey is what the schedulers of this machine have installed for a job.
type survey struct {
	all     []standing
	mute    []string // a message for each scheduler that could not be asked
	trouble error    // errors of schedulers that work, but whose job cannot be read
}

func (p plan) survey(ctx context.Context) (v survey) {
	for _, s := range p.machine.All() {
		found, err := s.Installed(ctx, p.job)
		_, none := errors.AsType[*schedule.NoProgramError](err)
		switch {
		case none:
		case err != nil && s.There(ctx) != nil:
			v.mute = append(v.mute, fmt.Sprintf("%s could not be asked: %s", s.Kind(), err))
		case err != nil:
			v.trouble = errors.Join(v.trouble, err)
		case found.Found():
			v.all = append(v.all, standing{s, found})
		}
	}
	return v
}

// choose finds the scheduler: the named one, the one that has the job, or the first available one.
// why explains the choice.
func (p plan) choose(ctx context.Context, named schedule.Kind, all []standing) (s schedule.Scheduler, why string, err error) {
	if named != "" {
		if s, err = p.machine.Of(named); err != nil {
			err = &cli.UsageError{Err: err}
		}
		return s, "", err
	}
	if len(all) > 0 {
		return all[0].s, "", nil
	}
	foreign := schedule.Launchd
	if runtime.GOOS == "darwin" {
		foreign = schedule.Systemd
	}
	var lacks []string
	for _, s := range p.machine.All() {
		if s.Kind() == foreign {
			continue
		}
		if err = s.There(ctx); err == nil {
			return s, strings.Join(lacks, "; "), nil
		}
		lacks = append(lacks, fmt.Sprintf("no %s: %s", s.Kind(), err))
	}
	return s, "", &work.MachineError{
		Err: fmt.Errorf("no scheduler works on this machine (%s)", strings.Join(lacks, "; ")),
		Do:  fmt.Sprintf("install cron, or have another scheduler run %q", strings.Join(p.job.Command(schedule.Cron), " ")),
	}
}

// prepared is a job as a scheduler takes it.
type prepared struct {
	plan
	s   schedule.Scheduler
	all []standing // what is installed; the chosen scheduler reports its own errors
	why string     // this scheduler
	cfg *config.Config
}

// prepare chooses the scheduler, and makes its job: with the asked interval, the installed one, or else
// one minute.
func prepare(ctx context.Context, a *cli.App, opt Options) (x prepared, err error) {
	if InDemo(a) {
		return x, errDemo
	}
	if x.plan, x.cfg, err = now(a); err != nil {
		return x, err
	}
	x.all = x.survey(ctx).all
	if x.s, x.why, err = x.choose(ctx, opt.Kind, x.all); err != nil {
		return x, err
	}
	every := opt.Every
	for _, st := range x.all {
		every = cmp.Or(every, st.found.Job.Every)
	}
	x.job.Every = cmp.Or(every, time.Minute)
	if err := schedule.CheckEvery(x.s.Kind(), x.job.Every); err != nil {
		return x, &cli.UsageError{Err: err}
	}
	return x, nil
}

// DemoVariable is set in the environment that `demo --serve` prints. Schedulers are those of the
// whole machine, and the demo's GitHub ends with the demo.
const DemoVariable = "MERGEXO_DEMO"

// InDemo reports whether the command runs in the environment of the demo.
func InDemo(a *cli.App) bool {
	_, in := a.Environ().Lookup(DemoVariable)
	return in
}

var errDemo = errors.New("nothing is scheduled for the demo: its GitHub and its folder go away with it (" + DemoVariable + " is set)")

// Possible returns why this machine cannot repeat passes; nil: it can.
func Possible(ctx context.Context, a *cli.App) error {
	p, _, err := now(a)
	if err != nil {
		return err
	}
	_, _, err = p.choose(ctx, "", nil)
	return err
}

// Install installs the schedule and prints what it did.
func Install(ctx context.Context, a *cli.App, opt Options) error {
	x, err := prepare(ctx, a, opt)
	if err != nil {
		return err
	}
	if err := x.s.There(ctx); err != nil {
		return err
	}
	if err := x.tried(ctx); err != nil {
		return err
	}
	if x.job, err = x.fit(x.s, x.job); err != nil {
		return err
	}
	if err := x.install(ctx, a); err != nil {
		return err
	}
	x.note(ctx, a)
	return nil
}

// install writes the job unless it is already installed like this, and removes it from other
// schedulers.
func (x prepared) install(ctx context.Context, a *cli.App) error {
	out, done, before := a.Output(), false, schedule.Installed{}
	for _, st := range x.all {
		if st.s.Kind() == x.s.Kind() {
			before, done = st.found, st.found.Runs && st.found.Same(x.s, x.job)
		}
	}
	every := work.IntervalText(x.job.Every)
	if done {
		fmt.Fprintf(out.W, "Nothing to do: %s starts a pass every %s, since %s.\n", x.s.Kind(), every, out.Ours(before.Job.Since.UTC().Format(time.RFC3339)))
	} else {
		if err := machine.MakeFolder(x.job.Logs); err != nil {
			return err
		}
		if err := x.s.Install(ctx, x.job); err != nil {
			return fmt.Errorf("install the schedule with %s: %w", x.s.Kind(), err)
		}
		was := ""
		if old := before.Job.Every; old != 0 && old != x.job.Every {
			was = " instead of every " + work.IntervalText(old)
		}
		fmt.Fprintf(out.W, "%s starts a pass every %s from now on%s.\n", x.s.Kind(), every, was)
	}
	for _, st := range x.all {
		if st.s.Kind() == x.s.Kind() {
			continue
		}
		if err := st.remove(ctx, x.job, out.W); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a job, and reports it.
func (st standing) remove(ctx context.Context, j schedule.Job, w io.Writer) error {
	if err := st.s.Remove(ctx, j); err != nil {
		return fmt.Errorf("remove the schedule of %s: %w", st.s.Kind(), err)
	}
	fmt.Fprintf(w, "%s starts no passes any more.\n", st.s.Kind())
	return nil
}

// note prints what may still keep passes from running.
func (x prepared) note(ctx context.Context, a *cli.App) {
	to := a.Notes(a.Output())
	say := func(format string, args ...any) { fmt.Fprintf(to, format+"\n", args...) }
	if x.why != "" {
		say("%s is used: there is %s", x.s.Kind(), x.why)
	}
	if x.s.Kind() == schedule.Systemd {
		if lingers, known := x.machine.Lingers(ctx); known && !lingers {
			say("passes stop when you log out; to keep them running: loginctl enable-linger")
		}
	}
	if x.s.Kind() == schedule.Cron && schedule.CronSleeps(root(a)) {
		say("%s; %s", cronSleeps.Says, cronSleeps.Do)
	}
	names := x.withheld(a.Environ())
	if len(names) > 0 {
		say("the schedule does not contain %s, which this shell has: it contains no secrets. Where to put them: https://github.com/mergexo/gh-mergexo/blob/main/docs/deploy.md#secrets", strings.Join(names, ", "))
	}
	for _, host := range machine.Hosts(x.cfg) {
		if !x.loggedIn(ctx, host) {
			say("scheduled passes find no gh login for %s: gh auth login --hostname %s", host, host)
		}
	}
	for _, missing := range x.programs {
		if missing.Path == "" {
			say("%s is not on PATH, so scheduled passes do not find it: install it, then gh mergexo schedule install", missing.Name)
		}
	}
	if h, err := cli.Halted(x.cfg); err == nil && h != nil {
		a.PrintHalt(h)
	}
}

package schedule

import (
	"context"
	"errors"
	"fmt"
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
	for _, k := range schedule.Kinds {
		s, err := p.machine.Of(k)
		if err != nil {
			v.trouble = errors.Join(v.trouble, err)
			continue
		}
		found, err := s.Installed(ctx, p.job)
		_, none := errors.AsType[*schedule.NoProgramError](err)
		switch {
		case none:
		case err != nil && s.There(ctx) != nil:
			v.mute = append(v.mute, fmt.Sprintf("%s could not be asked: %s", k, err))
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
			return nil, "", &cli.UsageError{Err: err}
		}
		return s, "", s.There(ctx)
	}
	if len(all) > 0 {
		return all[0].s, "", nil
	}
	first := schedule.Systemd
	if runtime.GOOS == "darwin" {
		first = schedule.Launchd
	}
	var lacks []string
	for _, k := range []schedule.Kind{first, schedule.Cron} {
		if s, err = p.machine.Of(k); err != nil {
			return nil, "", err
		}
		if err = s.There(ctx); err == nil {
			return s, strings.Join(lacks, "; "), nil
		}
		lacks = append(lacks, fmt.Sprintf("no %s: %s", k, err))
	}
	return nil, "", &work.MachineError{
		Err: fmt.Errorf("no scheduler works on this machine (%s)", strings.Join(lacks, "; ")),
		Do:  fmt.Sprintf("install cron, or have another scheduler run %q", strings.Join(p.job.Command(schedule.Cron), " ")),
	}
}

// DemoVariable is set in the environment that `demo --serve` prints. Schedulers are those of the
// whole machine, and the demo's GitHub ends with the demo.
const DemoVariable = "MERGEXO_DEMO"

// InDemo reports whether the command runs in the environment of the demo.
func InDemo(a *cli.App) bool {
	_, in := a.Environ().Lookup(DemoVariable)
	return in
}

var errDemo = errors.New("nothing is scheduled for the demo: its GitHub ends with it (" + DemoVariable + " is set)")

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
	if InDemo(a) {
		return errDemo
	}
	p, cfg, err := now(a)
	if err != nil {
		return err
	}
	all := p.survey(ctx).all // the chosen scheduler reports its own errors
	s, why, err := p.choose(ctx, opt.Kind, all)
	if err != nil {
		return err
	}
	if p.job.Every, err = interval(s.Kind(), opt.Every, all); err != nil {
		return &cli.UsageError{Err: err}
	}
	if err := p.tried(ctx); err != nil {
		return err
	}
	if p.job, err = p.fit(s, p.job); err != nil {
		return err
	}
	if err := p.install(ctx, a, s, all); err != nil {
		return err
	}
	p.note(ctx, a, cfg, s, why)
	return nil
}

// interval returns how often passes start.
func interval(k schedule.Kind, asked time.Duration, all []standing) (time.Duration, error) {
	every := asked
	for _, st := range all {
		if every == 0 {
			every = st.found.Job.Every
		}
	}
	if every == 0 {
		every = usual
	}
	return every, schedule.CheckEvery(k, every)
}

// install writes the job unless it is already installed like this, and removes it from other
// schedulers.
func (p plan) install(ctx context.Context, a *cli.App, s schedule.Scheduler, all []standing) error {
	out, done, before := a.Output(), false, schedule.Installed{}
	for _, st := range all {
		if st.s.Kind() == s.Kind() {
			before, done = st.found, st.found.Runs && st.found.Same(s, p.job)
		}
	}
	every := schedule.Words(p.job.Every)
	switch {
	case done:
		fmt.Fprintf(out.W, "Nothing to do: %s starts a pass every %s, since %s.\n", s.Kind(), every, out.LocalTimes(stamp(before.Job.Since)))
	default:
		if err := machine.MakeFolder(p.job.Logs); err != nil {
			return err
		}
		if err := s.Install(ctx, p.job); err != nil {
			return fmt.Errorf("install the schedule with %s: %w", s.Kind(), err)
		}
		was := ""
		if old := before.Job.Every; old != 0 && old != p.job.Every {
			was = " instead of every " + schedule.Words(old)
		}
		fmt.Fprintf(out.W, "%s starts a pass every %s from now on%s.\n", s.Kind(), every, was)
	}
	for _, st := range all {
		if st.s.Kind() == s.Kind() {
			continue
		}
		if err := st.s.Remove(ctx, p.job); err != nil {
			return fmt.Errorf("remove the schedule of %s, which has one, too: %w", st.s.Kind(), err)
		}
		fmt.Fprintf(out.W, "%s starts no passes any more.\n", st.s.Kind())
	}
	return nil
}

// note prints what may still keep passes from running.
func (p plan) note(ctx context.Context, a *cli.App, cfg *config.Config, s schedule.Scheduler, why string) {
	to := a.Notes(a.Output())
	say := func(format string, args ...any) { fmt.Fprintf(to, format+"\n", args...) }
	if why != "" {
		say("%s is used: there is %s", s.Kind(), why)
	}
	if s.Kind() == schedule.Systemd {
		if lingers, known := p.machine.Lingers(ctx); known && !lingers {
			say("passes stop when you log out; to keep them running: loginctl enable-linger")
		}
	}
	if s.Kind() == schedule.Cron && schedule.CronSleeps(root(a)) {
		say("%s; %s", cronSleeps.Says, cronSleeps.Do)
	}
	names := p.withheld(a.Environ())
	if len(names) > 0 {
		say("the schedule does not contain %s, which this shell has: it contains no secrets. Where to put them: https://github.com/mergexo/gh-mergexo/blob/main/docs/deploy.md#secrets", strings.Join(names, ", "))
	}
	for _, host := range machine.Hosts(cfg) {
		if !p.loggedIn(ctx, host) {
			say("scheduled passes find no gh login for %s: gh auth login --hostname %s", host, host)
		}
	}
	for _, missing := range p.programs {
		if missing.Path == "" {
			say("%s is not on PATH, so scheduled passes do not find it: install it, then gh mergexo schedule install", missing.Name)
		}
	}
	if h, err := cli.Halted(cfg); err == nil && h != nil {
		a.PrintHalt(h)
	}
}

func stamp(t time.Time) string {
	if t.IsZero() {
		return "an unknown time"
	}
	return t.UTC().Format(time.RFC3339)
}

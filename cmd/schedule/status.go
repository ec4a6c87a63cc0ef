package schedule

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/machine"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/schedule"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// State is this machine's schedule.
type State struct {
	Scheduler schedule.Kind // empty: there is none
	Every     time.Duration // 0: unreadable
	Since     time.Time
	Active    bool // the scheduler runs it
	Passes    work.PassFacts
	Command   []string
	Path      string   // PATH of our job; empty: there is none
	Differs   []string // why schedule install would write something else
	None      error    // why this machine can have no schedule, as in a container; nil: it can

	CronSleeps bool   // the crontab starts passes, and no cron daemon runs
	Lacks      []Lack // what this shell has and scheduled passes do not
}

// Repeated reports whether a scheduler starts passes.
func (st State) Repeated() bool { return st.Scheduler != "" && st.Active }

// Says is the state in words.
func (st State) Says() string {
	if st.Every == 0 {
		return string(st.Scheduler) + " starts passes at times that were edited by hand"
	}
	return fmt.Sprintf("%s starts a pass every %s", st.Scheduler, work.IntervalText(st.Every))
}

// Warnings says why passes may not be repeated as schedule install would have it, each with what ends it.
func (st State) Warnings() (all []machine.Trouble) {
	const install = "gh mergexo schedule install"
	switch none, is := errors.AsType[*work.MachineError](st.None); {
	case is:
		all = append(all, machine.Trouble{Says: none.Err.Error(), Do: none.Do})
	case st.Scheduler == "":
		all = append(all, machine.Trouble{Says: "gh mergexo has installed no schedule here", Do: install})
	}
	for _, why := range st.Differs {
		all = append(all, machine.Trouble{Says: st.Says() + ", and " + why, Do: install})
	}
	if st.CronSleeps {
		all = append(all, cronSleeps)
	}
	return all
}

// cronSleeps is that the crontab starts passes, and nothing reads it.
var cronSleeps = machine.Trouble{Says: "no cron daemon runs, so nothing starts the passes of the crontab", Do: "sudo service cron start"}

// Look asks the schedulers for the state and reads what is known of passes. The latter is also
// returned with an error.
func Look(ctx context.Context, a *cli.App, cfg *config.Config) (st State, err error) {
	if st.Passes, err = (folder.Dirs{State: cfg.Runtime.StateDir}).Passes(cfg.PassLimits(), a.Now()); err != nil {
		return st, err
	}
	p, err := newPlan(cfg, a.Environ(), a.Now())
	if err != nil {
		return st, err
	}
	v := p.survey(ctx)
	if len(v.all) == 0 {
		_, _, st.None = p.choose(ctx, "", nil)
		return st, v.trouble
	}
	in := v.all[0]
	st.Lacks = p.lacks(ctx, in, cfg, a.Environ())
	st.CronSleeps = in.s.Kind() == schedule.Cron && schedule.CronSleeps(root(a))
	st.Scheduler, st.Every, st.Since, st.Active = in.s.Kind(), in.found.Job.Every, in.found.Job.Since, in.found.Runs
	j := in.found.Job
	st.Path, st.Command = j.Get("PATH"), j.Command(st.Scheduler)
	st.Differs = p.differs(in)
	for _, other := range v.all[1:] {
		st.Differs = append(st.Differs, fmt.Sprintf("%s repeats passes, too", other.s.Kind()))
	}
	if st.Active {
		st.Passes.Every, st.Passes.Since = st.Every, st.Since
	}
	return st, nil
}

// differs lists why install would write something else. A different PATH that finds the same
// programs does not count.
func (p plan) differs(in standing) (all []string) {
	was := in.found.Job
	if !in.found.Runs {
		all = append(all, fmt.Sprintf("%s has it installed, but not active", in.s.Kind()))
	}
	if was.Gh == "" { // its header is not ours
		return append(all, "another version wrote it, or somebody edited it")
	}
	if was.Gh != p.job.Gh {
		all = append(all, fmt.Sprintf("it starts %s, and gh is now %s", orNone(was.Gh), orNone(p.job.Gh)))
	}
	for _, need := range p.programs {
		found, _ := proc.LookPath(need.Name, was.Get("PATH"))
		if found != need.Path && real(found) != real(need.Path) && (found != "" || need.Path == "") {
			all = append(all, fmt.Sprintf("its PATH has %s at %s, and this shell's at %s", need.Name, orNone(found), orNone(need.Path)))
		}
	}
	if len(all) > 0 {
		return all
	}
	j := p.job.With("PATH", was.Get("PATH"))
	j.Every = was.Every // install keeps it
	if !in.found.Same(in.s, j) {
		all = append(all, "another version wrote it, somebody edited it, or this shell has other variables")
	}
	return all
}

func orNone(path string) string {
	if path == "" {
		return "nothing"
	}
	return path
}

// real resolves links.
func real(path string) string {
	if at, err := filepath.EvalSymlinks(path); err == nil {
		return at
	}
	return path
}

func (r *room) status(ctx context.Context) error {
	cfg, err := r.Config()
	if err != nil {
		return err
	}
	st, err := Look(ctx, r.App, cfg)
	if err != nil {
		return err
	}
	out := r.Output()
	if r.JSON.Asked() {
		return r.JSON.Write(out, st.view())
	}
	to := r.Notes(out)
	if st.Scheduler == "" {
		if InDemo(r.App) {
			fmt.Fprintln(to, errDemo)
			return nil
		}
		printWarnings(out, to, st)
		return nil
	}
	now := r.Now()
	last := out.When(st.Passes.Last.At, now)
	if st.Passes.Last.At.IsZero() {
		last = "none yet"
	}
	every := "not known"
	if st.Every != 0 {
		every = work.IntervalText(st.Every)
	}
	rows := [][]string{{string(st.Scheduler), every, out.When(st.Since, now), last, strings.Join(st.Command, " ")}}
	if err := out.Table([]string{"SCHEDULER", "EVERY", "SINCE", "LAST PASS", "COMMAND"}, rows); err != nil {
		return err
	}
	printWarnings(out, to, st)
	if h, err := cli.Halted(cfg); err == nil && h != nil {
		r.PrintHalt(h)
	}
	return nil
}

func printWarnings(out terminal.Output, to io.Writer, st State) {
	if v := work.JudgePasses(st.Passes); v.Bad() {
		fmt.Fprintln(to, out.Ours(terminal.OneLine(v.Line())))
	}
	for _, t := range st.Warnings() {
		fmt.Fprintln(to, t.Says+"; "+t.Do)
	}
	for _, l := range st.Lacks {
		fmt.Fprintln(to, l.Says+"; "+l.Do)
	}
}

// stateView is the output of schedule status.
type stateView struct {
	Scheduler schedule.Kind `json:"scheduler"` // `launchd`, `systemd` or `cron`; empty: there is no schedule of ours
	Active    bool          `json:"active"`    // it begins passes now
	Every     *string       `json:"every"`     // null: somebody wrote the times by hand
	Differs   []string      `json:"differs"`   // from what `schedule install` would write now
	Lacks     []string      `json:"lacks"`     // programs and logins that this shell has and scheduled passes do not
}

func (st State) view() stateView {
	v := stateView{
		Scheduler: st.Scheduler, Active: st.Active, Differs: terminal.OrEmpty(st.Differs),
		Lacks: terminal.Each(st.Lacks, func(l Lack) string { return l.Says }),
	}
	if st.Every != 0 {
		every := work.IntervalText(st.Every)
		v.Every = &every
	}
	return v
}

// This file shows what passes do at this moment: the turns they work on, and their agents' usage
// so far.

package status

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// LiveTurns are the turns that live passes work on, with their agents' usage so far.
type LiveTurns struct {
	live map[string]folder.Live
	runs map[int64]work.Run // unfinished runs, by turn
	Now  time.Time          // by this machine's clock, like the times in live

	clones map[int64]string // how far the clones of repositories are, by their rows

	others map[int64]string // the other machines that work on a turn, for people
}

// loadLiveTurns reads them. now is by this machine's clock.
func loadLiveTurns(ctx context.Context, tx *store.Tx, state string, now time.Time) (w LiveTurns, err error) {
	w = LiveTurns{runs: map[int64]work.Run{}, Now: now}
	if w.live, err = folder.At(state).LiveTurns(); err != nil || len(w.live) == 0 {
		return w, err
	}
	open, err := tx.ListOpenRuns(ctx)
	for _, r := range open {
		w.runs[r.Turn] = r
	}
	if err != nil {
		return w, err
	}
	repos, err := tx.ListRepos(ctx)
	w.clones = map[int64]string{}
	for _, r := range repos {
		if far, err := os.ReadFile(filepath.Join(folder.At(state).MirrorDir(r), work.CloneProgress)); err == nil {
			w.clones[r.ID] = terminal.OneLine(string(far))
		}
	}
	return w, err
}

// addOthers adds the turns that passes of other machines work on, whose sessions hold the turns' locks.
// here is this machine's name, now is by GitHub's clock.
func (w *LiveTurns) addOthers(ctx context.Context, tx *store.Tx, machines cli.Machines, here string, now time.Time) error {
	held, err := tx.Locks(ctx)
	if err != nil || held.Count() == 0 {
		return err
	}
	unfinished, err := tx.ListUnfinishedTurns(ctx)
	if err != nil {
		return err
	}
	w.others = map[int64]string{}
	for _, t := range unfinished {
		if t.Machine != here && held.Has(store.TurnLock(t)) {
			w.others[t.ID] = machines.Called(t.Machine)
		}
	}
	if len(w.others) == 0 {
		return nil
	}
	open, err := tx.ListOpenRuns(ctx)
	for _, r := range open {
		if w.others[r.Turn] != "" {
			r.Began = r.Began.Add(w.Now.Sub(now)) // by this machine's clock
			w.runs[r.Turn] = r
		}
	}
	return err
}

// of returns a turn that a live pass works on, with the usage of all its runs so far; nil if none does.
func (w LiveTurns) of(t *work.Turn, at explain.Place) *Turn {
	if t == nil {
		return nil
	}
	run, open := w.runs[t.ID]
	live, ok := w.live[t.Key]
	machine := ""
	if !ok {
		if machine = w.others[t.ID]; machine == "" {
			return nil
		}
		live = folder.Live{Since: run.Began}
	}
	r := turnOf(*t, at, nil)
	r.Doing, r.LastActivity, r.since, r.machine = doing(*t, open, w.clones[t.RepoID]), terminal.Stamp(live.LastActivity), live.Since, machine
	if open {
		r.Usage = UsageOf(t.Used.Add(run.Usage, run.Known))
		r.Agent = run.Agent
	}
	return &r
}

// doing describes a turn's progress. cloning says how far the clone of its repository is; empty: there is one.
func doing(t work.Turn, runs bool, cloning string) string {
	switch t.Step {
	case work.StepClaimed:
		switch {
		case runs:
			return "its agent works"
		case cloning != "":
			return "cloning, " + cloning
		case t.Runs == 0:
			return "its checkout is made"
		}
		return "its agent's result is checked"
	case work.StepAnswered:
		return "its commit is pushed"
	case work.StepPushed, work.StepApplied:
		return "its answer is sent to GitHub"
	case work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return "it ends"
}

// Says describes what a live pass does for it, for how long, when its agent was last active, and its
// usage. now is by this machine's clock.
func (t Turn) Says(now time.Time) string {
	said := string(t.Kind)
	if t.Agent != "" {
		said += " by " + by(t.Agent, t.InsteadOf)
	}
	if t.machine != "" {
		said += " on machine " + t.machine
	}
	said += ": " + t.Doing
	if !t.since.IsZero() {
		said += ", for " + terminal.Took(now.Sub(t.since))
	}
	if !t.LastActivity.IsZero() {
		said += ", last activity " + terminal.Took(now.Sub(t.LastActivity.Time)) + " ago"
	}
	return said + t.used()
}

// OtherPasses tells which items other passes work on now, since when, and in which turn; none if that
// cannot be read.
func OtherPasses(ctx context.Context, a *cli.App, cfg *config.Config) (lines []string) {
	repos, err := cli.Repos(cfg, "")
	if err != nil {
		return nil
	}
	b, _, _ := loadBoard(ctx, Query{Config: cfg, Repos: repos, Now: a.Now(), Machine: cli.ThisMachine(cfg)})
	for _, i := range b.Items {
		if i.Turn == nil {
			continue
		}
		since := ""
		if !i.Turn.since.IsZero() {
			since = " since " + work.Stamp(i.Turn.since)
		}
		lines = append(lines, fmt.Sprintf("another pass works on %s%s: %s", i.ref(), since, i.Turn.Says(i.local)))
	}
	return lines
}

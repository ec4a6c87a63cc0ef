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
	here       string                 // this machine's name
	live       map[string]folder.Live // of passes of this machine
	held       store.Held             // of passes of all machines
	unfinished []work.Turn
	runs       map[int64]work.Run // unfinished runs, by turn
	clones     map[int64]string   // how far the clones of repositories are, by their rows
	machines   cli.Machines       // to name the other ones
	ahead      time.Duration      // how far this machine's clock is ahead of GitHub's
	Now        time.Time          // by this machine's clock, like the times in live
}

// loadLiveTurns reads them. now is by this machine's clock.
func loadLiveTurns(ctx context.Context, tx *store.Tx, state, here string, now time.Time) (w LiveTurns, err error) {
	w = LiveTurns{here: here, runs: map[int64]work.Run{}, clones: map[int64]string{}, Now: now}
	if w.live, err = folder.At(state).LiveTurns(); err != nil {
		return w, err
	}
	if w.held, err = tx.Locks(ctx); err != nil {
		return w, err
	}
	if w.unfinished, err = tx.ListUnfinishedTurns(ctx); err != nil {
		return w, err
	}
	open, err := tx.ListOpenRuns(ctx)
	if err != nil {
		return w, err
	}
	for _, r := range open {
		w.runs[r.Turn] = r
	}
	if len(w.live) == 0 {
		return w, nil
	}
	repos, err := tx.ListRepos(ctx)
	for _, r := range repos {
		if far, err := os.ReadFile(filepath.Join(folder.At(state).MirrorDir(r), work.CloneProgress)); err == nil {
			w.clones[r.ID] = terminal.OneLine(string(far))
		}
	}
	return w, err
}

// works reports whether a pass works on an unfinished turn: else it died, or was ended. Where no server
// has the locks, another machine's passes cannot be seen; then it is unseen.
func (w LiveTurns) works(t work.Turn, unseen bool) bool {
	switch _, live := w.live[t.Key]; {
	case live:
		return true
	case t.Machine == w.here, w.held.Shared():
		return w.held.Has(store.TurnLock(t))
	}
	return unseen
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
		if machine = w.machines.Called(t.Machine); machine == "" || t.Machine == w.here || !w.works(*t, false) {
			return nil
		}
		if open {
			live.Since = run.Began.Add(w.ahead)
		}
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
			return "setting up"
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
	said := t.Kind.Words()
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

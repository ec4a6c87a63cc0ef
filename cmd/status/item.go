package status

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/cmd/live"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/internal/work/standing"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Facts are what the database knows of one work item today.
type Facts struct {
	known.Item
	Repo      work.Repo
	Called    string         // the repository's name, with its host where that is needed
	Live      bool           // a living pass works on it
	Worked    *live.Running  // what that does; nil: none does
	Halt      *folder.Halt   // everything on this machine is paused; nil: it is not
	Said      work.Action    // the comment that says on GitHub why it is blocked
	Reviewing *review.Record // where the next pass moves its reviews, by the plan; nil: they stay
	Waits     []work.Reason  // what keeps a turn from being begun, by the plan
	Merge     merging.Choice // of its pull request, were it alone; no gates: it is not ours to merge
	MergeDue  bool           // the next pass does that, by the plan
	Place     explain.Place  // of words about it, on this machine
	Budgets   work.Budgets
	Now       time.Time // by GitHub's clock
	Local     time.Time // by this machine's
}

// row is what is told of a work item: a line of status and what stands below it, the
// head of show, and an item in JSON are made of the same one.
type row struct {
	code    work.ReasonKind // why nothing happens
	waits   string          // the same in words
	next    string
	ref     string // of the issue
	state   string
	since   time.Time
	pull    string // of the pull request, by its number; empty: none yet
	pullURL string
	comment string // where GitHub says why it is blocked
	spent   string
}

func (f Facts) row() row {
	s := f.standing()
	r := row{
		code: s.Why.Kind, waits: s.Says(f.Place, true), next: s.Next(f.Place),
		ref: f.ref(), state: f.state(), since: f.since(), comment: f.comment(), spent: spending.Of(f.Spent).Describe(f.Budgets, true),
	}
	if n := f.Stop.Attempts; f.stopped() && n > 1 && r.waits != "" {
		r.waits += fmt.Sprintf(" (%s)", work.Count(n, "attempt"))
	}
	r.waits += f.beside(s.Why.Kind)
	if f.HasPull() {
		r.pull, r.pullURL = fmt.Sprintf("#%d", f.Pull.Number), f.Pull.URL
	}
	return r
}

// beside is what holds an open pull request back besides what it waits for first.
func (f Facts) beside(why work.ReasonKind) string {
	said := ""
	if f.State != work.StateAwaitingFeedback || f.Pull.State != work.PullOpen {
		return said
	}
	if f.Pull.Draft && why != work.WhyReviewDraft && why != work.WhyMergeDraft {
		said += "; it is a draft"
	}
	if h := f.HeldBack; h != nil && why != work.WhyReviewHeld && why != work.WhyMergeHeld {
		said += "; held back by " + cmp.Or(h.By, "a label")
	}
	return said
}

// standing answers "why is nothing happening?".
func (f Facts) standing() standing.Standing {
	a := standing.Around{Now: f.Now, Repo: f.Repo, Called: f.Called, Live: f.Live, Waits: f.Waits}
	if f.Halt != nil {
		a.Halt = f.Halt.Reason()
	}
	i := f.Standing()
	if f.Reviewing != nil { // what is stored waits for what is there
		i.Reviews = f.Awaited(*f.Reviewing)
	}
	if k := i.Reviews.Kind; (k == work.WhyReviewApproved || k == work.WhyMergeDue) && len(f.Merge.Gates) > 0 { // nobody waits for people to merge it
		i.Reviews = f.mergeWaits()
	}
	return standing.Of(i, a)
}

// mergeWaits is why a pull request that is ours to merge is not merged yet.
func (f Facts) mergeWaits() work.Reason {
	if f.Merge.Ask == merging.AskMerge || f.Merge.Ask == merging.AskEnqueue {
		return f.DueToMerge()
	}
	return f.Merge.Why.Or(f.DueToMerge())
}

// stopped reports whether a comment says why the item is blocked.
func (f Facts) stopped() bool { return f.Stop.Lasts() && f.State.Stands() }

// since is when it came into its state: tried again in vain it is blocked since the
// first time.
func (f Facts) since() time.Time {
	if f.stopped() {
		return f.Stop.Since
	}
	return f.Since
}

// comment is where GitHub says why it is blocked, or what became of that.
func (f Facts) comment() string {
	switch {
	case !f.stopped():
		return ""
	case f.Said.State == work.ActionVoid && f.Said.ResultURL != "":
		return "a person deleted it: " + f.Said.ResultURL
	case f.Said.ResultURL == "":
		return "not yet: " + cmp.Or(f.Said.LastError, "the next pass makes it")
	}
	return f.Said.ResultURL
}

// state is the item's state in a word. That it is running is said only while a pass
// works on it.
func (f Facts) state() string {
	if f.State != work.StateRunning || f.Turn == nil || f.Live || f.Turn.Blocked {
		return string(f.State)
	}
	if f.Halt != nil || f.Turn.Waits(f.Now) || !f.Turn.WaitReason.None() {
		return "waiting"
	}
	return "interrupted"
}

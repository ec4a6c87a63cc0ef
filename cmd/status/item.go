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

// Facts are what the database holds about one work item.
type Facts struct {
	known.Item
	Repo      work.Repo
	Called    string         // the repository's name, with its host if that is ambiguous
	Live      bool           // a live pass works on it
	Worked    *live.Running  // what that pass does; nil: none works on it
	Halt      *folder.Halt   // `pause --all` is in force; nil: it is not
	Said      work.Action    // the comment on GitHub with the reason why it is blocked
	Reviewing *review.Record // the next state of its reviews, by the plan; nil: unchanged
	Waits     []work.Reason  // why no turn starts, by the plan
	Merge     merging.Choice // for its pull request alone, without regard to others; no gates: not ours to merge
	MergeDue  bool           // the next pass does what Merge asks, by the plan
	Place     explain.Place  // for texts about the item on this machine
	Budgets   work.Budgets
	Now       time.Time // by GitHub's clock
	Local     time.Time // by this machine's clock
}

// row holds the texts about an item. Its line in status, the text below that, the head of show and
// the JSON are all made from it.
type row struct {
	code    work.ReasonKind // why nothing happens
	waits   string          // the reason in words
	next    string
	ref     string // the name
	state   string
	since   time.Time
	pull    string // the pull request as #N; empty: none yet
	pullURL string
	comment string // URL of the comment with the reason why it is blocked
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

// beside describes what else holds back an open pull request, besides its first reason.
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

// standing returns why nothing is happening.
func (f Facts) standing() standing.Standing {
	a := standing.Around{Now: f.Now, Repo: f.Repo, Called: f.Called, Live: f.Live, Waits: f.Waits}
	if f.Halt != nil {
		a.Halt = f.Halt.Reason()
	}
	i := f.Standing()
	if f.Reviewing != nil { // compare the stored reviews with the present head
		i.Reviews = f.Awaited(*f.Reviewing)
	}
	if k := i.Reviews.Kind; (k == work.WhyReviewApproved || k == work.WhyMergeDue) && len(f.Merge.Gates) > 0 { // not waiting for a person's merge
		i.Reviews = f.mergeWaits()
	}
	return standing.Of(i, a)
}

// mergeWaits returns why a pull request that is ours to merge is not merged yet.
func (f Facts) mergeWaits() work.Reason {
	if f.Merge.Ask == merging.AskMerge || f.Merge.Ask == merging.AskEnqueue {
		return f.DueToMerge()
	}
	return f.Merge.Why.Or(f.DueToMerge())
}

// stopped reports whether a comment on GitHub tells why the item is blocked.
func (f Facts) stopped() bool { return f.Stop.Lasts() && f.State.Stands() }

// since is when it entered its state. If it was retried in vain, that is when it was first blocked.
func (f Facts) since() time.Time {
	if f.stopped() {
		return f.Stop.Since
	}
	return f.Since
}

// comment is the URL of the comment with the reason, or why there is none.
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

// state is the item's state in a word. It is running only while a pass works on it.
func (f Facts) state() string {
	if f.State != work.StateRunning || f.Turn == nil || f.Live || f.Turn.Blocked {
		return string(f.State)
	}
	if f.Halt != nil || f.Turn.Waits(f.Now) || !f.Turn.WaitReason.None() {
		return "waiting"
	}
	return "interrupted"
}

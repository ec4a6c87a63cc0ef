package plan

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Outlook is what a plan says about one item.
type Outlook struct {
	Move     *work.Move     // the state to which the plan moves it; nil: it stays
	Finished map[int64]bool // events that need no turn any more, by their ids
	Resumed  bool           // its unfinished turn continues at once
	Begins   *Turn          // starts with the next free slot; nil: none does
	Waits    []work.Reason  // why no turn starts
	Review   *review.Record // the next state of its reviews; nil: unchanged
	Merge    merging.Choice // for its pull request alone, without regard to others; no gates: not ours to merge
	MergeDue bool           // the next pass does what Merge asks
}

// Outlooks returns what the plan of a snapshot says about each of its items.
func (p Plan) Outlooks(v known.Snapshot) func(known.Item) Outlook {
	waits, reviews, merges, turns := p.waits(), map[int64]*review.Record{}, map[int64]bool{}, map[int64]*Turn{}
	for _, t := range p.Turns() {
		turns[t.Item.ID] = &t
	}
	moves, resumed, finished := map[int64]*work.Move{}, map[int64]bool{}, map[int64]bool{}
	for _, f := range Of[change.FinishEvents](p) {
		for _, id := range f.Events {
			finished[id] = true
		}
	}
	for _, c := range Of[change.ResumeTurn](p) {
		resumed[c.Turn] = true
	}
	for _, m := range Of[change.Move](p) {
		moves[m.Item] = &m.Move
	}
	for _, r := range Of[change.Review](p) {
		reviews[r.Item] = &r.Record
	}
	for _, m := range Of[change.Merge](p) {
		merges[m.Item] = true
	}
	return func(i known.Item) Outlook {
		o := Outlook{
			Move: moves[i.ID], Finished: finished, Resumed: i.Turn != nil && resumed[i.Turn.ID], Begins: turns[i.ID], Waits: waits[i.ID],
			Review: reviews[i.ID], MergeDue: merges[i.ID],
		}
		o.Merge = Merging(v, o.applied(i, v.Now))
		return o
	}
}

// Standing answers "why is nothing happening?" for one item. The comment that answers `/mergexo
// status`, the terminal and JSON are made from it; the texts are internal/work/explain's.
type Standing struct {
	State   string        // the item's state in a word; running only while a pass works on it
	Since   time.Time     // since when; of an item that was retried in vain: since it stopped
	Why     work.Reason   // Kind is the stable code
	Then    []work.Reason // what it waits for once Why has ended
	Before  work.Reason   // what it waited for before
	Blocked bool          // a person must act
	Until   time.Time     // earliest time at which it resumes by itself; zero: unknown
	Begins  work.Kind     // kind of the next turn; empty: the reason names it, or there is none

	Wait work.Wait // since when it waits for Why, and whether a comment told that; zero: not stored yet

	beside   string // what else holds it back; empty: nothing
	attempts int    // how often it stopped for the reason
}

// Around is the state outside the item.
type Around struct {
	Now    time.Time
	Repo   work.Repo
	Called string // name of the repository for people
	Halted bool   // `pause --all` is in force
	Full   bool   // every slot is taken, or will be by a turn that resumes
	Live   bool   // a live pass works on the item
}

// StandingOf answers why nothing happens for an item. o is what today's plan says about it.
func StandingOf(i known.Item, o Outlook, a Around) Standing {
	i = o.applied(i, a.Now)
	s := waiting(i, o, a)
	s.State, s.Since, s.beside = stateOf(i, a), i.Since, beside(i, s.Why.Kind)
	if w := i.Wait; w.Reason.Kind == s.Why.Kind && w.Reason.Who == s.Why.Who && (!i.HasPull() || w.Reason.Head == i.Pull.HeadOID) {
		s.Wait = w
	}
	if i.Lead != nil {
		s.Since = i.Lead.Since
	}
	if i.Told() {
		s.Since, s.attempts = i.Stop.Since, i.Stop.Attempts
	}
	if s.State == statePaused {
		s.Since = i.Pause.Began
	}
	return s
}

// statePaused is the state of a paused item in every view; what it was in stays stored.
const statePaused = "paused"

// applied returns the item as the plan's decisions leave it.
func (o Outlook) applied(i known.Item, now time.Time) known.Item {
	i.Events = known.Without(i.Events, func(e work.Event) bool { return o.Finished[e.ID] })
	if o.Resumed {
		t := *i.Turn
		t.Blocked, t.NotBefore = false, now
		i.Turn = &t
	}
	if m := o.Move; m != nil {
		if m.To != i.State {
			i.Since = now
		}
		i.State, i.Reason = m.To, m.Reason
	}
	return i
}

// stateOf is the item's state in a word.
func stateOf(i known.Item, a Around) string {
	switch {
	case i.Lead != nil && (i.Pause == nil || i.Lead.State == roadmap.Stopped):
		return string(i.Lead.State)
	case i.Pause != nil && (i.State.Open() || i.Lead != nil) && !ending(i):
		return statePaused
	case i.Reason.Kind == work.WhyRoadmapCancelled:
		return string(roadmap.Cancelled)
	case i.State != work.StateRunning, i.Turn == nil, a.Live, i.Turn.Blocked:
		return string(i.State)
	case a.Halted, i.Turn.Waits(a.Now), !i.Turn.WaitReason.None():
		return "waiting"
	}
	return "interrupted"
}

// beside describes what else holds back an open pull request, besides its first reason.
func beside(i known.Item, why work.ReasonKind) string {
	said := ""
	if i.RoadmapStopped {
		said = "; the roadmap itself is stopped"
	}
	if i.State != work.StateAwaitingFeedback || i.Pull.State != work.PullOpen {
		return said
	}
	if len(i.Faults) > 0 && why != work.WhyPushedFaults {
		said += "; the document has faults there"
	}
	if i.Pull.Draft && why != work.WhyReviewDraft && why != work.WhyMergeDraft && why != work.WhyUntilGreen {
		said += "; it is a draft"
	}
	if i.IssueClosed && i.Flow != work.FlowReview && why != work.WhyMergeNotAsked {
		said += "; the issue is closed: to end the work, close the pull request, too"
	}
	if h := i.HeldBack; h != nil && why != work.WhyReviewHeld && why != work.WhyMergeHeld {
		said += "; held back by " + cmp.Or(h.By, "a label")
	}
	return said
}

// waiting returns the reasons of a standing.
func waiting(i known.Item, o Outlook, a Around) Standing {
	unanswered := len(i.Unanswered())
	switch {
	case i.Lead != nil:
		return leading(i)
	case !i.State.Open():
		return Standing{Why: ended(i)}
	case i.Pause != nil && !ending(i):
		return after(i.Pause.Reason(), Standing{Why: i.Reason})
	case i.Stopped() && i.Turn == nil && len(o.Waits) > 0 && o.Waits[0].Kind.OfRoadmap(): // a person said that it begins all the same
		return Standing{Why: o.Waits[0], Then: o.Waits[1:], Begins: i.Flow.StartKind()}
	case i.State == work.StateBlocked, i.Turn != nil && i.Turn.Blocked:
		return blocked(i)
	case a.Halted && !a.Live:
		a.Halted = false
		return after(work.Reason{Kind: work.WhyHalted}, waiting(i, o, a))
	case a.Repo.NotBefore.After(a.Now):
		return unread(work.Reason{Kind: work.WhyUnread, Name: a.called(), Local: a.Repo.LastError}, a.Repo.NotBefore)
	case a.Repo.Failures > 0 && !a.Live:
		return unread(work.Reason{Kind: work.WhyUnread, Name: a.called(), Local: a.Repo.LastError}, time.Time{})
	case i.Turn != nil:
		return underway(*i.Turn, a)
	case i.HasPull() && i.Pull.NotBefore.After(a.Now):
		return unread(work.Reason{Kind: work.WhyUnread, Name: fmt.Sprintf("pull request #%d", i.Pull.Number), Local: i.Pull.LastError}, i.Pull.NotBefore)
	case i.HasPull() && i.Pull.Failures > 0 && !a.Live:
		return unread(work.Reason{Kind: work.WhyUnread, Name: fmt.Sprintf("pull request #%d", i.Pull.Number), Local: i.Pull.LastError}, time.Time{})
	case o.Begins != nil && a.Full:
		a.Full = false
		return after(work.Reason{Kind: work.WhyNoSlot}, waiting(i, o, a))
	case o.Begins != nil:
		return Standing{Why: dueTurn(*o.Begins, unanswered)}
	case len(o.Waits) > 0 && (unanswered > 0 || i.State != work.StateAwaitingIssueFollowup):
		s := Standing{Why: o.Waits[0], Then: o.Waits[1:], Begins: i.Flow.StartKind()}
		if i.HasPull() {
			s.Why = mergeable(i, o, s.Why)
			s.Begins = ""
			if unanswered > 0 {
				s.Begins = i.Flow.FeedbackKind()
			}
		}
		return s
	case unanswered > 0:
		return Standing{Why: work.Reason{Kind: work.WhyToAnswer, Count: unanswered}}
	}
	return Standing{Why: idle(i, o)}
}

// dueTurn is the reason of an item whose turn starts with the next free slot.
func dueTurn(t Turn, unanswered int) work.Reason {
	switch {
	case t.Kind == work.KindReview:
		return work.Reason{Kind: work.WhyReviewDue, Name: t.Reviewer}
	case t.Kind == work.KindFix && t.Reviewer != "":
		return work.Reason{Kind: work.WhyReviewFixDue, Name: t.Reviewer}
	case t.Kind != work.KindFix && unanswered > 0:
		return work.Reason{Kind: work.WhyToAnswer, Count: unanswered}
	}
	return work.Reason{Kind: work.WhyFreeSlot, Name: string(t.Kind)}
}

func (a Around) called() string {
	if a.Called == "" {
		return a.Repo.Name.FullName()
	}
	return a.Called
}

// leading is the standing of an item that stands for a merged roadmap.
func leading(i known.Item) Standing {
	why, stopped := i.Lead.Waits()
	return Standing{Why: why, Blocked: stopped}
}

// after returns a standing that applies after another reason ends.
func after(first work.Reason, then Standing) Standing {
	s := Standing{Why: first}
	if !then.Why.None() {
		s.Then = append([]work.Reason{then.Why}, then.Then...)
	}
	return s
}

func unread(why work.Reason, until time.Time) Standing {
	if !until.IsZero() {
		why.At = until.UnixMilli()
	}
	return Standing{Why: why, Until: until}
}

func ended(i known.Item) work.Reason {
	switch {
	case i.Restarted != "":
		return work.Reason{Kind: work.WhyClosed, Names: []string{i.Restarted}}
	case i.Reason.Kind == work.WhyRoadmapCancelled:
		return work.Reason{Kind: work.WhyClosed}
	case i.State == work.StateMerged && i.Flow == work.FlowDesign:
		return work.Reason{Kind: work.WhyDesignMerged}
	case i.State == work.StateMerged, i.State == work.StateCompleted:
		return work.Reason{Kind: work.WhyMerged}
	}
	why := work.Reason{Kind: work.WhyClosed, Branch: i.Reason.Branch}
	if i.IssueClosed {
		why.Name = "the issue"
	}
	if i.Pull.State == work.PullClosed || i.Closing() {
		why.Number = i.Pull.Number
	}
	if len(i.Pauses) > 0 {
		why.Who = i.Pauses[0].By
	}
	return why
}

// ending reports whether a turn has had its first effect: it will be completed.
func ending(i known.Item) bool {
	return i.Turn != nil && (i.Turn.Step == work.StepPushed || i.Turn.Step == work.StepApplied)
}

func blocked(i known.Item) Standing {
	unknown := work.Reason{Kind: work.WhyUnknown}
	why := i.Reason
	if i.Turn != nil {
		why, unknown.Local = why.Or(i.Turn.WaitReason), i.Turn.LastError
	}
	return Standing{Why: why.Or(unknown), Blocked: true}
}

// underway is the standing of an unfinished turn, by its step.
func underway(t work.Turn, a Around) Standing {
	if t.Waits(a.Now) {
		why := t.WaitReason.Or(work.Reason{Kind: work.WhyTriedAgain, At: t.NotBefore.UnixMilli(), Local: t.LastError})
		return Standing{Why: why, Until: t.NotBefore}
	}
	s := Standing{Before: t.WaitReason}
	switch t.Step {
	case work.StepClaimed:
		s.Why = work.Reason{Kind: work.WhyRunning, Name: string(t.Kind), Number: t.Slot}
		if !a.Live {
			s.Why = work.Reason{Kind: work.WhyInterrupted, Name: string(t.Kind)}
		}
	case work.StepAnswered, work.StepPushed, work.StepApplied:
		s.Why = work.Reason{Kind: work.WhyToBeSent}
	case work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return s
}

// idle is why nothing happens for an item without a turn and without pending comments.
func idle(i known.Item, o Outlook) work.Reason {
	switch i.State {
	case work.StatePending, work.StateReady, work.StateRunning:
		return i.Reason.Or(work.Reason{Kind: work.WhyFreeSlot, Name: string(i.Flow.StartKind())})
	case work.StateAwaitingIssueFollowup:
		return i.Reason.Or(work.Reason{Kind: work.WhyReply})
	case work.StateAwaitingFeedback:
		return mergeable(i, o, i.Reason.Or(awaited(i, o)).Or(work.Reason{Kind: work.WhyPeople, Number: i.Pull.Number}))
	case work.StateMerged, work.StateCompleted, work.StateBlocked, work.StateClosed:
	}
	return i.Reason
}

// mergeable returns why an open pull request waits: people are asked to merge it only if nothing stands
// against that. Until a pass has stored that the head is approved, and GitHub has taken the commit status that says
// so, that is pending there, and a rule may require it.
func mergeable(i known.Item, o Outlook, why work.Reason) work.Reason {
	conflict := work.Reason{Kind: work.WhyMergeConflicts, Branch: i.Pull.Base, Text: fmt.Sprintf("#%d", i.Pull.Number)}
	switch h, head := i.HeldBack, i.NewestHead(); {
	case why.Kind.OfHead() && head != i.Pull.HeadOID: // it is of the old head
		return work.Reason{Kind: work.WhyHeadNotRead, Commit: head}
	case why.Kind == work.WhyMergeConflicts && i.Pull.Mergeable == work.Conflicting: // no turn does: it began during a pause
		return conflict
	case why.Kind != work.WhyPeople && why.Kind != work.WhyReviewApproved:
	case len(i.Faults) > 0:
		return work.Reason{Kind: work.WhyPushedFaults, Number: i.Pull.Number, Names: i.Faults}
	case h != nil:
		return work.Reason{Kind: work.WhyMergeHeld, Who: h.By, At: h.At.UnixMilli()}
	case !i.UntilGreen.None():
		return i.UntilGreen
	case i.Pull.Draft:
		return work.Reason{Kind: work.WhyMergeDraft}
	case i.Pull.Mergeable == work.Conflicting:
		return conflict
	case i.Pull.Rollup == work.NeverStarted:
		return work.Reason{Kind: work.WhyMergeNoCI}
	case why.Kind != work.WhyReviewApproved:
	case len(i.Reviews.Against()) > 0:
		return work.Reason{Kind: work.WhyMergeChangesAsked, Names: i.Reviews.Against()}
	case o.Review != nil && (i.Reviews.Record.State != review.Approved || i.Reviews.Record.Head != o.Review.Head):
		return work.Reason{Kind: work.WhyApprovalDue}
	case i.Landing.Status.State == work.ActionPlanned, i.Landing.Status.State == work.ActionSent:
		return work.Reason{Kind: work.WhyApprovalDue, Local: i.Landing.Status.LastError}
	case i.Landing.Status.State == work.ActionDropped:
		why.Local = "GitHub refused the commit status that says so: " + i.Landing.Status.LastError
	}
	return why
}

// awaited is what an open pull request waits for: its reviews by their next state, compared with
// the present head, or the gate that holds our merge of it.
func awaited(i known.Item, o Outlook) work.Reason {
	record := i.Reviews.Record
	if o.Review != nil {
		record = *o.Review
	}
	why := i.ReviewWait(record)
	switch {
	case why.Kind != work.WhyReviewApproved && why.Kind != work.WhyMergeDue, len(o.Merge.Gates) == 0: // a person merges it
		return why
	case o.Merge.Ask == merging.AskMerge, o.Merge.Ask == merging.AskEnqueue:
		return i.LastLook().Or(i.DueToMerge())
	}
	return o.Merge.Why.Or(i.DueToMerge())
}

// Says describes what is waited for. With here it includes what only this machine may show.
func (s Standing) Says(p explain.Place, here bool) string {
	said := make([]string, 0, 1+len(s.Then))
	for _, r := range append([]work.Reason{s.Why}, s.Then...) {
		w := explain.Reason(r, p)
		text := w.What
		if here {
			text = w.Here()
		}
		if text != "" {
			said = append(said, text)
		}
	}
	text := strings.Join(said, "; and then: ")
	if before := explain.Reason(s.Before, p); here && !s.Before.None() {
		text += "; before that: " + before.Here()
	}
	if s.Blocked {
		text = "a person: " + text
	}
	if s.attempts > 1 && text != "" {
		text += fmt.Sprintf(" (stopped for this %d times)", s.attempts)
	}
	if !s.Wait.ToldAt.IsZero() && text != "" {
		text += "; it waits for that since " + work.UTC(s.Wait.Since)
	}
	return text + s.beside
}

// Next says in words what happens next.
func (s Standing) Next(p explain.Place) string {
	w := explain.Reason(s.Why, p)
	switch {
	case w.Retry: // blocked, or waiting for an answer on the issue
		return w.Next() + ", or " + p.Command(work.VerbRetry, "")
	case s.Why.Kind.AfterError() && !s.Until.IsZero():
		return cmp.Or(w.Next(), "resumes after "+work.Stamp(s.Until)) + ", or at once: " + p.Command(work.VerbRetry, "")
	case w.Next() == "" && !s.Until.IsZero():
		return "resumes after " + work.Stamp(s.Until)
	case w.Next() == "" && s.Begins.Start():
		return explain.Turn(s.Begins)
	case w.Next() == "" && s.Begins != "":
		return "a turn answers on GitHub"
	case w.Next() == "":
		return "the next pass"
	}
	return w.Next()
}

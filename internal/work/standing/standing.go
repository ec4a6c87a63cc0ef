// Package standing answers "why is nothing happening?" for one work item. It is pure; the texts are
// internal/work/explain's.
package standing

import (
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Item is the part of a work item's state that the answer depends on.
type Item struct {
	work.Item
	Pull       work.PullRequest // the newest; zero: none yet
	Turn       *work.Turn       // the unfinished one; nil: none
	Pause      *work.Pause      // nil: not paused
	Unanswered int              // pending comments that a turn may answer and none has
	Reviews    work.Reason      // what the reviews of its pull request wait for; zero: nothing
}

func (i Item) hasPull() bool { return i.Pull.Number != 0 }

// Standing is the answer for one item. The comment that answers `/mergexo status`, the terminal and
// JSON are made from it.
type Standing struct {
	Why     work.Reason   // Kind is the stable code
	Then    []work.Reason // what it waits for after that
	Before  work.Reason   // what it waited for before
	Blocked bool          // a person must act
	Until   time.Time     // earliest time at which it resumes by itself; zero: unknown
	Begins  work.Kind     // the next turn, if the reason does not name it; empty: it does, or there is none
}

// Around is the state outside the item.
type Around struct {
	Now    time.Time
	Repo   work.Repo
	Called string        // name of the repository for people
	Halt   work.Reason   // everything on this machine is paused; zero: it is not
	Live   bool          // a live pass works on the item
	Waits  []work.Reason // from the plan, see plan.Plan.Waits
}

// Of answers why nothing happens for an item. a.Waits is what today's plan says about it.
func Of(i Item, a Around) Standing {
	switch {
	case !i.State.Open():
		return Standing{Why: ended(i)}
	case i.Pause != nil && !ending(i):
		return after(i.Pause.Reason(), Standing{Why: i.Reason})
	case i.State == work.StateBlocked, i.Turn != nil && i.Turn.Blocked:
		return blocked(i)
	case !a.Halt.None() && !a.Live:
		a.Halt = work.Reason{}
		return after(work.Reason{Kind: work.WhyHalted}, Of(i, a))
	case a.Repo.NotBefore.After(a.Now):
		return unread(work.Reason{Kind: work.WhyRepoWaits, Name: a.called(), Local: a.Repo.LastError}, a.Repo.NotBefore)
	case a.Repo.Failures > 0 && !a.Live:
		return unread(work.Reason{Kind: work.WhyRepoWaits, Name: a.called(), Local: a.Repo.LastError}, time.Time{})
	case i.Turn != nil:
		return Underway(*i.Turn, a)
	case i.hasPull() && i.Pull.NotBefore.After(a.Now):
		return unread(work.Reason{Kind: work.WhyPullWaits, Number: i.Pull.Number, Local: i.Pull.LastError}, i.Pull.NotBefore)
	case len(a.Waits) > 0 && (i.Unanswered > 0 || i.State != work.StateAwaitingIssueFollowup):
		s := Standing{Why: a.Waits[0], Then: a.Waits[1:], Begins: i.Flow.StartKind()}
		if i.hasPull() {
			s.Begins = ""
			if i.Unanswered > 0 {
				s.Begins = i.Flow.FeedbackKind()
			}
		}
		return s
	case i.Unanswered > 0:
		return Standing{Why: work.Reason{Kind: work.WhyToAnswer, Count: i.Unanswered}}
	}
	return idle(i)
}

func (a Around) called() string {
	if a.Called == "" {
		return a.Repo.Name.FullName()
	}
	return a.Called
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

func ended(i Item) work.Reason {
	switch {
	case i.State == work.StateMerged && i.Flow == work.FlowDesign:
		return work.Reason{Kind: work.WhyDesignMerged}
	case i.State == work.StateMerged, i.State == work.StateCompleted:
		return work.Reason{Kind: work.WhyMerged}
	}
	return work.Reason{Kind: work.WhyClosed}
}

// ending reports whether a turn has had its first effect: it will be completed.
func ending(i Item) bool {
	return i.Turn != nil && (i.Turn.Step == work.StepPushed || i.Turn.Step == work.StepApplied)
}

func blocked(i Item) Standing {
	unknown := work.Reason{Kind: work.WhyUnknown}
	why := i.Reason
	if i.Turn != nil {
		why, unknown.Local = why.Or(i.Turn.WaitReason), i.Turn.LastError
	}
	return Standing{Why: why.Or(unknown), Blocked: true}
}

// Underway is the standing of an unfinished turn, by its step.
func Underway(t work.Turn, a Around) Standing {
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
	case work.StepAnswered:
		s.Why = work.Reason{Kind: work.WhyToBeSent}
	case work.StepPushed, work.StepApplied:
		s.Why = work.Reason{Kind: work.WhyPushed}
	case work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return s
}

// idle is the standing of an item without a turn and without pending comments.
func idle(i Item) Standing {
	switch i.State {
	case work.StatePending, work.StateReady, work.StateRunning:
		return Standing{Why: i.Reason.Or(work.Reason{Kind: work.WhyFreeSlot, Name: string(i.Flow.StartKind())})}
	case work.StateAwaitingIssueFollowup:
		return Standing{Why: i.Reason.Or(work.Reason{Kind: work.WhyReply})}
	case work.StateAwaitingFeedback:
		return Standing{Why: i.Reason.Or(i.Reviews).Or(work.Reason{Kind: work.WhyPeople, Number: i.Pull.Number})}
	case work.StateMerged, work.StateCompleted, work.StateBlocked, work.StateClosed:
	}
	return Standing{Why: i.Reason}
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
		return "a person: " + text
	}
	return text
}

// Next describes what comes next.
func (s Standing) Next(p explain.Place) string {
	w := explain.Reason(s.Why, p)
	switch {
	case w.Retry: // blocked, or waiting for an answer on the issue
		return w.Next() + ", or " + p.Command(command.VerbRetry, "")
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

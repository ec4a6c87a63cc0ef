// Package standing answers "why is nothing happening?" for one work item, of what is known
// of it. Pure rules; the words are internal/work/explain's.
package standing

import (
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Item is what of a work item says how it stands.
type Item struct {
	work.Item
	Pull       work.PullRequest // the newest; zero: none yet
	Turn       *work.Turn       // the unfinished one; nil: none
	Pause      *work.Pause      // people have paused it; nil: they have not
	Unanswered int              // what people wrote that no turn has taken yet, and that one may answer
	Reviews    work.Reason      // what the reviews of its pull request wait for; none: nothing
}

func (i Item) hasPull() bool { return i.Pull.Number != 0 }

// Standing answers "why is nothing happening?" for one item. The comment that answers
// `/mergexo status`, the terminal and JSON are made of the same one.
type Standing struct {
	Why     work.Reason   // its kind is the stable code
	Then    []work.Reason // what it waits for once that is over
	Before  work.Reason   // what it waited for before
	Blocked bool          // a person has to act
	Until   time.Time     // it resumes by itself, not before; zero: that is not known
	Begins  work.Kind     // the turn that comes next, where the reason does not say what does; empty: it does, or none comes
}

// Around is what explains an item beside the item itself.
type Around struct {
	Now    time.Time
	Repo   work.Repo
	Called string        // the repository's name for people
	Halt   work.Reason   // everything on this machine is paused; none: it is not
	Live   bool          // a living pass works on the item
	Waits  []work.Reason // by the plan, see plan.Plan.Waits
}

// Of says why nothing happens for an item. Waits of its surroundings are what the
// plan of today says of it.
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

// after is a standing that begins once something else is over.
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

// ending reports whether a turn has begun its effects: it is carried to its end.
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

// Underway is about an unfinished turn: its step says what has happened.
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

// idle is about an item without a turn and with nothing to answer.
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

// Says what is waited for, in words: with what is this machine's business or,
// for GitHub, without.
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

// Next says what comes next.
func (s Standing) Next(p explain.Place) string {
	w := explain.Reason(s.Why, p)
	switch {
	case w.Retry: // blocked, or an answer on the issue is waited for
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

package cmd

import (
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick"
)

// facts are what the database knows of one work item today.
type facts struct {
	Repo    work.Repo
	Called  string // the repository's name, with its host where that is needed
	Item    work.Item
	Pull    *work.PullRequest // nil: none yet
	Turn    *work.Turn        // the unfinished one; nil: none
	Live    bool              // a living pass works on it
	Pause   *work.Pause       // people have taken it over; nil: they have not
	Halt    *tick.Halt        // everything on this machine is paused; nil: it is not
	Ignore  string            // the label by which they do
	Stop    *work.Stop        // why it stands still; nil: it does not
	Said    work.Action       // the comment that says so on GitHub
	Pending int               // things said that no turn has taken yet
	Held    string            // what keeps a turn from being begun, as a dry run says it; empty: nothing
	Answers bool              // enable_feedback_loop
	Spent   spending.Sum      // what its budgets count
	Budgets work.Budgets
	Now     time.Time
}

// standing answers "why is nothing happening?" for one work item: what it
// waits for, and what comes next.
type standing struct{ waits, next string }

func (f facts) standing() standing {
	switch {
	case !f.Item.State.Open():
		return f.ended()
	case f.Pause != nil && !f.ending():
		return f.paused()
	case f.Item.State == work.StateBlocked || (f.Turn != nil && f.Turn.Blocked):
		return f.blocked()
	case f.Halt != nil && !f.Live:
		return f.halted()
	case f.Repo.NotBefore.After(f.Now):
		return standing{"GitHub: " + or(f.Repo.LastError, "a limit"), "asked again after " + clock(f.Repo.NotBefore)}
	case f.Repo.Failures > 0 && !f.Live:
		return standing{fmt.Sprintf("GitHub: %s cannot be read: %s", or(f.Called, f.Repo.Name.FullName()), f.Repo.LastError), "the next pass asks again"}
	case f.Turn != nil:
		return f.working()
	case f.Pull != nil && f.Pull.NotBefore.After(f.Now):
		return standing{"GitHub: " + or(f.Pull.LastError, "a limit"), "asked again after " + clock(f.Pull.NotBefore)}
	case f.Held != "" && (f.Pending > 0 || f.Item.State != work.StateAwaitingIssueFollowup):
		return standing{f.Held, f.afterwards()}
	case f.Pending > 0:
		return standing{fmt.Sprintf("a pass: %s to answer", count(f.Pending, "event")), "a turn answers on GitHub"}
	}
	return f.idle()
}

// afterwards is what comes once nothing holds the item back any more.
func (f facts) afterwards() string {
	switch {
	case f.Pull == nil:
		return fmt.Sprintf("a %s turn", f.Item.Flow.StartKind())
	case !f.Answers:
		return "with enable_feedback_loop = true a turn sees to it"
	}
	return "a turn answers on GitHub"
}

// number is the pull request's or, before there is one, the issue's.
func (f facts) number() int {
	if f.Pull != nil {
		return f.Pull.Number
	}
	return f.Item.Number
}

func (f facts) ended() standing {
	switch {
	case f.Item.State == work.StateMerged && f.Item.Flow == work.FlowDesign:
		return standing{"", "its implementation is an item of its own"}
	case f.Item.State == work.StateMerged, f.Item.State == work.StateCompleted:
		return standing{"", "nothing"}
	}
	return standing{"", "nothing; set the label again to start over"}
}

// ending reports whether a turn has begun its effects: it is carried to its end.
func (f facts) ending() bool {
	return f.Turn != nil && (f.Turn.Step == work.StepPushed || f.Turn.Step == work.StepApplied)
}

// paused is about an item that people have taken over. What it waited for
// before, it waits for again.
func (f facts) paused() standing {
	waits := work.PausedReason(*f.Pause)
	if f.Item.Reason != "" {
		waits += "; and then: " + f.Item.Reason
	}
	return standing{waits, work.PausedHint(or(f.Ignore, "the label agent:ignore"))}
}

// halted is about an item when everything on this machine is paused. Why and since
// when is said once, above all items. What it waited for before, it waits for again.
func (f facts) halted() standing {
	f.Halt = nil
	then := f.standing()
	return standing{"the end of the pause of everything; and then: " + then.waits, "gh mergexo resume --all; and then: " + then.next}
}

func (f facts) blocked() standing {
	reason := f.Item.Reason
	if reason == "" && f.Turn != nil {
		reason = or(f.Turn.WaitReason, f.Turn.LastError)
	}
	next := "set the label again to start over"
	if f.Pull != nil && f.Pull.State == work.PullOpen {
		next = fmt.Sprintf("comment on %s", f.pullRef())
	}
	return standing{"a person: " + or(reason, "no reason given") + f.attempts(), or(f.Item.Hint, next)}
}

// attempts says how often it came to the same stop, where that is more than once.
func (f facts) attempts() string {
	if f.Stop == nil || f.Stop.Attempts < 2 {
		return ""
	}
	return fmt.Sprintf(" (%s)", count(f.Stop.Attempts, "attempt"))
}

// since is when it came to stand as it stands: tried again in vain it stands still
// since the first time.
func (f facts) since() time.Time {
	if f.Stop != nil {
		return f.Stop.Since
	}
	return f.Item.Since
}

// comment is where GitHub says why it stands still, or what became of that.
func (f facts) comment() string {
	switch {
	case f.Stop == nil:
		return ""
	case f.Said.State == work.ActionVoid && f.Said.ResultURL != "":
		return "a person deleted it: " + f.Said.ResultURL
	case f.Said.ResultURL == "":
		return "not yet: " + or(f.Said.LastError, "the next pass makes it")
	}
	return f.Said.ResultURL
}

// working is about an unfinished turn: its step says what has happened.
func (f facts) working() standing {
	t := f.Turn
	if t.Waits(f.Now) {
		return standing{or(t.WaitReason, "a new attempt after: "+t.LastError), "resumes after " + clock(t.NotBefore)}
	}
	before := ""
	if t.WaitReason != "" {
		before = "; before that: " + t.WaitReason
	}
	if !f.Live {
		return f.interrupted(before)
	}
	switch t.Step {
	case work.StepClaimed:
		return standing{fmt.Sprintf("the agent: %s in slot %d%s", t.Kind, t.Slot, before), "its answer is checked and sent"}
	case work.StepAnswered:
		return standing{"a pass: the agent has answered" + before, "the answer is pushed and sent"}
	case work.StepPushed, work.StepApplied:
		return standing{"a pass: the commit is pushed" + before, "comments are sent, the turn closes"}
	case work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return f.idle()
}

// interrupted is about an unfinished turn on which no pass works: the pass that did
// has ended or was killed, and the next one resumes it.
func (f facts) interrupted(before string) standing {
	t := f.Turn
	switch t.Step {
	case work.StepClaimed:
		return standing{fmt.Sprintf("a pass: no agent works now, and %s has no answer yet%s", t.Kind, before), "the next pass resumes it"}
	case work.StepAnswered:
		return standing{"a pass: the agent has answered" + before, "the next pass pushes and sends the answer"}
	case work.StepPushed, work.StepApplied:
		return standing{"a pass: the commit is pushed" + before, "the next pass sends the comments and closes the turn"}
	case work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled:
	}
	return f.idle()
}

// state is the item's state in a word. That it is running is said only while a pass
// works on it.
func (f facts) state() string {
	if f.Item.State != work.StateRunning || f.Turn == nil || f.Live || f.Turn.Blocked {
		return string(f.Item.State)
	}
	if f.Halt != nil || f.Turn.Waits(f.Now) || f.Turn.WaitReason != "" {
		return "waiting"
	}
	return "interrupted"
}

// idle is about an item without a turn and with nothing to answer.
func (f facts) idle() standing {
	switch f.Item.State {
	case work.StatePending, work.StateReady, work.StateRunning:
		return standing{or(f.Item.Reason, "a pass with a free slot"), fmt.Sprintf("a %s turn", f.Item.Flow.StartKind())}
	case work.StateAwaitingIssueFollowup:
		return standing{or(f.Item.Reason, "an answer on the issue") + f.attempts(), or(f.Item.Hint, "the answer makes a turn")}
	case work.StateAwaitingFeedback:
		if f.Pull != nil {
			on := "people on " + f.pullRef()
			return standing{or(f.Item.Reason, on), or(f.Item.Hint, "comment, merge or close it")}
		}
	case work.StateMerged, work.StateCompleted, work.StateBlocked, work.StateClosed, work.StateFailed:
	}
	return standing{f.Item.Reason, f.Item.Hint}
}

func or(s, otherwise string) string {
	if s != "" {
		return s
	}
	return otherwise
}

// clock is a time to come in a sentence.
func clock(t time.Time) string { return work.Stamp(t) }

func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

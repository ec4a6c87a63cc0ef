package status

import (
	"cmp"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Facts are what the database knows of one work item today.
type Facts struct {
	Repo    work.Repo
	Called  string // the repository's name, with its host where that is needed
	Item    work.Item
	Pull    *work.PullRequest // nil: none yet
	Turn    *work.Turn        // the unfinished one; nil: none
	Live    bool              // a living pass works on it
	Pause   *work.Pause       // people have paused it; nil: they have not
	Halt    *env.Halt         // everything on this machine is paused; nil: it is not
	Ignore  string            // the label by which they do
	Stop    *work.Stop        // why it is blocked; nil: it is not
	Said    work.Action       // the comment that says so on GitHub
	Pending int               // things said that no turn has taken yet
	Held    string            // what keeps a turn from being begun, as a dry run says it; empty: nothing
	Answers bool              // enable_feedback_loop
	Spent   spending.Sum      // what its budgets count
	Budgets work.Budgets
	Now     time.Time
}

// row is what is told of a work item: a line of status and what stands below it, the
// head of show, and an item in JSON are made of the same one.
type row struct {
	standing
	ref     string // of the issue
	state   string
	since   time.Time
	pull    string // of the pull request, by its number; empty: none yet
	pullURL string
	comment string // where GitHub says why it is blocked
	spent   string
}

func (f Facts) row() row {
	r := row{standing: f.standing(), ref: f.ref(), state: f.state(), since: f.since(), comment: f.comment(), spent: f.Spent.Describe(f.Budgets)}
	if f.Pull != nil {
		r.pull, r.pullURL = fmt.Sprintf("#%d", f.Pull.Number), f.Pull.URL
	}
	return r
}

// standing answers "why is nothing happening?" for one work item: what it
// waits for, and what comes next.
type standing struct{ waits, next string }

func (f Facts) standing() standing {
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
		return standing{"GitHub: " + cmp.Or(f.Repo.LastError, "a limit"), "asked again after " + work.Stamp(f.Repo.NotBefore)}
	case f.Repo.Failures > 0 && !f.Live:
		return standing{fmt.Sprintf("GitHub: %s cannot be read: %s", cmp.Or(f.Called, f.Repo.Name.FullName()), f.Repo.LastError), "the next pass asks again"}
	case f.Turn != nil:
		return f.working()
	case f.Pull != nil && f.Pull.NotBefore.After(f.Now):
		return standing{"GitHub: " + cmp.Or(f.Pull.LastError, "a limit"), "asked again after " + work.Stamp(f.Pull.NotBefore)}
	case f.Held != "" && (f.Pending > 0 || f.Item.State != work.StateAwaitingIssueFollowup):
		return standing{f.Held, f.afterwards()}
	case f.Pending > 0:
		return standing{fmt.Sprintf("a pass: %s to answer", work.Count(f.Pending, "event")), "a turn answers on GitHub"}
	}
	return f.idle()
}

// afterwards is what comes once nothing holds the item back any more.
func (f Facts) afterwards() string {
	switch {
	case f.Pull == nil:
		return fmt.Sprintf("a %s turn", f.Item.Flow.StartKind())
	case !f.Answers:
		return "with enable_feedback_loop = true a turn sees to it"
	}
	return "a turn answers on GitHub"
}

// number is the pull request's or, before there is one, the issue's.
func (f Facts) number() int {
	if f.Pull != nil {
		return f.Pull.Number
	}
	return f.Item.Number
}

func (f Facts) ended() standing {
	switch {
	case f.Item.State == work.StateMerged && f.Item.Flow == work.FlowDesign:
		return standing{"", "its implementation is an item of its own"}
	case f.Item.State == work.StateMerged, f.Item.State == work.StateCompleted:
		return standing{"", "nothing"}
	}
	return standing{"", "nothing; set the label again to start over"}
}

// ending reports whether a turn has begun its effects: it is carried to its end.
func (f Facts) ending() bool {
	return f.Turn != nil && (f.Turn.Step == work.StepPushed || f.Turn.Step == work.StepApplied)
}

// paused is about an item that people have paused. What it waited for
// before, it waits for again.
func (f Facts) paused() standing {
	waits := work.PausedReason(*f.Pause)
	if f.Item.Reason != "" {
		waits += "; and then: " + f.Item.Reason
	}
	return standing{waits, work.PausedHint(cmp.Or(f.Ignore, "the label agent:ignore"))}
}

// halted is about an item when everything on this machine is paused. Why and since
// when is said once, above all items. What it waited for before, it waits for again.
func (f Facts) halted() standing {
	f.Halt = nil
	then := f.standing()
	return standing{"the end of the pause of everything; and then: " + then.waits, "gh mergexo resume --all; and then: " + then.next}
}

func (f Facts) blocked() standing {
	reason := f.Item.Reason
	if reason == "" && f.Turn != nil {
		reason = cmp.Or(f.Turn.WaitReason, f.Turn.LastError)
	}
	next := "set the label again to start over"
	if f.Pull != nil && f.Pull.State == work.PullOpen {
		next = fmt.Sprintf("comment on %s", f.pullRef())
	}
	return standing{"a person: " + cmp.Or(reason, "no reason given") + f.attempts(), cmp.Or(f.Item.Hint, next)}
}

// attempts says how often it came to the same stop, where that is more than once.
func (f Facts) attempts() string {
	if f.Stop == nil || f.Stop.Attempts < 2 {
		return ""
	}
	return fmt.Sprintf(" (%s)", work.Count(f.Stop.Attempts, "attempt"))
}

// since is when it came into its state: tried again in vain it is blocked since the
// first time.
func (f Facts) since() time.Time {
	if f.Stop != nil {
		return f.Stop.Since
	}
	return f.Item.Since
}

// comment is where GitHub says why it is blocked, or what became of that.
func (f Facts) comment() string {
	switch {
	case f.Stop == nil:
		return ""
	case f.Said.State == work.ActionVoid && f.Said.ResultURL != "":
		return "a person deleted it: " + f.Said.ResultURL
	case f.Said.ResultURL == "":
		return "not yet: " + cmp.Or(f.Said.LastError, "the next pass makes it")
	}
	return f.Said.ResultURL
}

// working is about an unfinished turn: its step says what has happened.
func (f Facts) working() standing {
	t := f.Turn
	if t.Waits(f.Now) {
		return standing{cmp.Or(t.WaitReason, "a new attempt after: "+t.LastError), "resumes after " + work.Stamp(t.NotBefore)}
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
func (f Facts) interrupted(before string) standing {
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
func (f Facts) state() string {
	if f.Item.State != work.StateRunning || f.Turn == nil || f.Live || f.Turn.Blocked {
		return string(f.Item.State)
	}
	if f.Halt != nil || f.Turn.Waits(f.Now) || f.Turn.WaitReason != "" {
		return "waiting"
	}
	return "interrupted"
}

// idle is about an item without a turn and with nothing to answer.
func (f Facts) idle() standing {
	switch f.Item.State {
	case work.StatePending, work.StateReady, work.StateRunning:
		return standing{cmp.Or(f.Item.Reason, "a pass with a free slot"), fmt.Sprintf("a %s turn", f.Item.Flow.StartKind())}
	case work.StateAwaitingIssueFollowup:
		return standing{cmp.Or(f.Item.Reason, "an answer on the issue") + f.attempts(), cmp.Or(f.Item.Hint, "the answer makes a turn")}
	case work.StateAwaitingFeedback:
		if f.Pull != nil {
			on := "people on " + f.pullRef()
			return standing{cmp.Or(f.Item.Reason, on), cmp.Or(f.Item.Hint, "comment, merge or close it")}
		}
	case work.StateMerged, work.StateCompleted, work.StateBlocked, work.StateClosed:
	}
	return standing{f.Item.Reason, f.Item.Hint}
}

package known

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Landing is what is known about merging an item's pull request by our own request. It is read only
// if the config enables that; otherwise only the Status of an approved head.
type Landing struct {
	Policy         merging.Policy          // by today's config
	Box            merging.Box             // GitHub's merge box as last read; see Box.Read
	Against        []string                // accounts that may write and whose last review in the box requests changes
	MergeApprovals []merging.MergeApproval // people's approvals to merge a head
	Trouble        work.Reason             // why an attempt with the present head failed; none if it did not
	Intent         merging.Merge           // our merge of the present head; zero if none was planned
	Accounts       []int64                 // our accounts that merge
	Status         work.Action             // the commit status of the present head, as last planned; zero: none was
	Actions        []work.Action           // all merging actions for the pull request, at any head, oldest first
}

// Stops returns why a person must look at merging the present head. A half-merged head stays so
// until a look at GitHub shows otherwise; retry does not change it.
func (l Landing) Stops() work.Reason {
	if m := l.Intent; l.Trouble.None() && m.Stage == merging.Half {
		return work.Reason{Kind: work.WhyMergeHalf, Number: m.Number, Commit: m.Commit, Branch: m.Base, Head: m.Head}
	}
	return l.Trouble
}

// AutoMerges reports whether we merge the item's pull request ourselves once all gates are open.
func (i Item) AutoMerges() bool {
	return i.Landing.Policy.Auto && i.HasPull() && i.Pull.State == work.PullOpen && i.Flow != work.FlowReview && i.State.Open()
}

// ReviewWait returns what the reviews wait for, by their stored record. An approval covers one
// commit: a newer head waits for its reviewers. Once approved, a pull request that we merge
// ourselves waits for no reviewer; the plan reports the gate that holds its merge.
func (i Item) ReviewWait(by review.Record) work.Reason {
	head := i.NewestHead()
	if by.Why.Kind != work.WhyReviewApproved {
		return by.Why
	}
	if by.Head != "" && by.Head != head {
		if h := i.HeldBack; h != nil { // nobody reviews it before that ends
			return work.Reason{Kind: work.WhyReviewHeld, Who: h.By, At: h.At.UnixMilli()}
		}
		return work.Reason{Kind: work.WhyReviewPushed, Number: i.Pull.Number, Commit: head}
	}
	if i.AutoMerges() {
		return i.DueToMerge()
	}
	return by.Why
}

// NewestHead returns the newest known head of the item's pull request. A commit that a turn pushed
// after GitHub was read is newer than what GitHub showed, unless a person removed it again.
func (i Item) NewestHead() string {
	for _, s := range slices.Backward(i.Spent) {
		pushed := s.Step == work.StepPushed || s.Step == work.StepApplied || s.Step == work.StepDone
		if pushed && s.Commit != "" && s.Head == i.Pull.HeadOID && i.Pull.LostOID != s.Commit {
			return s.Commit
		}
		if s.Commit != "" {
			break
		}
	}
	return i.Pull.HeadOID
}

// LastLook is what kept the present head from being merged when a pass last tried to, although the
// plan had chosen it.
func (i Item) LastLook() work.Reason {
	if i.Landing.Box.Head != i.Pull.HeadOID {
		return work.Reason{}
	}
	return i.Landing.Box.Found
}

// DueToMerge is the reason of a pull request whose merge nothing holds.
func (i Item) DueToMerge() work.Reason {
	why := work.Reason{Kind: work.WhyMergeDue, Number: i.Pull.Number}
	if i.Landing.Box.Queue.Required {
		why.Name, why.Branch = string(work.ActionEnqueue), i.Pull.Base
	}
	return why
}

// Queued returns the action by which we put the present head into its base's merge queue, unless it
// is known to have left. If somebody else had queued it before, we sent nothing. GitHub names who
// queued it last.
func (i Item) Queued() (work.Action, bool) {
	stage, by := i.Landing.Intent.Stage, i.Landing.Box.Queue.By.ID
	for _, a := range i.Landing.Actions {
		ours := by == 0 && a.Sends > 0 || by != 0 && slices.Contains(i.Landing.Accounts, by)
		if a.Kind == work.ActionEnqueue && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied && ours && (stage == merging.Intended || stage == merging.Queued) {
			return a, true
		}
	}
	return work.Action{}, false
}

// Unclear reports whether we sent a merge or enqueue request for the current head and GitHub does
// not show its effect yet. A pass that finds no effect makes the row void.
func (i Item) Unclear() bool {
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		queued := a.Kind == work.ActionEnqueue && a.State == work.ActionApplied && (i.Landing.Box.Queue.In || i.Landing.Intent.Stage == merging.Void)
		return (a.Kind == work.ActionMerge || a.Kind == work.ActionEnqueue) && i.sent(a) && !queued
	})
}

// Moves reports whether an unclear merge may still move the base. A half-merged one has moved it
// already.
func (i Item) Moves() bool { return i.Unclear() && i.Landing.Intent.Stage != merging.Half }

// Taken reports whether GitHub accepted a merge or enqueue of the present head. What is known of
// the pull request is older than that.
func (i Item) Taken() bool {
	return i.Unclear() && slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		return (a.Kind == work.ActionMerge || a.Kind == work.ActionEnqueue) && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied
	})
}

func (i Item) sent(a work.Action) bool {
	return a.Head == i.Pull.HeadOID && (a.State == work.ActionSent || a.State == work.ActionApplied)
}

// Refused returns what the present head waits for after GitHub refused to merge it, as long as the
// retry is not due; otherwise nothing. A refused branch update counts only while the branch needs the update.
func (i Item) Refused(now time.Time) work.Reason {
	status := i.Landing.Box.Status
	for _, a := range i.Landing.Actions {
		if a.Kind == work.ActionUpdateBranch && status != "BEHIND" && status != "BLOCKED" {
			continue
		}
		if a.State == work.ActionPlanned && a.Head == i.Pull.HeadOID && a.NotBefore.After(now) && a.Kind.Merging() {
			kind := work.ReasonKind(cmp.Or(a.Extra, string(work.WhyMergeLater)))
			return work.Reason{Kind: kind, Names: []string{a.LastError}, Text: a.LastError}
		}
	}
	return work.Reason{}
}

// Updating reports whether an update of the branch with its base was sent and the head has not
// moved since. It waits at most patience.
func (i Item) Updating(now time.Time, patience time.Duration) bool {
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		return a.Kind == work.ActionUpdateBranch && i.sent(a) && now.Sub(a.SentAt) < patience
	})
}

// Current reports whether an update of the present head found that it lacks nothing of the base.
// Once the base moves this is open again, except for a pull request stopped after waiting too long:
// what blocks that is not the base.
func (i Item) Current() bool {
	stopped := i.State == work.StateBlocked && i.Reason.Kind == work.WhyMergeBlocked
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		found := a.Kind == work.ActionUpdateBranch && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied && a.ResultID != ""
		return found && (a.ResultID == i.Landing.Box.BaseTip || stopped)
	})
}

// Updated returns when the branch was last updated with its base; zero if never.
func (i Item) Updated() time.Time {
	for _, a := range slices.Backward(i.Landing.Actions) {
		if a.Kind == work.ActionUpdateBranch && a.State == work.ActionApplied {
			return a.SentAt
		}
	}
	return time.Time{}
}

// MergeAction returns the action to send for the item's pull request: merge, enqueue, dequeue or
// update its branch. why is used for a dequeue.
func (i Item) MergeAction(v Snapshot, c merging.Choice, why string) work.Action {
	pull, repo := i.Pull, v.Repo
	if v.Policy.Title != nil {
		pull.Title = v.Policy.Title(pull.Title)
	}
	key := repo.Key()
	a := work.Action{
		RepoID: repo.ID, ItemID: i.ID, Need: work.NeedRequired, State: work.ActionPlanned, Number: pull.Number, Head: pull.HeadOID, Base: pull.Base,
	}
	switch c.Ask {
	case merging.AskUpdate:
		a.Kind, a.Token = work.ActionUpdateBranch, work.UpdateToken(key, pull.Number, pull.HeadOID)
		a.Why = fmt.Sprintf("PR #%d is brought up to date with %s: it is next, and all other gates are open", pull.Number, pull.Base)
	case merging.AskEnqueue:
		a.Kind, a.Token, a.Target = work.ActionEnqueue, work.EnqueueToken(key, pull.Number, pull.HeadOID), pull.NodeID
		a.Why = fmt.Sprintf("PR #%d is put into the merge queue of %s: all gates are open", pull.Number, pull.Base)
	case merging.AskDequeue:
		of, _ := i.Queued()
		a.Kind, a.Token, a.Target = work.ActionDequeue, work.DequeueToken(key, pull.Number, pull.HeadOID, of.Renewals), pull.NodeID
		a.Why = fmt.Sprintf("PR #%d is taken out of the merge queue of %s: %s", pull.Number, pull.Base, why)
	case merging.AskMerge, merging.AskNothing:
		a.Kind, a.Token, a.Target = work.ActionMerge, work.MergeToken(key, pull.Number, pull.HeadOID), string(c.Method)
		a.Title, a.Body = merging.Message(c.Method, pull, i.Number, !i.Flow.Document() && i.Landing.Box.Closes, a.Token)
		a.Why = fmt.Sprintf("PR #%d is merged into %s (%s): all gates are open", pull.Number, pull.Base, c.Method)
	}
	return a
}

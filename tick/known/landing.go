package known

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Landing is what is known of merging an item's pull request by our own request. It is
// read where the config says that this is done.
type Landing struct {
	Policy   merging.Policy // by today's config
	Box      merging.Box    // GitHub's merge box, as it was read last; see Box.Read
	Words    []merging.Word // people's, that a head may be merged
	Trouble  work.Reason    // what came of an attempt with the present head; none: nothing, or there was none
	Meant    merging.Merge  // our merge of the present head; zero: none was meant yet
	Accounts []int64        // ours, that merge
	Actions  []work.Action  // what was planned to merge the pull request, of whichever head, the oldest first
}

// Stops is what an attempt with the present head has come to, for a person to see to. What
// is half merged is so until a look shows otherwise, whoever says retry.
func (l Landing) Stops() work.Reason {
	if m := l.Meant; l.Trouble.None() && m.Stage == merging.Half {
		return work.Reason{Kind: work.WhyMergeHalf, Number: m.Number, Commit: m.Commit, Branch: m.Base, Head: m.Head}
	}
	return l.Trouble
}

// Lands reports whether the item's pull request is one that we merge ourselves, once
// nothing is against it.
func (i Item) Lands() bool {
	return i.Landing.Policy.Auto && i.HasPull() && i.Pull.State == work.PullOpen && i.Flow != work.FlowReview && i.State.Open()
}

// Awaited is what the reviews wait for, by what is recorded of them. What everybody has
// approved is one commit: a newer one waits for its reviewers. Else that is nobody where we
// merge ourselves: whatever holds the merge, the plan says so.
func (i Item) Awaited(by review.Record) work.Reason {
	if by.Why.Kind != work.WhyReviewApproved {
		return by.Why
	}
	if head := i.NewestHead(); by.Head != "" && by.Head != head {
		return work.Reason{Kind: work.WhyReviewPushed, Number: i.Pull.Number, Commit: head}
	}
	if i.Lands() {
		return i.DueToMerge()
	}
	return by.Why
}

// NewestHead is the head of the item's pull request as far as it is known: what a turn pushed
// since GitHub was read is newer than what GitHub showed, unless a person took that out again.
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

// DueToMerge is that nothing holds the merge of the item's pull request.
func (i Item) DueToMerge() work.Reason {
	why := work.Reason{Kind: work.WhyMergeDue, Number: i.Pull.Number}
	if i.Landing.Box.Queue.Required {
		why.Name, why.Branch = string(work.ActionEnqueue), i.Pull.Base
	}
	return why
}

// Queued gives the action by which we put the present head into its base's merge queue,
// where we did and nothing is known to have taken it out since. Of one that somebody else had
// put there already nothing was sent; whoever put it there last GitHub names.
func (i Item) Queued() (work.Action, bool) {
	stage, by := i.Landing.Meant.Stage, i.Landing.Box.Queue.By.ID
	for _, a := range i.Landing.Actions {
		ours := by == 0 && a.Sends > 0 || by != 0 && slices.Contains(i.Landing.Accounts, by)
		if a.Kind == work.ActionEnqueue && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied && ours && (stage == merging.Intended || stage == merging.Queued) {
			return a, true
		}
	}
	return work.Action{}, false
}

// Unclear reports whether a merge of the present head was sent, or put into a queue, and
// GitHub shows neither yet. Whoever sees that nothing came of it makes the row void.
func (i Item) Unclear() bool {
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		queued := a.Kind == work.ActionEnqueue && a.State == work.ActionApplied && (i.Landing.Box.Queue.In || i.Landing.Meant.Stage == merging.Void)
		return (a.Kind == work.ActionMerge || a.Kind == work.ActionEnqueue) && i.sent(a) && !queued
	})
}

// Moves reports whether the base may still move by a merge that is unclear. Of what is half
// merged it has moved.
func (i Item) Moves() bool { return i.Unclear() && i.Landing.Meant.Stage != merging.Half }

// Taken reports whether GitHub took a merge of the present head, or put it into a queue:
// what is known of the pull request is from before that.
func (i Item) Taken() bool {
	return i.Unclear() && slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		return (a.Kind == work.ActionMerge || a.Kind == work.ActionEnqueue) && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied
	})
}

func (i Item) sent(a work.Action) bool {
	return a.Head == i.Pull.HeadOID && (a.State == work.ActionSent || a.State == work.ActionApplied)
}

// Refused is what GitHub said when it refused to merge the present head, while that is not
// tried again; empty: it is, or it refused nothing. That it did not bring the branch up to
// date holds nothing that does not need it any more.
func (i Item) Refused(now time.Time) string {
	status := i.Landing.Box.Status
	for _, a := range i.Landing.Actions {
		if a.Kind == work.ActionUpdateBranch && status != "BEHIND" && status != "BLOCKED" {
			continue
		}
		if a.State == work.ActionPlanned && a.Head == i.Pull.HeadOID && a.NotBefore.After(now) && a.Kind.Merging() {
			return a.LastError
		}
	}
	return ""
}

// Updating reports whether the branch is being brought up to date with its base: that was
// asked for, and the head has not moved since. It is waited for no longer than patience.
func (i Item) Updating(now time.Time, patience time.Duration) bool {
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		return a.Kind == work.ActionUpdateBranch && i.sent(a) && now.Sub(a.SentAt) < patience
	})
}

// Current reports whether an update of the present head found nothing of the base that it
// lacks. Once the base moved that is open again, but for a pull request that waited for so
// long that it is stopped: what blocks it is not the base.
func (i Item) Current() bool {
	stopped := i.State == work.StateBlocked && i.Reason.Kind == work.WhyMergeBlocked
	return slices.ContainsFunc(i.Landing.Actions, func(a work.Action) bool {
		found := a.Kind == work.ActionUpdateBranch && a.Head == i.Pull.HeadOID && a.State == work.ActionApplied && a.ResultID != ""
		return found && (a.ResultID == i.Landing.Box.BaseTip || stopped)
	})
}

// Updated is when the branch was last brought up to date with its base; zero: never.
func (i Item) Updated() time.Time {
	for _, a := range slices.Backward(i.Landing.Actions) {
		if a.Kind == work.ActionUpdateBranch && a.State == work.ActionApplied {
			return a.SentAt
		}
	}
	return time.Time{}
}

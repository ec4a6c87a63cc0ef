package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// reviewCommands executes commands about reviews.
type reviewCommands struct{ *commander }

// approve gives a reviewer's approval by a command, for people who cannot approve on GitHub, such
// as the author, or prefer not to.
func (r reviewCommands) approve(inv invocation) Reply {
	over, ended := r.over()
	switch {
	case !r.item.HasPull():
		return refusal("There is no pull request yet, so there is nothing to approve.")
	case ended:
		return refusal("%s, so there is nothing to approve.", over)
	case r.item.Reviewers.Off():
		return refusal("No reviewer is configured for this pull request, so it needs no approval: merge it yourself.")
	}
	pull, who, why := r.approver(inv)
	if why != "" {
		return refusal("%s", why)
	}
	v := review.Verdict{
		PullID: pull.ID, CommentID: inv.comment(), Reviewer: who.Name, Human: true, Head: pull.HeadOID, MergeBase: pull.MergeBase, Epoch: r.item.Reviews.Record.Epoch,
		Cycle: r.item.Reviews.Record.Cycle, Decision: review.Approve, Validity: review.Counts, By: inv.account, URL: inv.url, At: inv.at,
	}
	r.p.add(change.Verdict{Verdict: v})
	r.item.Reviews.Verdicts, r.item.ReviewsChanged = append(slices.Clone(r.item.Reviews.Verdicts), v), true
	rep := reply("%s approves %s, the head of `%s` now.", inv.by, work.Short(pull.HeadOID), pull.Branch)
	rep.verdict = &v
	rep.Said += " " + r.statusSentences()
	return rep
}

// approver returns the reviewer who gives a command. The reviewer has no name if a person gives it
// whose approval the config requires in addition to the reviewers'. why says why the command does
// not count as an approval. Another commit is named only to who may approve it.
func (r reviewCommands) approver(inv invocation) (pull work.PullRequest, who review.Reviewer, why string) {
	pull, p := r.item.Pull, r.item.Reviewers
	for _, one := range r.about().Line() {
		if one.Is(inv.account) {
			return pull, one, r.otherHead(inv)
		}
		if one.Human && strings.EqualFold(one.Login, inv.by) {
			return pull, who, fmt.Sprintf("Approval not counted: the login %s of the config means another account, the first one that was seen with it. "+
				"To accept this account, write `login = \"%s:%d\"` in the config.", inv.by, inv.by, inv.account.ID)
		}
	}
	if p.Agents(inv.account) {
		return pull, who, ofAgent(inv)
	}
	if p.RequireHuman && !strings.EqualFold(inv.by, p.Author) {
		return pull, who, r.otherHead(inv)
	}
	if p.RequireHuman && strings.EqualFold(inv.by, p.Author) {
		return pull, who, fmt.Sprintf("Approval not counted: %s is the author of this pull request, and it needs the approval of another person.", inv.by)
	}
	return pull, who, fmt.Sprintf("Approval not counted: %s is not a reviewer of this pull request. "+
		"Its reviewers are %s. To have others, name them in `[[repo.reviewers]]` of the config; or merge the pull request yourself.", inv.by, review.ReviewerNames(r.about().Line()))
}

// ofAgent returns why a command from an agent reviewer's account is not a person's.
func ofAgent(inv invocation) string {
	return fmt.Sprintf("Approval not counted: %s is the account of a reviewer that is an agent, and a person must approve.", inv.by)
}

// otherHead returns why a command is not about the current head; empty: it is.
func (r *commander) otherHead(inv invocation) string {
	pull := r.item.Pull
	does := "approves it"
	if inv.Verb == work.VerbMerge {
		does = "says that it may be merged"
	}
	look := fmt.Sprintf("so nothing was done. Check the new commits; %s %s.", r.v.Place(r.item).Command(inv.Verb, "--head "+work.Short(pull.HeadOID)), does)
	switch newest := r.item.NewestHead(); {
	case newest != pull.HeadOID && inv.url == "":
		return fmt.Sprintf("%s is pushed to `%s`, and no pass has read it yet, so nothing was done: after `gh mergexo tick`, try again.", work.Short(newest), pull.Branch)
	case !strings.HasPrefix(pull.HeadOID, inv.Head):
		return explain.OtherHead(pull, r.v.Place(r.item), inv.Verb, does)
	case inv.Head == "" && inv.url != "" && inv.at.Before(pull.HeadSince): // they may have seen the earlier head
		return fmt.Sprintf("The head of `%s` is %s, which may be newer than the comment, %s", pull.Branch, pull.HeadOID, look)
	case inv.url != "" && !inv.at.After(pull.BaseChanged): // they may have seen other commits of that head
		return fmt.Sprintf("The base branch of #%d is `%s`, and it may have been changed after the comment, %s", pull.Number, pull.Base, look)
	}
	return ""
}

func (r reviewCommands) about() review.Item { return reviewsOf(r.itemPlanner).about() }

// hold stops new reviews. Comments are answered, and turns in progress end.
func (r reviewCommands) hold(inv invocation) Reply {
	if r.leadsRoadmap() || r.item.Replans() && !inv.onPull {
		return r.pause(inv)
	}
	over, ended := r.over()
	switch held := r.item.HeldBack; {
	case ended:
		return refusal("%s, so there is nothing to hold.", over)
	case !r.item.HasPull():
		return refusal("There is no pull request yet, so there is nothing to hold.")
	case held != nil: // somebody may have removed its label since a pass read it, and the command is newer
		r.p.add(change.Hold{Pull: r.item.Pull.ID, Held: review.Held{By: held.By, At: held.At}})
		rep := reply("It stays on hold by %s since %s, and the label `%s` is set where it is gone. %s ends that.",
			held.By, work.UTC(held.At), r.v.Policy.Labels.Hold, r.command(work.VerbResume))
		rep.sent = []work.Action{r.holdLabel(inv, true)}
		return rep
	}
	r.item.HeldBack, r.item.ReviewsChanged = &review.Held{By: inv.by, At: inv.at}, true
	r.p.add(change.Hold{Pull: r.item.Pull.ID, Held: *r.item.HeldBack})
	return Reply{
		Said: fmt.Sprintf("On hold: no reviews and no review fixes of this pull request, and %s. Comments are still answered. "+
			"To end it, use %s or remove the label `%s`.", r.merged(), r.command(work.VerbResume), r.v.Policy.Labels.Hold),
		sent: []work.Action{r.holdLabel(inv, true)},
	}
}

// merged returns what a hold does to the merge. A pull request that somebody else queued stays in
// the queue.
func (r reviewCommands) merged() string {
	_, ours := r.item.Queued()
	switch in := r.item.Landing.Box.Queue.In; {
	case !r.item.AutoMerges():
	case ours || r.item.Unclear():
		return "it is not merged: it leaves the merge queue, unless GitHub merges it first"
	case in:
		return "gh mergexo does not merge it. **It is in the merge queue, and not by gh mergexo: GitHub merges it unless somebody removes it there**"
	}
	return "it is not merged"
}

// holdLabel returns the action for the label of a hold.
func (r reviewCommands) holdLabel(inv invocation, held bool) work.Action {
	a := r.about().HoldLabel(held)
	a.Why = inv.given()
	return a
}

// release ends a hold. It reports whether there was one.
func (r reviewCommands) release(inv invocation) (work.Action, bool) {
	if r.item.HeldBack == nil {
		return work.Action{}, false
	}
	r.item.HeldBack, r.item.ReviewsChanged = nil, true
	r.unlabel(r.v.Policy.Labels.Hold)
	if r.item.Reviews.Record.Why.Kind == work.WhyReviewHeld {
		r.item.Reviews.Record.Why = r.about().Choose().Why // the reviews' current reason
	}
	r.p.add(change.Hold{Pull: r.item.Pull.ID})
	return r.holdLabel(inv, false), true
}

// reviewAgain restarts stopped or held reviews with a full budget of fixes; false: they were
// neither.
func (r reviewCommands) reviewAgain(inv invocation) (Reply, bool) {
	var rep Reply
	label, held := r.release(inv)
	if held {
		rep = Reply{Said: "It is no longer on hold.", sent: []work.Action{label}}
	}
	of := reviewsOf(r.itemPlanner)
	told := of.stopNow()
	if !of.stopped() {
		if held && !r.item.Stopped() {
			rep.Said += " " + r.statusSentences()
		}
		return rep, held && !r.item.Stopped()
	}
	r.item.Reviews.Retried = true
	c := of.about().Choose()
	r.item.Reviews.Retried = false
	if c.State.Stopped() { // a reason that no command changes
		for _, a := range told {
			r.p.add(change.Notice{Action: a})
		}
		rep.Refused = !held
		w := explain.Reason(c.Why, r.v.Place(r.item))
		rep.Said = strings.TrimSpace(fmt.Sprintf("%s %s, so the reviews stay stopped: %s.", rep.Said, work.Upper(w.What), w.Next()))
		return rep, true
	}
	of.take(c)
	r.item.ReviewsChanged, rep.epoch = true, c.Epoch
	if r.item.State == work.StateBlocked {
		r.resumeTo(work.StateAwaitingFeedback)
	}
	rep.Said = strings.TrimSpace(rep.Said + " The reviews start again. " + r.statusSentences())
	return rep, true
}

package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/tick/change"
)

// mergeCommands executes commands about merging.
type mergeCommands struct{ *commander }

// merge allows the merge of a head: it opens the gate that waits for a person, for this head only.
// No other gate opens.
func (r mergeCommands) merge(inv invocation) Reply {
	over, ended := r.over()
	switch {
	case ended && r.item.Pull.State == work.PullMerged:
		return reply("%s, so there is nothing to merge.", over)
	case ended:
		return refusal("%s, so there is nothing to merge.", over)
	case !r.item.HasPull():
		return refusal("There is no pull request yet, so there is nothing to merge.")
	case r.item.Flow == work.FlowReview:
		return refusal("This pull request is somebody else's: gh mergexo reviews it and does not merge it.")
	case r.item.Reviewers.Off(): // then it is not merged, even with auto_merge
		return refusal("Nobody has to approve this pull request, and gh mergexo merges only approved ones, so nothing was done: merge it yourself. " +
			"To change that, configure a reviewer for it, or `require_human_approval = true` beside `auto_merge = true` below `[repo.review]`.")
	case !r.item.AutoMerges():
		return refusal("`auto_merge` is off for this repository, so nothing was done: merge it yourself, or set `auto_merge = true` below `[repo.review]` in the config.")
	}
	if r.item.Reviewers.Agents(inv.account) {
		return refusal("%s", ofAgent(inv))
	}
	if why := r.otherHead(inv); why != "" {
		return refusal("%s", why)
	}
	head := r.item.Pull.HeadOID
	w := merging.MergeApproval{PullID: r.item.Pull.ID, Head: head, MergeBase: r.item.Pull.MergeBase, By: inv.account, CommentID: inv.comment(), URL: inv.url, At: inv.at}
	r.p.add(change.MergeApproval{MergeApproval: w})
	r.item.Landing.MergeApprovals = append(slices.Clone(r.item.Landing.MergeApprovals), w)
	r.forget()
	rep := reply("%s says that %s, the head of `%s` as last read, may be merged. %s%s", inv.by, work.Short(head), r.item.Pull.Branch, r.holds(), r.ends())
	rep.merge = head
	return rep
}

// ends says that the approval ends before the merge, because the base is merged into the branch first; empty: it need not
// be.
func (r mergeCommands) ends() string {
	moves := func(g merging.Gate) bool {
		return g.Why.Kind == work.WhyMergeConflicts || g.Why.Kind == work.WhyMergeBehind
	}
	if !slices.ContainsFunc(landingOf(r.itemPlanner).choose().Gates, moves) {
		return ""
	}
	return fmt.Sprintf(" Merging `%s` into the branch makes a new head: it is reviewed again, and this approval does not count for it.", r.item.Pull.Base)
}

// forget clears an earlier attempt's failure for this head. It reports whether there was one.
func (r mergeCommands) forget() bool {
	of := landingOf(r.itemPlanner)
	stopped := of.stopped()
	if !r.item.AutoMerges() || !r.atOnce() && r.item.Landing.Trouble.None() && !stopped {
		return false
	}
	if !r.item.Landing.Trouble.None() {
		r.p.add(change.ForgetMerge{Pull: r.item.Pull.ID})
		r.item.Landing.Trouble = work.Reason{}
	}
	if !stopped {
		return true
	}
	if c := of.choose(); c.Stop && !of.stoppedAtHead() { // a reason that no command changes
		return true
	}
	r.resumeTo(work.StateAwaitingFeedback)
	return true
}

// atOnce ends the wait after a refusal of GitHub's. It reports whether there was one.
func (r mergeCommands) atOnce() (waited bool) {
	r.item.Landing.Actions = slices.Clone(r.item.Landing.Actions)
	for i, a := range r.item.Landing.Actions {
		if a.State == work.ActionPlanned && !a.NotBefore.IsZero() {
			r.p.add(change.MergeNow{Action: a.ID})
			r.item.Landing.Actions[i].NotBefore, waited = time.Time{}, true
		}
	}
	return waited
}

// mergeAgain retries a merge that an earlier attempt stopped; false: none did.
func (r mergeCommands) mergeAgain(rep Reply) (Reply, bool) {
	if !r.forget() {
		return rep, false
	}
	rep.Said = strings.TrimSpace(rep.Said + " " + r.holds())
	return rep, true
}

// holds returns sentences about what blocks the merge now.
func (r mergeCommands) holds() string {
	c := landingOf(r.itemPlanner).choose()
	s, waits, next := r.waitAndNext()
	merges := c.Ask == merging.AskMerge || c.Ask == merging.AskEnqueue
	switch {
	case s.Why.Kind == work.WhyHalted, s.Why.Kind == work.WhyPaused, s.Why.Kind == work.WhyUnread, merges && s.Why.Kind != work.WhyMergeDue:
		return fmt.Sprintf("It waits for: %s. Next: %s.", waits, next)
	case c.Ask == merging.AskMerge:
		return "All gates are open: it is merged next."
	case c.Ask == merging.AskEnqueue:
		return "All gates are open: it enters the merge queue next."
	case c.Ask == merging.AskUpdate:
		return fmt.Sprintf("It is behind `%s`: its branch is brought up to date when it is next.", r.item.Pull.Base)
	}
	var said []string
	for _, g := range c.Gates {
		if what := explain.What(g.Why, r.v.Place(r.item)); !g.Open && !slices.Contains(said, what) {
			said = append(said, what)
		}
	}
	if next = explain.Reason(c.Why, r.v.Place(r.item)).Next(); next != "" {
		next = " Next: " + next + "."
	}
	return "Closed gates: " + r.v.Policy.Clean(strings.Join(said, "; ")) + "." + next
}

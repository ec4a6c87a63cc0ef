package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// retry resumes what failed, is stopped or waits. Its budgets start at zero, because a person has
// looked at it.
func (r *commander) retry(inv invocation) Reply {
	if rep, ok := r.retryRoadmap(); ok {
		return rep
	}
	if why, over := r.over(); over {
		return refusal("%s, so there is nothing to retry. %s.", why, r.again())
	}
	if why := r.whyNotResumable(inv); why != "" {
		return refusal("%s", why)
	}
	if why := explain.NeedsUnblock(r.item.Pull, r.v.Place(r.item)); why != "" {
		return refusal("%s", why)
	}
	rep, ok := reviewCommands{r}.reviewAgain(inv)
	if !ok {
		rep, ok = mergeCommands{r}.mergeAgain(rep)
	}
	if ok && (!r.item.Stopped() || reviewsOf(r.itemPlanner).stopped() || landingOf(r.itemPlanner).stopped()) {
		return rep
	}
	if on, ok := r.resumeStopped(false); ok {
		on.Said, on.sent = strings.TrimSpace(rep.Said+" "+on.Said), append(rep.sent, on.sent...)
		return on
	}
	if r.item.HasPull() && r.item.Pull.NotBefore.After(r.v.Now) {
		r.p.add(change.RereadPull{Pull: r.item.Pull.ID})
		return reply("Pull request #%d could not be read from GitHub, and is read again now.", r.item.Pull.Number)
	}
	if r.standing(r.outlook()).Why.Kind == work.WhyInterrupted {
		return reply("Nothing has failed, so there is nothing to retry: the agent was interrupted, and the next pass resumes its turn.")
	}
	if r.resumed() {
		return reply("It resumes. %s", r.statusSentences())
	}
	return reply("There is nothing to retry. %s", r.statusSentences())
}

// resumed reports whether this plan has resumed the item: what stopped it is over.
func (r *commander) resumed() bool {
	return slices.ContainsFunc(Of[change.Move](*r.p), func(m change.Move) bool { return m.Item == r.item.ID && m.Cause == work.CauseResumed })
}

// whyNotResumable returns why no command may resume the item: it is paused, an issue blocks it for good, or its
// edited text is not confirmed. Empty: one may.
func (r *commander) whyNotResumable(inv invocation) string {
	pause := r.item.Pause
	switch {
	case pause != nil:
		return fmt.Sprintf("It is paused by %s since %s, so nothing was done. %s ends the pause; then try %s again.",
			pause.By, work.UTC(pause.Began), r.command(work.VerbResume), r.same(inv))
	case r.item.Stopped() && r.item.Reason.Kind.OfDependency(): // the same look would stop it again
		w := explain.Reason(r.item.Reason, r.v.Place(r.item))
		return fmt.Sprintf("Nothing was done, because %s. To continue, %s.", w.What, w.Next())
	case r.item.Stopped() && r.item.Reason.Kind == work.WhyIssueEdited:
		return fmt.Sprintf("Only setting the label again confirms the new text, so nothing was done: read the issue, then remove `%s` and add it again.", r.item.Label)
	}
	return ""
}

// unblock accepts the branch as it is and resumes what is blocked.
func (r *commander) unblock(inv invocation) Reply {
	if why, over := r.over(); over && !r.item.HasPull() {
		return refusal("%s, so nothing is blocked. %s.", why, r.again())
	}
	if why := r.whyNotResumable(inv); why != "" {
		return refusal("%s", why)
	}
	u := explain.Unblock(r.item.Pull, inv.Head, r.v.Place(r.item))
	if u.Refused != "" {
		return refusal("%s", u.Refused)
	}
	accepted := u.Accept != explain.Acceptance{}
	if accepted {
		r.accept(u.Accept)
	}
	turn, busy := r.unfinished()
	if !accepted && !r.item.Stopped() && (!busy || !turn.Blocked) {
		return reply("Nothing is blocked. %s", r.statusSentences())
	}
	rep, went := r.resumeStopped(accepted)
	if accepted && !went {
		r.renewBudget()
	}
	if u.Said != "" {
		rep.Said = u.Said + " " + rep.Said
	}
	return rep
}

// resumeStopped resumes a stopped item; false: nothing is stopped. A question that nobody has
// answered stays, unless cleared says that the obstacle is gone: the agent would ask the same again.
func (r *commander) resumeStopped(cleared bool) (Reply, bool) {
	turn, busy := r.unfinished()
	switch {
	case busy:
		return r.retryTurn(turn)
	case !r.item.Stopped():
		return Reply{}, false
	case !r.item.HasPull(), r.item.State == work.StateAwaitingIssueFollowup:
		return r.startAgain(), true
	}
	waiting := slices.ContainsFunc(r.item.Events, func(e work.Event) bool {
		return e.Kind.IsComment() || e.Kind == work.EventCheck || e.Kind == work.EventConflict
	})
	shelved := r.item.Shelved
	if r.item.Reason.Kind == work.WhyQuestion && !waiting && len(shelved) == 0 && !cleared {
		return refusal("There is nothing to retry: it waits for a person. Say in a comment on #%d what to do.", r.item.Pull.Number), true
	}
	for _, key := range shelved {
		r.p.add(change.RetryShelved{Key: key})
	}
	r.resumeTo(work.StateAwaitingFeedback)
	if len(shelved) > 0 { // the next pass reads them
		return reply("It resumes: the next turn answers what waits on #%d.", r.item.Pull.Number), true
	}
	return reply("It resumes. %s", r.statusSentences()), true
}

// retryTurn resumes an unfinished turn at its step. An agent that has answered does not run again.
func (r *commander) retryTurn(t work.Turn) (Reply, bool) {
	if r.alive(t) || !t.Blocked && !t.NotBefore.After(r.v.Now) {
		return Reply{}, false
	}
	r.p.add(change.ResumeTurn{Turn: t.ID})
	r.renewBudget()
	if r.item.State == work.StateBlocked {
		r.resumeTo(work.StateRunning)
	}
	t.Blocked, t.NotBefore, t.Attempts = false, r.v.Now, 0
	r.item.Turn = &t
	if t.Step == work.StepClaimed {
		return reply("The next pass retries the turn, with all its attempts."), true
	}
	return reply("The next pass resumes the turn where it stopped, with all its attempts; the agent's answer is kept."), true
}

// startAgain plans a start turn with all comments.
func (r *commander) startAgain() Reply {
	if !slices.ContainsFunc(r.item.Events, func(e work.Event) bool { return work.StartsItem(r.item.Item, e) }) {
		return refusal("Nothing is left of what began this. %s.", r.again())
	}
	r.resumeTo(work.StatePending)
	return reply("The next turn retries the work, with all comments on the issue.")
}

// resumeTo resumes the item for a person and resets its budgets.
func (r *commander) resumeTo(to work.State) {
	r.renewBudget()
	r.moves(work.Move{Cause: work.CauseResumed, To: to}, r.words("resume", "", "a person said so"))
	r.item.State, r.item.Since, r.item.Reason = to, r.v.Now, work.Reason{}
}

// cancel cancels the work. A turn in a running pass ends at the next step that it stores.
func (r *commander) cancel(inv invocation) Reply {
	if rep, ok := r.cancelStart(inv); ok {
		return rep
	}
	below := r.cancelBelow(inv)
	rep := r.cancelItem(inv, below != "")
	rep.Said = strings.TrimSpace(rep.Said + " " + below)
	return rep
}

// cancelStart takes back a command that starts work, as long as no pass has read its label.
func (r *commander) cancelStart(inv invocation) (Reply, bool) {
	_, over := r.over()
	label := r.item.Restarted
	for _, n := range Of[change.Notice](*r.p) { // an earlier command of this plan
		if n.Token == work.FlowToken(r.v.Repo.Key(), r.item.Number) {
			label = n.Target
		}
	}
	if label == "" || !over && r.item.ID != 0 {
		return Reply{}, false
	}
	return Reply{Said: fmt.Sprintf("The label `%s` is taken back, and no work begins.", label), sent: []work.Action{r.flowLabel(inv, "")}}, true
}

// cancelItem cancels the work on the issue itself. below: something below it is cancelled, too.
func (r *commander) cancelItem(inv invocation, below bool) Reply {
	if rep, ok := r.cancelRoadmap(inv); ok {
		return rep
	}
	if why, over := r.over(); over && below {
		return Reply{}
	} else if over {
		rep := reply("%s, so there is nothing to cancel. %s.", why, r.again())
		rep.Refused = r.item.HasPull() && r.item.Pull.State == work.PullMerged && r.item.Reason.Kind != work.WhyRoadmapCancelled
		if r.v.Terminal != "" && !rep.Refused { // somebody may have set the label since a pass read it
			rep.sent = r.endLabel(inv)
		}
		return rep
	}
	said := "The work is cancelled."
	turn, busy := r.unfinished()
	if busy && !r.alive(turn) {
		r.p.add(change.CancelTurn{Turn: turn.ID})
		r.item.Turn = nil
	}
	if busy && r.alive(turn) {
		said += " A turn is in progress: it ends at its next step, and what it has pushed until then stays."
	}
	if r.item.Pause != nil {
		said += fmt.Sprintf(" The label `%s` stays: while it is set, a label that people set starts nothing.", r.v.Policy.Labels.Ignore)
	}
	if r.item.Flow == work.FlowReview {
		return Reply{Said: said + " " + r.again() + ".", sent: r.endLabel(inv), void: append(r.closeItem(inv), turn.EventKeys...)}
	}
	next := Reply{Said: r.again() + ".", sent: r.endLabel(inv)}
	if r.item.Replans() {
		next = r.endRevision(inv)
	}
	if r.item.HasPull() && r.item.Pull.State == work.PullOpen {
		closes := fmt.Sprintf("Pull request #%d is closed; its branch `%s` stays.", r.item.Pull.Number, r.item.Pull.Branch)
		switch {
		case next.cancels:
		case r.item.Pause != nil:
			closes += " Reopen the pull request and remove the label, and it resumes."
		case r.item.Landing.Policy.Auto && r.continued() == "":
			closes += fmt.Sprintf(" Reopen the pull request and it resumes; to have it merged, set the label `%s` again, too.", r.item.Label)
		default:
			closes += " Reopen the pull request and it resumes."
		}
		next.Unsent = fmt.Sprintf("%s Pull request #%d is not closed on GitHub yet; its branch `%s` stays. %s", said, r.item.Pull.Number, r.item.Pull.Branch, next.Said)
		said += " " + closes
		next.sent = append(next.sent, work.Action{
			RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionClose, Title: closes, Extra: next.Said, Need: work.NeedRequired, State: work.ActionPlanned,
			Token: work.CloseToken(r.v.Repo.Key(), r.item.Pull.Number, inv.key), Number: r.item.Pull.Number, Why: inv.by + " cancelled the work",
		})
	}
	next.Said, next.void = said+" "+next.Said, append(r.closeItem(inv), turn.EventKeys...)
	return next
}

// noReview removes the label that asks for a review of somebody else's pull request. Nothing else
// is changed.
func (r *commander) noReview(inv invocation) work.Action {
	a := work.Labelling{Without: []string{r.item.Label}}.Action(r.v.Repo, r.item.ID, r.item.Number, "review of somebody else's")
	a.Need, a.Why = work.NeedRequired, inv.given()
	return a
}

// closeItem closes the item and finishes its events up to the command. It returns their keys.
func (r *commander) closeItem(inv invocation) []string {
	why := inv.by + " cancelled it"
	var asked []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		if !work.StampOf(e).After(inv.at) {
			asked = append(asked, e)
			return true
		}
		return false
	})
	r.finish(work.OutcomeVoid+why, asked...)
	closed := work.Reason{Kind: work.WhyClosed, Text: why}
	r.moves(work.Move{Cause: work.CauseWithdrawn, To: work.StateClosed, Reason: closed}, r.words("move", "", why))
	r.item.State, r.item.Since, r.item.Reason = work.StateClosed, r.v.Now, closed
	return work.EventKeys(asked)
}

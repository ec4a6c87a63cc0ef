package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Commands set labels as a person would: GitHub shows them, and a pass without the database reads
// them.

// beginFlow sets the label that starts an issue's work.
func (r *commander) beginFlow(inv invocation) Reply {
	flow, _ := inv.Verb.Flow()
	label := r.v.Policy.Labels.Of(flow)
	_, over := r.over()
	local := r.v.Terminal != "" // what the last pass read may be old: somebody may have reopened the issue since
	switch {
	case inv.onPull && (r.item.ID == 0 || r.item.Flow == work.FlowReview):
		return refusal("This is a pull request. Work starts on an issue: comment there.")
	case inv.onPull:
		return refusal("This is a pull request. %s.", r.onIssue(inv))
	case over && r.item.IssueClosed && !local:
		return refusal("The issue is closed. Reopen it, then try %s again.", r.sameOnIssue(inv))
	case over && r.continued() != "":
		return refusal("%s, so nothing else begins. %s; then try %s again.", work.Upper(r.continued()), r.cancels(), r.sameOnIssue(inv))
	case flow == work.FlowRoadmap && r.changesRoadmap():
		return refusal("This issue has a roadmap already, and a second one would make everything twice. %s.", r.again())
	case r.item.ID == 0 || over:
		return r.startWork(inv, label)
	case r.item.Flow == flow, flow == work.FlowDesign && r.item.Flow == work.FlowImplementation:
		return reply("This work is already in progress. %s", r.statusSentences())
	}
	return refusal("Another kind of work is in progress. %s; then try %s again. %s", r.cancels(), r.sameOnIssue(inv), r.statusSentences())
}

// cancels returns a clause with the commands that cancel all work on the issue: the issue's own means its newest work,
// unless several pull requests are open.
func (r *commander) cancels() string {
	var all []string
	if _, over := r.over(); !over && len(r.item.Open) < 2 {
		all = append(all, r.command(work.VerbCancel))
	}
	for _, n := range r.item.Open {
		if at, local := r.named(n); n == r.item.Pull.Number && len(r.item.Open) < 2 {
			continue
		} else if local {
			all = append(all, at.Command(work.VerbCancel, ""))
		} else {
			all = append(all, fmt.Sprintf("%s on #%d", r.command(work.VerbCancel), n))
		}
	}
	if len(all) == 1 {
		return all[0] + " cancels it"
	}
	return work.JoinNames(all) + " cancel it"
}

// sameOnIssue is same for a command that only the issue takes.
func (r *commander) sameOnIssue(inv invocation) string {
	if at, local := r.named(r.item.Number); local {
		return at.Command(inv.Verb, "")
	}
	return r.same(inv)
}

// startWork sets the label that starts an issue's work. A pause of the work that is over ends with it.
func (r *commander) startWork(inv invocation, label string) Reply {
	rep := Reply{sent: []work.Action{r.flowLabel(inv, label)}}
	also := ""
	lasts := func(p work.Pause) bool { return p.Open() && p.Number == r.item.Number && !p.Began.After(inv.at) }
	if at := slices.IndexFunc(r.item.Pauses, lasts); at >= 0 {
		also = fmt.Sprintf(" The pause by %s is over.", r.item.Pauses[at].By)
		rep.sent = append(r.endPause(inv), rep.sent...)
	}
	if r.item.IssueClosed {
		also += " The last pass saw the issue closed: reopen it if it still is."
	}
	rep.Said = fmt.Sprintf("The label `%s` is set, and the next pass starts the work if the issue is open and has no label `%s`.", label, r.v.Policy.Labels.Ignore) + also
	rep.Unsent = fmt.Sprintf("GitHub does not have the label `%s` yet. Once it does, the following pass starts the work if the issue is open.", label) + also
	return rep
}

// endLabel returns the action that removes the label for which the work began, unless other work on the issue needs it.
func (r *commander) endLabel(inv invocation) []work.Action {
	switch {
	case r.item.Flow == work.FlowReview:
		return []work.Action{r.noReview(inv)}
	case r.continued() != "":
		return nil
	}
	return []work.Action{r.flowLabel(inv, "")}
}

// flowLabel returns the action that sets one of the labels that start work, or removes all of them.
// A label set at the command's time or later is left as it is.
func (r *commander) flowLabel(inv invocation, label string) work.Action {
	var others []string
	for _, f := range work.Flows() {
		if name := r.v.Policy.Labels.Of(f); name != "" && name != label {
			others = append(others, name)
		}
	}
	return work.Action{
		RepoID: r.v.Repo.ID, ItemID: r.item.ID, Kind: work.ActionFlow, Need: work.NeedRequired, State: work.ActionPlanned,
		Token: work.FlowToken(r.v.Repo.Key(), r.item.Number), Number: r.item.Number,
		Target: label, Base: strings.Join(others, ","), Body: r.labelBody(label), Head: inv.at.UTC().Format(time.RFC3339), Why: inv.given(),
	}
}

// labelBody returns the label's color and description as an action's body, to create the label
// again if somebody deleted it.
func (r *commander) labelBody(label string) string {
	all := work.RepoLabels(r.v.Policy.Labels)
	at := slices.IndexFunc(all, func(l work.Label) bool { return l.Name == label })
	if at < 0 {
		return "" // no label to set
	}
	return work.Labelling{With: all[at : at+1]}.Action(r.v.Repo, 0, 0, "").Body
}

// pause pauses the item from the time of the command. If a label paused it then, and somebody removed that
// label before a pass read the command, they ended the pause.
func (r *commander) pause(inv invocation) Reply {
	ended := func(p work.Pause) bool { return !p.Open() && p.Covers(inv.at) }
	if at := slices.IndexFunc(r.item.Pauses, ended); at >= 0 && r.item.Pause == nil {
		return refusal("It was paused by %s when you wrote this, and that pause ended at %s, so it is not paused again.", r.item.Pauses[at].By, work.UTC(r.item.Pauses[at].Ended))
	}
	if r.leadsRoadmap() {
		return r.pauseRoadmap(inv)
	}
	if why, over := r.over(); over && r.item.ID != 0 {
		return refusal("%s, so there is nothing to pause.", why)
	}
	if r.pauseOf(inv) != nil {
		return r.pauseAgain(inv)
	}
	if r.item.ID == 0 {
		rep := Reply{sent: []work.Action{r.ignoreLabel(inv, inv.number, work.VerbPause)}}
		rep.Said = fmt.Sprintf("The label `%s` is set: no work starts here until %s.", r.v.Policy.Labels.Ignore, r.command(work.VerbResume))
		rep.Unsent = fmt.Sprintf("GitHub does not have the label `%s` yet. Once it does, no work starts here until %s.", r.v.Policy.Labels.Ignore, r.command(work.VerbResume))
		return rep
	}
	rep := Reply{sent: []work.Action{r.beginPause(inv, r.item.Number)}}
	nothing := ""
	if r.item.Replans() {
		nothing = " no issue of the roadmap begins,"
	}
	rep.Said = fmt.Sprintf("Paused. No agent works on this,%s and comments made during the pause are never acted on. "+
		"To end the pause, use %s or remove the label `%s`.", nothing, r.command(work.VerbResume), r.v.Policy.Labels.Ignore)
	return rep
}

// pauseAgain pauses what is paused already: somebody may have removed the label since a pass read it, and the command is
// newer.
func (r *commander) pauseAgain(inv invocation) Reply {
	since := *r.item.Pause
	rep := reply("It stays paused by %s since %s, and the label `%s` is set where it is gone. %s ends the pause.",
		since.By, work.UTC(since.Began), r.v.Policy.Labels.Ignore, r.command(work.VerbResume))
	rep.sent = []work.Action{r.beginPause(inv, since.Number)}
	return rep
}

// beginPause begins a pause on the issue or the pull request, and returns the action for its label.
func (r *commander) beginPause(inv invocation, number int) work.Action {
	r.p.add(change.Pause{PauseChange: work.PauseChange{Item: r.item.ID, Number: number, Began: inv.at, By: inv.by}})
	begun := work.Pause{RepoID: r.v.Repo.ID, Number: number, Began: inv.at, By: inv.by}
	r.begun = append(r.begun, begun)
	if r.item.Pause == nil {
		r.item.Pause = &begun
	}
	return r.ignoreLabel(inv, number, work.VerbPause)
}

// endPause ends the pauses of the issue and its pull request, and returns the actions for their labels.
func (r *commander) endPause(inv invocation) []work.Action {
	r.p.add(change.Pause{PauseChange: work.PauseChange{Item: r.item.ID, Ended: inv.at, By: inv.by}})
	r.item.Pause = nil
	for i := range r.begun {
		if r.begun[i].Open() {
			r.begun[i].Ended = inv.at
		}
	}
	r.unlabel(r.v.Policy.Labels.Ignore)
	return r.pauseLabels(inv)
}

// pauseLabels returns the actions that remove the label of a pause from the issue and its pull request.
func (r *commander) pauseLabels(inv invocation) []work.Action {
	sent := []work.Action{r.ignoreLabel(inv, r.item.Number, work.VerbResume)}
	if r.item.HasPull() {
		sent = append(sent, r.ignoreLabel(inv, r.item.Pull.Number, work.VerbResume))
	}
	return sent
}

// unlabel takes a label out of the merge box as it was last read: a command has ended what it says.
func (r *commander) unlabel(label string) {
	if !r.item.HasPull() {
		return
	}
	r.item.Landing.Box = r.item.Landing.Box.Without(label)
	r.p.add(change.Unlabelled{Pull: r.item.Pull.ID, Label: label})
}

// pauseOf returns the pause that a command is about; nil: there is none. On an issue with several open pull requests, that
// of one of them is not.
func (r *commander) pauseOf(inv invocation) *work.Pause {
	if p := r.item.Pause; p != nil && (p.Number == r.item.Number || r.severalPulls(inv) == "") {
		return p
	}
	return nil
}

// skipPaused skips events that came with a command that pauses, and were written after it.
func (r *commander) skipPaused() {
	if len(r.begun) == 0 {
		return
	}
	var skipped []work.Event
	r.item.Events = known.Without(r.item.Events, func(e work.Event) bool {
		meant := e.Kind.IsComment() || e.Kind == work.EventCheck
		if !meant || !slices.ContainsFunc(r.begun, func(p work.Pause) bool { return p.Covers(e.CreatedAt) }) {
			return false
		}
		skipped = append(skipped, e)
		return true
	})
	r.finish(work.OutcomePaused, skipped...)
}

// unpause ends the pause, or a hold where nothing is paused: whoever ends a pause may not know of the hold.
func (r *commander) unpause(inv invocation) Reply {
	if r.leadsRoadmap() {
		return r.resumeRoadmap(inv)
	}
	if why, over := r.over(); over && r.item.ID != 0 {
		return refusal("%s, so there is nothing to resume. %s.", why, r.again())
	}
	several := r.severalPulls(inv) // a pause is of the issue, a hold of one pull request
	if several != "" && r.pauseOf(inv) == nil {
		return refusal("%s", several)
	}
	var label work.Action
	var held bool
	beside := ""
	if several == "" {
		if r.item.Pause == nil {
			label, held = reviewCommands{r}.release(inv)
		}
		beside = r.allowAgents()
	}
	switch {
	case r.item.Pause == nil && held:
		return Reply{Said: "It is no longer on hold. " + beside + r.statusSentences(), sent: []work.Action{label}}
	case r.item.Pause == nil && beside != "":
		return reply("%s%s", beside, r.statusSentences())
	case r.item.Pause == nil && r.item.ID != 0:
		labels := r.pauseLabels(inv)
		if r.item.HasPull() {
			labels = append(labels, reviewCommands{r}.holdLabel(inv, false))
		}
		return r.notPaused("It", r.statusSentences(), labels...)
	case r.item.ID == 0:
		return Reply{
			Said: fmt.Sprintf("The label `%s` is removed.", r.v.Policy.Labels.Ignore),
			sent: []work.Action{r.ignoreLabel(inv, inv.number, work.VerbResume)},
		}
	}
	rep := Reply{sent: r.endPause(inv)}
	if r.item.HeldBack != nil {
		beside += fmt.Sprintf("It is still on hold by %s: %s ends that. ", r.item.HeldBack.By, r.command(work.VerbResume))
	}
	rep.Said = "The pause is over: comments made before it and after it count. " + beside + r.statusSentences()
	return rep
}

// notPaused answers a resume where no pass has read a pause or a hold. A terminal may know of a label that was set since.
func (r *commander) notPaused(what, next string, labels ...work.Action) Reply {
	rep := Reply{Said: what + " is not paused."}
	if r.v.Terminal != "" {
		rep = reply("%s was not paused at the last pass; a label `%s` or `%s` that was set since is removed.", what, r.v.Policy.Labels.Ignore, r.v.Policy.Labels.Hold)
		rep.sent = labels
	}
	rep.Said = strings.TrimSpace(rep.Said + " " + next)
	return rep
}

// allowAgents lets our agent fix the pull request beside GitHub's own, for good, and returns a
// sentence that says so; empty: nothing held our agent back.
func (r *commander) allowAgents() string {
	if !r.item.Pull.Beside.Holds() {
		return ""
	}
	r.p.add(change.AllowAgents{Pull: r.item.Pull.ID})
	r.item.Pull.Beside.Allowed = true
	return "From now on both agents fix this pull request. "
}

// ignoreLabel returns the action that sets the label that pauses, or removes it.
func (r *commander) ignoreLabel(inv invocation, number int, verb work.Verb) work.Action {
	name := r.v.Policy.Labels.Ignore
	l := work.Labelling{Without: []string{name}}
	if verb == work.VerbPause {
		l = work.Labelling{With: []work.Label{work.IgnoreLabel(name)}}
	}
	a := l.Action(r.v.Repo, r.item.ID, number, "pause")
	a.Need, a.Why = work.NeedRequired, inv.given()
	return a
}

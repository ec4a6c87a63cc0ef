package plan

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// A merged roadmap is unfolded by notices, which later passes look for and send: package roadmap says
// from rows alone which come next.

// unfold plans what comes next for the roadmaps that changed.
func (p *Plan) unfold(v known.Snapshot) {
	p.Unfold = v.Unfold
	for _, f := range v.Unfold {
		f.Record.Changing = f.Record.Changing || slices.ContainsFunc(of[change.Replan](p.Decisions), func(c change.Replan) bool { return c.Roadmap == f.Record.ItemID })
		u := unfolder{v, p, f}
		u.next(roadmap.Next(f))
	}
}

// awaitsDocument reports whether the item must not begin, because its roadmap is about to change its issue.
// The number of the issue decides, also if it is below the roadmap no more.
func (r *itemPlanner) awaitsDocument(kind work.Kind) bool {
	for _, f := range r.v.Unfold {
		if due := f.Due(r.item.Number); due != "" {
			why := f.Record.Held()
			if why.None() {
				why = work.Reason{Kind: work.WhyRoadmapChanges, Name: fmt.Sprintf("#%d", f.Record.Number), Text: string(due)}
				if f.Record.State == roadmap.Stopped {
					why.Kind = work.WhyRoadmapStopped
				}
			}
			r.wait(kind, why)
			return true
		}
	}
	return false
}

// roadmapHere returns the merged roadmap of the item's issue, if no work on the issue itself is in
// progress, such as a revision.
func (r *commander) roadmapHere() (roadmap.Record, bool) {
	i := slices.IndexFunc(r.v.Roadmaps, func(m roadmap.Record) bool { return m.Number == r.item.Number })
	if i < 0 || r.item.ID == 0 || r.item.State.Open() {
		return roadmap.Record{}, false
	}
	return r.v.Roadmaps[i], true
}

// cancelRoadmap cancels a merged roadmap: what has not begun is closed by the following plans.
func (r *commander) cancelRoadmap(inv invocation) (Reply, bool) {
	m, ok := r.roadmapHere()
	if !ok {
		return Reply{}, false
	}
	rep := r.endRoadmap(inv, m)
	if nested := r.nested(); len(nested) > 0 {
		rep.Said += fmt.Sprintf(" The roadmaps below it continue: %s. To cancel them, too, comment %s.", r.namesOf(nested), r.v.Place(r.item).Command(work.VerbCancel, "--all"))
	}
	return rep, true
}

// cancelBelow cancels the roadmaps below the issue, and says which; empty: the command does not ask for that, or there
// are none. A pull request that changes a roadmap has none below it.
func (r *commander) cancelBelow(inv invocation) string {
	nested := r.nested()
	if inv.Arg == "" || len(nested) == 0 || r.item.Replans() && inv.onPull {
		return ""
	}
	for _, n := range nested {
		r.moveRoadmap(inv, n)
	}
	return "The roadmaps below it are cancelled: " + r.namesOf(nested) + "."
}

// nested returns the roadmaps below the item's issue that nobody cancelled.
func (r *commander) nested() []roadmap.Record {
	return roadmap.Nested(ref(r.v, r.item.Item), r.v.Roadmaps)
}

// namesOf names the issues of roadmaps.
func (*commander) namesOf(all []roadmap.Record) string {
	var names []string
	for _, m := range all {
		names = append(names, fmt.Sprintf("#%d", m.Number))
	}
	return work.JoinNames(names)
}

func (r *commander) endRoadmap(inv invocation, m roadmap.Record) Reply {
	if !r.moveRoadmap(inv, m) {
		return reply("The roadmap is cancelled already.")
	}
	end := "comment `/mergexo cancel` on the sub-issue"
	if r.v.Terminal != "" {
		end = "cancel the sub-issue"
	}
	return Reply{
		Said: "The roadmap is cancelled: its sub-issues on which no work has begun are closed as not planned. What has begun continues; to end it, " + end + ".",
		sent: []work.Action{r.flowLabel(inv, "")}, cancels: true,
	}
}

// moveRoadmap cancels a roadmap, unless it is over.
func (r *commander) moveRoadmap(inv invocation, m roadmap.Record) bool {
	after := m
	to, moves := m.State.After(roadmap.EventCancelled)
	if !moves {
		return false
	}
	after.State, after.Why = to, work.Reason{}
	said := r.words("move", "", inv.by+" cancelled the roadmap")
	said.Says.Number = m.Number
	r.p.add(change.Roadmap{Before: m, After: after, Words: said})
	r.v.Roadmaps = slices.Clone(r.v.Roadmaps) // for the commands that follow
	r.v.Roadmaps[slices.IndexFunc(r.v.Roadmaps, func(o roadmap.Record) bool { return o.ItemID == m.ItemID })] = after
	return true
}

// endRevision returns what cancelling a pull request that changes a roadmap means for the roadmap: on its issue
// both are cancelled, and on the pull request only that.
func (r *commander) endRevision(inv invocation) Reply {
	at := slices.IndexFunc(r.v.Roadmaps, func(m roadmap.Record) bool { return m.ItemID == r.item.Parent })
	if at < 0 || inv.onPull {
		return reply("The roadmap continues as it was merged. To cancel it, comment `/mergexo cancel` on #%d.", r.item.Number)
	}
	return r.endRoadmap(inv, r.v.Roadmaps[at])
}

// retryRoadmap has GitHub asked again for the parts of a roadmap that could not be made.
func (r *commander) retryRoadmap() (Reply, bool) {
	m, ok := r.roadmapHere()
	i := slices.IndexFunc(r.v.Unfold, func(f roadmap.Facts) bool { return f.Record.ItemID == m.ItemID })
	if !ok || i < 0 || m.State != roadmap.Stopped || m.Why.Kind != work.WhyRoadmapRefused {
		return Reply{}, false
	}
	for _, a := range roadmap.Refused(r.v.Unfold[i]) {
		r.p.add(change.RetryNotice{Action: a, Words: r.words("notice", "", "ask GitHub again for what could not be made")})
	}
	after := m
	after.State, _ = m.State.After(roadmap.EventRetried)
	after.Why = work.Reason{}
	r.p.add(change.Roadmap{Before: m, After: after, Words: r.words("move", "", "the roadmap is unfolded again")})
	return reply("The next passes ask GitHub again for what could not be made, and make the rest of the roadmap."), true
}

// unfolder plans one roadmap.
type unfolder struct {
	v known.Snapshot
	p *Plan
	roadmap.Facts
}

func (u unfolder) next(out roadmap.Outcome) {
	for _, m := range out.Moves {
		c := change.RoadmapNode{Move: m}
		if m.After.Step != m.Before.Step { // else an action told it
			c.Words = u.words("node %s: %s → %s", m.After.Node, m.Before.Step, m.After.Step)
		}
		u.p.add(c)
	}
	if to, moves := u.Record.State.After(out.Event); moves && out.Event != "" {
		after := u.Record
		after.State, after.Why = to, out.Why
		u.p.add(change.Roadmap{Before: u.Record, After: after, Words: u.words("%s → %s", u.Record.State, to)})
	}
	for _, d := range out.Deeds {
		u.deed(d)
	}
	if len(out.Moves)+len(out.Deeds) == 0 && out.Event == "" && !out.Waits && u.Record.Look > 0 {
		u.p.add(change.RoadmapDecided{Item: u.Record.ItemID, Changes: u.Record.Look})
	}
}

func (u unfolder) words(said string, args ...any) change.Words {
	return change.Words{Says: change.Line{Item: u.Record.ItemID, Number: u.Record.Number, What: "roadmap", Reason: fmt.Sprintf(said, args...)}}
}

// deed plans an action.
func (u unfolder) deed(d roadmap.Deed) {
	a := work.Action{
		RepoID: u.v.Repo.ID, ItemID: u.Record.ItemID, Need: work.NeedRequired, State: work.ActionPlanned, Token: d.Token,
		Number: d.Node.Number, Why: fmt.Sprintf("node %s of the roadmap #%d", d.Node.Node, u.Record.Number),
	}
	said := ""
	switch d.Kind {
	case roadmap.DeedMake:
		a.Kind, a.Number, a.Target, a.Title, a.Head = work.ActionChild, u.Record.Number, d.Node.Node, d.Node.Title, d.Node.Hash
		a.Body, said = u.body(d.Node), fmt.Sprintf("open the sub-issue %q (%s)", d.Node.Title, d.Node.Flow)
	case roadmap.DeedBlock:
		a.Kind, a.Target, a.Extra, said = work.ActionBlock, u.Ref(d.On), strconv.Itoa(u.Record.Number), fmt.Sprintf("#%d blocks #%d", d.On.Number, d.Node.Number)
	case roadmap.DeedUnblock:
		a.Kind, a.Target, a.Extra, a.Base = work.ActionBlock, u.Ref(d.On), strconv.Itoa(u.Record.Number), work.BlockRemove
		said = fmt.Sprintf("#%d blocks #%d no more", d.On.Number, d.Node.Number)
	case roadmap.DeedEdit:
		a.Kind, a.Title, a.Body, a.Base = work.ActionEditIssue, d.Node.Title, u.body(d.Node), d.Node.Applied
		said = fmt.Sprintf("give #%d the text of node %s", d.Node.Number, d.Node.Node)
	case roadmap.DeedLabel:
		a, said = u.label(a, d.Node), fmt.Sprintf("set the label of #%d", d.Node.Number)
	case roadmap.DeedClose:
		if a.Kind, a.Target = work.ActionCloseIssue, work.CloseNotPlanned; d.Node.Step == roadmap.Removed {
			a.Base = d.Node.Applied
		}
		said = fmt.Sprintf("close #%d as not planned", d.Node.Number)
	case roadmap.DeedForget:
		u.p.add(change.ForgetNotice{Action: u.Actions[d.Token].ID, Why: "the roadmap does not ask for it any more", Words: u.words("not sent: the %s for %s", u.Actions[d.Token].Kind, u.Actions[d.Token].Why)})
		return
	case roadmap.DeedSay:
		a.Kind, a.Body, said = work.ActionComment, u.mark(u.stays(d.Node, u.v.Policy.Clean(d.Why)), d.Token), fmt.Sprintf("say on #%d that the roadmap changed", d.Node.Number)
	case roadmap.DeedSumUp:
		a.Kind, a.Number, a.Body, said = work.ActionComment, u.Record.Number, u.mark(u.summary(), d.Token), "say what became of the roadmap"
	case roadmap.DeedFinish:
		a.Kind, a.Number, a.Target, said = work.ActionCloseIssue, u.Record.Number, work.CloseCompleted, "close the roadmap's issue"
	}
	u.p.add(change.Notice{Action: a, Words: u.words("%s", said)})
}

func (u unfolder) mark(body, token string) string {
	return u.v.Policy.Mark(body, work.Marks{Token: token})
}

// body is the text of a node's sub-issue. Its token stays when the text changes.
func (u unfolder) body(c roadmap.Child) string {
	return u.v.Policy.Mark(c.Body, work.Marks{
		Token: work.ChildToken(u.Repo, u.Record.Number, u.Record.Run, c.Node),
		Node:  work.MarkNode(work.NodeMark{Roadmap: u.Record.Number, Run: u.Record.Run, Node: c.Node, Hash: c.Hash}),
	})
}

// label sets the label of a node's flow, unless somebody ever set it: a sub-issue begins once.
func (u unfolder) label(a work.Action, c roadmap.Child) work.Action {
	name := u.v.Policy.Labels.Of(c.Flow)
	a.Kind, a.Target, a.Head, a.Extra = work.ActionFlow, name, time.Time{}.Format(time.RFC3339), strconv.Itoa(u.Record.Number)
	all := work.RepoLabels(u.v.Policy.Labels)
	if at := slices.IndexFunc(all, func(l work.Label) bool { return l.Name == name }); at >= 0 {
		a.Body = work.Labelling{With: all[at : at+1]}.Action(u.v.Repo, 0, 0, "").Body
	}
	return a
}

// document links the roadmap's document.
func (u unfolder) document() string {
	return fmt.Sprintf("[%s](https://%s/blob/%s/%s)", path.Base(u.Record.Document), u.Record.Repo, u.v.Repo.DefaultBranch, u.Record.Document)
}

// stays says on a sub-issue that the roadmap changed, and why the sub-issue did not.
func (u unfolder) stays(c roadmap.Child, why string) string {
	w := u.Work[c.Number]
	if c.Step == roadmap.Removed {
		next := "so it stays open. To end it, close it."
		switch {
		case w.Begun && w.State.Open() && w.Pull != 0: // closing the issue alone does not end work on its pull request
			next = fmt.Sprintf("so it stays open, and agents still work on it. To stop that, close it and pull request #%d.", w.Pull)
		case w.Begun && w.State.Open():
			next = "so it stays open, and agents still work on it. To stop that, close it."
		}
		return fmt.Sprintf("The roadmap, #%d, does not have this any more: %s. %s, %s", u.Record.Number, u.document(), why, next)
	}
	next := "To have the agent do it, comment here what changed."
	switch {
	case w.Merged:
		next = fmt.Sprintf("Its pull request, #%d, is merged: what is missing needs an issue of its own.", w.Pull)
	case w.Pull != 0:
		next = fmt.Sprintf("To have the agent do it, comment on pull request #%d what changed.", w.Pull)
	}
	return fmt.Sprintf("The roadmap, #%d, now says something else about this: see `%s` in %s. %s, so its text stays as it is. %s",
		u.Record.Number, c.Node, u.document(), why, next)
}

// summary says what became of the roadmap's sub-issues.
func (u unfolder) summary() string {
	var landed, not []string
	for _, s := range u.Below {
		line := "- " + u.v.Short(s.Ref) + " " + u.v.Policy.Clean(s.Title)
		if d, ok := work.ParseDependency(s.Ref, u.Record.Repo); ok && d.Repo.Equal(u.Record.Repo) && u.Work[d.Number].Pull != 0 {
			w := u.Work[d.Number]
			line += fmt.Sprintf(": #%d", w.Pull)
			if !w.Merged {
				line += ", which was not merged"
			}
		}
		if s.State == work.DependencyClosed {
			landed = append(landed, line)
		} else {
			not = append(not, line)
		}
	}
	said := "This roadmap is done: " + strconv.Itoa(len(landed)) + " of " + work.Count(len(u.Below), "sub-issue") + " were completed."
	if len(landed) == len(u.Below) {
		said = "This roadmap is done: all of its sub-issues were completed."
	}
	said += "\n\n" + strings.Join(landed, "\n")
	if len(not) > 0 {
		said += "\n\nNot planned any more:\n\n" + strings.Join(not, "\n")
	}
	if u.Cost != (roadmap.Cost{}) {
		said += "\n\nCost of the agents that worked on its issues: " + spending.Cost(u.Cost.USD, u.Cost.Unknown) + "."
	}
	return said
}

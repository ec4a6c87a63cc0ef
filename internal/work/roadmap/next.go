package roadmap

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Facts are the rows from which Next decides about a roadmap.
type Facts struct {
	Repo    work.RepoKey
	Record  Record
	Nodes   []Child
	Below   []SubIssue
	Held    bool                   // people hold the roadmap: nothing new is made
	Work    map[int]Work           // on the sub-issues of nodes, by number
	Cost    Cost                   // of all work below it; read only where it may be shown
	Actions map[string]work.Action // the actions of the roadmap, by token: those that Tokens names
}

// DeedKind is what a Deed does.
type DeedKind string

// The kinds of deeds.
const (
	DeedMake    DeedKind = "make"    // opens the sub-issue of a node
	DeedBlock   DeedKind = "block"   // sets the edge from On to the node
	DeedUnblock DeedKind = "unblock" // removes that edge
	DeedEdit    DeedKind = "edit"    // gives the sub-issue the document's title and text
	DeedLabel   DeedKind = "label"   // sets the label of the node's flow
	DeedClose   DeedKind = "close"   // closes the sub-issue as not planned
	DeedForget  DeedKind = "forget"  // drops the action that would open the sub-issue, which was not sent yet
	DeedSay     DeedKind = "say"     // says on the sub-issue that the document changed, and what stays
	DeedSumUp   DeedKind = "sum up"  // says on the roadmap's issue what became of it
	DeedFinish  DeedKind = "finish"  // closes the roadmap's issue as completed
)

// Deed is an action to plan.
type Deed struct {
	Kind  DeedKind
	Token string
	Node  Child
	On    Child  // of an edge: the other node
	Why   string // say: why the sub-issue stays as it is
}

// Move is a change of a node's row.
type Move struct{ Before, After Child }

// Outcome is what comes next for a roadmap.
type Outcome struct {
	Moves []Move // what actions and the document changed
	Deeds []Deed // in this order
	Event Event  // for the roadmap's state; empty: none
	Why   work.Reason
	Waits bool // some action is not settled: it is to be decided again
}

// mostAtOnce is how many actions of a roadmap wait to be sent at a time: others wait for the same
// queue.
const mostAtOnce = 20

// Next returns what comes next for a roadmap. It is a pure function of its rows: a pass that was
// killed anywhere decides the same again.
func Next(f Facts) Outcome {
	n := settled(f)
	switch {
	case f.Record.State == Ended, f.Record.State == Stopped:
	case f.Record.State.Closes():
		n.cancel()
	case len(n.refused) > 0 && f.Record.State == Unfolding:
		n.out.Event, n.out.Why = EventRefused, whyRefused(n.refused[0])
	case f.Record.State == Unfolding && !f.Held:
		n.unfold()
	case f.Record.State == Followed:
		n.end()
	}
	n.limit()
	return n.out
}

// Refused returns the actions that stop the roadmap: GitHub refused them for good, or they were given
// up after too many attempts.
func Refused(f Facts) []work.Action { return settled(f).refused }

// Settled returns the nodes with the results of their actions, and the moves that give them these.
func Settled(f Facts) ([]Child, []Move) {
	n := settled(f)
	return n.Nodes, n.out.Moves
}

// whyRefused says which part of the roadmap could not be made. The error of an action that was given
// up may name what only this machine's log may.
func whyRefused(a work.Action) work.Reason {
	why := work.Reason{Kind: work.WhyRoadmapRefused, Text: a.Why + ": " + a.LastError}
	if a.State == work.ActionDropped {
		why.Text, why.Local = fmt.Sprintf("%s: it failed %s", a.Why, work.Count(a.Sends, "time")), a.LastError
	}
	return why
}

// settled returns the state of Next once each node has the results of its actions.
func settled(f Facts) *next {
	n := &next{Facts: f, byID: map[string]int{}}
	n.Nodes = slices.Clone(f.Nodes)
	for i, c := range n.Nodes {
		n.byID[c.Node] = i
	}
	for _, i := range n.order() {
		n.settle(i)
	}
	return n
}

// Tokens returns the tokens of all actions that Next may ask for.
func (f Facts) Tokens() []string {
	tokens := []string{f.sumToken(), f.finishToken()}
	byID := map[string]Child{}
	for _, c := range f.Nodes {
		byID[c.Node] = c
	}
	for _, c := range f.Nodes {
		tokens = append(tokens, f.makeToken(c))
		if c.Number == 0 {
			continue
		}
		tokens = append(tokens, f.editToken(c), f.closeToken(c), f.sayToken(c))
		if c.Step == Made {
			tokens = append(tokens, f.labelToken(c))
		}
		for _, id := range c.Needs {
			if on := byID[id]; on.Number != 0 && !slices.Contains(c.Edges, id) {
				tokens = append(tokens, f.edgeToken(c, on, ""))
			}
		}
		for _, id := range c.Edges {
			if on := byID[id]; on.Number != 0 && !slices.Contains(c.Needs, id) {
				tokens = append(tokens, f.edgeToken(c, on, work.BlockRemove))
			}
		}
	}
	return tokens
}

// cause tells the actions of one document from those of another one, also of an earlier roadmap of the issue.
func (f Facts) cause() string { return fmt.Sprintf("%d.%d", f.Record.Run, f.Record.Revision) }

func (f Facts) sumToken() string {
	return work.NoticeToken(f.Repo, f.Record.Number, "roadmap summary "+f.cause())
}

func (f Facts) finishToken() string {
	return work.CloseIssueToken(f.Repo, f.Record.Number, "roadmap "+f.cause())
}

func (f Facts) makeToken(c Child) string {
	return work.ChildToken(f.Repo, f.Record.Number, f.Record.Run, c.Node)
}

func (f Facts) labelToken(c Child) string { return work.FlowToken(f.Repo, c.Number) }

func (f Facts) editToken(c Child) string {
	return work.EditIssueToken(f.Repo, c.Number, c.Applied, c.Hash+" "+f.cause())
}

// closeToken names no revision: a node is removed once, and what people reopened since stays open.
func (f Facts) closeToken(c Child) string {
	if c.Step == Removed {
		return work.CloseIssueToken(f.Repo, c.Number, "removed from the roadmap")
	}
	return work.CloseIssueToken(f.Repo, c.Number, "cancelled with the roadmap")
}

func (f Facts) sayToken(c Child) string {
	what := "roadmap changed " + c.Hash
	if c.Step == Removed {
		what = "roadmap removed"
	}
	return work.NoticeToken(f.Repo, c.Number, what)
}

func (f Facts) edgeToken(c, on Child, base string) string {
	return work.BlockToken(f.Repo, c.Number, f.Ref(on), base, f.cause())
}

// Ref is the reference of a node's sub-issue.
func (f Facts) Ref(c Child) string {
	return work.Dependency{Repo: f.Record.Repo, Number: c.Number}.String()
}

// Issues returns the numbers of the issues below the roadmap that are in its own repository.
func (f Facts) Issues() (numbers []int) {
	for _, c := range f.Nodes {
		if c.Number != 0 {
			numbers = append(numbers, c.Number)
		}
	}
	for _, s := range f.Below {
		if d, ok := work.ParseDependency(s.Ref, f.Record.Repo); ok && d.Repo.Equal(f.Record.Repo) && !slices.Contains(numbers, d.Number) {
			numbers = append(numbers, d.Number)
		}
	}
	return numbers
}

// below returns the sub-issue of a node as GitHub lists it below the roadmap.
func (f Facts) below(c Child) (SubIssue, bool) {
	i := slices.IndexFunc(f.Below, func(s SubIssue) bool { return strings.EqualFold(s.Ref, f.Ref(c)) })
	if c.Number == 0 || i < 0 {
		return SubIssue{}, false
	}
	return f.Below[i], true
}

// untouched reports whether nothing began on a node's sub-issue, and nobody edited it, as far as is
// known; the action that edits it looks again.
func (f Facts) untouched(c Child) bool {
	w := f.Work[c.Number]
	return !w.Begun && !c.Adopted() && (w.Text == "" || w.Text == c.Applied)
}

// Change is what a roadmap is about to do with a sub-issue before work on it begins.
type Change string

// The changes, as reasons to wait have them.
const (
	Closes  Change = "closes it as not planned"
	Links   Change = "sets what it is blocked by"
	Rewords Change = "gives it a new text"
)

// Due returns what the roadmap is about to do with the sub-issue with a number. Empty: nothing, or work on it
// has begun.
func (f Facts) Due(number int) Change {
	for _, c := range f.Nodes {
		if c.Number == 0 { // the row gets the number of what the last pass opened with this plan
			c.Number, _ = strconv.Atoi(f.Actions[f.makeToken(c)].ResultID)
		}
		if c.Number != number || number == 0 || c.Step == Gone || f.Record.State == Ended {
			continue
		}
		begun := f.Work[number].Begun
		closes := f.Record.State.Closes() && !begun && !c.Adopted() || c.Step == Removed && f.untouched(c)
		switch {
		case closes && !f.Actions[f.closeToken(c)].State.Settled():
			return Closes
		case begun, c.Step == Removed, f.Record.State.Closes():
		case slices.ContainsFunc(c.Needs, func(id string) bool { return !slices.Contains(c.Edges, id) }):
			return Links
		case c.Step != Planned && c.Applied != c.Hash:
			return Rewords
		}
	}
	return ""
}

// next is the state of Next.
type next struct {
	Facts
	byID    map[string]int
	out     Outcome
	refused []work.Action // they stop the roadmap
}

// order returns the nodes so that each comes after those that it needs.
func (n *next) order() []int {
	all := make([]Node, len(n.Nodes))
	for i, c := range n.Nodes {
		all[i] = Node{ID: c.Node, Needs: c.Needs}
	}
	order := make([]int, 0, len(all))
	for _, o := range Order(all) {
		order = append(order, n.byID[o.ID])
	}
	return order
}

// settle gives a node the results of its actions.
func (n *next) settle(i int) {
	before := n.Nodes[i]
	c := before
	c.Edges = slices.Clone(c.Edges)
	if c.Number == 0 && c.Step != Gone {
		switch a := n.Actions[n.makeToken(c)]; {
		case a.State == work.ActionApplied:
			c.Number, _ = strconv.Atoi(a.ResultID)
			c.Applied = a.Head
			if c.Step == Planned {
				c.Step = Made
			}
		case a.State.Settled():
			if a.Ending == work.EndedTransferred || c.Step == Removed {
				c.Step = Gone
			} else {
				n.refused = append(n.refused, a)
			}
		}
	}
	if c.Number != 0 && (c.Step == Made || c.Step == Labelled) {
		n.settleEdges(&c)
		switch a := n.Actions[n.editToken(c)]; {
		case c.Applied == c.Hash, n.stops(a):
		case a.State == work.ActionApplied, n.Actions[n.sayToken(c)].State.Settled():
			c.Applied = c.Hash
		}
	}
	if label := n.Actions[n.labelToken(c)]; c.Step == Made && label.State.Settled() && !n.stops(label) {
		if c.Step = Labelled; label.Ending == work.EndedGone {
			c.Step = Gone
		}
	}
	if c.Step != before.Step || c.Number != before.Number || c.Applied != before.Applied || !slices.Equal(c.Edges, before.Edges) {
		n.out.Moves = append(n.out.Moves, Move{before, c})
		n.Nodes[i] = c
	}
}

// stops reports whether an action was not done although its issues are there. It then stops the
// roadmap, or work would begin too early, never, or with the wrong text.
func (n *next) stops(a work.Action) bool {
	if a.State != work.ActionDropped && a.Ending != work.EndedRefused {
		return false
	}
	n.refused = append(n.refused, a)
	return true
}

// settleEdges records the edges that were set or removed. Between issues of which one is gone an edge
// is not needed.
func (n *next) settleEdges(c *Child) {
	for _, id := range c.Needs {
		on, ok := n.node(id)
		if slices.Contains(c.Edges, id) || ok && on.Number == 0 && on.Step != Gone && on.Step != Removed {
			continue
		}
		a := n.Actions[n.edgeToken(*c, on, "")]
		switch {
		case !ok, on.Number == 0, on.Step == Gone:
			c.Edges = append(c.Edges, id)
		case a.State.Settled() && !n.stops(a):
			c.Edges = append(c.Edges, id)
		}
	}
	c.Edges = slices.DeleteFunc(c.Edges, func(id string) bool {
		on, ok := n.node(id)
		if slices.Contains(c.Needs, id) {
			return false
		}
		a := n.Actions[n.edgeToken(*c, on, work.BlockRemove)]
		return !ok || on.Number == 0 || a.State.Settled() && !n.stops(a)
	})
}

func (n *next) node(id string) (Child, bool) {
	i, ok := n.byID[id]
	if !ok {
		return Child{}, false
	}
	return n.Nodes[i], true
}

// deed asks for an action unless it was planned before. It reports whether it is settled.
func (n *next) deed(kind DeedKind, token string, c, on Child) (settled bool) {
	a, planned := n.Actions[token]
	if !planned || a.State == work.ActionPlanned && a.Sends == 0 && kind == DeedForget {
		n.out.Deeds = append(n.out.Deeds, Deed{Kind: kind, Token: token, Node: c, On: on, Why: n.why(kind, c)})
	}
	settled = planned && a.State.Settled()
	n.out.Waits = n.out.Waits || !settled
	return settled
}

// why says why a sub-issue stays as it is. What a send saw on GitHub is newer than the rows.
func (n *next) why(kind DeedKind, c Child) string {
	if kind != DeedSay {
		return ""
	}
	for _, a := range []work.Action{n.Actions[n.closeToken(c)], n.Actions[n.editToken(c)]} {
		if a.Ending == work.EndedEdited {
			return work.Upper(a.LastError)
		}
	}
	if n.Work[c.Number].Begun {
		return "Work on this issue has begun"
	}
	return "Somebody edited this issue"
}

// unfold makes what the document has and GitHub lacks: issues, then edges, then labels. A label
// waits for the edges of its node.
func (n *next) unfold() {
	done := true
	var later []func() bool
	for _, i := range n.order() {
		c := n.Nodes[i]
		switch c.Step {
		case Planned:
			done = n.deed(DeedMake, n.makeToken(c), c, Child{}) && done
		case Made, Labelled:
			linked := n.block(c)
			linked = n.text(c) && n.unblock(c) && linked
			done = done && linked
			if c.Step == Made {
				done = false
			}
			if c.Step == Made && linked {
				later = append(later, func() bool { return n.deed(DeedLabel, n.labelToken(c), c, Child{}) })
			}
		case Removed:
			done = n.remove(c) && done
		case Gone:
		}
	}
	for _, label := range later {
		done = label() && done
	}
	if n.out.Waits = n.out.Waits || !done; done {
		n.out.Event = EventUnfolded
	}
}

// block sets the edges of a node. It reports whether all are set.
func (n *next) block(c Child) bool {
	done := true
	for _, id := range c.Needs {
		if slices.Contains(c.Edges, id) {
			continue
		}
		if on, _ := n.node(id); on.Number != 0 {
			n.deed(DeedBlock, n.edgeToken(c, on, ""), c, on)
		}
		done = false
	}
	return done
}

// unblock removes the edges that the document lacks, once the sub-issue has its text: without them
// work on it may begin. It reports whether all are removed.
func (n *next) unblock(c Child) bool {
	done := true
	for _, id := range c.Edges {
		if slices.Contains(c.Needs, id) {
			continue
		}
		on, _ := n.node(id)
		n.deed(DeedUnblock, n.edgeToken(c, on, work.BlockRemove), c, on)
		done = false
	}
	return done
}

// text gives a sub-issue the document's text, or says there that the document changed. It reports
// whether that is done.
func (n *next) text(c Child) bool {
	if c.Applied == c.Hash {
		return true
	}
	if edit, tried := n.Actions[n.editToken(c)]; n.untouched(c) && (!tried || !edit.State.Settled()) {
		n.deed(DeedEdit, n.editToken(c), c, Child{})
	} else {
		n.deed(DeedSay, n.sayToken(c), c, Child{})
	}
	return false
}

// remove closes the sub-issue of a node that the document lacks, or says there that it stays. It
// reports whether that is done.
func (n *next) remove(c Child) bool {
	if c.Number == 0 {
		a, planned := n.Actions[n.makeToken(c)]
		if planned && !a.State.Settled() {
			n.deed(DeedForget, n.makeToken(c), c, Child{})
		}
		return !planned || a.State.Settled()
	}
	sub, listed := n.below(c)
	_, closing := n.Actions[n.closeToken(c)]
	switch {
	case n.blocks(c): // closed as not planned, it would stop what still waits for it
		return false
	case c.Adopted():
		return true
	case closing && n.Actions[n.closeToken(c)].Ending != work.EndedEdited:
		return n.deed(DeedClose, n.closeToken(c), c, Child{})
	case closing:
		return n.deed(DeedSay, n.sayToken(c), c, Child{})
	case listed && sub.State != work.DependencyOpen, !listed && n.Work[c.Number].Begun:
		return true
	case n.untouched(c):
		return n.deed(DeedClose, n.closeToken(c), c, Child{})
	}
	return n.deed(DeedSay, n.sayToken(c), c, Child{})
}

// blocks reports whether another node still has its edge on c.
func (n *next) blocks(c Child) bool {
	return slices.ContainsFunc(n.Nodes, func(d Child) bool {
		return (d.Step == Made || d.Step == Labelled) && slices.Contains(d.Edges, c.Node)
	})
}

// cancel closes the sub-issues on which nothing began, drops what was to be made, and ends the roadmap.
func (n *next) cancel() {
	done := true
	for _, token := range n.Tokens() {
		if a := n.Actions[token]; a.Kind != work.ActionChild && n.Record.Holds(a, false) && a.State == work.ActionPlanned {
			done = n.deed(DeedForget, token, Child{}, Child{}) && done
		}
	}
	for _, i := range n.order() {
		c := n.Nodes[i]
		sub, listed := n.below(c)
		switch {
		case c.Step == Gone, c.Adopted(), c.Number != 0 && n.Work[c.Number].Begun, listed && sub.State != work.DependencyOpen:
		case c.Number == 0:
			c.Step = Removed
			done = n.remove(c) && done
		default:
			done = n.deed(DeedClose, n.closeToken(c), c, Child{}) && done
		}
	}
	if n.out.Waits = n.out.Waits || !done; done {
		n.out.Event, n.out.Why = EventEnded, work.Reason{Kind: work.WhyRoadmapCancelled, Text: string(n.Record.State)}
	}
}

// end sums up the roadmap and closes its issue once everything below it is closed, and something of
// it completed.
func (n *next) end() {
	completed := false
	for _, s := range n.Below {
		if s.State != work.DependencyClosed && s.State != work.DependencyDropped {
			return
		}
		completed = completed || s.State == work.DependencyClosed
	}
	for _, c := range n.Nodes {
		if _, listed := n.below(c); !listed && (c.Step == Made || c.Step == Labelled) {
			return // GitHub's list is older than the sub-issue
		}
	}
	if completed && n.Record.Changing { // what that adds would never be opened
		n.out.Waits = true
		return
	}
	if !completed || !n.deed(DeedSumUp, n.sumToken(), Child{}, Child{}) {
		return
	}
	if n.Record.Closed || n.deed(DeedFinish, n.finishToken(), Child{}, Child{}) {
		n.out.Event = EventEnded
	}
}

// limit leaves later deeds to later passes. What drops an action sends nothing: it goes first, and
// counts for nothing, or what a person cancelled would be made because the queue is full.
func (n *next) limit() {
	sends := func(d Deed) bool { return d.Kind != DeedForget }
	forget := slices.DeleteFunc(slices.Clone(n.out.Deeds), sends)
	n.out.Deeds = slices.DeleteFunc(n.out.Deeds, func(d Deed) bool { return !sends(d) })
	waiting := 0
	for _, a := range n.Actions {
		if !a.State.Settled() {
			waiting++
		}
	}
	if most := max(0, mostAtOnce-waiting); len(n.out.Deeds) > most {
		n.out.Deeds = n.out.Deeds[:most]
	}
	n.out.Deeds = append(forget, n.out.Deeds...)
}

package roadmap

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// world is GitHub and the database of one roadmap, whose issue is #1.
type world struct {
	Facts
	made   map[string]int  // how many sub-issues each node got
	edges  map[string]bool // on GitHub, "9 blocks 10"
	labels map[int]bool    // ever set
	last   int             // number of the last issue
	said   []string
	sent   []string // actions, as names has them
}

func newWorld(nodes ...Child) *world {
	home := work.RepoName{Host: "github.com", Owner: "o", Name: "r"}
	w := &world{
		Facts: Facts{Repo: "r", Record: Record{ItemID: 1, Repo: home, Number: 1, State: Unfolding, Revision: 1, Hash: "d1"}, Work: map[int]Work{}, Actions: map[string]work.Action{}},
		made:  map[string]int{}, edges: map[string]bool{}, labels: map[int]bool{}, last: 100,
	}
	_, moves := Record{State: Followed}.Apply(nil, Merged{Hash: "d1", Nodes: nodes})
	for _, m := range moves {
		w.Nodes = append(w.Nodes, m.After)
	}
	return w
}

// kinds are the kinds of the actions that a person's brakes hold.
var kinds = map[DeedKind]work.ActionKind{
	DeedMake: work.ActionChild, DeedBlock: work.ActionBlock, DeedUnblock: work.ActionBlock, DeedEdit: work.ActionEditIssue, DeedLabel: work.ActionFlow, DeedClose: work.ActionCloseIssue,
}

// node is a node of a document.
func node(id string, needs ...string) Child {
	return Child{Node: id, Title: id, Flow: work.FlowBugfix, Needs: needs, Hash: "h " + id, Step: Planned}
}

// pass decides once, stores it and plans the actions.
func (w *world) pass() Outcome {
	facts := w.Facts
	facts.Actions = map[string]work.Action{}
	for _, token := range facts.Tokens() { // of the others nothing is read
		if a, ok := w.Actions[token]; ok {
			facts.Actions[token] = a
		}
	}
	out := Next(facts)
	waiting := len(slices.DeleteFunc(slices.Clone(out.Deeds), func(d Deed) bool { return d.Kind == DeedForget }))
	for _, a := range facts.Actions {
		if !a.State.Settled() {
			waiting++
		}
	}
	if waiting > mostAtOnce {
		panic(fmt.Sprint(waiting, " actions wait"))
	}
	for _, m := range out.Moves {
		i := slices.IndexFunc(w.Nodes, func(c Child) bool { return c.Node == m.Before.Node })
		if !m.Before.Step.MayMoveTo(m.After.Step) {
			panic(fmt.Sprint(m))
		}
		w.Nodes[i] = m.After
	}
	if to, ok := w.Record.State.After(out.Event); ok && out.Event != "" {
		w.Record.State, w.Record.Why = to, out.Why
	}
	for _, d := range out.Deeds {
		a := work.Action{Token: d.Token, Kind: kinds[d.Kind], Why: "node " + d.Node.Node, Target: string(d.Kind), Number: d.Node.Number, Title: d.Node.Node, Head: d.Node.Hash, State: work.ActionPlanned}
		if d.Kind == DeedLabel {
			a.Extra = "1"
		}
		if d.Kind == DeedForget {
			a = w.Actions[d.Token]
			a.State = work.ActionVoid
		}
		if d.Kind == DeedBlock || d.Kind == DeedUnblock {
			a.Base, a.Extra = fmt.Sprintf("%d blocks %d", d.On.Number, d.Node.Number), d.On.Node
		}
		w.Actions[d.Token] = a
	}
	return out
}

// send applies an action on GitHub.
func (w *world) send(token string) {
	a := w.Actions[token]
	a.State, a.Sends = work.ActionApplied, 1
	number, on := a.Number, a.Extra
	if a.Base == "" {
		on = ""
	}
	w.sent = append(w.sent, strings.TrimSpace(a.Target+" "+a.Title+" "+on))
	at := slices.IndexFunc(w.Below, func(s SubIssue) bool { return s.Ref == w.Ref(Child{Number: number}) })
	switch DeedKind(a.Target) {
	case DeedMake:
		w.made[a.Title]++
		w.last++
		a.ResultID = strconv.Itoa(w.last)
		w.Below = append(w.Below, SubIssue{Ref: w.Ref(Child{Number: w.last}), Title: a.Title, State: work.DependencyOpen})
	case DeedBlock:
		w.edges[a.Base] = true
	case DeedUnblock:
		delete(w.edges, a.Base)
	case DeedLabel:
		if w.labels[number] {
			panic("a label is set twice")
		}
		if at < 0 { // a person took it out since
			a.State, a.Ending = work.ActionVoid, work.EndedGone
			break
		}
		for _, id := range w.child(a.Title).Needs {
			on := w.child(id)
			edge := fmt.Sprintf("%d blocks %d", on.Number, number)
			gone := slices.ContainsFunc(slices.Collect(maps.Values(w.Actions)), func(a work.Action) bool { return a.Base == edge && a.Ending != "" })
			if on.Step != Gone && !w.edges[edge] && !gone {
				panic(fmt.Sprintf("%s is labelled without its edge from %s", a.Title, id))
			}
		}
		w.labels[number] = true
	case DeedClose:
		if at >= 0 {
			w.Below[at].State = work.DependencyDropped
		}
	case DeedFinish:
		w.Record.Closed = true
	case DeedEdit, DeedSay, DeedSumUp, DeedForget:
		w.said = append(w.said, a.Target+" "+a.Title)
	}
	w.Actions[token] = a
}

// settle lets passes and GitHub work until nothing is left to do.
func (w *world) settle(t interface{ Fatalf(string, ...any) }) {
	for range 500 {
		out := w.pass()
		quiet := len(out.Deeds)+len(out.Moves) == 0 && out.Event == ""
		for _, token := range slices.Sorted(mapsKeys(w.Actions)) {
			if a := w.Actions[token]; !a.State.Settled() && !w.Record.Holds(a, w.Held) {
				w.send(token)
				quiet = false
			}
		}
		if quiet && !out.Waits {
			return
		}
	}
	t.Fatalf("it does not end: %+v", w.Facts)
}

func mapsKeys(m map[string]work.Action) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (w *world) child(id string) Child {
	i := slices.IndexFunc(w.Nodes, func(c Child) bool { return c.Node == id })
	return w.Nodes[i]
}

func (w *world) close(id string, as work.DependencyState) {
	ref := w.Ref(w.child(id))
	for i := range w.Below {
		if w.Below[i].Ref == ref {
			w.Below[i].State = as
		}
	}
}

// revise applies another document.
func (w *world) revise(t interface{ Helper() }, hash string, nodes ...Child) {
	t.Helper()
	after, moves := w.Record.Apply(w.Nodes, Merged{Hash: hash, Nodes: nodes})
	if after.Revision != w.Record.Revision { // as store.MoveRoadmap
		maps.DeleteFunc(w.Actions, func(_ string, a work.Action) bool {
			return !a.State.Settled() && (a.Kind == work.ActionBlock || a.Kind == work.ActionEditIssue || a.Kind == work.ActionFlow)
		})
	}
	w.Record = after
	for _, m := range moves {
		if m.Before.Node == "" {
			w.Nodes = append(w.Nodes, m.After)
			continue
		}
		w.Nodes[slices.IndexFunc(w.Nodes, func(c Child) bool { return c.Node == m.Before.Node })] = m.After
	}
}

func deeds(out Outcome) string {
	var all []string
	for _, d := range out.Deeds {
		all = append(all, strings.TrimSpace(string(d.Kind)+" "+d.Node.Node+" "+d.On.Node))
	}
	return strings.Join(all, ", ")
}

// One pass after the other: issues, then edges, then labels; a label waits for the edges of its node.
func TestUnfoldingInOrder(t *testing.T) {
	w := newWorld(node("c", "a", "b"), node("a"), node("b", "a"))
	want := []string{
		"make a, make b, make c",
		"block c a, block c b, label a, block b a",
		"label b, label c",
		"", // followed
		"",
	}
	for i, deed := range want {
		out := w.pass()
		got := strings.Split(deeds(out), ", ")
		expected := strings.Split(deed, ", ")
		slices.Sort(got)
		slices.Sort(expected)
		if !slices.Equal(got, expected) {
			t.Errorf("pass %d: %s, not %s", i+1, deeds(out), deed)
		}
		if again := w.pass(); i < 3 && len(again.Deeds) > 0 {
			t.Errorf("pass %d plans again: %s", i+1, deeds(again))
		}
		for token, a := range w.Actions {
			if !a.State.Settled() {
				w.send(token)
			}
		}
	}
	if w.Record.State != Followed {
		t.Errorf("%s", w.Record.State)
	}
}

// What people and GitHub do in between, and what follows.
func TestNext(t *testing.T) {
	begun := func(w *world, id string) { w.Work[w.child(id).Number] = Work{Begun: true} }
	cases := map[string]struct {
		do    func(*world)
		deeds string
		state State
	}{
		"nothing": {func(*world) {}, "", Followed},
		"all closed": {func(w *world) {
			w.close("a", work.DependencyClosed)
			w.close("b", work.DependencyDropped)
		}, "sum up", Followed},
		"all dropped": {func(w *world) {
			w.close("a", work.DependencyDropped)
			w.close("b", work.DependencyDropped)
		}, "", Followed},
		"a person's own is open": {func(w *world) {
			w.close("a", work.DependencyClosed)
			w.close("b", work.DependencyClosed)
			w.Below = append(w.Below, SubIssue{Ref: "github.com/o/other#9", State: work.DependencyOpen})
		}, "", Followed},
		"the list lags": {func(w *world) {
			w.close("a", work.DependencyClosed)
			w.Below = w.Below[:1]
		}, "", Followed},
		"cancelled":               {func(w *world) { w.Record.State = Cancelled; begun(w, "a") }, "close b", Cancelled},
		"cancelled, nothing open": {func(w *world) { w.Record.State = Cancelled; begun(w, "a"); begun(w, "b") }, "", Ended},
		"held while it unfolds":   {func(w *world) { w.Record.State, w.Held = Unfolding, true; w.Nodes[1].Edges = nil }, "", Unfolding},
		"stopped":                 {func(w *world) { w.Record.State = Stopped }, "", Stopped},
		"removed":                 {func(w *world) { w.Record.State = Unfolding; w.Nodes[1].Step = Removed }, "close b", Unfolding},
		"removed and begun":       {func(w *world) { w.Record.State = Unfolding; w.Nodes[1].Step = Removed; begun(w, "b") }, "say b", Unfolding},
		"removed, and another waits for it": {func(w *world) {
			w.Record.State = Unfolding
			w.Nodes[0].Step, w.Nodes[1].Needs = Removed, nil
		}, "unblock b a", Unfolding},
		"removed and edited": {func(w *world) {
			w.Record.State = Unfolding
			w.Nodes[1].Step = Removed
			w.Work[w.child("b").Number] = Work{Text: "x"}
		}, "say b", Unfolding},
		"removed and closed": {func(w *world) {
			w.Record.State = Unfolding
			w.Nodes[1].Step = Removed
			w.close("b", work.DependencyClosed)
		}, "", Followed},
		"text changed":           {func(w *world) { w.Record.State = Unfolding; w.Nodes[1].Hash = "new" }, "edit b", Unfolding},
		"text changed and begun": {func(w *world) { w.Record.State = Unfolding; w.Nodes[1].Hash = "new"; begun(w, "b") }, "say b", Unfolding},
		"an edge less":           {func(w *world) { w.Record.State = Unfolding; w.Nodes[1].Needs = nil }, "unblock b a", Unfolding},
		"text changed, an edge less": {func(w *world) {
			w.Record.State = Unfolding
			w.Nodes[1].Hash, w.Nodes[1].Needs = "new", nil
		}, "edit b", Unfolding},
		"its blocker is gone":       {func(w *world) { w.Record.State = Unfolding; w.Nodes[0].Step = Gone; w.Nodes[1].Edges = nil }, "", Followed},
		"a gone one is not made":    {func(w *world) { w.Record.State = Unfolding; w.Nodes[0].Step = Gone }, "", Followed},
		"an ended one does nothing": {func(w *world) { w.Record.State = Ended }, "", Ended},
	}
	for name, c := range cases {
		w := newWorld(node("a"), node("b", "a"))
		w.settle(t)
		c.do(w)
		out := w.pass()
		if got := deeds(out); got != c.deeds || w.Record.State != c.state {
			t.Errorf("%s: %q and %s, not %q and %s", name, got, w.Record.State, c.deeds, c.state)
		}
	}
}

// However a part of a roadmap ends without being done: what people did is left so, everything else
// stops the roadmap, nothing begins half linked, and the retry of what Refused names resumes it.
func TestPartsThatAreNotDone(t *testing.T) {
	void, dropped := work.ActionVoid, work.ActionDropped
	cases := []struct {
		kind  DeedKind
		state work.ActionState
		how   work.Ending
		want  State
	}{
		{DeedMake, void, work.EndedRefused, Stopped},
		{DeedMake, void, work.EndedGone, Stopped},
		{DeedMake, dropped, "", Stopped},
		{DeedMake, void, work.EndedTransferred, Followed},
		{DeedBlock, void, work.EndedRefused, Stopped},
		{DeedBlock, dropped, "", Stopped},
		{DeedBlock, void, work.EndedGone, Followed},
		{DeedUnblock, void, work.EndedRefused, Stopped},
		{DeedUnblock, dropped, "", Stopped},
		{DeedUnblock, void, work.EndedGone, Followed},
		{DeedEdit, void, work.EndedRefused, Stopped},
		{DeedEdit, dropped, "", Stopped},
		{DeedEdit, void, work.EndedEdited, Followed},
	}
	for _, c := range cases {
		w := newWorld(node("a"), node("b", "a"))
		if c.kind == DeedUnblock || c.kind == DeedEdit {
			w.settle(t)
			changed := node("b")
			if c.kind == DeedEdit {
				changed = node("b", "a")
				changed.Hash = "new"
			}
			w.revise(t, "d2", node("a"), changed)
		}
		ended := 0
		for range 8 {
			w.pass()
			for token, a := range w.Actions {
				switch {
				case a.State.Settled():
				case a.Target == string(c.kind) && a.Title == "b":
					a.State, a.Ending, a.LastError, a.Sends = c.state, c.how, "no more than that", 4
					w.Actions[token] = a
					ended++
				default:
					w.send(token)
				}
			}
		}
		says := "node b: no more than that"
		if c.state == dropped {
			says = "node b: it failed 4 times"
		}
		begun := c.kind != DeedEdit && c.kind != DeedUnblock && w.labels[w.child("b").Number]
		if ended != 1 || w.Record.State != c.want || c.want == Stopped && (w.Record.Why.Text != says || begun) {
			t.Errorf("%+v: %s, %q, labels %v, ended %d times", c, w.Record.State, w.Record.Why.Text, w.labels, ended)
		}
		facts := w.Facts
		if again := Refused(facts); (c.want == Stopped) != (len(again) == 1) {
			t.Errorf("%+v: a retry repeats %v", c, again)
		} else if c.want == Stopped {
			a := again[0]
			a.State, a.Ending, a.LastError, a.Sends = work.ActionPlanned, "", "", 0
			w.Actions[a.Token] = a
			w.Record.State, _ = w.Record.State.After(EventRetried)
			if w.settle(t); w.Record.State != Followed {
				t.Errorf("%+v: after the retry it is %s", c, w.Record.State)
			}
		}
	}
}

// A revision applies the difference only; what would begin work a second time is a fault.
func TestRevisions(t *testing.T) {
	w := newWorld(node("a"), node("b", "a"), node("c"))
	w.settle(t)
	w.Work[w.child("c").Number] = Work{Begun: true}
	changed := node("a")
	changed.Hash = "new"
	w.revise(t, "d2", changed, node("b"), node("d", "b"))
	w.settle(t)
	if w.Record.State != Followed || w.Record.Revision != 2 || w.made["d"] != 1 || len(w.made) != 4 || w.child("a").Applied != "new" {
		t.Errorf("%+v, made %v", w.Record, w.made)
	}
	if len(w.edges) != 1 || !w.edges[fmt.Sprintf("%d blocks %d", w.child("b").Number, w.child("d").Number)] {
		t.Errorf("edges %v", w.edges)
	}
	if !slices.Equal(w.said, []string{"edit a", "say c"}) {
		t.Errorf("said %q", w.said)
	}
	for what, again := range map[string]Child{"comes back": node("c"), "has another flow": {Node: "b", Flow: work.FlowDesign, Hash: "h b"}} {
		if after, moves := w.Record.Apply(w.Nodes, Merged{Hash: "d3", Nodes: []Child{changed, again}}); after.State != Stopped || len(moves) > 0 || len(after.Why.Names) != 1 {
			t.Errorf("a node that %s: %+v", what, after)
		}
	}
	if after, moves := w.Record.Apply(w.Nodes, Merged{Hash: "d2", Faults: []Fault{{Line: 1, Says: "x"}}}); after.State != Followed || len(moves) > 0 {
		t.Errorf("the same document again: %+v", after)
	}
}

// After any deeds of people in between, a node has at most one sub-issue, nothing is labelled before its
// edges are set or after a cancel, and it ends.
func TestUnfoldingEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "nodes")
		var nodes []Child
		for i := range n {
			var needs []string
			for j := range i {
				if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
					needs = append(needs, fmt.Sprint("n", j))
				}
			}
			nodes = append(nodes, node(fmt.Sprint("n", i), needs...))
		}
		if n > 1 && rapid.Bool().Draw(t, "turned round") {
			slices.Reverse(nodes)
		}
		w := newWorld(nodes...)
		one := func(what string) *Child { return &w.Nodes[rapid.IntRange(0, len(w.Nodes)-1).Draw(t, what)] }
		atCancel := -1 // how many sub-issues and labels there were
		check := func() {
			for id, made := range w.made {
				if made > 1 {
					t.Fatalf("node %s has %d sub-issues", id, made)
				}
			}
			if made := len(w.made) + len(w.labels); atCancel >= 0 && made > atCancel {
				t.Fatalf("%d sub-issues and labels, and %d when it was cancelled", made, atCancel)
			}
		}
		for step := range rapid.IntRange(0, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 12).Draw(t, "who") {
			case 0: // a person deletes a sub-issue, or takes it out, as ingest stores that
				if c := one("deleted"); c.Number != 0 {
					ref := w.Ref(*c)
					w.Below = slices.DeleteFunc(w.Below, func(s SubIssue) bool { return s.Ref == ref })
					c.Step = Gone
				}
			case 1:
				w.Held = !w.Held
			case 2:
				w.close(one("closed").Node, rapid.SampledFrom([]work.DependencyState{work.DependencyClosed, work.DependencyDropped}).Draw(t, "as"))
			case 3, 4, 5:
				for _, token := range slices.Sorted(mapsKeys(w.Actions)) {
					if a := w.Actions[token]; !a.State.Settled() && !w.Record.Holds(a, w.Held) && rapid.Bool().Draw(t, "sent") {
						w.send(token)
					}
				}
			case 6:
				w.revise(t, fmt.Sprint("changed in ", step), revised(t, w.Nodes, step)...)
			case 7:
				if c := one("begun"); w.labels[c.Number] {
					w.Work[c.Number] = Work{Begun: true}
				}
			case 8:
				if to, ok := w.Record.State.After(EventCancelled); ok && rapid.IntRange(0, 4).Draw(t, "cancelled") == 0 {
					w.Record.State, atCancel = to, len(w.made)+len(w.labels)
				}
			default:
				w.pass()
			}
			check()
		}
		w.Held = false
		w.settle(t)
		check()
		if w.Record.State != Followed && w.Record.State != Ended || atCancel >= 0 && w.Record.State != Ended {
			t.Fatalf("%s", w.Record.State)
		}
		for _, c := range w.Nodes {
			if sub, listed := w.below(c); listed && sub.State == work.DependencyOpen && !w.Work[c.Number].Begun && (atCancel >= 0 || c.Step == Removed) {
				t.Fatalf("%s is open, and the roadmap is cancelled or lacks it", c.Node)
			}
		}
		for i := range w.Below {
			w.Below[i].State = work.DependencyClosed
		}
		w.settle(t)
		if w.Record.State != Ended && len(w.Below) > 0 {
			t.Fatalf("it is %s, with all closed", w.Record.State)
		}
	})
}

// revised draws another document: it lacks some nodes, others have new texts or needs, and one is new.
func revised(t *rapid.T, known []Child, step int) (nodes []Child) {
	var ids []string
	for _, c := range append(slices.Clone(known), node(fmt.Sprint("new", step))) {
		if c.Step == Removed || rapid.IntRange(0, 3).Draw(t, "lacks it") == 0 {
			continue
		}
		var needs []string
		for _, id := range ids {
			if rapid.IntRange(0, 4).Draw(t, "edge") == 0 {
				needs = append(needs, id)
			}
		}
		ids = append(ids, c.Node)
		nodes = append(nodes, Child{Node: c.Node, Title: c.Title, Flow: c.Flow, Needs: needs, Hash: rapid.SampledFrom([]string{c.Hash, fmt.Sprint("h ", step)}).Draw(t, "text")})
	}
	return nodes
}

// What a person cancelled, or took out of the document, is not made because the queue is full.
func TestAFullQueueMakesNothingThatWasCancelled(t *testing.T) {
	var nodes []Child
	for i := range 3 * mostAtOnce {
		nodes = append(nodes, node(fmt.Sprint("n", i)))
	}
	for what, stop := range map[string]func(*world){
		"cancelled": func(w *world) { w.Record.State = Cancelled },
		"revised":   func(w *world) { w.revise(t, "d2", node("other")) },
	} {
		w := newWorld(nodes...)
		w.pass()
		stop(w)
		w.settle(t)
		for id, n := range w.made {
			if id != "other" {
				t.Errorf("%s: node %s got %d sub-issues", what, id, n)
			}
		}
	}
}

// A node whose sub-issue people took away stays away when a later document changes or removes it. Its row has what the
// document says: people may put the sub-issue back.
func TestAGoneNodeStaysAway(t *testing.T) {
	w := newWorld(node("a"), node("b"))
	w.settle(t)
	w.Nodes[1].Step = Gone
	changed := node("b", "c")
	changed.Hash, changed.Position, changed.Flow = "other", 1, work.FlowDesign
	_, moves := w.Record.Apply(w.Nodes, Merged{Hash: "d2", Nodes: []Child{node("c"), changed, node("a")}})
	for _, m := range moves {
		if m.Before.Node == "b" && (m.After.Step != Gone || m.After.Hash != "other" || !slices.Equal(m.After.Needs, []string{"c"})) {
			t.Errorf("%+v", m)
		}
	}
	if len(moves) == 0 {
		t.Error("nothing is applied")
	}
	w.revise(t, "d3", node("c"))
	if b := w.child("b"); b.Step != Gone || !b.Adopted() {
		t.Errorf("%+v", b)
	}
}

// What people do with a part that the document lacks stands, however often the document changes.
func TestARemovedNodeIsClosedAndToldOnce(t *testing.T) {
	w := newWorld(node("a"), node("b"), node("c"))
	w.settle(t)
	w.Work[w.child("b").Number] = Work{Begun: true}
	w.revise(t, "d2", node("a"))
	w.settle(t)
	if len(w.said) != 1 {
		t.Errorf("%v", w.said)
	}
	w.close("c", work.DependencyOpen) // a person reopens it
	w.revise(t, "d3", node("a"), node("d"))
	for range 5 {
		out := w.pass()
		for _, d := range out.Deeds {
			if d.Kind == DeedClose || d.Kind == DeedSay {
				t.Errorf("%s %s again", d.Kind, d.Node.Node)
			}
		}
		for token, a := range w.Actions {
			if !a.State.Settled() {
				w.send(token)
			}
		}
	}
	if w.Record.State != Followed {
		t.Errorf("it is %s", w.Record.State)
	}
}

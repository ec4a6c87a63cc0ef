package roadmap

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func names(deeds []Deed) []string {
	var all []string
	for _, d := range deeds {
		all = append(all, strings.TrimSpace(string(d.Kind)+" "+d.Node.Node+" "+d.On.Node))
	}
	return slices.Sorted(slices.Values(all))
}

// What a dry run lists is what passes then send, however far the roadmap has come, and what of its document
// has changed.
func TestAheadIsWhatPassesDo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "nodes")
		nodes := drawNodes(t, n, "n")
		w := newWorld(nodes...)
		send := func(some bool) {
			for _, token := range slices.Sorted(mapsKeys(w.Actions)) {
				if !w.Actions[token].State.Settled() && (!some || rapid.Bool().Draw(t, "sent")) {
					w.send(token)
				}
			}
		}
		steps := func() {
			for range rapid.IntRange(0, 8).Draw(t, "steps") {
				w.pass()
				send(true)
			}
		}
		steps()
		if rapid.Bool().Draw(t, "revised") {
			send(false)
			w.pass()
			send(false)
			changed := drawNodes(t, n, "n")
			for i := range changed {
				if rapid.IntRange(0, 3).Draw(t, "text") == 0 {
					changed[i].Hash += "2"
				}
			}
			kept := rapid.IntRange(1, n).Draw(t, "kept")
			after, moves := w.Record.Apply(w.Nodes, Merged{Hash: "d2", Nodes: changed[:kept]})
			w.Record = after
			for _, m := range moves {
				w.Nodes[slices.IndexFunc(w.Nodes, func(c Child) bool { return c.Node == m.Before.Node })] = m.After
			}
			for _, c := range w.Nodes {
				if c.Number != 0 && rapid.IntRange(0, 4).Draw(t, "begun") == 0 {
					w.Work[c.Number] = Work{Begun: true}
				}
			}
			steps()
		}
		then := rapid.IntRange(0, 5).Draw(t, "then")
		if then < 2 { // what waits to be sent is sent all the same
			w.pass()
			send(false)
		}
		switch then {
		case 0:
			w.Record.State = Cancelled
		case 1:
			for i := range w.Below {
				w.Below[i].State = work.DependencyClosed
			}
		case 2:
			w.Held = true
		}
		facts := w.Facts
		facts.Actions = map[string]work.Action{}
		for _, token := range facts.Tokens() {
			if a, ok := w.Actions[token]; ok {
				facts.Actions[token] = a
			}
		}
		want := names(Ahead(facts))
		w.Held, w.sent = false, nil
		w.settle(t)
		slices.Sort(w.sent)
		if got := slices.Compact(w.sent); !slices.Equal(got, want) {
			t.Fatalf("passes did\n%s\nand were to do\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
		if w.Record.State == Unfolding {
			t.Fatalf("it is %s", w.Record.State)
		}
	})
}

// drawNodes draws a document's nodes; each needs some of those before it.
func drawNodes(t *rapid.T, n int, prefix string) (nodes []Child) {
	for i := range n {
		var needs []string
		for j := range i {
			if rapid.IntRange(0, 3).Draw(t, "edge") == 0 {
				needs = append(needs, fmt.Sprint(prefix, j))
			}
		}
		nodes = append(nodes, node(fmt.Sprint(prefix, i), needs...))
	}
	return nodes
}

// The lines of a dry run, by what the document says and how far it is applied.
func TestTheLinesOfADryRun(t *testing.T) {
	label := func(f work.Flow) string { return "agent:" + string(f) }
	reword := func(c Child) Child { c.Hash = "new"; return c }
	for name, c := range map[string]struct {
		do   func(*world)
		want []string
	}{
		"nothing is made": {func(w *world) { *w = *newWorld(node("a"), node("b", "a")) }, []string{
			`open "a" (bugfix), then with the label agent:bugfix`, `open "b" (bugfix), blocked by a, then with the label agent:bugfix`,
		}},
		"one is made": {func(w *world) { *w = *newWorld(node("a"), node("b", "a")); w.pass(); w.send(w.makeToken(w.child("a"))) }, []string{
			`open "b" (bugfix), blocked by a, then with the label agent:bugfix`, `#101 a: then with the label agent:bugfix`,
		}},
		"a hold":       {func(w *world) { *w = *newWorld(node("a")); w.Held = true }, []string{`open "a" (bugfix), then with the label agent:bugfix`}},
		"all is made":  {func(*world) {}, nil},
		"an edge more": {func(w *world) { w.revise(t, "d2", node("a"), node("b", "a"), node("c", "a")) }, []string{`#C c: blocked by a`}},
		"an edge less": {func(w *world) { w.revise(t, "d2", node("a"), node("b"), node("c")) }, []string{`#B b: not blocked by a`}},
		"a text":       {func(w *world) { w.revise(t, "d2", node("a"), reword(node("b", "a")), node("c")) }, []string{`#B b: with the document's text, unless work on it begins or a person edits it`}},
		"a text, and begun": {func(w *world) {
			w.Work[w.child("b").Number] = Work{Begun: true}
			w.revise(t, "d2", node("a"), reword(node("b", "a")), node("c"))
		}, []string{`#B b: say that the document changed, and that it stays`}},
		"a node more": {func(w *world) { w.revise(t, "d2", node("a"), node("b", "a"), node("c"), node("d", "c")) }, []string{`open "d" (bugfix), blocked by c, then with the label agent:bugfix`}},
		"a node less": {func(w *world) { w.revise(t, "d2", node("a"), node("b", "a")) }, []string{`#C c: close as not planned, unless work on it begins`}},
		"a node less on which another waits": {func(w *world) { w.revise(t, "d2", node("b"), node("c")) }, []string{
			`#B b: not blocked by a`, `#A a: close as not planned, unless work on it begins`,
		}},
		"a node less, and begun": {func(w *world) {
			w.Work[w.child("c").Number] = Work{Begun: true}
			w.revise(t, "d2", node("a"), node("b", "a"))
		}, []string{`#C c: say that the document changed, and that it stays`}},
		"all is closed": {func(w *world) {
			for _, c := range w.Nodes {
				w.close(c.Node, work.DependencyClosed)
			}
		}, []string{"say what became of the roadmap", "close the roadmap's issue"}},
		"faults": {func(w *world) { w.Record.State = Stopped }, nil},
		"cancelled": {func(w *world) {
			w.Record.State = Cancelled
			w.Work[w.child("a").Number] = Work{Begun: true}
			w.close("b", work.DependencyClosed)
		}, []string{`#C c: close as not planned, unless work on it begins`}},
		"over": {func(w *world) { w.Record.State = Ended }, nil},
	} {
		w := newWorld(node("a"), node("b", "a"), node("c"))
		w.settle(t)
		c.do(w)
		got := Lines(Ahead(w.Facts), label)
		for i := range got {
			for _, c := range w.Nodes {
				got[i] = strings.ReplaceAll(got[i], fmt.Sprintf("#%d ", c.Number), "#"+strings.ToUpper(c.Node)+" ")
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%s\nnot\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// A roadmap that is begun again on its issue shares no action with the one before, and a revision does.
func TestARoadmapBegunAgainHasItsOwnActions(t *testing.T) {
	w := newWorld(node("a"), node("b", "a"))
	w.Record.Run = 2
	first := w.Tokens()
	w.Record.Revision++
	if !slices.Contains(w.Tokens(), w.makeToken(w.child("a"))) || !slices.Contains(first, w.makeToken(w.child("a"))) {
		t.Error("a revision makes its nodes again")
	}
	w.Record.Revision, w.Record.Run = 1, 9
	for _, token := range w.Tokens() {
		if slices.Contains(first, token) {
			t.Errorf("both have the action %s", token)
		}
	}
}

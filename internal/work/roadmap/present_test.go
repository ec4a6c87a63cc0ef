package roadmap

import (
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
)

// TestWhatIsThereIsNotPlannedAgain: a node adopts a sub-issue that is there, and a new node that says what a
// completed one says is asked about. Each remedy of that fault passes the check.
func TestWhatIsThereIsNotPlannedAgain(t *testing.T) {
	doc := func(title, text, issue string) string {
		return made("  - {id: a, title: "+title+", flow: bugfix"+issue+"}\n", "## a\n"+text)
	}
	const spec = "Goal: each file is parsed once by the parser.\nScope: the parser alone.\nAcceptance: a benchmark says so.\nTests: by a table.\n"
	done := Present{Number: 3, Title: "Parse the file once", Text: spec, State: work.DependencyClosed}
	open, dropped, own, foreign := done, done, done, done
	open.State, dropped.State, own.Node, foreign.Number = work.DependencyOpen, work.DependencyDropped, "a", 0
	for _, tt := range []struct {
		doc     string
		present Present
		says    string // empty: no fault
	}{
		{doc("Parse the file once!", section, ""), done, `node "a" says what #3 says, "Parse the file once", which is completed: adopt that by "issue: 3"`},
		{doc("Parser", spec, ""), done, "says what #3 says"},
		{doc("Parser", strings.Replace(spec, "benchmark", "measurement", 1), ""), done, "says what #3 says"},
		{doc("Once", "", ", issue: 3"), done, ""},
		{doc("Handle errors", "Goal: the parser reports the line of an error.\nScope: the parser alone.\nAcceptance: it is in the message.\nTests: by a table.\n", ""), done, ""},
		{doc("Parse the file once", spec, ""), open, ""},
		{doc("Parse the file once", spec, ""), dropped, ""},
		{doc("Parse the file once", spec, ""), own, ""},
		{doc("Parse the file once", spec, ""), foreign, ""},
		{doc("Once", "", ", issue: 3"), dropped, "#3 is closed as not planned: reopen it"},
		{doc("Once", "", ", issue: 4"), done, "#4 is no sub-issue of the roadmap's issue"},
		{doc("Once", section, ", issue: x"), done, "issue is not the number of an issue"},
		{made("  - {id: a, title: A, flow: bugfix, issue: 3}\n  - {id: b, title: B, flow: bugfix, issue: 3}\n", ""), done, `node "b" and node "a" have the same issue, #3`},
	} {
		_, faults := Read([]byte(tt.doc), Bounds{Depth: 1, Present: []Present{tt.present}})
		if got := strings.Join(document.Strings(faults), "\n"); (got == "") != (tt.says == "") || !strings.Contains(got, tt.says) {
			t.Errorf("%s\n%+v: %q, want %q", tt.doc, tt.present, got, tt.says)
		}
	}
}

// TestAnAdoptedSubIssueStaysAsItIs: it gets its edges and, if it never had one, its label. No text is edited, and
// neither a removal from the document nor a cancel closes it.
func TestAnAdoptedSubIssueStaysAsItIs(t *testing.T) {
	taken := func(id string, number int, step Step) Child {
		return Child{Node: id, Title: id, Flow: work.FlowBugfix, Number: number, Step: step}
	}
	begin := func() *world {
		w := newWorld(taken("done", 3, Labelled), taken("open", 4, Made), node("new", "done", "open"))
		w.Below = []SubIssue{{Ref: w.Ref(Child{Number: 3}), State: work.DependencyClosed}, {Ref: w.Ref(Child{Number: 4}), State: work.DependencyOpen}}
		w.Work[4] = Work{Text: "of a person"}
		w.settle(t)
		return w
	}
	w := begin()
	if w.made["done"]+w.made["open"] != 0 || w.made["new"] != 1 || !w.labels[4] || w.labels[3] || len(w.said) > 0 || len(w.edges) != 2 || w.Record.State != Followed {
		t.Errorf("%+v, said %q", w, w.said)
	}
	w.revise(t, "d2", taken("done", 3, Labelled), node("new", "done"))
	w.settle(t)
	if w.Below[1].State != work.DependencyOpen || len(w.said) > 0 || len(w.edges) != 1 {
		t.Errorf("removed: %+v, said %q", w, w.said)
	}
	w = begin()
	delete(w.Work, 4)
	w.Record.State = Cancelled
	w.settle(t)
	if w.Below[1].State != work.DependencyOpen || w.Below[2].State != work.DependencyDropped || w.Record.State != Ended {
		t.Errorf("cancelled: %+v", w)
	}
	// A node that has an issue cannot adopt another one.
	if _, faults := difference(1, w.Nodes, []Child{taken("new", 9, Made)}); len(faults) != 1 || !strings.Contains(faults[0].Says, "give it another id") {
		t.Errorf("%+v", faults)
	}
}

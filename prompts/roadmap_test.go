package prompts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// aNode is the JSON of a node, with its four texts.
func aNode(id string, needs string, texts ...any) string {
	all := []any{"g", "s", "- a", "t"}
	copy(all, texts)
	var b strings.Builder
	fmt.Fprintf(&b, `{"id":%q,"title":"The %s","flow":"bugfix","needs":[%s],"issue":null`, id, id, needs)
	for i, key := range []string{"goal", "scope", "acceptance", "tests"} {
		if all[i] == nil {
			fmt.Fprintf(&b, `,%q:null`, key)
		} else {
			fmt.Fprintf(&b, `,%q:%q`, key, all[i])
		}
	}
	return b.String() + "}"
}

func planned(title string, nodes ...string) []byte {
	return fmt.Appendf(nil, `{"title":%s,"goal":%s,"nodes":[%s],"blocked_reason":null,"decision_summary":null}`, title, title, strings.Join(nodes, ","))
}

// TestARoadmapsAnswerPassesItsGate: before anything is written.
func TestARoadmapsAnswerPassesItsGate(t *testing.T) {
	now := &Roadmap{Depth: 1, Document: string(roadmap.Render(roadmap.Document{Title: "Old", Goal: "Old goal.", Nodes: []roadmap.Node{{ID: "one", Title: "One", Flow: work.FlowBugfix, Text: "Goal: old.\nScope: s.\nAcceptance: a.\nTests: t."}}}))}
	kept := []any{nil, nil, nil, nil}
	for _, tt := range []struct {
		answer []byte
		about  *Roadmap
		says   string // empty: accepted
	}{
		{planned(`"T"`, aNode("one", ""), aNode("two", `"one"`)), nil, ""},
		{planned(`"T"`, aNode("one", "", "```\n## two\n```")), nil, ""},
		{planned(`"T"`, aNode("one", "", "```\nunclosed")), nil, ""},
		{planned(`null`, aNode("one", "")), nil, "title is empty"},
		{planned(`"T"`), nil, "nodes is empty"},
		{planned(`"T"`, aNode("one", "", kept...)), nil, "nodes[0] (one): goal is empty"},
		{planned(`"T"`, aNode("one", ""), aNode("one", "")), nil, `the id "one" is that of another node`},
		{planned(`"T"`, aNode("one", ""), aNode("two", "", "g\n\n## one\n\nx")), nil, "second section"},
		{planned(`"T"`, aNode("one", "")), &Roadmap{Depth: 1, SubIssues: 100}, "100 sub-issues beside them"},
		{planned(`"T"`, strings.Replace(aNode("one", ""), "bugfix", "roadmap", 1)), &Roadmap{Depth: 3}, "nested at most 3 deep"},
		{planned(`null`, aNode("one", "", kept...), aNode("two", "")), now, ""},
		{planned(`null`, aNode("two", "", kept...)), now, "nodes[0] (two): goal is empty"},
		{planned(`null`, aNode("one", "", "new", nil, nil, nil)), now, "nodes[0] (one): scope is empty"},
	} {
		_, got := Decode(work.KindRoadmapStart, tt.answer, Asked{Roadmap: tt.about})
		if all := strings.Join(got, "\n"); (all == "") != (tt.says == "") || !strings.Contains(all, tt.says) {
			t.Errorf("%s: %q, want %q", tt.answer, got, tt.says)
		}
	}
}

// TestAReplanKeepsWhatItLeavesOut: title, goal and the section of each node without texts.
func TestAReplanKeepsWhatItLeavesOut(t *testing.T) {
	old := roadmap.Document{Title: "Old", Goal: "Old goal.", Nodes: []roadmap.Node{{ID: "one", Title: "One", Flow: work.FlowBugfix, Text: "Goal: old.\nScope: s.\nAcceptance: a.\nTests: t."}}}
	r := &Roadmap{Depth: 1, Document: string(roadmap.Render(old))}
	a, wrong := Decode(work.KindRoadmapStart, planned("null", aNode("two", ""), aNode("one", `"two"`, nil, nil, nil, nil)), Asked{Roadmap: r})
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	d := RoadmapDocument(7, a, r)
	if d.Issue != 7 || d.Title != "Old" || d.Goal != "Old goal." || len(d.Nodes) != 2 || d.Nodes[1].Text != old.Nodes[0].Text || d.Nodes[1].Title != "The one" ||
		!strings.HasPrefix(d.Nodes[0].Text, "### Goal\n\ng\n\n### Scope") {
		t.Errorf("got %+v", d)
	}
}

// TestAPullRequestSaysWhatMergingItDoes: of a first plan, and of one that changes it.
func TestAPullRequestSaysWhatMergingItDoes(t *testing.T) {
	node := func(id, title string, needs ...string) roadmap.Node {
		return roadmap.Node{ID: id, Title: title, Flow: work.FlowBugfix, Needs: needs, Text: "Goal: g.\nScope: s.\nAcceptance: a.\nTests: t."}
	}
	old := roadmap.Document{Issue: 7, Title: "Old", Goal: "Old goal.", Nodes: []roadmap.Node{node("one", "One"), node("gone", "Gone"), node("same", "Same")}}
	next := roadmap.Document{Issue: 7, Title: "Old", Goal: "Old goal.", Nodes: []roadmap.Node{node("two", "Two"), node("one", "One", "two"), node("same", "Same")}}
	asked := &Roadmap{Depth: 1, Document: string(roadmap.Render(old)), Why: "two comes first\n@everyone <!-- x -->"}
	first, change := RoadmapSummary(old, "docs/roadmap/7-old.md", roadmap.Limits{Parallel: 3}, &Roadmap{Depth: 1}), RoadmapSummary(next, "docs/roadmap/7-old.md", roadmap.Limits{Parallel: 3, MaxCost: 50}, asked)
	for _, tt := range []struct{ text, want string }{
		{first, "Old goal.\n\nThe plan is in `docs/roadmap/7-old.md`:\n\n- `one` One (bugfix)\n"},
		{first, "opens each of them as a sub-issue of #7 and starts agents on them, at most 3 at a time, without a cost limit. The file counts"},
		{first, "comment here or edit the file. `gh mergexo tick --dry-run` after the merge"},
		{change, "at most 3 at a time, and none once they have cost 50.00 USD. What is changed"},
		{change, "Changes the roadmap of #7, in `docs/roadmap/7-old.md`. The reason:\n\n> two comes first\n> "},
		{change, "\nAdded:\n\n- `two` Two (bugfix)\n\nChanged:\n\n- `one` One (bugfix), after `two`\n\nDropped:\n\n- `gone` Gone (bugfix)\n\nMerging this opens what is added"},
		{change, "closed as not planned"},
	} {
		if !strings.Contains(tt.text, tt.want) {
			t.Errorf("%q is not in %s", tt.want, tt.text)
		}
	}
	if strings.Contains(change, "`same`") || strings.Contains(change, "@everyone") || strings.Contains(change, "<!--") {
		t.Errorf("got %s", change)
	}
}

// TestWhoChangesOrReviewsARoadmapIsToldItsFaults: with their lines.
func TestWhoChangesOrReviewsARoadmapIsToldItsFaults(t *testing.T) {
	for kind, says := range map[work.Kind]string{work.KindDesignFeedback: "mend them, too", work.KindFix: "mend them, too", work.KindReview: "request changes"} {
		text, err := render(kind, sampleRoadmap("codex"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(text, "cannot be unfolded: "+says) || !strings.Contains(text, "line 3: sample fault") {
			t.Errorf("%s is not told:\n%s", kind, text)
		}
	}
}

package turn

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

func TestSpecFiles(t *testing.T) {
	all := []string{
		".specify/memory/constitution.md", ".specify/specs/007-login/plan.md", ".specify/specs/007-login/spec.md", ".specify/specs/008-logout/tasks.md",
		"specs/007-login/spec.md", ".specify/templates/spec.md", ".specify/specs/007-login/contracts/spec.md.txt",
	}
	own := []string{".specify/specs/007-login/plan.md", ".specify/specs/007-login/spec.md"}
	if got := specFiles(all, 7); !slices.Equal(got, own) {
		t.Errorf("of issue 7: %q", got)
	}
	if got := specFiles(all, 9); !slices.Equal(got, slices.Concat(own, []string{".specify/specs/008-logout/tasks.md", ".specify/templates/spec.md"})) {
		t.Errorf("of an issue that none is named by: %q", got)
	}
}

// A fix gets all findings that block the head, of every reviewer.
func TestDemands(t *testing.T) {
	v := review.Verdict{ReviewID: 1, Reviewer: "quinn", Head: "bbb", Decision: review.RequestChanges}
	s := store.Reviews{
		Verdicts: []review.Verdict{
			{Reviewer: "quinn", Head: "aaa", Decision: review.RequestChanges},
			v,
			{Reviewer: "ann", Human: true, Head: "bbb", Decision: review.RequestChanges},
			{Reviewer: "sam", Head: "bbb", Decision: review.RequestChanges},
			{Reviewer: "sam", Head: "bbb", Decision: review.Approve},
			{Reviewer: "priya", Head: "aaa", Decision: review.RequestChanges},
			{Reviewer: "tom", Head: "bbb", Decision: review.RequestChanges, Validity: review.TakenBack},
		},
		Findings: []review.Finding{
			{ID: "old", Reviewer: "quinn", Severity: review.Critical, ResolvedBy: 2},
			{ID: "open", Reviewer: "quinn", Severity: review.Major},
			{ID: "nit", Reviewer: "quinn", Severity: review.Nit},
			{ID: "ann", Reviewer: "ann"},
			{ID: "sam", Reviewer: "sam", Severity: review.Major},
			{ID: "priya", Reviewer: "priya", Severity: review.Major},
			{ID: "tom", Reviewer: "tom", Severity: review.Major},
		},
	}
	open, earlier := blockingFindings(s, v, review.Major)
	if got := findingIDs(open); !slices.Equal(got, []string{"open", "ann"}) {
		t.Errorf("open: %q", got)
	}
	if got := findingIDs(earlier); !slices.Equal(got, []string{"old"}) {
		t.Errorf("earlier: %q", got)
	}
	own, others := openFindings(s.Findings, "quinn")
	if got := findingIDs(own); !slices.Equal(got, []string{"open", "nit"}) || len(others) != 4 {
		t.Errorf("own: %q, %d of others", got, len(others))
	}
	s.Fixes = []review.Fix{{Reviewer: "quinn", Epoch: 0, Outcome: review.FixPushed}, {Reviewer: "sam", Epoch: 1, Outcome: review.FixPushed}, {Reviewer: "quinn", Epoch: 1, Outcome: review.FixUnchanged}}
	for epoch, before := range map[int]bool{0: true, 1: false} {
		if s.Record.Epoch = epoch; fixedBefore(s, v) != before {
			t.Errorf("epoch %d: a fix before: %v", epoch, !before)
		}
	}
}

// Of a change that a reviewer saw before, it is shown what is new, and from the base all that it did not
// see, under any name.
func TestToSee(t *testing.T) {
	file := func(path, from, text string) git.FileChange {
		return git.FileChange{Path: path, From: from, Text: text}
	}
	for _, x := range []struct {
		name         string
		unread       []string
		moved        []string
		since, whole []git.FileChange
		want         string
	}{
		{"what is new", nil, nil, []git.FileChange{file("b", "", "new")}, []git.FileChange{file("a", "", "whole"), file("b", "", "whole")}, "b new"},
		{"not shown before", []string{"a"}, nil, []git.FileChange{file("b", "", "new")}, []git.FileChange{file("a", "", "whole"), file("b", "", "whole")}, "b new, a whole"},
		{"not shown before, and changed", []string{"a"}, nil, []git.FileChange{file("a", "", "new")}, []git.FileChange{file("a", "", "whole")}, "a whole"},
		{"not shown before, and renamed", []string{"a"}, nil, []git.FileChange{file("b", "a", "new")}, []git.FileChange{file("b", "", "whole")}, "b whole"},
		{"not shown before, and gone", []string{"a"}, nil, []git.FileChange{file("a", "", "new")}, nil, ""},
		{"blanks", []string{"a  b\t.go"}, nil, nil, []git.FileChange{file("a  b\t.go", "", "whole")}, "a  b\t.go whole"},
		{"a line's end", []string{"a\nb"}, nil, nil, []git.FileChange{file("a\nb", "", "whole")}, "a\nb whole"},
		{"no text", []string{"\xff\xfea"}, nil, nil, []git.FileChange{file("\xff\xfea", "", "whole")}, "\xff\xfea whole"},
		{"a control", []string{"\x1b]a"}, nil, nil, []git.FileChange{file("\x1b]a", "", "whole")}, "\x1b]a whole"},
		{"a long name", []string{strings.Repeat("a", 900) + "1"}, nil, nil, []git.FileChange{file(strings.Repeat("a", 900)+"1", "", "whole")}, strings.Repeat("a", 900) + "1 whole"},
		{"the base's was undone", nil, []string{"a", "z"}, []git.FileChange{file("z", "", "the base's")}, []git.FileChange{file("a", "", "whole")}, "a whole"},
		{"the base's was undone and renamed", nil, []string{"a"}, nil, []git.FileChange{file("b", "a", "whole")}, "b whole"},
	} {
		stored := prompts.Prepare(prompts.Context{Review: &prompts.Review{Unread: x.unread}}).Review.Unread
		raw, err := json.Marshal(stored)
		if err != nil || json.Unmarshal(raw, &stored) != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range toSee(x.whole, x.since, slices.Concat(stored, x.moved)) {
			got = append(got, f.Path+" "+f.Text)
		}
		if strings.Join(got, ", ") != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}

// What asks for a person is kept first. If it is too much to keep, no later config can exempt it all
// but one that exempts every file.
func TestMostUnread(t *testing.T) {
	r := config.Repo{Review: config.Review{Merge: config.Merging{Unread: []string{"**/*.png"}}}}
	many := func(n int, name string) (all []string) {
		for i := range n {
			all = append(all, fmt.Sprintf("a/%d%s", i, name))
		}
		return all
	}
	for _, x := range []struct {
		unread      []string
		kept        int
		first, last string
	}{
		{nil, 0, "", ""},
		{[]string{"a.png", "b.go"}, 2, "b.go", "a.png"},
		{slices.Concat(many(150, ".png"), []string{"z.go"}), 100, "z.go", "a/98.png"},
		{many(100, ".go"), 100, "a/0.go", "a/99.go"},
		{slices.Concat(many(9, ".png"), many(102, ".go")), 100, "a/0.go", "and 3 more files"},
	} {
		got := mostUnread(r, x.unread)
		if len(got) != x.kept || x.kept > 0 && (got[0] != x.first || got[x.kept-1] != x.last) {
			t.Errorf("%d files: %q", len(x.unread), got)
		}
	}
}

func findingIDs(all []review.Finding) (ids []string) {
	for _, x := range all {
		ids = append(ids, x.ID)
	}
	return ids
}

func TestMayCallIn(t *testing.T) {
	quinn := review.Reviewer{Name: "quinn", MayCallIn: []string{"sam", "priya", "nobody"}}
	p := review.Policy{Order: []review.Reviewer{quinn}, Pool: map[string]review.Reviewer{"quinn": quinn, "sam": {Name: "sam"}, "priya": {Name: "priya"}}}
	if got := mayCallIn(p, "quinn", []review.Insertion{{Name: "sam", By: "quinn"}}); !slices.Equal(got, []string{"priya"}) {
		t.Errorf("%q", got)
	}
}

// Each role continues from its own turns: no reviewer sees the author's failures.
func TestOfRole(t *testing.T) {
	all := []work.Turn{{ID: 1, Kind: work.KindBugfixStart}, {ID: 2, Kind: work.KindReview, Reviewer: "quinn"}, {ID: 3, Kind: work.KindFix, Reviewer: "quinn"}, {ID: 4, Kind: work.KindReview, Reviewer: "sam"}}
	for role, want := range map[string][]int64{"": {1, 3}, "quinn": {2}, "sam": {4}} {
		var got []int64
		for _, turn := range ofRole(all, role) {
			got = append(got, turn.ID)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v", role, got)
		}
	}
}

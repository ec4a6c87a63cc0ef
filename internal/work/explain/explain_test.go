package explain

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// declared are the kinds that internal/work declares.
func declared(t *testing.T) []work.ReasonKind {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "reason_kinds.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []work.ReasonKind
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || fmt.Sprint(spec.Type) != "ReasonKind" {
			return true
		}
		text, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, work.ReasonKind(text))
		return true
	})
	slices.Sort(kinds)
	return kinds
}

// sample is a reason with everything that one can have.
func sample(kind work.ReasonKind) work.Reason {
	return work.Reason{
		Kind: kind, Text: "TEXT", Local: "", Advice: "ADVICE", Who: "WHO", Name: "NAME", Branch: "BRANCH", Commit: "COMMIT", Head: "HEAD", Number: 7, Count: 2, Begun: 2,
		Names: []string{"ONE", "TWO"}, Used: 5, Limit: 4,
	}
}

func TestEveryReasonHasWords(t *testing.T) {
	kinds := declared(t)
	if got := Kinds(); !slices.Equal(got, kinds) || len(kinds) != len(slices.Compact(slices.Clone(kinds))) {
		t.Errorf("declared are\n%q\nand words are there for\n%q", kinds, got)
	}
	for _, kind := range kinds {
		for _, p := range []Place{{}, {Pull: true}} {
			w := Reason(sample(kind), p)
			if w.What == "" && w.Resume == "" || strings.Contains(w.What+w.Next(), "%!") {
				t.Errorf("%s: %+v", kind, w)
			}
			if Reason(work.Reason{Kind: kind, Names: []string{"a", "b"}}, p).What != "" && w.What == "" {
				t.Errorf("%s says nothing of its details", kind)
			}
		}
	}
}

// What is this machine's business, and what agents cost, is in no word for GitHub.
func TestWordsForGitHubKeepWhatIsTheMachines(t *testing.T) {
	for _, kind := range Kinds() {
		for _, budget := range []string{work.MaxCostPerItem, work.MaxCostPerTurn, work.MaxCostPerDay, work.MaxTokensPerTurn} {
			r := sample(kind)
			r.Local, r.Name, r.Used, r.Limit = "/home/me", budget, 4711, 815
			w := Reason(r, Place{})
			if said := w.What + w.Next(); strings.Contains(said, "/home/me") || strings.Contains(said, "4711") || strings.Contains(said, "815") {
				t.Errorf("%s: %s", kind, said)
			}
			if !strings.Contains(w.Here(), "/home/me") {
				t.Errorf("%s: this machine is not told: %s", kind, w.Here())
			}
		}
	}
}

// A reason may be one that a newer program stored, or that somebody edited in the
// comment it was read from.
func TestReasonsThatAreNotKnownOrLackAllHaveWords(t *testing.T) {
	for _, kind := range append(Kinds(), "of_a_newer_program") {
		for _, p := range []Place{{}, {Spending: true}, {Pull: true, Spending: true}} {
			w := Reason(work.Reason{Kind: kind, Name: work.MaxCostPerItem}, p)
			if said := w.What + w.Next() + w.Here(); strings.Contains(said, "0.00 USD") {
				t.Errorf("%s: %q", kind, said)
			}
			w = Reason(work.Reason{Kind: kind, Text: "TEXT", Local: "/home/me"}, p)
			if strings.Contains(w.What+w.Next(), "/home/me") {
				t.Errorf("%s tells GitHub of this machine: %s", kind, w.What)
			}
		}
	}
}

// A command is named as what it is: a comment on GitHub, or what a person types on this machine.
func TestCommandsAreNamedAsWhereTheyAreGiven(t *testing.T) {
	bare := regexp.MustCompile("(?:^|[^ts] )`/mergexo ")
	for _, kind := range Kinds() {
		if next := Reason(sample(kind), Place{Pull: true}).Next(); bare.MatchString(next) {
			t.Errorf("%s does not say that the command is a comment: %s", kind, next)
		}
		next := Reason(sample(kind), Place{Pull: true, Item: "octo/app#1"}).Next()
		for _, verb := range []work.Verb{work.VerbRetry, work.VerbResume, work.VerbCancel, work.VerbMerge, work.VerbUnblock} {
			if strings.Contains(next, "/mergexo "+string(verb)) && !strings.Contains(next, " on ") { // of another issue
				t.Errorf("%s names a comment where a command is typed: %s", kind, next)
			}
		}
	}
}

// What stops at once names the command that lets it go on.
func TestEveryStopNamesACommand(t *testing.T) {
	other := []work.ReasonKind{work.WhyIssueEdited, work.WhyRewritten, work.WhyMergeDiffers, work.WhyOtherAgent, work.WhyRoadmapFaults, work.WhyQuestion}
	told := 0
	for _, one := range reasons {
		if one.after != AtOnce {
			continue
		}
		told++
		w := Reason(sample(one.kind), Place{})
		if !w.Retry && !strings.Contains(w.Next(), "/mergexo retry") && !slices.Contains(other, one.kind) && !one.kind.OfDependency() {
			t.Errorf("%s: no command lets it go on: %s", one.kind, w.Next())
		}
	}
	if told < 55 {
		t.Errorf("only %d reasons are told at once", told)
	}
}

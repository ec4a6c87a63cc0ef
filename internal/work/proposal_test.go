package work

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestANumberOfAFollowUpStays: later answers change no number that was shown, and
// what was proposed before gets no second one.
func TestANumberOfAFollowUpStays(t *testing.T) {
	titles := []string{"Cache it", "cache it ", "Rotate the log", "☃ --> <!-- x"}
	rapid.Check(t, func(t *rapid.T) {
		var known []Proposal
		for range rapid.IntRange(1, 4).Draw(t, "answers") {
			var found []Proposal
			for range rapid.IntRange(0, 3).Draw(t, "proposals") {
				found = append(found, Proposal{Title: rapid.SampledFrom(titles).Draw(t, "title"), Why: "w"})
			}
			before := slices.Clone(known)
			known = append(known, NumberProposals(known, found)...)
			if !slices.Equal(known[:len(before)], before) {
				t.Fatalf("%v became %v", before, known)
			}
		}
		for i, p := range known {
			if p.Number != i+1 {
				t.Fatalf("number %d stands at %d: %v", p.Number, i+1, known)
			}
		}
		if len(known) > len(titles)-1 {
			t.Fatalf("one has two numbers: %v", known)
		}
		body := Mark("text", Marks{Token: strings.Repeat("a", 64), Proposals: MarkProposals(known)})
		if got := Proposed(body); !slices.Equal(got, known) {
			t.Fatalf("read back: %v, not %v", got, known)
		}
	})
	for _, body := range []string{"", "text", Mark("text", Marks{Token: strings.Repeat("a", 64)}), Mark("text", Marks{Token: strings.Repeat("a", 64), Proposals: "bm8"})} {
		if got := Proposed(body); len(got) > 0 {
			t.Errorf("%q lists %v", body, got)
		}
	}
}

func TestCopilotInEachSpelling(t *testing.T) {
	for login, want := range map[string]bool{"Copilot": true, "copilot[bot]": true, "copilot-swe-agent[bot]": true, "copilot-swe-agent": true, "copilots": false, "": false, "ann": false} {
		if IsCopilot(login) != want {
			t.Errorf("%q: %t", login, !want)
		}
	}
}

package env

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Of what a ref says that anybody who may push can write nothing is taken over but what differs.
func TestWhatIsBelievedOfAStop(t *testing.T) {
	ours := work.Reason{Kind: work.WhyMergeDiffers, Number: 7, Commit: "c", Head: "h", Text: "x differs"}
	forged := ours
	forged.Advice, forged.Local, forged.Names, forged.Text = "run me", "and me", []string{"me, too"}, strings.Repeat("x", 1<<20)
	other := work.Reason{Kind: work.WhyRepoMissing, Name: "o/r", Advice: "run me"}
	for name, said := range map[string]work.Reason{"ours": ours, "forged": forged, "of another kind": other, "none": {}} {
		text, err := json.Marshal(said)
		if err != nil {
			t.Fatal(err)
		}
		got := StopReason(string(text))
		if got.Kind != work.WhyMergeDiffers || got.Advice != "" || got.Local != "" || got.Names != nil || len(got.Text) > longestWhy {
			t.Errorf("%s: %+v", name, got)
		}
		if name == "ours" && !got.Equal(ours) {
			t.Errorf("%+v", got)
		}
	}
	if got := StopReason("no JSON"); got.Kind != work.WhyMergeDiffers {
		t.Errorf("%+v", got)
	}
}

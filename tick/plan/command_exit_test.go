package plan

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// TestCommandsThatActHaveOneTableOfExitCodes: done or so already is 0, nothing done is 1, of every
// verb in every situation; and a refused command changes nothing.
func TestCommandsThatActHaveOneTableOfExitCodes(t *testing.T) {
	ended := func(s work.State, p work.PullState) func(*known.Snapshot) {
		return func(v *known.Snapshot) { v.Items[0].State, v.Items[0].Pull.State = s, p }
	}
	// rows have, in the order of columns, what a command ends with.
	columns := []work.Verb{
		work.VerbStatus, work.VerbRetry, work.VerbUnblock, work.VerbPause, work.VerbResume, work.VerbApprove, work.VerbHold, work.VerbMerge, work.VerbCancel,
		work.VerbBugfix, work.VerbDesign,
	}
	for _, c := range []struct {
		name, codes string
		v           known.Snapshot
	}{
		{"no item", "11100111100", scene(func(v *known.Snapshot) { v.Items[0] = known.Item{Item: work.Item{Number: 1}} })},
		{"no pull request", "00000111001", scene(noPull, state(work.StatePending))},
		{"an open one, nobody reviews", "00000101001", scene()},
		{"an open one, reviewed, no auto_merge", "00000101001", scene(landable, item(func(i *known.Item) { i.Landing.Policy.Auto = false }))},
		{"an open one that may be merged", "00000100001", scene(landable)},
		{"on hold", "00000100001", scene(landable, item(func(i *known.Item) { i.HeldBack = &review.Held{By: "bob", At: noon} }))},
		{"paused", "01100100001", scene(landable, item(func(i *known.Item) { i.Pause = &work.Pause{By: "bob", Began: noon} }))},
		{"merged", "01111110100", scene(landable, ended(work.StateCompleted, work.PullMerged))},
		{"closed", "01111111000", scene(landable, ended(work.StateClosed, work.PullClosed))},
	} {
		got := ""
		for _, verb := range columns {
			cmd := work.NewCommand(string(verb), nil)
			e := commanded("/mergexo "+string(verb), 1, "")
			rep, made := ForCommand(c.v, c.v.Items[0], e, cmd)
			code := "0"
			if rep.Refused {
				code = "1"
				for _, x := range made.Changes() {
					switch x.(type) {
					case change.Command, change.LocalCommand:
					default:
						t.Errorf("%s: %s says %q, and changes %T", c.name, verb, rep.Said, x)
					}
				}
			}
			got += code
		}
		if got != c.codes {
			t.Errorf("%s: %s, want %s of %v", c.name, got, c.codes, columns)
			for n, verb := range columns {
				rep, _ := ForCommand(c.v, c.v.Items[0], commanded("/mergexo "+string(verb), 1, ""), work.NewCommand(string(verb), nil))
				if got[n] != c.codes[n] {
					t.Logf("%s: %c: %s", verb, got[n], rep.Said)
				}
			}
		}
	}
}

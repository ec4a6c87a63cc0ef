package known

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The commit that a turn pushed is the newest head until GitHub is read again, unless somebody
// removed it from the branch.
func TestNewestHead(t *testing.T) {
	turn := func(step work.Step, head, commit string) work.Spent {
		return work.Spent{Step: step, Head: head, Commit: commit}
	}
	for name, c := range map[string]struct {
		shown, lost string
		turns       []work.Spent
		want        string
	}{
		"no turn":                        {"a", "", nil, "a"},
		"pushed":                         {"a", "", []work.Spent{turn(work.StepDone, "a", "b")}, "b"},
		"pushed, and shown":              {"b", "", []work.Spent{turn(work.StepDone, "a", "b")}, "b"},
		"a person pushed on top":         {"c", "", []work.Spent{turn(work.StepDone, "a", "b")}, "c"},
		"only reviewed since":            {"a", "", []work.Spent{turn(work.StepDone, "a", "b"), turn(work.StepDone, "b", "")}, "b"},
		"not pushed yet":                 {"a", "", []work.Spent{turn(work.StepAnswered, "a", "b")}, "a"},
		"taken out again by a person":    {"a", "b", []work.Spent{turn(work.StepDone, "a", "b")}, "a"},
		"an earlier turn's commit is in": {"c", "", []work.Spent{turn(work.StepDone, "c", "b"), turn(work.StepDone, "b", "c")}, "c"},
	} {
		i := Item{Pull: work.PullRequest{HeadOID: c.shown, LostOID: c.lost}, Spent: c.turns}
		if got := i.NewestHead(); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

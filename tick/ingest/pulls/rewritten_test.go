package pulls

import (
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What a branch must have in its history.
func TestGround(t *testing.T) {
	const branch = "agent/bugfix/1-x"
	turn := func(id int64, step work.Step, head, commit string, runs int) work.Turn {
		return work.Turn{ID: id, Branch: branch, Step: step, Head: head, Commit: commit, Runs: runs}
	}
	done := turn(1, work.StepDone, "a", "b", 1)
	for _, c := range []struct {
		name  string
		turns []work.Turn
		want  string
	}{
		{"no turn", nil, ""},
		{"its commit", []work.Turn{done}, "b"},
		{"its commit, once pushed", []work.Turn{turn(1, work.StepPushed, "a", "b", 1)}, "b"},
		{"its head, without a commit", []work.Turn{turn(1, work.StepDone, "a", "", 1)}, "a"},
		{"its head, when nothing of it was pushed", []work.Turn{done, turn(2, work.StepSuperseded, "c", "d", 1)}, "c"},
		{"one that never ran found out nothing", []work.Turn{done, turn(2, work.StepFailed, "z", "", 0)}, "b"},
		{"nor one on another branch", []work.Turn{done, {ID: 2, Branch: "other", Step: work.StepDone, Head: "y", Commit: "z", Runs: 1}}, "b"},
		{"the one that asks does not count", []work.Turn{done, turn(9, work.StepClaimed, "z", "", 1)}, "b"},
	} {
		if got, _ := Ground(c.turns, branch, 9); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package work

import "testing"

// What a branch must have in its history.
func TestGround(t *testing.T) {
	const branch = "agent/bugfix/1-x"
	turn := func(id int64, step Step, head, commit string, runs int) Turn {
		return Turn{ID: id, Branch: branch, Step: step, Head: head, Commit: commit, Runs: runs}
	}
	done := turn(1, StepDone, "a", "b", 1)
	for _, c := range []struct {
		name  string
		turns []Turn
		want  string
	}{
		{"no turn", nil, ""},
		{"its commit", []Turn{done}, "b"},
		{"its commit, once pushed", []Turn{turn(1, StepPushed, "a", "b", 1)}, "b"},
		{"its head, without a commit", []Turn{turn(1, StepDone, "a", "", 1)}, "a"},
		{"its head, when nothing of it was pushed", []Turn{done, turn(2, StepSuperseded, "c", "d", 1)}, "c"},
		{"one that never ran found out nothing", []Turn{done, turn(2, StepFailed, "z", "", 0)}, "b"},
		{"nor one on another branch", []Turn{done, {ID: 2, Branch: "other", Step: StepDone, Head: "y", Commit: "z", Runs: 1}}, "b"},
		{"the one that asks does not count", []Turn{done, turn(9, StepClaimed, "z", "", 1)}, "b"},
	} {
		if got, _ := RequiredAncestor(c.turns, branch, 9); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

package merges

import (
	"slices"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Of several checks with one name the worst counts, whichever comes first; one that a
// rule expects and nobody has reported is none.
func TestChecksOfOneNameAreOne(t *testing.T) {
	run := func(name, status, end string, required bool) wireCheck {
		return wireCheck{Kind: "CheckRun", Name: name, Status: status, Conclusion: end, Required: required}
	}
	status := func(name, state string) wireCheck {
		return wireCheck{Kind: "StatusContext", Context: name, State: state}
	}
	all := []wireCheck{
		run("a", "COMPLETED", "SUCCESS", true), run("a", "COMPLETED", "FAILURE", false),
		run("b", "COMPLETED", "TIMED_OUT", false), run("b", "COMPLETED", "SUCCESS", true),
		run("c", "COMPLETED", "NEUTRAL", false), status("c", "PENDING"),
		run("d", "QUEUED", "", false), run("d", "COMPLETED", "SKIPPED", false),
		status("e", "EXPECTED"), status("f", "SUCCESS"), run("g", "COMPLETED", "STALE", false),
	}
	for name, c := range map[string]struct {
		state func(string) merging.CheckState
		g     merging.CheckState
	}{"of a merge": {boxState, merging.Red}, "of a commit": {failedState, merging.Runs}} {
		checks, missing := together(all, c.state)
		want := []merging.Check{
			{Name: "a", State: merging.Red, Required: true},
			{Name: "b", State: merging.Red, Required: true},
			{Name: "c", State: merging.Runs},
			{Name: "d", State: merging.Runs},
			{Name: "f", State: merging.Green},
			{Name: "g", State: c.g},
		}
		if !slices.Equal(checks, want) || !slices.Equal(missing, []string{"e"}) {
			t.Errorf("%s: %+v, missing %q", name, checks, missing)
		}
	}
}

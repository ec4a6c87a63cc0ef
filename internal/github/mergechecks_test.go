package github

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// Of several checks with one name the worst counts, in any order. A check that a rule expects and
// nobody reported is not included.
func TestChecksOfOneNameAreOne(t *testing.T) {
	run := func(name, status, end string, required bool) wireBoxCheck {
		return wireBoxCheck{Kind: "CheckRun", Name: name, Status: status, Conclusion: end, Required: required}
	}
	status := func(name, state string) wireBoxCheck {
		return wireBoxCheck{Kind: "StatusContext", Context: name, State: state}
	}
	all := []wireBoxCheck{
		run("a", "COMPLETED", "SUCCESS", true), run("a", "COMPLETED", "FAILURE", false),
		run("b", "COMPLETED", "TIMED_OUT", false), run("b", "COMPLETED", "SUCCESS", true),
		run("c", "COMPLETED", "NEUTRAL", false), status("c", "PENDING"),
		run("d", "QUEUED", "", false), run("d", "COMPLETED", "SKIPPED", false),
		status("e", "EXPECTED"), status("f", "SUCCESS"), run("g", "COMPLETED", "STALE", false),
		run("h", "COMPLETED", "STARTUP_FAILURE", false), run("i", "COMPLETED", "STARTUP_FAILURE", true), run("i", "QUEUED", "", false),
	}
	for name, c := range map[string]struct {
		state func(string) merging.CheckState
		g     merging.CheckState
	}{"of a merge": {boxState, merging.Red}, "of a commit": {failedState, merging.Runs}} {
		checks, missing := mergeChecks(all, c.state)
		want := []merging.Check{
			{Name: "a", State: merging.Red, Required: true},
			{Name: "b", State: merging.Red, Required: true},
			{Name: "c", State: merging.Runs},
			{Name: "d", State: merging.Runs},
			{Name: "f", State: merging.Green},
			{Name: "g", State: c.g, Lapsed: true},
			{Name: "h", State: merging.Runs, Unstarted: true},
			{Name: "i", State: merging.Runs, Required: true},
		}
		if !slices.Equal(checks, want) || !slices.Equal(missing, []string{"e"}) {
			t.Errorf("%s: %+v, missing %q", name, checks, missing)
		}
	}
}

// A check that ended without success has its end time. Of several with one name the last end
// counts, and a failed one is not lapsed.
func TestWhenAndHowACheckEnded(t *testing.T) {
	noon := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	run := func(end string, at time.Time) wireBoxCheck {
		return wireBoxCheck{Kind: "CheckRun", Name: "a", Status: "COMPLETED", Conclusion: end, CompletedAt: at}
	}
	later := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		all    []wireBoxCheck
		ended  time.Time
		lapsed bool
	}{
		"green":                   {[]wireBoxCheck{run("SUCCESS", noon)}, time.Time{}, false},
		"failed":                  {[]wireBoxCheck{run("FAILURE", noon)}, noon, false},
		"cancelled":               {[]wireBoxCheck{run("CANCELLED", noon)}, noon, true},
		"a status":                {[]wireBoxCheck{{Kind: "StatusContext", Context: "a", State: "ERROR", CreatedAt: noon}}, noon, false},
		"it runs":                 {[]wireBoxCheck{{Kind: "CheckRun", Name: "a", Status: "QUEUED"}}, time.Time{}, false},
		"cancelled, then failed":  {[]wireBoxCheck{run("CANCELLED", noon), run("FAILURE", later)}, later, false},
		"failed after cancelling": {[]wireBoxCheck{run("FAILURE", later), run("CANCELLED", noon)}, later, false},
		"cancelled, and green":    {[]wireBoxCheck{run("SUCCESS", later), run("CANCELLED", noon)}, noon, true},
	} {
		checks, _ := mergeChecks(c.all, boxState)
		if len(checks) != 1 || !checks[0].Ended.Equal(c.ended) || checks[0].Lapsed != c.lapsed {
			t.Errorf("%s: %+v", name, checks)
		}
	}
}

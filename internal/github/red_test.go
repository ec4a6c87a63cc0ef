package github

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestRedChecks(t *testing.T) {
	run := func(name, conclusion string) Check {
		return Check{ID: "1", Name: name, Conclusion: conclusion, Kind: "CheckRun"}
	}
	own := func(conclusion string) Check {
		return Check{ID: "2", Name: "mergexo/review", Conclusion: conclusion, Kind: "StatusContext"}
	}
	for name, c := range map[string]struct {
		checks []Check
		policy work.ChecksPolicy
		want   string
		half   bool
	}{
		"ours is pending":     {[]Check{run("a", "FAILURE"), own("")}, work.ChecksComplete, "1 a", false},
		"ours is red":         {[]Check{run("a", "SUCCESS"), own("FAILURE")}, work.ChecksFirst, "", false},
		"ours hides the end":  {[]Check{run("a", ""), own("")}, work.ChecksComplete, "", true},
		"ours hides nothing":  {[]Check{run("a", ""), own("SUCCESS")}, work.ChecksComplete, "", false},
		"ours alone":          {[]Check{own("")}, work.ChecksComplete, "", false},
		"a run of that name":  {[]Check{run("mergexo/review", "FAILURE")}, work.ChecksComplete, "1 mergexo/review", false},
		"none":                {nil, work.ChecksComplete, "", false},
		"all green":           {[]Check{run("a", "SUCCESS"), run("b", "SKIPPED"), run("c", "NEUTRAL")}, work.ChecksComplete, "", false},
		"red":                 {[]Check{run("b", "FAILURE"), run("a", "ERROR"), run("c", "SUCCESS")}, work.ChecksComplete, "1 a\n1 b", false},
		"some are running":    {[]Check{run("a", "FAILURE"), run("b", "")}, work.ChecksComplete, "", true},
		"the first counts":    {[]Check{run("a", "TIMED_OUT"), run("b", "")}, work.ChecksFirst, "1 a", true},
		"nobody is asked":     {[]Check{run("a", "FAILURE")}, work.ChecksNever, "", false},
		"running, none red":   {[]Check{run("a", ""), run("b", "SUCCESS")}, work.ChecksFirst, "", false},
		"cancelled by hand":   {[]Check{run("a", "CANCELLED")}, work.ChecksComplete, "", false},
		"waits for a person":  {[]Check{run("a", "ACTION_REQUIRED")}, work.ChecksComplete, "", false},
		"cancelled, one runs": {[]Check{run("a", "CANCELLED"), run("b", "")}, work.ChecksComplete, "", true},
		"red and cancelled":   {[]Check{run("a", "CANCELLED"), run("b", "FAILURE")}, work.ChecksComplete, "1 b", false},
	} {
		if got := RedChecks(c.checks, c.policy); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := PartlyRed(c.checks); got != c.half {
			t.Errorf("%s: half red %v", name, got)
		}
	}
}

// A check that never ends does not prevent fixing the red ones for long.
func TestRedChecksWaitForOthersAnHour(t *testing.T) {
	failed := Check{ID: "1", Name: "unit", Conclusion: "FAILURE", EndedAt: noon}
	hangs := Check{ID: "2", Name: "deploy"}
	for name, c := range map[string]struct {
		checks []Check
		policy work.ChecksPolicy
		after  time.Duration
		want   string
	}{
		"soon":             {[]Check{failed, hangs}, work.ChecksComplete, time.Hour, ""},
		"an hour later":    {[]Check{failed, hangs}, work.ChecksComplete, time.Hour + time.Second, "1 unit"},
		"nobody is asked":  {[]Check{failed, hangs}, work.ChecksNever, 2 * time.Hour, ""},
		"nothing is red":   {[]Check{hangs}, work.ChecksComplete, 2 * time.Hour, ""},
		"all have ended":   {[]Check{failed}, work.ChecksComplete, 0, "1 unit"},
		"another, lately":  {[]Check{failed, {ID: "3", Name: "lint", Conclusion: "FAILURE", EndedAt: noon.Add(time.Hour)}, hangs}, work.ChecksComplete, 90 * time.Minute, ""},
		"no stamp is told": {[]Check{{ID: "1", Name: "unit", Conclusion: "FAILURE"}, hangs}, work.ChecksComplete, 2 * time.Hour, ""},
	} {
		if got := RedChecks(c.checks, PolicyAt(c.checks, c.policy, noon.Add(c.after))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

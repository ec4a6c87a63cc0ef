package github

import (
	"testing"
	"time"
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
		want   string
		hidden bool
	}{
		"ours is pending":     {[]Check{run("a", "FAILURE"), own("")}, "1 a", false},
		"ours is red":         {[]Check{run("a", "SUCCESS"), own("FAILURE")}, "", true},
		"ours hides the end":  {[]Check{run("a", ""), own("")}, "", true},
		"ours hides nothing":  {[]Check{run("a", ""), own("SUCCESS")}, "", false},
		"ours alone":          {[]Check{own("")}, "", false},
		"a run of that name":  {[]Check{run("mergexo/review", "FAILURE")}, "1 mergexo/review", false},
		"none":                {nil, "", false},
		"all green":           {[]Check{run("a", "SUCCESS"), run("b", "SKIPPED"), run("c", "NEUTRAL")}, "", false},
		"red":                 {[]Check{run("b", "FAILURE"), run("a", "ERROR"), run("c", "SUCCESS")}, "1 a\n1 b", false},
		"some are running":    {[]Check{run("a", "FAILURE"), run("b", "")}, "", true},
		"running, none red":   {[]Check{run("a", ""), run("b", "SUCCESS")}, "", false},
		"cancelled by hand":   {[]Check{run("a", "CANCELLED")}, "", true},
		"waits for a person":  {[]Check{run("a", "ACTION_REQUIRED")}, "", true},
		"cancelled, one runs": {[]Check{run("a", "CANCELLED"), run("b", "")}, "", true},
		"red and cancelled":   {[]Check{run("a", "CANCELLED"), run("b", "FAILURE")}, "1 b", false},
	} {
		if got := Listed(Red(c.checks, noon)); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := HiddenByRollup(c.checks); got != c.hidden {
			t.Errorf("%s: hidden %v", name, got)
		}
	}
}

// The light query shows of checks the rollup's state alone. A stored state whose fingerprint is kept
// proves that nothing failed, and that none of those that are waited for ended: no other state of
// the checks with the same rollup has a red one or ended where this one has none or waits.
func TestFingerprintsOfChecksProveWhatIsDecidedByThem(t *testing.T) {
	var states [][]Check
	ends := []string{"", "SUCCESS", "SKIPPED", "NEUTRAL", "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE", "CANCELLED", "ACTION_REQUIRED", "STALE"}
	for _, a := range ends {
		for _, b := range append(ends, "none") {
			for _, ours := range []string{"none", "", "SUCCESS", "FAILURE", "ERROR"} {
				one := []Check{{ID: "1", Name: "a", Conclusion: a, Kind: "CheckRun"}}
				if b != "none" {
					one = append(one, Check{ID: "2", Name: "b", Conclusion: b, Kind: "CheckRun"})
				}
				if ours != "none" {
					one = append(one, Check{ID: "3", Name: "mergexo/review", Conclusion: ours, Kind: "StatusContext"})
				}
				states = append(states, one)
			}
		}
	}
	for what, red := range map[string]func([]Check) []Check{"failed": Failed, "failed, and all ended": func(all []Check) []Check { return Red(all, noon) }} {
		for _, stored := range states {
			if HiddenByRollup(stored) || len(red(stored)) > 0 {
				continue // read in each pass; or acted on, and then read again
			}
			for _, now := range states {
				if rollupOf(now) == rollupOf(stored) && len(red(now)) > 0 {
					t.Fatalf("%s: %v was stored; a light query cannot tell it from %v", what, stored, now)
				}
			}
		}
	}
}

// rollupOf is the state that GitHub shows of all checks of a commit.
func rollupOf(all []Check) string {
	state := "SUCCESS"
	for _, c := range all {
		switch c.Conclusion {
		case "SUCCESS", "SKIPPED", "NEUTRAL":
		case "":
			if state == "SUCCESS" {
				state = "PENDING"
			}
		default:
			state = "FAILURE"
		}
	}
	return state
}

// A check that never ends does not prevent fixing the red ones for long.
func TestRedChecksWaitForOthersAnHour(t *testing.T) {
	failed := Check{ID: "1", Name: "unit", Conclusion: "FAILURE", EndedAt: noon}
	hangs := Check{ID: "2", Name: "deploy"}
	for name, c := range map[string]struct {
		checks []Check
		after  time.Duration
		want   string
	}{
		"soon":             {[]Check{failed, hangs}, time.Hour, ""},
		"an hour later":    {[]Check{failed, hangs}, time.Hour + time.Second, "1 unit"},
		"nothing is red":   {[]Check{hangs}, 2 * time.Hour, ""},
		"all have ended":   {[]Check{failed}, 0, "1 unit"},
		"another, lately":  {[]Check{failed, {ID: "3", Name: "lint", Conclusion: "FAILURE", EndedAt: noon.Add(time.Hour)}, hangs}, 90 * time.Minute, ""},
		"no stamp is told": {[]Check{{ID: "1", Name: "unit", Conclusion: "FAILURE"}, hangs}, 2 * time.Hour, ""},
	} {
		if got := Listed(Red(c.checks, noon.Add(c.after))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

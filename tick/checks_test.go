package tick

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestRedChecks(t *testing.T) {
	run := func(name, conclusion string) github.Check {
		return github.Check{ID: "1", Name: name, Conclusion: conclusion, Kind: "CheckRun"}
	}
	for name, c := range map[string]struct {
		checks []github.Check
		policy work.ChecksPolicy
		want   string
		half   bool
	}{
		"none":                {nil, work.ChecksComplete, "", false},
		"all green":           {[]github.Check{run("a", "SUCCESS"), run("b", "SKIPPED"), run("c", "NEUTRAL")}, work.ChecksComplete, "", false},
		"red":                 {[]github.Check{run("b", "FAILURE"), run("a", "ERROR"), run("c", "SUCCESS")}, work.ChecksComplete, "1 a\n1 b", false},
		"some are running":    {[]github.Check{run("a", "FAILURE"), run("b", "")}, work.ChecksComplete, "", true},
		"the first counts":    {[]github.Check{run("a", "TIMED_OUT"), run("b", "")}, work.ChecksFirst, "1 a", true},
		"nobody is asked":     {[]github.Check{run("a", "FAILURE")}, work.ChecksNever, "", false},
		"running, none red":   {[]github.Check{run("a", ""), run("b", "SUCCESS")}, work.ChecksFirst, "", false},
		"cancelled by hand":   {[]github.Check{run("a", "CANCELLED")}, work.ChecksComplete, "", false},
		"waits for a person":  {[]github.Check{run("a", "ACTION_REQUIRED")}, work.ChecksComplete, "", false},
		"cancelled, one runs": {[]github.Check{run("a", "CANCELLED"), run("b", "")}, work.ChecksComplete, "", true},
		"red and cancelled":   {[]github.Check{run("a", "CANCELLED"), run("b", "FAILURE")}, work.ChecksComplete, "1 b", false},
	} {
		if got := redChecks(c.checks, c.policy); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := halfRed(c.checks); got != c.half {
			t.Errorf("%s: half red %v", name, got)
		}
	}
}

// A check that never ends keeps nobody from mending what is red for long.
func TestRedChecksWaitForOthersAnHour(t *testing.T) {
	failed := github.Check{ID: "1", Name: "unit", Conclusion: "FAILURE", EndedAt: noon}
	hangs := github.Check{ID: "2", Name: "deploy"}
	for name, c := range map[string]struct {
		checks []github.Check
		policy work.ChecksPolicy
		after  time.Duration
		want   string
	}{
		"soon":             {[]github.Check{failed, hangs}, work.ChecksComplete, time.Hour, ""},
		"an hour later":    {[]github.Check{failed, hangs}, work.ChecksComplete, time.Hour + time.Second, "1 unit"},
		"nobody is asked":  {[]github.Check{failed, hangs}, work.ChecksNever, 2 * time.Hour, ""},
		"nothing is red":   {[]github.Check{hangs}, work.ChecksComplete, 2 * time.Hour, ""},
		"all have ended":   {[]github.Check{failed}, work.ChecksComplete, 0, "1 unit"},
		"another, lately":  {[]github.Check{failed, {ID: "3", Name: "lint", Conclusion: "FAILURE", EndedAt: noon.Add(time.Hour)}, hangs}, work.ChecksComplete, 90 * time.Minute, ""},
		"no stamp is told": {[]github.Check{{ID: "1", Name: "unit", Conclusion: "FAILURE"}, hangs}, work.ChecksComplete, 2 * time.Hour, ""},
	} {
		if got := redChecks(c.checks, patient(c.checks, c.policy, noon.Add(c.after))); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// broken is an event about a head.
func broken(kind work.EventKind, head string, id int64) work.Event {
	e := said(kind, 2, head, work.Account{})
	e.ID, e.Body = id, "31 unit"
	return e
}

func snapshot(rollup, mergeable string) func(*View) {
	return func(v *View) {
		p := v.Pulls[10]
		p.Rollup, p.Mergeable = rollup, mergeable
		v.Pulls[10] = p
	}
}

func TestRouteOfChecksAndConflicts(t *testing.T) {
	check, conflict := broken(work.EventCheck, "aaa", 1), broken(work.EventConflict, "aaa", 2)
	off := func(v *View) { v.Policy.FeedbackLoop = false }
	never := func(v *View) { v.Policy.Checks = work.ChecksNever }
	for name, c := range map[string]struct {
		view     View
		kind     work.Kind // of the one turn; none
		events   int
		finished []string
	}{
		"red checks":            {scene(with(check), snapshot("FAILURE", "MERGEABLE")), work.KindFix, 1, nil},
		"a conflict":            {scene(with(conflict), snapshot("", github.Conflicting)), work.KindFix, 1, nil},
		"both at once":          {scene(with(check, conflict), snapshot("FAILURE", github.Conflicting)), work.KindFix, 2, nil},
		"an older head":         {scene(with(broken(work.EventCheck, "old", 1), broken(work.EventConflict, "old", 2)), snapshot("FAILURE", github.Conflicting)), "", 0, []string{"stale: the head moved on"}},
		"green by now":          {scene(with(check), snapshot("SUCCESS", "MERGEABLE")), "", 0, []string{"void: the checks are green by now"}},
		"left to people":        {scene(with(check), snapshot("FAILURE", "MERGEABLE"), never), "", 0, []string{`ignored: checks = "never"`}},
		"mergeable by now":      {scene(with(conflict), snapshot("", "MERGEABLE")), "", 0, nil},
		"GitHub does not know":  {scene(with(conflict), snapshot("", "UNKNOWN")), "", 0, nil},
		"the newest conflict":   {scene(with(conflict, broken(work.EventConflict, "aaa", 3)), snapshot("", github.Conflicting)), work.KindFix, 1, []string{"stale: the head moved on"}},
		"people first":          {scene(with(check, said(work.EventIssue, 2, "5", ann)), snapshot("FAILURE", "MERGEABLE")), work.KindImplementationFeedback, 1, nil},
		"blocked":               {scene(with(check), snapshot("FAILURE", "MERGEABLE"), state(work.StateBlocked)), "", 0, nil},
		"no feedback loop":      {scene(with(check), snapshot("FAILURE", "MERGEABLE"), off), "", 0, nil},
		"merged: nothing to do": {scene(with(check), pullIs(work.PullMerged)), "", 0, []string{"void: pull request #2 was merged"}},
	} {
		p := planRepo(c.view)
		var finished []string
		for _, f := range p.Finished {
			finished = append(finished, f.Outcome)
		}
		if !slices.Equal(finished, c.finished) {
			t.Errorf("%s: finished %q, want %q", name, finished, c.finished)
		}
		switch {
		case c.kind == "" && len(p.Turns) > 0, c.kind != "" && len(p.Turns) != 1:
			t.Errorf("%s: %d turns", name, len(p.Turns))
		case c.kind != "" && (p.Turns[0].Kind != c.kind || len(p.Turns[0].Events) != c.events):
			t.Errorf("%s: %s about %d events", name, p.Turns[0].Kind, len(p.Turns[0].Events))
		}
	}
}

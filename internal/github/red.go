package github

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// IsOurStatus reports whether a check is the commit status that reports our reviews. It does not
// test the change, so it is never counted.
func IsOurStatus(c Check) bool {
	return c.Kind == statusContext && strings.EqualFold(c.Name, review.StatusContext)
}

// withoutOurStatus returns the checks without our own status.
func withoutOurStatus(all []Check) []Check {
	return slices.DeleteFunc(slices.Clone(all), IsOurStatus)
}

// Failed returns the failed checks. One that was cancelled, waits for a person or never started is none of them:
// it says nothing about the code.
func Failed(all []Check) []Check {
	var failed []Check
	for _, c := range withoutOurStatus(all) {
		if slices.Contains([]string{"FAILURE", "ERROR", "TIMED_OUT"}, c.Conclusion) {
			failed = append(failed, c)
		}
	}
	return failed
}

// checkPatience is how long red checks wait for running ones, so that a check that never ends does
// not prevent fixing the red ones.
const checkPatience = time.Hour

// Red returns the failed checks once all have finished, or checkPatience after the last one failed.
func Red(all []Check, now time.Time) []Check {
	failed := Failed(all)
	running := slices.ContainsFunc(withoutOurStatus(all), func(c Check) bool { return c.Conclusion == "" })
	if since := LastEnd(failed); running && (since.IsZero() || now.Sub(since) <= checkPatience) {
		return nil
	}
	return failed
}

// LastEnd returns when the last of some checks ended.
func LastEnd(checks []Check) (at time.Time) {
	for _, c := range checks {
		if c.EndedAt.After(at) {
			at = c.EndedAt
		}
	}
	return at
}

// Listed returns id and name of each check, one per line.
func Listed(checks []Check) string {
	var lines []string
	for _, c := range checks {
		lines = append(lines, c.ID+" "+c.Name)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// HiddenByRollup reports whether a check may fail, or the last one end, without a change of the
// rollup's state, which is all that the light query shows of checks. The rollup stays red after a
// check that does not count as failed (cancelled, waiting for a person, our own status), and red or
// pending beside one that runs.
func HiddenByRollup(all []Check) bool {
	bad := func(c Check) bool {
		return !slices.Contains([]string{"", "SUCCESS", "SKIPPED", "NEUTRAL"}, c.Conclusion)
	}
	others := withoutOurStatus(all)
	ours := slices.ContainsFunc(all, func(c Check) bool { return IsOurStatus(c) && c.Conclusion != "SUCCESS" })
	if slices.ContainsFunc(others, func(c Check) bool { return c.Conclusion == "" }) {
		return ours || slices.ContainsFunc(others, bad)
	}
	return slices.ContainsFunc(all, bad) && len(Failed(all)) == 0
}

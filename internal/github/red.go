package github

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
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

// Red returns the failed checks; none while the policy waits for running ones. A check that was
// cancelled or waits for a person does not count as failed.
func Red(all []Check, policy work.ChecksPolicy) []Check {
	var failed []Check
	for _, c := range withoutOurStatus(all) {
		switch c.Conclusion {
		case "":
			if policy != work.ChecksFirst {
				return nil
			}
		case "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE":
			failed = append(failed, c)
		}
	}
	if policy == work.ChecksNever {
		return nil
	}
	return failed
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
	return slices.ContainsFunc(all, bad) && len(Red(all, work.ChecksFirst)) == 0
}

// RedChecks returns id and name of each red check of a head, one per line; "" if there are none.
func RedChecks(all []Check, policy work.ChecksPolicy) string {
	var lines []string
	for _, c := range Red(all, policy) {
		lines = append(lines, c.ID+" "+c.Name)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// RedSince returns when the last red check of a head failed.
func RedSince(all []Check, policy work.ChecksPolicy) (at time.Time) {
	for _, c := range Red(all, policy) {
		if c.EndedAt.After(at) {
			at = c.EndedAt
		}
	}
	return at
}

// checkPatience is how long red checks wait for running ones, so that a check that never ends does
// not prevent fixing the red ones.
const checkPatience = time.Hour

// PolicyAt returns the policy to apply now. It is ChecksFirst once a check has been red for
// checkPatience; before, it is the given policy.
func PolicyAt(all []Check, policy work.ChecksPolicy, now time.Time) work.ChecksPolicy {
	if policy != work.ChecksComplete || len(Red(all, policy)) > 0 {
		return policy
	}
	if since := RedSince(all, work.ChecksFirst); !since.IsZero() && now.Sub(since) > checkPatience {
		return work.ChecksFirst
	}
	return policy
}

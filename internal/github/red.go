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

// PartlyRed reports whether some checks have failed while others still run. The sweep shows only
// the rollup, which then stays red, and so does not show when the others end. Our own status has
// the same effect unless it is green.
func PartlyRed(all []Check) bool {
	bad := func(c Check) bool {
		return !slices.Contains([]string{"", "SUCCESS", "SKIPPED", "NEUTRAL"}, c.Conclusion)
	}
	runs := func(c Check) bool { return c.Conclusion == "" }
	masks := func(c Check) bool { return IsOurStatus(c) && c.Conclusion != "SUCCESS" }
	others := withoutOurStatus(all)
	return slices.ContainsFunc(others, runs) && (slices.ContainsFunc(others, bad) || slices.ContainsFunc(all, masks))
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

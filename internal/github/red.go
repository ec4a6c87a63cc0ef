package github

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// isOurStatus reports whether a check is the commit status that reports our reviews. It
// does not test the change, so nothing here counts it.
func isOurStatus(c Check) bool {
	return c.Kind == statusContext && strings.EqualFold(c.Name, review.StatusContext)
}

// Others are the checks without our own status.
func Others(all []Check) []Check {
	return slices.DeleteFunc(slices.Clone(all), isOurStatus)
}

// Red picks the checks that failed; none while the policy has us wait for
// others. One that was cancelled or waits for a person says nothing of the change.
func Red(all []Check, policy work.ChecksPolicy) []Check {
	var failed []Check
	for _, c := range Others(all) {
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

// HalfRed reports whether some checks have ended badly and others have not ended. The
// sweep shows only that the whole is red, which it stays. It hides the end of the others
// as well while our own status is not green.
func HalfRed(all []Check) bool {
	bad := func(c Check) bool {
		return !slices.Contains([]string{"", "SUCCESS", "SKIPPED", "NEUTRAL"}, c.Conclusion)
	}
	runs := func(c Check) bool { return c.Conclusion == "" }
	masks := func(c Check) bool { return isOurStatus(c) && c.Conclusion != "SUCCESS" }
	others := Others(all)
	return slices.ContainsFunc(others, runs) && (slices.ContainsFunc(others, bad) || slices.ContainsFunc(all, masks))
}

// RedChecks names the red checks of a head by id and name; empty for none.
func RedChecks(all []Check, policy work.ChecksPolicy) string {
	var lines []string
	for _, c := range Red(all, policy) {
		lines = append(lines, c.ID+" "+c.Name)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// RedSince is when the last of the red checks of a head failed.
func RedSince(all []Check, policy work.ChecksPolicy) (at time.Time) {
	for _, c := range Red(all, policy) {
		if c.EndedAt.After(at) {
			at = c.EndedAt
		}
	}
	return at
}

// checkPatience is how long red checks wait for others that have not ended: one that
// never ends keeps nobody from mending what is red.
const checkPatience = time.Hour

// Patient is the policy that holds by now.
func Patient(all []Check, policy work.ChecksPolicy, now time.Time) work.ChecksPolicy {
	if policy != work.ChecksComplete || len(Red(all, policy)) > 0 {
		return policy
	}
	if since := RedSince(all, work.ChecksFirst); !since.IsZero() && now.Sub(since) > checkPatience {
		return work.ChecksFirst
	}
	return policy
}

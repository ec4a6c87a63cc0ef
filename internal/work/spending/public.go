package spending

// What agents cost is the operator's business. It stands in reasons and in what
// commands answer, which status and show tell on this machine as well; so it is taken
// out where they are published, in one place, unless the config says otherwise.

import (
	"regexp"
	"strings"
)

var (
	// overAmount says that a budget of money or tokens is spent: what of it, and which.
	overAmount = regexp.MustCompile(`[^:;.\n]*?\b\d+(?:\.\d+)? (?:USD|tokens); (max_\w+) is \d+(?:\.\d+)?`)
	// soFar ends a list of what was spent.
	soFar = regexp.MustCompile(`,? ?\b\d+(?:\.\d+)?(?: of \d+(?:\.\d+)?)? (?:USD|tokens)\b`)
)

// Public is a text of ours as it may stand on GitHub, where spending may be told or not.
func Public(text string, spending bool) string {
	if spending {
		return text
	}
	text = overAmount.ReplaceAllStringFunc(text, func(clause string) string {
		lead := clause[:len(clause)-len(strings.TrimLeft(clause, " "))]
		return lead + overAmount.FindStringSubmatch(clause)[1] + " in the config is reached"
	})
	return soFar.ReplaceAllString(text, "")
}

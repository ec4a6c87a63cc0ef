package work

import (
	"strings"
)

// Beside is what is known of GitHub's own agent on a pull request of ours. Copilot works on one that it is assigned
// to. Two agents that fix one branch undo each other's work, so ours does not begin a fix there unless a person
// allows both.
type Beside struct {
	Assigned bool // Copilot is assigned
	Allowed  bool // a person lets both agents work
}

// Holds reports whether our agent begins no fix.
func (b Beside) Holds() bool { return b.Assigned && !b.Allowed }

// Reason returns why our agent begins no fix.
func (b Beside) Reason() Reason { return Reason{Kind: WhyOtherAgent, Text: "Copilot is assigned"} }

// IsCopilot reports whether a login is that of GitHub's own agent, in any of its spellings.
func IsCopilot(login string) bool {
	switch strings.TrimSuffix(strings.ToLower(login), "[bot]") {
	case "copilot", "copilot-swe-agent":
		return true
	}
	return false
}

// BesideToken returns the token of the comment on a pull request which says that our agent leaves
// fixes to GitHub's own.
func BesideToken(repo RepoKey, number int) string {
	return NoticeToken(repo, number, "beside another agent")
}

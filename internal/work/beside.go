package work

import (
	"strings"
	"time"
)

// Beside is what is known of GitHub's own agents on a pull request of ours. Copilot works on one
// that it is assigned to, and, with Agent Merge, on its red checks and conflicts. Two agents that fix
// one branch undo each other's work, so ours does not begin a fix there unless a person allows both.
type Beside struct {
	Assigned bool      // Copilot is assigned
	Merges   bool      // Agent Merge was on when GitHub was last asked
	LookAt   time.Time // when GitHub is asked whether Agent Merge is on; zero: nothing shows that it may be
	Allowed  bool      // a person lets both agents work
}

// Holds reports whether our agent begins no fix.
func (b Beside) Holds() bool { return (b.Assigned || b.Merges) && !b.Allowed }

// Reason returns why our agent begins no fix.
func (b Beside) Reason() Reason {
	why := Reason{Kind: WhyOtherAgent, Text: "Agent Merge is on"}
	if b.Assigned {
		why.Text = "Copilot is assigned"
	}
	return why
}

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

package explain

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Acceptance is a person's approval to continue from a head of a rewritten branch, without the lost
// commits.
type Acceptance struct {
	Pull int64  // pull_requests.id
	Head string // the commit
}

// Unblocked is the result of an `unblock` for the branch.
type Unblocked struct {
	Accept  Acceptance // zero: nothing must be accepted
	Said    string     // for the answer, a sentence: what was accepted; empty: nothing
	Refused string     // for the answer, sentences: why the item must not resume yet and what to do; empty: it may
}

// headName matches the head that a person may give.
var headName = lazy.Regexp(`^[0-9A-Fa-f]{7,40}$`)

// Unblock decides what `unblock [--head SHA]` does for an item's branch: work continues from the
// head that GitHub shows now. head has 7 to 40 hexadecimal digits; if it is set, the current head
// must match it. pull is the item's newest pull request; zero: none.
//
// If Refused is set, the caller answers with it and changes nothing. Otherwise it stores Accept,
// unless that is zero, and resumes the item as `retry` does. No commit is overwritten.
func Unblock(pull work.PullRequest, head string, at Place) Unblocked {
	switch {
	case head != "" && !headName().MatchString(head):
		return Unblocked{Refused: "The value of `--head` must be a commit id of 7 to 40 hexadecimal digits."}
	case pull.Number == 0 && head != "":
		return Unblocked{Refused: fmt.Sprintf("There is no pull request yet, so there is no head to resume from. Use %s without it.", at.Command(work.VerbUnblock, ""))}
	case pull.Number == 0:
		return Unblocked{}
	case pull.State == work.PullMerged:
		return Unblocked{Refused: fmt.Sprintf("Pull request #%d was merged; there is nothing to unblock.", pull.Number)}
	case pull.State == work.PullClosed:
		return Unblocked{Refused: fmt.Sprintf("Pull request #%d is closed. GitHub closes it when its branch `%s` is deleted: "+
			"restore the branch on the pull request and reopen it, and the work resumes.", pull.Number, pull.Branch)}
	case !strings.HasPrefix(pull.HeadOID, strings.ToLower(head)):
		return Unblocked{Refused: OtherHead(pull, at, work.VerbUnblock, "resumes from there")}
	case !pull.Rewritten():
		return Unblocked{}
	}
	return Unblocked{
		Accept: Acceptance{Pull: pull.ID, Head: pull.HeadOID},
		Said:   fmt.Sprintf("The work resumes from %s, the head of `%s` now; the former commits of the branch are not restored.", pull.HeadOID, pull.Branch),
	}
}

// OtherHead refuses a command that names another commit than the head: it says what the head is, and what the command
// does for that.
func OtherHead(pull work.PullRequest, at Place, verb work.Verb, does string) string {
	is, check := "is "+pull.HeadOID, "Check the new commits; "
	if at.Item != "" { // nobody asks GitHub now
		is = fmt.Sprintf("was %s at the last pass (%s)", pull.HeadOID, work.UTC(at.ReadAt))
		check = "If yours is newer, run gh mergexo tick, then try again. Otherwise check the new commits; "
	}
	return fmt.Sprintf("The head of `%s` %s, not that commit, so nothing was done. %s%s %s.", pull.Branch, is, check, at.Command(verb, "--head "+work.Short(pull.HeadOID)), does)
}

// NeedsUnblock returns why `retry` must not resume an item whose branch was rewritten, as a
// sentence for the answer; empty: it may. pull is as in Unblock.
func NeedsUnblock(pull work.PullRequest, at Place) string {
	if !pull.Rewritten() {
		return ""
	}
	return fmt.Sprintf("The branch `%s` was rewritten: %s is not in its history any more. Check the branch; %s resumes from there.",
		pull.Branch, work.Short(pull.LostOID), at.Command(work.VerbUnblock, ""))
}

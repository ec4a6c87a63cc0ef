package rewritten

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// Acceptance is a person's word that the work resumes from a head of a branch
// that was rewritten, without what the branch lost.
type Acceptance struct {
	Pull int64  // pull_requests.id
	Head string // the commit
}

// Unblocked is what an `unblock` comes to, as far as the branch is concerned.
type Unblocked struct {
	Accept  Acceptance // of a branch that was rewritten; zero where nothing is to be accepted
	Said    string     // what was accepted, in a sentence for the answer; empty where nothing was
	Refused string     // why nothing may resume yet and what to do, in sentences for the answer; empty where all may
}

// headName is what a person may give as the head that is meant.
var headName = lazy.Regexp(`^[0-9A-Fa-f]{7,40}$`)

// Unblock decides what `unblock [--head SHA]` says about an item's branch: the
// head that GitHub shows now is what is worked on from here, whatever it
// replaced. With a head (7 to 40 hexadecimal digits; "" without) that holds only
// while it is the one. pull is the item's newest pull request, zero without one.
//
// Who calls it answers with Refused and leaves all as it is, if that is set.
// Otherwise it stores Accept, unless it is zero, and lets the
// item resume as `retry` does. Nothing is overwritten in any case.
func Unblock(pull work.PullRequest, head string, at explain.Place) Unblocked {
	switch {
	case head != "" && !headName().MatchString(head):
		return Unblocked{Refused: "What stands after `--head` must be the id of a commit, 7 to 40 hexadecimal digits."}
	case pull.Number == 0 && head != "":
		return Unblocked{Refused: fmt.Sprintf("There is no pull request yet, so there is no head to resume from. %s alone resumes.", at.Command(command.VerbUnblock, ""))}
	case pull.Number == 0:
		return Unblocked{}
	case pull.State == work.PullMerged:
		return Unblocked{Refused: fmt.Sprintf("Pull request #%d was merged; there is nothing to unblock.", pull.Number)}
	case pull.State == work.PullClosed:
		return Unblocked{Refused: fmt.Sprintf("Pull request #%d is closed. GitHub closes it when its branch `%s` is deleted: "+
			"restore the branch on the pull request and reopen it, and the work resumes.", pull.Number, pull.Branch)}
	case !strings.HasPrefix(pull.HeadOID, strings.ToLower(head)):
		return Unblocked{Refused: fmt.Sprintf("The head of `%s` is %s, not that commit. "+
			"Look at what was pushed; %s resumes from there.", pull.Branch, pull.HeadOID, at.Command(command.VerbUnblock, "--head "+work.Short(pull.HeadOID)))}
	case !pull.Rewritten():
		return Unblocked{}
	}
	return Unblocked{
		Accept: Acceptance{Pull: pull.ID, Head: pull.HeadOID},
		Said:   fmt.Sprintf("The work resumes from %s, the head of `%s` now; what the branch held before is not brought back.", pull.HeadOID, pull.Branch),
	}
}

// NeedsUnblock says why `retry` does not let an item resume whose branch was
// rewritten, in a sentence for the answer; empty where it may. pull is as for
// unblock.
func NeedsUnblock(pull work.PullRequest, at explain.Place) string {
	if !pull.Rewritten() {
		return ""
	}
	return fmt.Sprintf("The branch `%s` was rewritten: %s is not in its history any more. Look at what it is now; %s resumes from there.",
		pull.Branch, work.Short(pull.LostOID), at.Command(command.VerbUnblock, ""))
}

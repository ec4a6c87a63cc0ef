package work

import "cmp"

// RequiredAncestor returns the newest turn that worked on a branch, and the commit that it left or
// found there. The branch must have this commit in its history. Turns that never ran do not count,
// because they did not read the branch.
func RequiredAncestor(turns []Turn, branch string, but int64) (oid string, of Turn) {
	for _, t := range turns {
		if t.ID > of.ID && t.ID != but && t.Branch == branch && t.Runs > 0 {
			of = t
		}
	}
	switch of.Step {
	case StepPushed, StepApplied, StepDone:
		return cmp.Or(of.Commit, of.Head), of
	case StepClaimed, StepAnswered, StepSuperseded, StepFailed, StepCancelled:
	}
	return of.Head, of
}

// AcceptedHead returns the head that a person accepted for a branch without the lost commit; empty:
// none.
func AcceptedHead(pull PullRequest, lost string) string {
	if pull.LostOID == lost {
		return pull.AcceptedOID
	}
	return ""
}

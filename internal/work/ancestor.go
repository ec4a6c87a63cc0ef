package work

import "cmp"

// RequiredAncestor is the newest turn that worked on a branch, and the commit that it
// left or found there: what the branch must have in its history. A turn that
// never ran found out nothing about the branch.
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

// AcceptedHead is the head that a person accepted for a branch without the commit;
// empty when nobody did.
func AcceptedHead(pull PullRequest, lost string) string {
	if pull.LostOID == lost {
		return pull.AcceptedOID
	}
	return ""
}

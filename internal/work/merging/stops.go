package merging

import "github.com/mergexo/gh-mergexo/internal/work"

// Stops reports whether a work item that is stopped for a reason is so because its pull
// request is not merged: it resumes once nothing stops the merge any more.
func Stops(k work.ReasonKind) bool {
	switch k { //nolint:exhaustive // no other does
	case work.WhyMergeNeverChecked, work.WhyMergeChecksHidden, work.WhyMergeMethod, work.WhyMergeReviewRequired, work.WhyMergeLastPush,
		work.WhyMergeBlocked, work.WhyMergePermission, work.WhyMergeChecksRed:
		return true
	}
	return Stays(k)
}

// Stays reports whether a reason is one that an attempt to merge has come to, and that
// no look at GitHub tells: nothing but a person or another head lifts it.
func Stays(k work.ReasonKind) bool {
	switch k { //nolint:exhaustive // no other does
	case work.WhyMergeHalf, work.WhyMergeRefused, work.WhyMergeOtherBase, work.WhyMergeQueueOut, work.WhyMergeDiffers:
		return true
	}
	return false
}

package review

// Voice is how GitHub is told a verdict: the event of the review, and whether the
// verdict counts there.
type Voice struct {
	Event string // APPROVE, REQUEST_CHANGES or COMMENT, as the API has it
	Real  bool   // it counts on GitHub; else the commit status alone tells it
}

// VoiceOf chooses it. GitHub refuses both verdicts on one's own pull request; and whoever
// may not approve must not request changes, which would hold it up for ever.
func VoiceOf(authorID, reviewerID int64, mayApprove bool, d Decision) Voice {
	switch {
	case authorID == reviewerID || !mayApprove:
		return Voice{Event: "COMMENT"}
	case d == Approve:
		return Voice{Event: "APPROVE", Real: true}
	}
	return Voice{Event: "REQUEST_CHANGES", Real: true}
}

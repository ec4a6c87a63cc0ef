package review

// Voice is how a verdict is posted on GitHub.
type Voice struct {
	Event string // APPROVE, REQUEST_CHANGES or COMMENT, as the API has it
	Real  bool   // the verdict counts on GitHub; otherwise only the commit status shows it
}

// VoiceOf chooses how to post a verdict. GitHub refuses verdicts on one's own pull request. An
// account that may not approve must not request changes either, because it could never clear that.
func VoiceOf(authorID, reviewerID int64, mayApprove bool, d Decision) Voice {
	switch {
	case authorID == reviewerID || !mayApprove:
		return Voice{Event: "COMMENT"}
	case d == Approve:
		return Voice{Event: "APPROVE", Real: true}
	}
	return Voice{Event: "REQUEST_CHANGES", Real: true}
}

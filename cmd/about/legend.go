package about

import (
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// causeMeans explains what moves a work item.
var causeMeans = map[work.Cause]string{
	work.CauseLabelled:   "a flow's label was set, or the flow's command given",
	work.CausePromoted:   "its design was merged",
	work.CauseClaimed:    "a turn of it was claimed",
	work.CauseAnswered:   "a turn ended, and its pull request is open",
	work.CauseAsked:      "an agent asks a person",
	work.CauseStopped:    "a turn cannot continue without a person, or must not",
	work.CausePutBack:    "a turn was superseded before its first effect",
	work.CauseCancelled:  "the result of the turn is no longer needed",
	work.CauseResumed:    "a person answered, commented or gave a command, or what stopped the item is over",
	work.CausePullMerged: "somebody merged the pull request",
	work.CausePullClosed: "somebody closed the pull request",
	work.CauseReopened:   "the pull request was reopened",
	work.CauseWithdrawn:  "the issue was closed, its label was removed, or cancelled by command",
	work.CauseFulfilled:  "the design's implementation was merged, or its document has the status implemented",
	work.CauseAdopted:    "found on GitHub after the database was lost",
}

// eventMeans explains what moves the reviews of a pull request.
var eventMeans = map[review.Event]string{
	review.EventOpened:    "reviewers are configured for it",
	review.EventDue:       "the next review is due",
	review.EventApproved:  "the reviewer approves",
	review.EventRejected:  "a reviewer requests changes",
	review.EventComplete:  "everybody has approved this head",
	review.EventWanting:   "not everybody has approved this head",
	review.EventPushed:    "the head moved",
	review.EventFixed:     "our fix was pushed",
	review.EventUnfixed:   "a fix changed nothing, or asks a person",
	review.EventExhausted: "max_fix_cycles is used up, or the same findings came again",
	review.EventTakenBack: "a person dismissed the verdict on this head",
	review.EventFailed:    "a review or a fix failed for good",
	review.EventRetried:   "a person retried by command",
	review.EventDecided:   "a reviewer gave a verdict after the stop",
	review.EventMerged:    "somebody merged the pull request",
	review.EventClosed:    "somebody closed the pull request",
	review.EventReopened:  "the pull request was reopened",
	review.EventOff:       "the config has no reviewers for it any more",
}

// roadmapMeans explains what moves a merged roadmap.
var roadmapMeans = map[roadmap.Event]string{
	roadmap.EventMerged:    "a document without faults was merged",
	roadmap.EventFaulty:    "the merged document has faults",
	roadmap.EventRefused:   "GitHub refused a part of it, or a part was given up after too many attempts",
	roadmap.EventRetried:   "a person retried by command",
	roadmap.EventUnfolded:  "the sub-issue of each node has its edges and its label",
	roadmap.EventCancelled: "a person cancelled it by command",
	roadmap.EventDeleted:   "a person deleted or transferred its issue",
	roadmap.EventEnded:     "all sub-issues are closed, or nothing is left to cancel",
}

// stepMeans explains what moves a node of a roadmap.
var stepMeans = map[string]string{
	"listed":     "a merged document has the node",
	"opened":     "its sub-issue was opened, without a label",
	"labelled":   "its edges were set, then its flow's label, so that work begins",
	"removed":    "a newer document lacks it",
	"taken away": "a person deleted or transferred the sub-issue, or took it out of the roadmap's issue: it is not made again",
}

// mergeSteps are the stages of a merge by gh mergexo. They are listed here, because no transition
// table decides them: the result of a request is read from GitHub.
func mergeSteps() []step {
	chosen, refused := "all gates are open, and it is next", "the request was not sent, or GitHub refused it: the next pass decides again"
	steps := []struct {
		from       merging.Stage
		cause      string
		to         merging.Stage
		whatItSays string
	}{
		{"", "chosen", merging.Intended, chosen},
		{merging.Void, "chosen", merging.Intended, chosen},
		{merging.Intended, "queued", merging.Queued, "it is in the merge queue of the base"},
		{merging.Intended, "on the base", merging.Half, "its commit is on the base, and GitHub still shows the pull request as open"},
		{merging.Queued, "on the base", merging.Half, "its commit is on the base, and GitHub still shows the pull request as open"},
		{merging.Intended, "merged", merging.Landed, "GitHub shows it as merged, and the landed commit was read"},
		{merging.Queued, "merged", merging.Landed, "GitHub shows it as merged, and the landed commit was read"},
		{merging.Half, "merged", merging.Landed, "GitHub shows it as merged, and the landed commit was read"},
		{merging.Intended, "refused", merging.Void, refused},
		{merging.Queued, "taken out", merging.Void, "it left the merge queue: gh mergexo, a person or the queue removed it"},
		{merging.Landed, "", "", ""},
	}
	all := make([]step, len(steps))
	for i, s := range steps {
		all[i] = step{string(s.from), s.cause, string(s.to), s.whatItSays}
	}
	return all
}

package work

import "time"

// ActionKind is a kind of outbound effect; each has one file in actions/.
type ActionKind string

// The kinds of action.
const (
	ActionPush        ActionKind = "push"
	ActionPullRequest ActionKind = "pull_request"
	ActionReply       ActionKind = "reply"       // to a review comment, in its thread
	ActionComment     ActionKind = "comment"     // on an issue's or pull request's conversation
	ActionResolve     ActionKind = "resolve"     // a review thread
	ActionReaction    ActionKind = "reaction"    // eyes
	ActionRemove      ActionKind = "remove"      // a second copy of a comment of ours
	ActionIssue       ActionKind = "issue"       // for a flaky test
	ActionRerun       ActionKind = "rerun"       // the failed jobs of a workflow run
	ActionSticky      ActionKind = "sticky"      // a comment that is kept up to date; renewed
	ActionLabels      ActionKind = "labels"      // that an issue or pull request has, and has not; renewed
	ActionRepoLabels  ActionKind = "repo_labels" // that a repository has; what it lacks is made
	ActionFlow        ActionKind = "flow"        // the label that begins an issue's work, set again, or none; repeated
	ActionClose       ActionKind = "close"       // a pull request of ours

	ActionReview        ActionKind = "review"         // a reviewer's, with its comments
	ActionStatus        ActionKind = "status"         // a commit status: what the reviews of a head have come to; renewed
	ActionDismiss       ActionKind = "dismiss"        // a review of ours, of a head that moved: taken back, or marked so
	ActionReviewRequest ActionKind = "review_request" // asks a person for a review

	ActionMerge        ActionKind = "merge"         // a pull request of ours, at the head that was approved
	ActionEnqueue      ActionKind = "enqueue"       // the same, through its base's merge queue
	ActionDequeue      ActionKind = "dequeue"       // takes it out of that queue
	ActionUpdateBranch ActionKind = "update_branch" // brings its branch up to date with the base
	ActionDeleteBranch ActionKind = "delete_branch" // of a pull request that we merged
	ActionRevert       ActionKind = "revert"        // opens the pull request that takes a merge of ours back
)

// Merging reports whether an action is part of merging a pull request: nothing else
// sends it.
func (k ActionKind) Merging() bool {
	switch k { //nolint:exhaustive // no other is
	case ActionMerge, ActionEnqueue, ActionDequeue, ActionUpdateBranch, ActionDeleteBranch, ActionRevert:
		return true
	}
	return false
}

// StickyEdit is the Base of a sticky comment that is only to be edited: where there
// is none, none is made.
const StickyEdit = "edit"

// Need says what an action's failure means for its turn.
type Need string

// The needs. A void action was required once; what it was for is gone.
const (
	NeedRequired Need = "required"
	NeedCosmetic Need = "cosmetic"
)

// ActionState says what has already happened to an action.
type ActionState string

// The states of an action. An action that is Sent may or may not be on GitHub:
// it is looked for before it is sent again.
const (
	ActionPlanned ActionState = "planned"
	ActionSent    ActionState = "sent"
	ActionApplied ActionState = "applied"
	ActionVoid    ActionState = "void"
	ActionDropped ActionState = "dropped" // cosmetic, and given up
)

// Settled reports whether nothing is left to do for the action.
func (s ActionState) Settled() bool {
	switch s {
	case ActionApplied, ActionVoid, ActionDropped:
		return true
	case ActionPlanned, ActionSent:
		return false
	}
	return false
}

// Action is one outbound effect. Its row exists before its request.
type Action struct {
	ID       int64
	RepoID   int64
	TurnID   int64 // 0 for a notice
	ItemID   int64 // 0 when it belongs to none
	Position int   // order within the turn
	Kind     ActionKind
	Need     Need
	Token    string // unique; what the action is for, never its wording
	State    ActionState

	Number int       // issue or pull request
	Target string    // comment id, thread id, branch, workflow run, labels to be there, method of a merge: by kind
	On     EventKind // reaction: which kind of comment Target is
	Title  string    // pull request, issue
	Body   string    // with its markers. labels: what is known of those that may have to be made
	Base   string    // pull request: base branch. push: expected old head, empty for a new branch. rerun: the attempt so far. labels: those not to be there. sticky: StickyEdit or empty
	Head   string    // pull request: head branch. push: the commit. rerun: the commit whose checks it runs
	Extra  string    // review: its comments, as JSON
	Why    string    // for people: what it answers

	Sends     int // how often it was sent, counted before each send; since it was renewed
	Made      int // sticky: how many of its sends may each have made a comment
	Renewals  int // how often its content was replaced by a newer one
	ResultID  string
	ResultURL string
	PlannedAt time.Time
	SentAt    time.Time
	SeenAt    time.Time
	NotBefore time.Time
	LastError string
}

package work

import (
	"fmt"
	"strings"
	"time"
)

// ActionKind is a kind of outbound effect; each has one file in actions/.
type ActionKind string

// The kinds of action.
const (
	ActionPush        ActionKind = "push"
	ActionPullRequest ActionKind = "pull_request"
	ActionReply       ActionKind = "reply"       // to a review comment, in its thread
	ActionComment     ActionKind = "comment"     // on an issue's or pull request's conversation
	ActionResolve     ActionKind = "resolve"     // a review thread
	ActionReaction    ActionKind = "reaction"    // a reaction of eyes
	ActionRemove      ActionKind = "remove"      // deletes a duplicate of our own comment
	ActionIssue       ActionKind = "issue"       // for a flaky test
	ActionRerun       ActionKind = "rerun"       // reruns the failed jobs of a workflow run
	ActionSticky      ActionKind = "sticky"      // a comment that is kept up to date; renewed
	ActionLabels      ActionKind = "labels"      // sets and removes labels of an issue or pull request; renewed
	ActionRepoLabels  ActionKind = "repo_labels" // creates labels that a repository lacks
	ActionFlow        ActionKind = "flow"        // sets or removes the label that starts an issue's flow; repeated
	ActionClose       ActionKind = "close"       // closes a pull request of ours
	ActionReady       ActionKind = "ready"       // marks a draft of ours as ready for review

	ActionChild      ActionKind = "child"       // opens the sub-issue of a roadmap's node, without a label
	ActionBlock      ActionKind = "block"       // makes an issue blocked by another one, or ends that
	ActionEditPull   ActionKind = "edit_pull"   // replaces title and text of a pull request of ours that nobody edited
	ActionEditIssue  ActionKind = "edit_issue"  // replaces title and text of an issue of ours that nobody edited
	ActionCloseIssue ActionKind = "close_issue" // closes an issue, as completed or as not planned

	ActionReview        ActionKind = "review"         // a reviewer's review, with its comments
	ActionStatus        ActionKind = "status"         // a commit status with the result of a head's reviews; renewed
	ActionDismiss       ActionKind = "dismiss"        // dismisses our review of a former head, or marks it as outdated
	ActionReviewRequest ActionKind = "review_request" // asks a person for a review

	ActionMerge        ActionKind = "merge"         // merges a pull request of ours, at the approved head
	ActionEnqueue      ActionKind = "enqueue"       // adds it to its base's merge queue, at the approved head
	ActionDequeue      ActionKind = "dequeue"       // removes it from that queue
	ActionUpdateBranch ActionKind = "update_branch" // updates its branch from the base
)

// actionWords name the kinds for people.
var actionWords = map[ActionKind]string{
	ActionPush: "push", ActionPullRequest: "pull request", ActionReply: "answer", ActionComment: "comment", ActionResolve: "resolved thread", ActionReaction: "reaction",
	ActionRemove: "deleted comment", ActionIssue: "issue", ActionRerun: "new run of checks", ActionSticky: "status comment", ActionLabels: "labels",
	ActionRepoLabels: "labels of the repository", ActionFlow: "label that starts work", ActionClose: "closed pull request", ActionReady: "mark as ready for review",
	ActionChild: "issue", ActionBlock: "what blocks it", ActionEditPull: "edited pull request", ActionEditIssue: "edited issue", ActionCloseIssue: "closed issue",
	ActionReview: "review", ActionStatus: "commit status", ActionDismiss: "dismissed review", ActionReviewRequest: "review request",
	ActionMerge: "merge", ActionEnqueue: "place in the merge queue", ActionDequeue: "removal from the merge queue", ActionUpdateBranch: "updated branch",
}

// Words names the kind for people.
func (k ActionKind) Words() string { return actionWords[k] }

// Merging reports whether the action is part of merging a pull request. Only the merge step sends
// those.
func (k ActionKind) Merging() bool {
	switch k { //nolint:exhaustive // no other is
	case ActionMerge, ActionEnqueue, ActionDequeue, ActionUpdateBranch:
		return true
	}
	return false
}

// StickyEdit is the Base of a sticky comment that may be edited but not created.
const StickyEdit = "edit"

// Reasons for closing an issue, as GitHub names them: the Target of ActionCloseIssue.
const (
	CloseCompleted  = "completed"
	CloseNotPlanned = "not_planned"
)

// AsDraft is the Extra of a pull request that is opened as a draft.
const AsDraft = "draft"

// BlockRemove is the Base of a block that ends that an issue is blocked.
const BlockRemove = "remove"

// Need says what an action's failure means for its turn.
type Need string

// The needs. A void action was required; its target is gone.
const (
	NeedRequired Need = "required"
	NeedCosmetic Need = "cosmetic"
)

// ActionState is how far an action has come.
type ActionState string

// The states of an action. A sent action may be on GitHub: it is looked for before it is sent
// again.
const (
	ActionPlanned ActionState = "planned"
	ActionSent    ActionState = "sent"
	ActionApplied ActionState = "applied"
	ActionVoid    ActionState = "void"
	ActionDropped ActionState = "dropped" // cosmetic, and given up
)

// Settled reports whether the action needs no more work.
func (s ActionState) Settled() bool {
	switch s {
	case ActionApplied, ActionVoid, ActionDropped:
		return true
	case ActionPlanned, ActionSent:
		return false
	}
	return false
}

// Ending is why an action became void, where something depends on that.
type Ending string

// The endings. An action that is void without one is not needed any more.
const (
	EndedGone        Ending = "gone"        // what it is about was deleted, or is hidden from this account
	EndedRefused     Ending = "refused"     // GitHub refuses it for good
	EndedTransferred Ending = "transferred" // a person moved the issue that it opened to another repository
	EndedEdited      Ending = "edited"      // a person edited what it would replace
	EndedMerged      Ending = "merged"      // the pull request that it would close was merged
)

// Action is one outbound effect. Its row is stored before its request is sent.
type Action struct {
	ID       int64
	RepoID   int64
	TurnID   int64 // 0 for a notice
	ItemID   int64 // 0: it belongs to no item
	Position int   // order in the turn
	Kind     ActionKind
	Need     Need
	Token    string // unique; made of the purpose, never of the text
	State    ActionState

	Number int       // issue or pull request. child: the roadmap's issue. block: the blocked issue
	Target string    // by kind: comment id, thread id, branch, workflow run, labels to set, merge method, node of a roadmap, the issue that blocks (Dependency.String), reason for closing
	On     EventKind // reaction: the kind of comment that Target is
	Title  string    // pull request, issue, child, edit_issue. close: the sentences of an answer that say so
	Body   string    // includes its markers. labels: color and description of labels that may have to be created
	Base   string    // pull request: base branch. push: expected old head, empty for a new branch. rerun: the attempt so far. labels: labels to remove. sticky: StickyEdit or empty. block: BlockRemove or empty. edit_issue: IssueHash of what it replaces
	Head   string    // pull request: head branch. push: the commit. rerun: the commit whose checks are rerun
	Extra  string    // pull request: AsDraft or empty. review: its comments, as JSON. merge, enqueue, update: kind of what it waits for after a refusal. review request: verdicts for other bases. flow, block: the roadmap's issue above. close: the sentences of an answer that are true only if it is closed
	Why    string    // for people: what the action answers

	Sends     int // number of sends since it was planned or renewed, counted before each send
	Made      int // sticky: number of sends that may each have created a comment
	Renewals  int // number of times newer content replaced its content
	ResultID  string
	ResultURL string
	PlannedAt time.Time
	SentAt    time.Time
	SeenAt    time.Time
	NotBefore time.Time
	LastError string
	Ending    Ending // of a void one
}

// Followup reports whether a child is no node of a roadmap, but a follow-up that a person has opened.
func (a Action) Followup() bool { return a.Kind == ActionChild && a.Target == "" }

// ResultOf stands in an answer for the issue that the action with this token opens, until that
// action is settled.
func ResultOf(token string) string { return "{issue of " + token + "}" }

// WithResult puts into an answer what became of a settled action that opens an issue, to the end of
// the sentence, or that closes a pull request.
func WithResult(answer string, a Action) string {
	if a.Ending == EndedMerged {
		if a.Extra != "" {
			answer = strings.Replace(answer, " "+a.Extra, "", 1)
		}
		return strings.Replace(answer, a.Title, fmt.Sprintf("Pull request #%d was merged before it could be closed.", a.Number), 1)
	}
	opened := "#" + a.ResultID + ". It has no label, so nobody works on it until somebody sets one."
	if a.State != ActionApplied || a.ResultID == "" {
		opened = "not opened, because GitHub refused it: the log of the machine that runs gh mergexo says why. The same command tries it again."
	}
	return strings.ReplaceAll(answer, ResultOf(a.Token), opened)
}

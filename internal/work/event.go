package work

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// EventKind is the kind of an inbound fact.
type EventKind string

// The kinds of event.
const (
	EventReview   EventKind = "review"   // a diff comment on a pull request
	EventIssue    EventKind = "issue"    // a conversation comment on a pull request
	EventSummary  EventKind = "summary"  // a review's body and state
	EventSource   EventKind = "source"   // a comment on the source issue
	EventCheck    EventKind = "check"    // the head's checks have finished, and some are red
	EventConflict EventKind = "conflict" // the head has conflicts with its base
	EventHead     EventKind = "head"     // the pull request's head moved
	EventMerged   EventKind = "merged"
	EventClosed   EventKind = "closed"
	EventReopened EventKind = "reopened"
	EventLabelled EventKind = "labelled"
	EventReplan   EventKind = "replan"  // a merged roadmap is to change; its text says why
	EventCommand  EventKind = "command" // a command to gh mergexo, on an issue or a pull request

	EventReviewDue EventKind = "review_due" // a reviewer must review a head (internal/work/review)
	EventFixDue    EventKind = "fix_due"    // a reviewer's findings must be fixed
)

// IsComment reports whether a person wrote the event and a turn must answer it.
func (k EventKind) IsComment() bool {
	switch k {
	case EventReview, EventIssue, EventSummary, EventSource:
		return true
	case EventCheck, EventConflict, EventHead, EventMerged, EventClosed, EventReopened, EventLabelled, EventCommand,
		EventReviewDue, EventFixDue, EventReplan:
		return false
	}
	return false
}

// Written reports whether a person wrote the event, for an agent or as a command.
func (k EventKind) Written() bool { return k.IsComment() || k == EventCommand }

// Event is one inbound fact about one issue or pull request.
type Event struct {
	ID     int64 // id in the database
	RepoID int64
	ItemID int64  // its work item; 0: none
	Key    string // see EventKey; unique within a repository
	Number int    // the issue or pull request it is on
	Kind   EventKind
	Source string // id by kind: comment id, review id, timeline event id, head oid
	Hash   string // ContentHash of its content

	Node      string // GitHub's id of the comment or review
	Author    Account
	Body      string
	State     string // review, summary: COMMENTED, CHANGES_REQUESTED or APPROVED; labelled: the label's name; command: the kind that the comment would have without the command
	URL       string
	Review    int64  // review: id of its review, whose state is State
	ThreadTop int64  // review: id of the thread's first comment
	Path      string // review: the file
	Line      int    // review: the line; 0 when outdated or on the file
	DiffHunk  string // review

	CreatedAt time.Time // GitHub's
	UpdatedAt time.Time // GitHub's; not reliable, reactions change it
	SeenAt    time.Time // ours

	TurnID      int64     // the turn that answers it; 0: none yet
	ProcessedAt time.Time // zero until done
	Outcome     string    // why it is processed: "answered", "ignored: bot", …
}

// EventKey is the key of an event within its repository:
// {number}:{kind}:{id}:{hash}.
func EventKey(number int, kind EventKind, id, hash string) string {
	return fmt.Sprintf("%d:%s:%s:%s", number, kind, id, hash)
}

// EventOfKey returns the fields of an event that its key contains. It returns false if the key is
// malformed.
func EventOfKey(key string) (Event, bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 4 {
		return Event{}, false
	}
	number, err := strconv.Atoi(parts[0])
	return Event{Key: key, Number: number, Kind: EventKind(parts[1]), Source: parts[2], Hash: parts[3]}, err == nil
}

// EventKeys returns the events' keys, in order.
func EventKeys(events []Event) []string {
	keys := make([]string, len(events))
	for i, e := range events {
		keys[i] = e.Key
	}
	return keys
}

// StampOf returns when a version of a comment was written. A reaction may change it; people rarely
// react to a command before a pass sees it.
func StampOf(e Event) time.Time {
	if e.UpdatedAt.After(e.CreatedAt) {
		return e.UpdatedAt
	}
	return e.CreatedAt
}

// SaidLocally is the kind of a command from the command line. Its answer was printed there.
const SaidLocally = "cli"

// CommentID returns the id of an event's comment; 0: it has none.
func CommentID(e Event) int64 {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// NewIssueComments returns the comments among a turn's events that no earlier turn had.
func NewIssueComments(events []Event, cursor int64) []Event {
	var out []Event
	for _, e := range events {
		if e.Kind == EventSource && e.ID > cursor {
			out = append(out, e)
		}
	}
	sorted.By(out, func(a, b Event) int { return int(CommentID(a) - CommentID(b)) })
	return out
}

// EventIDs returns the events' row ids, in order.
func EventIDs(events []Event) []int64 {
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// StartsItem reports whether an event asks for the item's start turn.
func StartsItem(item Item, e Event) bool {
	return e.Kind == EventLabelled || e.Kind == EventReplan ||
		e.Kind == EventMerged && item.Flow == FlowImplementation && e.Number == item.Number
}

// OutcomeShelved is for events that wait until a person says more.
const OutcomeShelved = "blocked"

// OutcomeRefused begins the outcome of a command that did nothing, or the reason of the answer to it.
const OutcomeRefused = "refused: "

// Outcomes of events. A void event is obsolete: its subject was merged, closed or removed.
const (
	OutcomeAnswered   = "answered"
	OutcomeRedirected = "redirected"
	OutcomeVoid       = "void: "
	OutcomeResolved   = "ignored: its thread is resolved" // until the thread is reopened
)

// ReasonGone ends a turn whose comments were all deleted or resolved while it ran.
const ReasonGone = "what it was to answer is gone"

// ReasonClosed ends what was to be done about a pull request that people closed. Its red checks count
// again once it is open again.
const ReasonClosed = "the pull request was " + string(PullClosed)

// OutcomeNoCommander is for commands by people without the permission to give them.
const OutcomeNoCommander = "ignored: command by an author without write permission"

// OutcomeNoLabeller is for labels that start nothing because of who set them.
const OutcomeNoLabeller = "ignored: label set by somebody without triage permission"

// OutcomeOwnEdited is for our own comments that a person edited.
const OutcomeOwnEdited = "ignored: our own, edited by a person"

// OutcomeOwn is for our own comments.
const OutcomeOwn = "ignored: our own"

// OutcomeOthers is for comments of another installation, under its own account. Only installations
// end a comment with our marker. Two that answered each other would never stop.
const OutcomeOthers = "ignored: another installation's"

// OutcomeTheirs is for comments on somebody else's pull request: people talk to each other there.
const OutcomeTheirs = "ignored: on somebody else's pull request"

// OutcomeNoPermission is for comments by people without write permission.
const OutcomeNoPermission = "ignored: author without write permission"

// OutcomeVerdict is for a configured reviewer's comments in a verdict that requests changes. The
// fix answers them.
const OutcomeVerdict = "a reviewer's verdict"

// OutcomePaused is for comments made while the item was paused.
const OutcomePaused = "ignored: paused"

// OutcomeEditedByOther is for texts that somebody else than their author edited last, until their
// author edits them.
const OutcomeEditedByOther = "ignored: last edited by another account than its author's"

// OutcomeHidden is for comments that people hid on GitHub, until they are shown again.
const OutcomeHidden = "ignored: hidden"

// OutcomeTakenOver is for comments by a login that the config names, but whose account is not the
// first one seen with that login.
const OutcomeTakenOver = "ignored: another account than the one that the config names"

// CheckNames returns the names in the body of an event about checks.
func CheckNames(e Event) []string {
	var names []string
	for line := range strings.Lines(e.Body) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		names = append(names, name)
	}
	return names
}

// Findings returns the names of the red checks in events, sorted.
func Findings(events []Event) []string {
	var names []string
	for _, e := range events {
		if e.Kind == EventCheck {
			names = append(names, CheckNames(e)...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

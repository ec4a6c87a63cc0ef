package work

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// EventKind says what an inbound fact is about.
type EventKind string

// The kinds of event.
const (
	EventReview   EventKind = "review"   // a diff comment on a pull request
	EventIssue    EventKind = "issue"    // a conversation comment on a pull request
	EventSummary  EventKind = "summary"  // a review's body and state
	EventSource   EventKind = "source"   // a comment on the source issue
	EventCheck    EventKind = "check"    // the head's checks have finished, some red
	EventConflict EventKind = "conflict" // the head cannot be merged into its base
	EventHead     EventKind = "head"     // the pull request's head moved
	EventMerged   EventKind = "merged"
	EventClosed   EventKind = "closed"
	EventReopened EventKind = "reopened"
	EventLabelled EventKind = "labelled"
	EventCommand  EventKind = "command" // something written for the tool itself, wherever it stands

	EventReviewDue EventKind = "review_due" // a reviewer is to look at a head (internal/work/review)
	EventFixDue    EventKind = "fix_due"    // what a reviewer asked for is to be done
)

// Said reports whether the event is something that a person wrote, to be
// answered by a turn.
func (k EventKind) Said() bool {
	switch k {
	case EventReview, EventIssue, EventSummary, EventSource:
		return true
	case EventCheck, EventConflict, EventHead, EventMerged, EventClosed, EventReopened, EventLabelled, EventCommand,
		EventReviewDue, EventFixDue:
		return false
	}
	return false
}

// Written reports whether the event is something that a person wrote: for an
// agent or for the tool.
func (k EventKind) Written() bool { return k.Said() || k == EventCommand }

// Event is one inbound fact about one issue or pull request.
type Event struct {
	ID     int64 // the database's
	RepoID int64
	ItemID int64  // the work item that it belongs to; 0 when none
	Key    string // see EventKey; unique within a repository
	Number int    // the issue or pull request on which it stands
	Kind   EventKind
	Source string // the kind's id: comment id, review id, timeline event id, head oid
	Hash   string // ContentHash of what was said

	Author    Account
	Body      string
	State     string // review, summary: COMMENTED, CHANGES_REQUESTED or APPROVED; labelled: the label's name; command: the kind that it would be if it were none
	URL       string
	Review    int64  // review: id of the review that it belongs to; State is the state that this had
	ThreadTop int64  // review: id of the thread's first comment
	Path      string // review: the file
	Line      int    // review: the line; 0 when outdated or on the file
	DiffHunk  string // review

	CreatedAt time.Time // GitHub's
	UpdatedAt time.Time // GitHub's stamp; no proof of anything
	SeenAt    time.Time // ours

	TurnID      int64     // the turn that answers it; 0 while none does
	ProcessedAt time.Time // zero until done
	Outcome     string    // why it is processed: "answered", "ignored: bot", …
}

// EventKey is the key of an event within its repository:
// {number}:{kind}:{id}:{hash}.
func EventKey(number int, kind EventKind, id, hash string) string {
	return fmt.Sprintf("%d:%s:%s:%s", number, kind, id, hash)
}

// EventOfKey is what a key alone says of its event.
func EventOfKey(key string) (Event, bool) {
	parts := strings.Split(key, ":")
	if len(parts) != 4 {
		return Event{}, false
	}
	number, err := strconv.Atoi(parts[0])
	return Event{Key: key, Number: number, Kind: EventKind(parts[1]), Source: parts[2], Hash: parts[3]}, err == nil
}

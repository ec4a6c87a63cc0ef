package work

import (
	"fmt"
	"strconv"
	"strings"
	"time"
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
		EventReviewDue, EventFixDue:
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

package work

import (
	"slices"
	"strconv"
	"time"
)

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
	slices.SortStableFunc(out, func(a, b Event) int { return int(CommentID(a) - CommentID(b)) })
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
	return e.Kind == EventLabelled ||
		e.Kind == EventMerged && item.Flow == FlowImplementation && e.Number == item.Number
}

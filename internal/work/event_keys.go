package work

import (
	"slices"
	"strconv"
	"time"
)

// EventKeys are the events' keys, in their order.
func EventKeys(events []Event) []string {
	keys := make([]string, len(events))
	for i, e := range events {
		keys[i] = e.Key
	}
	return keys
}

// StampOf is when the version of a comment was written. A reaction may bump it;
// commands are rarely decorated before they are seen.
func StampOf(e Event) time.Time {
	if e.UpdatedAt.After(e.CreatedAt) {
		return e.UpdatedAt
	}
	return e.CreatedAt
}

// SaidLocally is the kind of a command that came from the command line: its
// answer was printed there.
const SaidLocally = "cli"

// CommentID is the id of an event's comment; 0: it is of none.
func CommentID(e Event) int64 {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return 0
	}
	return id
}

// Fed are the comments among a turn's events that no turn before had.
func Fed(events []Event, cursor int64) []Event {
	var out []Event
	for _, e := range events {
		if e.Kind == EventSource && e.ID > cursor {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Event) int { return int(CommentID(a) - CommentID(b)) })
	return out
}

// EventIDs are the events' row ids, in their order.
func EventIDs(events []Event) []int64 {
	ids := make([]int64, len(events))
	for i, e := range events {
		ids[i] = e.ID
	}
	return ids
}

// Begins reports whether an event asks for an item's start turn.
func Begins(item Item, e Event) bool {
	return e.Kind == EventLabelled ||
		e.Kind == EventMerged && item.Flow == FlowImplementation && e.Number == item.Number
}

package work

// Where ids of their own begin again: of one number's comments, diff comments
// and reviews two may have the same.
const (
	reviewSource  = "r"
	summarySource = "v"
)

// AsCommand makes a command of an event that is one.
func AsCommand(e Event) Event {
	if !e.Kind.Said() {
		return e
	}
	cmd, ok := ParseCommand(e.Body)
	if !ok {
		return e
	}
	// What stands below the command says nothing to the tool: mended there, an old
	// cancel is no new one.
	e.Hash = ContentHash(cmd.String(), cmd.Wrong)
	e.State, e.Source, e.Kind = string(e.Kind), CommandSource(e.Kind, e.Source), EventCommand
	e.Key = EventKey(e.Number, e.Kind, e.Source, e.Hash)
	return e
}

// CommandSource is the id of a command that stands in a comment of a kind.
func CommandSource(kind EventKind, id string) string {
	switch kind {
	case EventReview:
		return reviewSource + id
	case EventSummary:
		return summarySource + id
	case EventIssue, EventSource, EventCheck, EventConflict, EventHead, EventMerged, EventClosed,
		EventReopened, EventLabelled, EventCommand:
	}
	return id
}

package work

import (
	"strings"
)

// Prefixes for ids that GitHub counts separately: a comment, a diff comment and a review of one
// pull request may have the same id.
const (
	reviewSource  = "r"
	summarySource = "v"
)

// AsCommand turns an event that is a command into a command event.
func AsCommand(e Event) Event {
	if !e.Kind.IsComment() {
		return e
	}
	cmd, ok := ParseCommand(e.Body)
	if !ok {
		return e
	}
	// Lines below the command are not part of the hash: editing them does not repeat an old
	// command.
	e.Hash = ContentHash(cmd.String(), cmd.Wrong)
	e.State, e.Source, e.Kind = string(e.Kind), CommandSource(e.Kind, e.Source), EventCommand
	e.Key = EventKey(e.Number, e.Kind, e.Source, e.Hash)
	return e
}

// CommandSource returns the id of a command in a comment of a kind.
func CommandSource(kind EventKind, id string) string {
	switch kind {
	case EventReview:
		return reviewSource + id
	case EventSummary:
		return summarySource + id
	case EventIssue, EventSource, EventCheck, EventConflict, EventHead, EventMerged, EventClosed,
		EventReopened, EventLabelled, EventCommand, EventReviewDue, EventFixDue:
	}
	return id
}

// CommandComment returns the id of the comment or review that a command is in; 0: it is in none, or
// is no command.
func CommandComment(e Event) int64 {
	if e.Kind != EventCommand {
		return 0
	}
	e.Source = strings.TrimPrefix(strings.TrimPrefix(e.Source, reviewSource), summarySource)
	return CommentID(e)
}

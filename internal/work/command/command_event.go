package command

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Prefixes for ids that GitHub counts separately: a comment, a diff comment and a review of one
// pull request may have the same id.
const (
	reviewSource  = "r"
	summarySource = "v"
)

// AsCommand turns an event that is a command into a command event.
func AsCommand(e work.Event) work.Event {
	if !e.Kind.IsComment() {
		return e
	}
	cmd, ok := Parse(e.Body)
	if !ok {
		return e
	}
	// Lines below the command are not part of the hash: editing them does not repeat an old
	// command.
	e.Hash = work.ContentHash(cmd.String(), cmd.Wrong)
	e.State, e.Source, e.Kind = string(e.Kind), CommandSource(e.Kind, e.Source), work.EventCommand
	e.Key = work.EventKey(e.Number, e.Kind, e.Source, e.Hash)
	return e
}

// CommandSource returns the id of a command in a comment of a kind.
func CommandSource(kind work.EventKind, id string) string {
	switch kind {
	case work.EventReview:
		return reviewSource + id
	case work.EventSummary:
		return summarySource + id
	case work.EventIssue, work.EventSource, work.EventCheck, work.EventConflict, work.EventHead, work.EventMerged, work.EventClosed,
		work.EventReopened, work.EventLabelled, work.EventCommand, work.EventReviewDue, work.EventFixDue:
	}
	return id
}

// CommentOf returns the id of the comment or review that a command is in; 0: it is in none, or is
// no command.
func CommentOf(e work.Event) int64 {
	if e.Kind != work.EventCommand {
		return 0
	}
	e.Source = strings.TrimPrefix(strings.TrimPrefix(e.Source, reviewSource), summarySource)
	return work.CommentID(e)
}

package command

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Where ids of their own begin again: of one number's comments, diff comments
// and reviews two may have the same.
const (
	reviewSource  = "r"
	summarySource = "v"
)

// AsCommand makes a command of an event that is one.
func AsCommand(e work.Event) work.Event {
	if !e.Kind.Said() {
		return e
	}
	cmd, ok := Parse(e.Body)
	if !ok {
		return e
	}
	// What stands below the command says nothing to the tool: mended there, an old
	// cancel is no new one.
	e.Hash = work.ContentHash(cmd.String(), cmd.Wrong)
	e.State, e.Source, e.Kind = string(e.Kind), CommandSource(e.Kind, e.Source), work.EventCommand
	e.Key = work.EventKey(e.Number, e.Kind, e.Source, e.Hash)
	return e
}

// CommandSource is the id of a command that stands in a comment of a kind.
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

// CommentOf is the id of the comment or review that a command stands in; 0: it stands in
// none, or is no command.
func CommentOf(e work.Event) int64 {
	if e.Kind != work.EventCommand {
		return 0
	}
	e.Source = strings.TrimPrefix(strings.TrimPrefix(e.Source, reviewSource), summarySource)
	return work.CommentID(e)
}

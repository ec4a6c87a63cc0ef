package batch

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
)

// Versions are the kinds and ids under which the versions of a comment are
// known: an edit may make a command of it, or make it none.
func Versions(e work.Event) [][2]string {
	if e.Kind != work.EventCommand {
		return [][2]string{{string(e.Kind), e.Source}, {string(work.EventCommand), command.CommandSource(e.Kind, e.Source)}}
	}
	plain := e.Source
	if kind := work.EventKind(e.State); kind == work.EventReview || kind == work.EventSummary {
		plain = plain[1:]
	}
	return [][2]string{{string(e.Kind), e.Source}, {e.State, plain}}
}

// writes reports whether an action makes a comment of a kind.
func writes(a work.ActionKind, kind work.EventKind) bool {
	if kind == work.EventReview {
		return a == work.ActionReply
	}
	return (kind == work.EventIssue || kind == work.EventSource) && (a == work.ActionComment || a == work.ActionSticky)
}

func changed(a work.Action, body string) bool {
	marks, marked := work.ParseMarks(body)
	if a.Kind == work.ActionSticky {
		return !marked || marks.Token != a.Token
	}
	return strings.TrimSpace(work.Normalise(a.Body)) != strings.TrimSpace(body)
}

package tick

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// What we wrote stays ours, whatever somebody makes of it: people with write
// permission can edit it, and the marker with it.

// editedByPerson reports whether a comment by our account is one that we sent, and
// says something else now. One that is kept up to date changes by our own edits, so
// of that only the loss of the marker tells.
func (h *People) editedByPerson(ctx context.Context, e work.Event) (bool, error) {
	if e.ItemID == 0 {
		return false, nil
	}
	var sent []work.Action
	err := h.view(ctx, func(tx *store.Tx) (err error) {
		sent, err = tx.ListItemActions(ctx, e.ItemID)
		return err
	})
	if err != nil {
		return false, err
	}
	kind, id := e.Kind, e.Source
	if kind == work.EventCommand {
		plain := versions(e)[1]
		kind, id = work.EventKind(plain[0]), plain[1]
	}
	return slices.ContainsFunc(sent, func(a work.Action) bool {
		return a.Number == e.Number && a.ResultID == id && writes(a.Kind, kind) && changed(a, e.Body)
	}), nil
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

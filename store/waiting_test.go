package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What people wrote waits without its texts, a command with its own; a turn gets all of them.
func TestWhatWaitsHasItsTextsWhereATurnNeedsThem(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	written := func(key string, kind work.EventKind, minute int) work.Event {
		return addEvent(t, d, work.Event{
			RepoID: u.RepoID, ItemID: u.ItemID, Number: 1, Kind: kind, Source: key, Key: key, Hash: "hash of " + key, Body: "body of " + key,
			URL: "url of " + key, Path: "path of " + key, DiffHunk: "hunk of " + key, CreatedAt: t0.Add(time.Duration(minute) * time.Minute),
		})
	}
	second, first := written("second", work.EventReview, 2), written("first", work.EventIssue, 1)
	command := written("command", work.EventCommand, 3)
	bare := func(e work.Event) work.Event {
		e.Hash, e.Body, e.URL, e.Path, e.DiffHunk = "", "", "", "", ""
		return e
	}
	update(t, d, func(tx *Tx) error {
		waiting, err := tx.ListWaiting(t.Context(), u.RepoID, 50)
		if err != nil {
			return err
		}
		equal(t, waiting, map[int64][]work.Event{u.ItemID: {bare(first), bare(second), command}})
		whole, err := tx.WithTexts(t.Context(), waiting[u.ItemID])
		equal(t, whole, []work.Event{first, second, command})
		equal(t, waiting[u.ItemID][0].Body, "")
		return err
	})
}

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
		waiting, err := tx.ListPendingCommentsOf(t.Context(), u.RepoID, []int64{u.ItemID})
		if err != nil {
			return err
		}
		equal(t, waiting, map[int64][]work.Event{u.ItemID: {bare(first), bare(second)}})
		facts, err := tx.ListPendingFacts(t.Context(), u.RepoID)
		if err != nil {
			return err
		}
		equal(t, facts, map[int64][]work.Event{u.ItemID: {command}})
		whole, err := tx.LoadTexts(t.Context(), append(waiting[u.ItemID], command))
		equal(t, whole, []work.Event{first, second, command})
		equal(t, waiting[u.ItemID][0].Body, "")
		return err
	})
}

// What waits is listed for the items that are asked for, on which people wrote it.
func TestWhatWaitsIsListedByItem(t *testing.T) {
	d := newDB(t)
	one, two, three := newTurn(t, d, 1), newTurn(t, d, 2), newTurn(t, d, 3)
	written := func(u work.Turn, key string, minute int) work.Event {
		return addEvent(t, d, work.Event{RepoID: u.RepoID, ItemID: u.ItemID, Number: u.Number, Kind: work.EventIssue, Source: key, Key: key, CreatedAt: t0.Add(time.Duration(minute) * time.Minute)})
	}
	c := written(one, "c", 3)
	b, a := written(one, "b", 2), written(one, "a", 1)
	of := written(three, "d", 4)
	addEvent(t, d, work.Event{RepoID: two.RepoID, ItemID: two.ItemID, Number: 2, Kind: work.EventHead, Source: "h", Key: "h", CreatedAt: t0})
	update(t, d, func(tx *Tx) error {
		on, err := tx.ListItemsWithComments(t.Context(), one.RepoID)
		if err != nil {
			return err
		}
		equal(t, on, []int64{one.ItemID, three.ItemID})
		first, err := tx.ListPendingCommentsOf(t.Context(), one.RepoID, []int64{one.ItemID, two.ItemID})
		if err != nil {
			return err
		}
		equal(t, first, map[int64][]work.Event{one.ItemID: {a, b, c}})
		rest, err := tx.ListPendingCommentsOf(t.Context(), one.RepoID, []int64{three.ItemID})
		equal(t, rest, map[int64][]work.Event{three.ItemID: {of}})
		return err
	})
}

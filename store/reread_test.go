package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// A version that was ended by an edit is pending again when the comment
// reads so again, and the edit is not; an old reading changes nothing.
func TestReadAgain(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	at := func(minutes int) time.Time { return t0.Add(time.Duration(minutes) * time.Minute) }
	version := func(key string, minutes int) work.Event {
		return work.Event{RepoID: u.RepoID, Number: 1, Kind: work.EventIssue, Source: "7", Key: key, UpdatedAt: at(minutes)}
	}
	read := func(key string, minutes int) []string {
		update(t, d, func(tx *Tx) error { return tx.RecordEditBack(t.Context(), version(key, minutes), at(60)) })
		return pending(t, d, u.RepoID)
	}
	first := addEvent(t, d, version("first", 1))
	answered := addEvent(t, d, version("answered", 2))
	update(t, d, func(tx *Tx) error { return tx.FinishEvents(t.Context(), []int64{answered.ID}, "answered", at(2)) })
	second := addEvent(t, d, version("second", 3))
	other := version("other", 0)
	other.Source = "8"
	addEvent(t, d, other)
	update(t, d, func(tx *Tx) error {
		_, err := tx.SupersedeOlderVersions(t.Context(), newestOf([]work.Event{second}), at(3))
		return err
	})

	equal(t, read("second", 3), []string{"second", "other"})
	equal(t, read("first", 1), []string{"second", "other"})
	equal(t, read("first", 4), []string{"first", "other"})
	got := getEvent(t, d, first)
	equal(t, []any{got.Outcome, got.UpdatedAt, got.SeenAt}, []any{"", at(4), at(60)})
	equal(t, read("second", 3), []string{"first", "other"})
	equal(t, read("answered", 5), []string{"other"})
	equal(t, getEvent(t, d, answered).Outcome, "answered")
}

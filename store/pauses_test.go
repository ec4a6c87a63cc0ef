package store

import (
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Pauses come from timelines, which are read again and again, and from
// commands, which may end what a label began before the label is gone.
func TestPausesOfTimelinesAndCommands(t *testing.T) {
	d := openAt(t, newPath(t))
	r := addRepo(t, d)
	at := func(minute int) time.Time { return t0.Add(time.Duration(minute) * time.Minute) }
	label := func(id int64, from, to int) work.Pause {
		p := work.Pause{RepoID: r.ID, Number: 2, LabelID: id, Began: at(from), By: "ann"}
		if to > 0 {
			p.Ended = at(to)
		}
		return p
	}
	put := func(p work.Pause) { update(t, d, func(tx *Tx) error { return tx.PutPause(t.Context(), p) }) }
	want := func(what string, want ...work.Pause) {
		t.Helper()
		got := inTx(t, d, func(tx *Tx) ([]work.Pause, error) { return tx.ListPauses(t.Context(), r.ID, 2) })
		if !slices.Equal(got, want) {
			t.Errorf("%s: %+v, want %+v", what, got, want)
		}
		open := inTx(t, d, func(tx *Tx) ([]work.Pause, error) { return tx.ListOpenPauses(t.Context(), r.ID) })
		if lasts := slices.DeleteFunc(want, func(p work.Pause) bool { return !p.Open() }); !slices.Equal(open, lasts) {
			t.Errorf("%s: %+v last, want %+v", what, open, lasts)
		}
	}
	put(label(7, 1, 0))
	put(label(7, 1, 0))
	want("read twice", label(7, 1, 0))
	update(t, d, func(tx *Tx) error {
		return tx.BeginPause(t.Context(), work.Pause{RepoID: r.ID, Number: 2, Began: at(2), By: "bob"})
	})
	want("paused while paused", label(7, 1, 0))
	update(t, d, func(tx *Tx) error { return tx.EndPauses(t.Context(), r.ID, 2, PausesAll, at(3)) })
	put(label(7, 1, 0))
	put(label(7, 1, 4))
	want("ended by a command before the label was gone", label(7, 1, 3))
	update(t, d, func(tx *Tx) error {
		return tx.BeginPause(t.Context(), work.Pause{RepoID: r.ID, Number: 2, Began: at(5), By: "bob"})
	})
	put(label(8, 6, 0))
	update(t, d, func(tx *Tx) error { return tx.EndPauses(t.Context(), r.ID, 2, PausesByCommand, at(7)) })
	want("a command's alone", label(7, 1, 3), work.Pause{RepoID: r.ID, Number: 2, Began: at(5), Ended: at(7), By: "bob"}, label(8, 6, 0))
}

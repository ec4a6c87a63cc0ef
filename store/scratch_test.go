package store

import (
	"context"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// A dry run sees what is stored and writes to a copy: nothing of it is in the original, whose rows others
// can change during the dry run.
func TestScratch(t *testing.T) {
	at := newAt(t)
	d := openAt(t, at)
	r := addRepo(t, d)
	known := addItem(t, d, work.Item{RepoID: r.ID, Number: 1})
	items := func(d *DB) []work.Item {
		return inTx(t, d, func(tx *Tx) ([]work.Item, error) { return tx.ListItems(t.Context(), r.ID) })
	}
	scratch, err := OpenScratch(t.Context(), at, t.TempDir(), Options{Now: clock, RunTwice: true})
	if err != nil {
		t.Fatal(err)
	}
	equal(t, items(scratch), []work.Item{known})
	if added := addItem(t, scratch, work.Item{RepoID: r.ID, Number: 2}); added.ID <= known.ID {
		t.Errorf("the new item has the id %d", added.ID)
	}
	update(t, scratch, func(tx *Tx) error { return tx.Heartbeat(t.Context(), r.ID, t0) })
	update(t, d, func(tx *Tx) error { return tx.Heartbeat(t.Context(), r.ID, t0) })
	equal(t, len(items(scratch)), 2)
	equal(t, items(d), []work.Item{known})
	again := openAt(t, at) // which the copies of the scratch do not hinder
	equal(t, items(again), []work.Item{known})
	if err := scratch.Close(); err != nil {
		t.Error(err)
	}
	equal(t, items(d), []work.Item{known})
}

func TestScratchOfNothing(t *testing.T) {
	at := newPath(t)
	if testpg.Set() {
		url, drop, err := testpg.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = drop(context.Background()) })
		at = url
	}
	scratch, err := OpenScratch(t.Context(), at, t.TempDir(), Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	addRepo(t, scratch)
	if _, ok, err := OpenReadOnly(t.Context(), at); ok || err != nil {
		t.Errorf("a dry run made a database: %v, %v", ok, err)
	}
}

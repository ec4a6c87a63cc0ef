package store

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testpg"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// overview is read by View and by Update.
type overview struct {
	repos    []work.Repo
	accounts map[string][]work.Account
	turns    []work.Turn
	pulls    []work.PullRequest
	events   []work.Event
	fleet    Fleet
	known    bool
}

func (o *overview) read(ctx context.Context, tx *Tx, repo int64) (err error) {
	*o = overview{}
	var errs [7]error
	o.repos, errs[0] = tx.ListRepos(ctx)
	o.accounts, errs[1] = tx.ListAccounts(ctx, work.RoleOperator)
	o.turns, errs[2] = tx.ListUnfinishedTurns(ctx)
	o.pulls, errs[3] = tx.ListWholeOpenPulls(ctx, repo)
	o.events, errs[4] = tx.ListPendingEvents(ctx, repo)
	o.fleet, errs[5] = tx.GetFleet(ctx)
	o.known, errs[6] = tx.HasEvent(ctx, repo, "pending")
	return errors.Join(errs[:]...)
}

// A View reads what an Update reads, by one round trip to a server for reads that do not depend on each other. It
// writes nothing.
func TestView(t *testing.T) {
	ctx := t.Context()
	at, trips := newAt(t), func() int { return 0 }
	if testpg.Set() {
		proxy, err := testpg.OpenProxy(at)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = proxy.Close() })
		at = proxy.Through(at)
		trips = func() int { defer proxy.Reset(); return proxy.Flights() }
	}
	d, err := Open(ctx, at, Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	r := lived(t, d, 50)
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.AddAccount(ctx, "h", work.Account{ID: 1, Login: "a'b", Bot: true}, work.RoleOperator), tx.PauseFleet(ctx, t0, "ann", "why"))
	})
	fits := func(what string, want int) {
		t.Helper()
		if n := trips(); testpg.Set() && n != want {
			t.Errorf("%s: %d round trips, not %d", what, n, want)
		}
	}
	var viewed, updated overview
	trips()
	if err := d.View(ctx, func(tx *Tx) error { return viewed.read(ctx, tx, r.ID) }); err != nil {
		t.Fatal(err)
	}
	fits("a view", 1)
	update(t, d, func(tx *Tx) error { return updated.read(ctx, tx, r.ID) })
	equal(t, viewed, updated)
	if len(viewed.repos) != 1 || len(viewed.turns) != 1 || len(viewed.pulls) != 1 || len(viewed.events) != 1 || !viewed.accounts["h"][0].Bot || !viewed.known {
		t.Errorf("too little is there to compare: %+v", viewed)
	}

	trips()
	err = d.View(ctx, func(tx *Tx) error { return tx.Heartbeat(ctx, r.ID, t0) })
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("a view that writes: %v", err)
	}
	fits("a view without a read", 0)
	var item work.Item
	err = d.View(ctx, func(tx *Tx) error {
		turns, err := tx.ListUnfinishedTurns(ctx)
		if err == nil && len(turns) > 0 {
			item, err = tx.GetItem(ctx, turns[0].ItemID)
		}
		return err
	})
	fits("reads of which one depends on the other", 2)
	if err != nil || item.Number != 1 {
		t.Errorf("reads that depend on each other gave %+v, %v", item, err)
	}
	trips()
	if err := d.View(ctx, func(tx *Tx) error { _, err := tx.GetItem(ctx, -1); return err }); !errors.Is(err, ErrNotFound) {
		t.Errorf("a missing row: %v", err)
	}
	if err := d.View(ctx, func(tx *Tx) error {
		_, err := listRows(ctx, tx, "no such table", scanID, `SELECT id FROM nowhere`)
		return err
	}); err == nil {
		t.Error("a table that is missing was read")
	}
	for _, needed := range []bool{true, false} {
		trips()
		err := d.UpdateIfNeeded(ctx, func(tx *Tx) error {
			repos, err := tx.ListRepos(ctx)
			if err == nil && len(repos) > 0 && repos[0].Failures == 0 {
				err = tx.DeferRepo(ctx, r.ID, t0, "why", true)
			}
			return err
		})
		if err != nil {
			t.Errorf("needed %v: %v", needed, err)
		}
		if !needed {
			fits("an update that is not needed", 1)
		}
	}
	if repo := inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.GetRepo(ctx, r.ID) }); repo.Failures != 1 {
		t.Errorf("%d failures", repo.Failures)
	}
	moment := t0
	trips()
	err = d.View(ctx, func(tx *Tx) error { // each time it reads something else
		moment = moment.Add(time.Second)
		_, err := tx.ListNearLabels(ctx, moment)
		return err
	})
	if fits("a view by another time in each run", mostTrips+2); err != nil {
		t.Error(err)
	}
	trips()
	err = d.View(ctx, func(tx *Tx) error {
		_, err := tx.ListNearLabels(ctx, tx.Moment(func() time.Time { moment = moment.Add(time.Second); return moment }))
		return err
	})
	if fits("a view by its moment", 1); err != nil {
		t.Error(err)
	}
	trips()
	err = d.Update(ctx, func(tx *Tx) error {
		err := tx.Ahead(ctx, func(tx *Tx) error {
			if _, err := tx.ListUnfinishedTurns(ctx); err != nil {
				return err
			}
			if _, err := tx.ListAccounts(ctx, work.RoleOperator); err != nil {
				return err
			}
			return tx.DeferRepo(ctx, r.ID, t0, "why", true)
		})
		if err != nil {
			return err
		}
		repo, err := tx.GetRepo(ctx, r.ID) // it reads what was written
		if err == nil && repo.Failures != 2 {
			err = fmt.Errorf("%d failures", repo.Failures)
		}
		return err
	})
	if fits("an update that reads ahead", 3); err != nil {
		t.Error(err)
	}
}

// The writes of a transaction on a server are sent with the next read, or with its end. One that fails fails as if
// it had been sent alone, also where the function continues after it.
func TestWritesAreSentTogether(t *testing.T) {
	if !testpg.Set() {
		t.Skip("this is about the other engine")
	}
	ctx := t.Context()
	proxy, err := testpg.OpenProxy(emptyServer.Copy(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = proxy.Close() })
	d, err := Open(ctx, proxy.Through(emptyServer.Copy(t)), Options{Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	r := addRepo(t, d)
	proxy.Reset()
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.Heartbeat(ctx, r.ID, t0), tx.DeferRepo(ctx, r.ID, t0, "why", true), tx.PauseFleet(ctx, t0, "ann", "why"))
	})
	equal(t, proxy.Flights(), 1)
	update(t, d, func(tx *Tx) error { // it reads what it wrote
		if err := tx.DeferRepo(ctx, r.ID, t0, "again", true); err != nil {
			return err
		}
		repo, err := tx.GetRepo(ctx, r.ID)
		equal(t, repo.Failures, 2)
		return err
	})
	if n := proxy.Flights(); n != 3 {
		t.Errorf("%d round trips", n)
	}
	proxy.Reset()
	var before, after []work.Repo
	update(t, d, func(tx *Tx) error {
		return tx.Ahead(ctx, func(tx *Tx) (err error) { // a write to one table leaves true what was read of another
			if before, err = tx.ListRepos(ctx); err != nil {
				return err
			}
			if err := tx.PauseFleet(ctx, t0, "ann", "why"); err != nil {
				return err
			}
			if _, err := tx.ListAccounts(ctx, work.RoleOperator); err != nil {
				return err
			}
			if err := tx.DeferRepo(ctx, r.ID, t0, "more", true); err != nil {
				return err
			}
			after, err = tx.ListRepos(ctx)
			return err
		})
	})
	equal(t, after[0].Failures, before[0].Failures+1)
	if n := proxy.Flights(); n != 3 {
		t.Errorf("%d round trips of an update that reads two tables before it writes to them, and one again", n)
	}
	for range 2 {
		err := d.Update(ctx, func(tx *Tx) error {
			if err := tx.PauseFleet(ctx, t0, "ann", "other"); err != nil {
				return err
			}
			return tx.Heartbeat(ctx, -1, t0)
		})
		if !errors.Is(err, ErrNotFound) {
			t.Errorf("a row that is missing: %v", err)
		}
	}
	update(t, d, func(tx *Tx) error {
		if err := tx.Heartbeat(ctx, -1, t0); !errors.Is(err, ErrNotFound) {
			return fmt.Errorf("a row that is missing: %w", err)
		}
		return tx.DeferRepo(ctx, r.ID, t0, "third", true)
	})
	if repo := inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.GetRepo(ctx, r.ID) }); repo.Failures != 4 {
		t.Errorf("%d failures", repo.Failures)
	}
	if f := inTx(t, d, func(tx *Tx) (Fleet, error) { return tx.GetFleet(ctx) }); f.Why != "why" {
		t.Errorf("what was rolled back is stored: %+v", f)
	}
}

// The keys of one statement are all keys, and the last one some times more: few lengths for all lists.
func TestKeySteps(t *testing.T) {
	for n, want := range map[int][]int{0: nil, 1: {1}, 2: {8}, 8: {8}, 10: {64}, 512: {512}, 513: {512, 1}, 600: {512, 512}} {
		keys := make([]int, n)
		for i := range keys {
			keys[i] = i
		}
		var lengths, seen []int
		for some := range keySteps(keys) {
			lengths = append(lengths, len(some))
			for _, k := range some {
				if len(seen) == 0 || seen[len(seen)-1] != k {
					seen = append(seen, k)
				}
			}
		}
		equal(t, lengths, want)
		equal(t, len(seen), n)
	}
}

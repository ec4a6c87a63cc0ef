package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// openMany opens one database as n machines do.
func openMany(t *testing.T, n int) []*DB {
	t.Helper()
	at := newAt(t)
	all := make([]*DB, n)
	for i := range all {
		d, err := Open(t.Context(), at, Options{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		all[i] = d
	}
	return all
}

// Eight machines write at once. No row whose transaction returned without an error is lost, nothing is there twice, and
// what all of them want has one winner.
func TestEightWriters(t *testing.T) {
	const writers, rounds = 8, 12
	all := openMany(t, writers)
	r := addRepo(t, all[0])
	items := make([]work.Item, writers+1) // the last one is wanted by all
	for i := range items {
		items[i] = addItem(t, all[0], work.Item{RepoID: r.ID, Number: i + 1})
	}
	var (
		wg               sync.WaitGroup
		mu               sync.Mutex
		events, shared   []string
		turns, won, acts []int64
		runs             atomic.Int64
	)
	for w, d := range all {
		wg.Go(func() {
			for round := range rounds {
				var added []work.Event
				var turn, wanted, act int64
				err := d.Update(t.Context(), func(tx *Tx) (err error) {
					ctx := t.Context()
					runs.Add(1)
					added, err = tx.AddEvents(ctx, []work.Event{
						{RepoID: r.ID, ItemID: items[w].ID, Number: w + 1, Key: fmt.Sprint("own ", w, " ", round)},
						{RepoID: r.ID, Number: 99, Key: fmt.Sprint("shared ", round)},
					})
					if err != nil {
						return err
					}
					turn, err = tx.AddTurn(ctx, work.Turn{RepoID: r.ID, ItemID: items[w].ID, Number: w + 1, Key: fmt.Sprint("turn ", w, " ", round), Step: work.StepClaimed})
					if err == nil {
						err = tx.EndTurn(ctx, turn, work.StepClaimed, work.StepCancelled, "", t0)
					}
					a, actErr := tx.AddAction(ctx, work.Action{RepoID: r.ID, Token: fmt.Sprint("a ", w, " ", round)})
					act = a.ID
					return firstOf(err, actErr)
				})
				if err != nil {
					t.Error(err)
					return
				}
				err = d.Update(t.Context(), func(tx *Tx) (err error) {
					runs.Add(1)
					wanted, err = tx.AddTurn(t.Context(), work.Turn{RepoID: r.ID, ItemID: items[writers].ID, Number: writers + 1, Key: fmt.Sprint("wanted ", w, " ", round), Step: work.StepClaimed})
					return err
				})
				if err != nil && !errors.Is(err, ErrStale) {
					t.Error(err)
				}
				mu.Lock()
				for _, e := range added {
					if e.Number == 99 {
						shared = append(shared, e.Key)
					} else {
						events = append(events, e.Key)
					}
				}
				turns, acts = append(turns, turn), append(acts, act)
				if err == nil {
					won = append(won, wanted)
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	t.Logf("%d transactions, run %d times", 2*writers*rounds, runs.Load())
	slices.Sort(shared)
	if len(events) != writers*rounds || len(slices.Compact(shared)) != rounds || len(shared) != rounds {
		t.Errorf("%d events of their own, and %d that all saw", len(events), len(shared))
	}
	if len(won) != 1 {
		t.Errorf("the item that all want was claimed %d times", len(won))
	}
	for what, n := range map[string]int{
		`SELECT count(*) FROM events`:                                 writers*rounds + rounds,
		`SELECT count(DISTINCT id) FROM events`:                       writers*rounds + rounds,
		`SELECT count(*) FROM turns WHERE turn_key LIKE 'turn %'`:     writers * rounds,
		`SELECT count(*) FROM actions`:                                writers * rounds,
		`SELECT count(*) FROM turns WHERE ` + unfinished:              1,
		`SELECT count(*) FROM events WHERE event_key LIKE 'shared %'`: rounds,
		`SELECT count(*) FROM turns WHERE turn_key LIKE 'wanted %'`:   1,
	} {
		if got := inTx(t, all[0], func(tx *Tx) (int, error) { return getRow(t.Context(), tx, what, scanCount, what) }); got != n {
			t.Errorf("%s: %d, not %d", what, got, n)
		}
	}
	for what, ids := range map[string][]int64{"turns": turns, "actions": acts} {
		if slices.Sort(ids); len(slices.Compact(ids)) != writers*rounds || slices.Contains(ids, 0) {
			t.Errorf("%s share ids: %v", what, ids)
		}
	}
}

// onServer opens two databases on PostgreSQL, also where the other tests run on SQLite.
func onServer(t *testing.T) (a, b *DB) {
	t.Helper()
	at := emptyServer.Copy(t)
	open := func() *DB {
		d, err := Open(t.Context(), at, Options{Now: clock})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		return d
	}
	return open(), open()
}

// Each of two writers reads what the other writes: one of them runs again, and sees it.
func TestSerializationFailureRunsAgain(t *testing.T) {
	a, b := onServer(t)
	r := addRepo(t, a)
	count := func(d *DB, key string, others func()) (runs, saw int) {
		err := d.Update(t.Context(), func(tx *Tx) error {
			runs++
			known, err := tx.ListEvents(t.Context(), r.ID, 1)
			if err != nil {
				return err
			}
			if runs == 1 {
				others()
			}
			saw = len(known)
			_, err = tx.AddEvent(t.Context(), work.Event{RepoID: r.ID, Number: 1, Key: key})
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return runs, saw
	}
	runs, saw := count(a, "a", func() {
		if runs, saw := count(b, "b", func() {}); runs != 1 || saw != 0 {
			t.Errorf("the faster one ran %d times, and saw %d", runs, saw)
		}
	})
	if runs != 2 || saw != 1 {
		t.Errorf("the slower one ran %d times, and saw %d of the other's events", runs, saw)
	}
}

// Two writers that wait for each other's row: the server ends one, which runs again.
func TestDeadlockRunsAgain(t *testing.T) {
	a, b := onServer(t)
	repos := []int64{addRepo(t, a).ID, 0}
	update(t, a, func(tx *Tx) error {
		other, err := tx.EnsureRepo(t.Context(), work.RepoName{Host: "github.com", Owner: "o", Name: "other"})
		repos[1] = other.ID
		return err
	})
	var both, all sync.WaitGroup
	both.Add(2)
	var runs atomic.Int64
	for i, d := range []*DB{a, b} {
		all.Go(func() {
			first := true
			err := d.Update(t.Context(), func(tx *Tx) error {
				runs.Add(1)
				err := tx.Heartbeat(t.Context(), repos[i], t0)
				_, readErr := tx.ListRepos(t.Context()) // sends the write
				if first {
					first = false
					both.Done()
					both.Wait()
				}
				return firstOf(err, readErr, tx.Heartbeat(t.Context(), repos[1-i], t0))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := runs.Load(); n < 3 {
		t.Errorf("%d runs: there was no deadlock", n)
	}
}

// A writer that always loses gives up with the server's words, and one whose time is up at once.
func TestRunningAgainIsBounded(t *testing.T) {
	a, b := onServer(t)
	r := addRepo(t, a)
	lose := func(ctx context.Context, stop func()) (runs int, err error) {
		err = a.Update(ctx, func(tx *Tx) error {
			runs++
			stop()
			if _, err := tx.ListEvents(ctx, r.ID, 1); err != nil {
				return err
			}
			update(t, b, func(tx *Tx) error {
				known, err := tx.ListEvents(t.Context(), r.ID, 1)
				return firstOf(err, second(tx.AddEvent(t.Context(), work.Event{RepoID: r.ID, Number: 1, Key: fmt.Sprint(len(known))})))
			})
			_, err := tx.AddEvent(ctx, work.Event{RepoID: r.ID, Number: 1, Key: "mine"})
			return err
		})
		return runs, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	stop := func() {
		if runs++; runs == 3 {
			cancel()
		}
	}
	if n, err := lose(ctx, stop); n != 3 || !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in its third run it ran %d times: %v", n, err)
	}
	if !testhome.Long() {
		return // it takes seconds
	}
	if n, err := lose(t.Context(), func() {}); n != tries || !a.engine.again(err) {
		t.Errorf("%d runs, %v", n, err)
	}
}

// A view sees one state, and its connection cannot write.
func TestViewOnServer(t *testing.T) {
	a, b := onServer(t)
	r := addRepo(t, a)
	err := a.View(t.Context(), func(tx *Tx) error {
		before, err := tx.ListItems(t.Context(), r.ID)
		if err != nil {
			return err
		}
		addItem(t, b, work.Item{RepoID: r.ID, Number: 1})
		after, err := tx.ListItems(t.Context(), r.ID)
		equal(t, len(after), len(before))
		return err
	})
	if err != nil {
		t.Error(err)
	}
	tx, err := a.SQL.BeginTx(t.Context(), a.engine.options(true))
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	if _, err := tx.ExecContext(t.Context(), `DELETE FROM work_items`); err == nil {
		t.Error("a view writes")
	}
	equal(t, a.Shared(), true)
}

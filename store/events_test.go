package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func pending(t *testing.T, d *DB, repoID int64) []string {
	t.Helper()
	keys := []string{}
	for _, e := range inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListPendingEvents(t.Context(), repoID) }) {
		keys = append(keys, e.Key)
	}
	return keys
}

func getEvent(t *testing.T, d *DB, e work.Event) work.Event {
	t.Helper()
	for _, got := range inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListEvents(t.Context(), e.RepoID, e.Number) }) {
		if got.ID == e.ID {
			return got
		}
	}
	t.Fatalf("event %d is gone", e.ID)
	return work.Event{}
}

// newTurn is a live turn with its work item, for events and actions to belong to.
func newTurn(t *testing.T, d *DB, number int) work.Turn {
	t.Helper()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: number})
	return addTurn(t, d, work.Turn{RepoID: i.RepoID, ItemID: i.ID, Number: number, Key: fmt.Sprint("turn of ", number)})
}

func TestEventKeepsEveryField(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	var want work.Event
	fill(t, &want)
	want.RepoID, want.ItemID, want.TurnID = u.RepoID, u.ItemID, u.ID
	added := addEvent(t, d, want)
	want.ID = added.ID
	equal(t, added, want)
	equal(t, inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListItemEvents(t.Context(), u.ItemID) }), []work.Event{want})

	if e := addEvent(t, d, work.Event{RepoID: u.RepoID, Key: "bare"}); e.SeenAt != t0 || e.TurnID != 0 || e.ItemID != 0 || !e.ProcessedAt.IsZero() {
		t.Errorf("a bare event: %+v", e)
	}
}

func TestOneRowForOneVersion(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	e := addEvent(t, d, work.Event{RepoID: r.ID, Number: 1, Key: "k", Body: "first"})
	again := e
	again.Body = "second"
	if inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddEvent(t.Context(), again) }) {
		t.Error("a known key is new")
	}
	equal(t, getEvent(t, d, e), e)
	other := inTx(t, d, func(tx *Tx) (work.Repo, error) {
		return tx.EnsureRepo(t.Context(), work.RepoName{Host: "github.com", Owner: "o", Name: "n"})
	})
	again.RepoID = other.ID
	if !inTx(t, d, func(tx *Tx) (bool, error) { return tx.AddEvent(t.Context(), again) }) {
		t.Error("another repository's event is known")
	}
	if err := d.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.AddEvent(t.Context(), work.Event{RepoID: 99, Key: "k"})
		return err
	}); err == nil {
		t.Error("an event of no repository was added")
	}
}

func TestEventsOfTurns(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u, v := newTurn(t, d, 1), newTurn(t, d, 2)
	var ids []int64
	for i, key := range []string{"a", "b", "c"} {
		e := addEvent(t, d, work.Event{RepoID: u.RepoID, Number: 1, Key: key, CreatedAt: t0.Add(-time.Duration(i) * time.Minute)})
		ids = append(ids, e.ID)
	}
	equal(t, pending(t, d, u.RepoID), []string{"c", "b", "a"})
	assign := func(turn int64, ids ...int64) func(*Tx) error {
		return func(tx *Tx) error { return tx.AssignEvents(ctx, turn, ids) }
	}
	update(t, d, assign(u.ID, ids[0], ids[1]))
	wantErr(t, d, ErrStale, assign(v.ID, ids[2], ids[1])) // and with it goes the whole transaction
	wantErr(t, d, ErrStale, assign(u.ID, ids[0]))
	wantErr(t, d, ErrStale, assign(u.ID, 99))
	equal(t, pending(t, d, u.RepoID), []string{"c", "b", "a"})

	update(t, d, func(tx *Tx) error { return tx.FinishEvents(ctx, ids[:1], "ignored: bot", t0.Add(time.Hour)) })
	update(t, d, func(tx *Tx) error { return tx.ReleaseEvents(ctx, u.ID) })
	update(t, d, assign(v.ID, ids[1:]...))
	wantErr(t, d, ErrStale, assign(v.ID, ids[0])) // processed
	equal(t, pending(t, d, u.RepoID), []string{"c", "b"})
	ignored := addEvent(t, d, work.Event{RepoID: u.RepoID, Number: 1, Key: "bot's", Outcome: "ignored: bot", ProcessedAt: t0})
	wantErr(t, d, ErrStale, assign(v.ID, ignored.ID))

	update(t, d, func(tx *Tx) error { return tx.FinishTurnEvents(ctx, v.ID, "answered", t0.Add(2*time.Hour)) })
	update(t, d, func(tx *Tx) error { return tx.FinishTurnEvents(ctx, u.ID, "too late", t0.Add(3*time.Hour)) })
	update(t, d, func(tx *Tx) error { return tx.FinishEvents(ctx, ids, "too late", t0.Add(3*time.Hour)) })
	update(t, d, func(tx *Tx) error { return tx.ReleaseEvents(ctx, v.ID) })
	equal(t, pending(t, d, u.RepoID), []string{})
	for i, want := range []work.Event{
		{TurnID: u.ID, Outcome: "ignored: bot", ProcessedAt: t0.Add(time.Hour)},
		{TurnID: v.ID, Outcome: "answered", ProcessedAt: t0.Add(2 * time.Hour)},
		{TurnID: v.ID, Outcome: "answered", ProcessedAt: t0.Add(2 * time.Hour)},
	} {
		got := getEvent(t, d, work.Event{ID: ids[i], RepoID: u.RepoID, Number: 1})
		equal(t, work.Event{TurnID: got.TurnID, Outcome: got.Outcome, ProcessedAt: got.ProcessedAt}, want)
	}
}

// A zero stamp would leave the event unprocessed.
func TestFinishWithoutATime(t *testing.T) {
	d := newDB(t)
	e := addEvent(t, d, work.Event{RepoID: addRepo(t, d).ID, Number: 1, Key: "a"})
	update(t, d, func(tx *Tx) error { return tx.FinishEvents(t.Context(), []int64{e.ID}, "answered", time.Time{}) })
	if got := getEvent(t, d, e); got.ProcessedAt != t0 {
		t.Errorf("processed at %v, want the transaction's %v", got.ProcessedAt, t0)
	}
}

func TestSupersedeOlderVersions(t *testing.T) {
	d := newDB(t)
	u := newTurn(t, d, 1)
	add := func(key, source string, kind work.EventKind, number int) work.Event {
		return addEvent(t, d, work.Event{RepoID: u.RepoID, Number: number, Kind: kind, Source: source, Key: key})
	}
	first := add("first", "7", work.EventReview, 1)
	taken := add("taken", "7", work.EventReview, 1)
	newest := add("newest", "7", work.EventReview, 1)
	add("other comment", "8", work.EventReview, 1)
	add("other kind", "7", work.EventIssue, 1)
	add("other number", "7", work.EventReview, 2)
	update(t, d, func(tx *Tx) error { return tx.AssignEvents(t.Context(), u.ID, []int64{taken.ID}) })
	n := inTx(t, d, func(tx *Tx) (int, error) {
		return tx.SupersedeOlderVersions(t.Context(), newestOf([]work.Event{newest}), t0.Add(time.Hour))
	})
	equal(t, n, 1)
	equal(t, pending(t, d, u.RepoID), []string{"taken", "newest", "other comment", "other kind", "other number"})
	got := getEvent(t, d, first)
	equal(t, []any{got.Outcome, got.ProcessedAt}, []any{OutcomeEdited, t0.Add(time.Hour)})
}

func TestCounts(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	newTurn(t, d, 2)
	for i, e := range []work.Event{
		{},
		{},
		{Outcome: "ignored: bot", ProcessedAt: t0},
		{Outcome: "ignored: bot", ProcessedAt: t0},
		{Outcome: "answered", ProcessedAt: t0},
	} {
		e.RepoID, e.Number, e.Key = u.RepoID, 1, fmt.Sprint(i)
		addEvent(t, d, e)
	}
	addItem(t, d, work.Item{RepoID: u.RepoID, Number: 3, State: work.StateClosed})
	equal(t, inTx(t, d, func(tx *Tx) (Counts, error) { return tx.Counts(ctx, u.RepoID) }), Counts{
		Outcomes: map[string]int{"ignored: bot": 2, "answered": 1},
		Items:    map[work.State]int{work.StatePending: 2, work.StateClosed: 1},
	})
}

func TestReopenEvents(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	pull := inTx(t, d, func(tx *Tx) (int64, error) {
		id, err := tx.PutPull(ctx, work.PullRequest{RepoID: r.ID, Number: 2})
		if err != nil {
			return 0, err
		}
		return id, tx.PutThreads(ctx, id, []work.Thread{{NodeID: "a", Top: 1}, {NodeID: "b", Top: 2, Resolved: true}})
	})
	u := addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: addItem(t, d, work.Item{RepoID: r.ID, Number: 1}).ID, Number: 2, Key: "k"})
	for _, e := range []work.Event{
		{Key: "old version", Source: "1", ThreadTop: 1, Outcome: "resolved"},
		{Key: "reopened", Source: "1", ThreadTop: 1, Outcome: "resolved"},
		{Key: "answered", Source: "3", ThreadTop: 1, Outcome: "answered"},
		{Key: "a turn's", Source: "4", ThreadTop: 1, Outcome: "resolved", TurnID: u.ID},
		{Key: "still resolved", Source: "5", ThreadTop: 2, Outcome: "resolved"},
		{Key: "elsewhere", Source: "6", ThreadTop: 1, Outcome: "resolved", Number: 3},
	} {
		e.RepoID, e.Kind, e.ProcessedAt = r.ID, work.EventReview, t0
		if e.Number == 0 {
			e.Number = 2
		}
		addEvent(t, d, e)
	}
	update(t, d, func(tx *Tx) error { return tx.ReopenEvents(ctx, pull, "resolved") })
	pending := inTx(t, d, func(tx *Tx) ([]work.Event, error) { return tx.ListPendingEvents(ctx, r.ID) })
	equal(t, keys(pending), []string{"reopened"})
	equal(t, pending[0].Outcome, "")
}

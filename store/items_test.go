package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// states are all that an item can have.
var states = []work.State{
	work.StatePending, work.StateReady, work.StateRunning, work.StateAwaitingFeedback, work.StateAwaitingIssueFollowup,
	work.StateMerged, work.StateCompleted, work.StateBlocked, work.StateClosed,
}

func getItem(t *testing.T, d *DB, id int64) work.Item {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Item, error) { return tx.GetItem(t.Context(), id) })
}

func TestItemKeepsEveryField(t *testing.T) {
	d := newDB(t)
	parent := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	var want work.Item
	fill(t, &want)
	want.RepoID, want.Parent = parent.RepoID, parent.ID
	added := addItem(t, d, want)
	want.ID = added.ID
	equal(t, added, want)

	// Ingest and a turn's end, in different passes, each write what is theirs:
	// each holds the item as it was before the other's.
	read, left := want, want
	fill(t, &read.Author)
	read.Title, read.Body, read.URL, read.Label, read.LabelEvent, read.Fingerprint, read.Edited = "t", "b", "u", "l", "e", "f", "ed"
	read.State, read.Reason, read.Number, read.Flow, read.Branch = work.StateClosed, work.Reason{Kind: work.WhyFailed}, 99, work.FlowBugfix, "known already" // none of it is ingest's
	left.Branch, left.Document, left.TouchPaths, left.DecisionSummary, left.Priority = "br", "doc", nil, "sum", 5
	left.State, left.Reason = work.StateClosed, work.Reason{Kind: work.WhyFailed} // not the turn's
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.SetResult(t.Context(), left), tx.SetIssue(t.Context(), read), tx.SetResult(t.Context(), left))
	})
	changed := want
	changed.Author, changed.Title, changed.Body, changed.URL = read.Author, "t", "b", "u"
	changed.Label, changed.LabelEvent, changed.Fingerprint, changed.Edited = "l", "e", "f", "ed"
	changed.Branch, changed.Document, changed.TouchPaths, changed.DecisionSummary, changed.Priority = "br", "doc", nil, "sum", 5
	equal(t, getItem(t, d, want.ID), changed)
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { return tx.SetIssue(t.Context(), work.Item{ID: 99}) })
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { return tx.SetResult(t.Context(), work.Item{ID: 99}) })
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { _, err := tx.GetItem(t.Context(), 99); return err })
	if fresh := getItem(t, d, parent.ID); fresh.Since != t0 {
		t.Errorf("a new item: %+v", fresh)
	}
}

// SetIssue writes what a read of the issue says, and no other field: a new field of an item has to say which it is.
func TestSetIssueWritesWhatIsOfTheIssue(t *testing.T) {
	ofIssue := []string{"Title", "Body", "Author", "URL", "Label", "LabelEvent", "Edited", "IssueClosed", "Blocked", "SubIssueOf", "Fingerprint"}
	others := []string{
		"ID", "RepoID", "Number", "Flow", "Parent", "State", "Since", "Reason", "Priority", "Branch", "Document", "TouchPaths", "DesignPull", "DesignCommit",
		"Size", "DependsOn", "DecisionSummary", "Wait", "Setup",
	}
	d := newDB(t)
	parent := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	for n, field := range reflect.VisibleFields(reflect.TypeFor[work.Item]()) {
		var filled work.Item
		fill(t, &filled)
		filled.RepoID, filled.Parent, filled.Number = parent.RepoID, parent.ID, 2+n
		stored := addItem(t, d, filled)
		read := stored
		if field.Name != "ID" {
			reflect.ValueOf(&read).Elem().FieldByIndex(field.Index).SetZero()
		}
		update(t, d, func(tx *Tx) error { return tx.SetIssue(t.Context(), read) })
		now := getItem(t, d, stored.ID)
		if of := slices.Contains(ofIssue, field.Name); of == slices.Contains(others, field.Name) {
			t.Errorf("%s is not in one of the lists", field.Name)
		} else if !of {
			equal(t, now, stored)
		} else if reflect.DeepEqual(now, stored) {
			t.Errorf("%s is not written", field.Name)
		}
	}
}

func TestAddItemOfNoRepository(t *testing.T) {
	d := newDB(t)
	if err := d.Update(t.Context(), func(tx *Tx) error {
		_, err := tx.AddItem(t.Context(), work.Item{RepoID: 99, State: work.StatePending})
		return err
	}); err == nil {
		t.Error("an item of no repository was added")
	}
}

func TestItemListsAgreeWithWork(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	var open []work.State
	for i, s := range states {
		addItem(t, d, work.Item{RepoID: r.ID, Number: i + 1, State: s})
		if s.Open() {
			open = append(open, s)
		}
	}
	var got []work.State
	for _, i := range inTx(t, d, func(tx *Tx) ([]work.Item, error) { return tx.ListOpenItems(ctx, r.ID) }) {
		got = append(got, i.State)
	}
	equal(t, got, open)
	equal(t, len(inTx(t, d, func(tx *Tx) ([]work.Item, error) { return tx.ListItems(ctx, r.ID) })), len(states))

	again := addItem(t, d, work.Item{RepoID: r.ID, Number: 3})
	update(t, d, func(tx *Tx) error {
		newest, ok, err := tx.FindItem(ctx, r.ID, 3)
		equal(t, newest, again)
		equal(t, ok, true)
		if err != nil {
			return err
		}
		_, ok, err = tx.FindItem(ctx, r.ID, 99)
		equal(t, ok, false)
		return err
	})
}

func TestMoveItem(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 7, State: work.StatePending})
	move := func(from []work.State, to work.State, reason string, after time.Duration) func(*Tx) error {
		return func(tx *Tx) error {
			return tx.MoveItem(ctx, i.ID, from, to, work.Reason{Kind: work.WhyGitHubLimit, Text: reason}, reason, t0.Add(after))
		}
	}
	update(t, d, move([]work.State{work.StateReady, work.StatePending}, work.StateRunning, "", time.Hour))
	got := getItem(t, d, i.ID)
	if got.State != work.StateRunning || got.Since != t0.Add(time.Hour) {
		t.Errorf("after the move: %+v", got)
	}
	wantErr(t, d, ErrStale, move([]work.State{work.StatePending}, work.StateBlocked, "late", 2*time.Hour))
	equal(t, getItem(t, d, i.ID), got)

	update(t, d, move(nil, work.StateBlocked, "why", 3*time.Hour))                             // from any
	update(t, d, move([]work.State{work.StateBlocked}, work.StateBlocked, "why", 4*time.Hour)) // nothing new
	update(t, d, move([]work.State{work.StateBlocked}, work.StateBlocked, "else", 5*time.Hour))
	got = getItem(t, d, i.ID)
	if got.Since != t0.Add(3*time.Hour) || got.Reason.Text != "else" {
		t.Errorf("blocked for another reason: %+v", got)
	}
	history := inTx(t, d, func(tx *Tx) ([]work.History, error) { return tx.ListHistory(ctx, i.ID, 0) })
	line := func(at time.Duration, detail string) work.History {
		return work.History{RepoID: i.RepoID, ItemID: i.ID, Number: 7, At: t0.Add(at), What: historyState, Detail: detail}
	}
	equal(t, history, []work.History{
		line(5*time.Hour, "blocked → blocked: else"), line(3*time.Hour, "running → blocked: why"), line(time.Hour, "pending → running"),
	})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.History, error) { return tx.ListHistory(ctx, i.ID, 1) }), history[:1])
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { return tx.MoveItem(ctx, 99, nil, work.StateReady, work.Reason{}, "", t0) })
}

// A reason that cannot be read is one that is not known, and keeps nobody from the rest.
func TestAReasonThatCannotBeReadIsUnknown(t *testing.T) {
	d := newDB(t)
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 7, State: work.StateBlocked})
	for stored, want := range map[string]work.Reason{
		"{":                                {Kind: work.WhyUnknown, Local: "{"},
		`{"kind":"question","text":7}`:     {Kind: work.WhyUnknown, Local: `{"kind":"question","text":7}`},
		`{"text":"a"}`:                     {Kind: work.WhyUnknown, Local: `{"text":"a"}`},
		`{"kind":"of_a_newer_program"}`:    {Kind: "of_a_newer_program"},
		`{"kind":"question","newer":true}`: {Kind: work.WhyQuestion},
		"":                                 {},
	} {
		update(t, d, func(tx *Tx) error {
			_, err := tx.exec(t.Context(), "spoil", "UPDATE work_items SET reason = ?", stored)
			return err
		})
		equal(t, getItem(t, d, i.ID).Reason, want)
	}
}

func TestPulls(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	put := func(p work.PullRequest) int64 {
		return inTx(t, d, func(tx *Tx) (int64, error) { return tx.PutPull(ctx, p) })
	}
	get := func(number int) (p work.PullRequest, ok bool) {
		update(t, d, func(tx *Tx) (err error) {
			p, ok, err = tx.GetPull(ctx, i.RepoID, number)
			return err
		})
		return p, ok
	}
	var want work.PullRequest
	fill(t, &want)
	want.RepoID, want.ItemID = i.RepoID, i.ID
	want.NotBefore, want.Failures, want.LastError = time.Time{}, 0, "" // the backlog has these
	want.EndedAt = time.Time{}                                         // PutPullEnd writes it
	want.ID = put(want)
	got, ok := get(want.Number)
	equal(t, got, want)
	equal(t, ok, true)
	if _, ok := get(99); ok {
		t.Error("found what is not there")
	}

	changed := work.PullRequest{ID: want.ID, RepoID: i.RepoID, Number: want.Number, State: work.PullOpen}
	equal(t, put(changed), want.ID)
	changed.CreatedAt, changed.LostOID, changed.AcceptedOID, changed.Beside = want.CreatedAt, want.LostOID, want.AcceptedOID, want.Beside // these stay
	changed.HeadSince = t0                                                                                                                // of another head than before
	got, _ = get(want.Number)
	equal(t, got, changed)
	again := changed
	again.HeadSince, again.Draft = t0.Add(-time.Hour), true // whatever a snapshot says of it
	d.GoBy(func() time.Time { return t0.Add(time.Minute) })
	put(again)
	got, _ = get(want.Number)
	equal(t, []any{got.HeadSince, got.Draft}, []any{t0, true})

	update(t, d, func(tx *Tx) error {
		return tx.PutBacklog(ctx, want.RepoID, Backlogged{Number: want.Number, At: t0.Add(2 * time.Hour), Tries: 2, Why: "404"})
	})
	got, _ = get(want.Number)
	equal(t, []any{got.NotBefore, got.LastError, got.Failures}, []any{t0.Add(2 * time.Hour), "404", 2})
	update(t, d, func(tx *Tx) error { return tx.ReadSoon(ctx, got.ID) })
	got, _ = get(want.Number)
	equal(t, []any{got.NotBefore, got.Failures}, []any{time.Time{}, 2})
}

func TestPullLists(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	for number, s := range map[int]work.PullState{30: work.PullOpen, 4: work.PullOpen, 12: work.PullMerged, 20: work.PullClosed} {
		update(t, d, func(tx *Tx) error {
			_, err := tx.PutPull(ctx, work.PullRequest{RepoID: i.RepoID, ItemID: i.ID, Number: number, State: s})
			return err
		})
	}
	numbers := func(fn func(*Tx) ([]work.PullRequest, error)) (all []int) {
		for _, p := range inTx(t, d, fn) {
			all = append(all, p.Number)
		}
		return all
	}
	equal(t, numbers(func(tx *Tx) ([]work.PullRequest, error) { return tx.ListWholeOpenPulls(ctx, i.RepoID) }), []int{4, 30})
	equal(t, numbers(func(tx *Tx) ([]work.PullRequest, error) { return tx.listPulls(ctx, i.RepoID) }), []int{4, 12, 20, 30})
	update(t, d, func(tx *Tx) error {
		p, ok, err := tx.FindPullOfItem(ctx, i.ID)
		equal(t, []any{p.Number, ok}, []any{30, true})
		if err != nil {
			return err
		}
		_, ok, err = tx.FindPullOfItem(ctx, 99)
		equal(t, ok, false)
		return err
	})
}

// Rows of a list are read into one place: none has anything of the one before it, nor is
// one changed by the next.
func TestPullsOfAListShareNothing(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	at := time.UnixMilli(1_800_000_000_000).UTC()
	full := func(number int, file string) work.PullRequest {
		return work.PullRequest{
			RepoID: i.RepoID, ItemID: i.ID, Number: number, NodeID: file, State: work.PullOpen, Branch: file, HeadOID: file, Files: []string{file, "z"},
			Author: work.Account{ID: 7, Login: file, Bot: true}, Draft: true, CrossRepo: true, HeadRepo: "o/" + file, Rollup: "FAILURE",
			UpdatedAt: at, DetailsAt: at, NotBefore: at, ChecksSince: at, Failures: 3, LastError: file, LabelChanges: 2,
		}
	}
	all := []work.PullRequest{full(1, "a"), {RepoID: i.RepoID, Number: 2, State: work.PullOpen}, full(3, "c"), {RepoID: i.RepoID, Number: 4, State: work.PullOpen}}
	for n, state := range []string{"PENDING", "EXPECTED", "SUCCESS"} {
		all = append(all, work.PullRequest{RepoID: i.RepoID, Number: 5 + n, State: work.PullOpen, Rollup: state, Fingerprint: state})
	}
	all = append(all, work.PullRequest{RepoID: i.RepoID, Number: 8, State: work.PullOpen, Mergeable: "UNKNOWN"}, work.PullRequest{RepoID: i.RepoID, Number: 9, State: work.PullOpen, Mergeable: "MERGEABLE"})
	var want []work.PullRequest
	var light []OpenPull
	for _, p := range all {
		update(t, d, func(tx *Tx) error { _, err := tx.PutPull(ctx, p); return err })
		want = append(want, inTx(t, d, func(tx *Tx) (work.PullRequest, error) {
			p, _, err := tx.GetPull(ctx, i.RepoID, p.Number)
			return p, err
		}))
	}
	for _, p := range want {
		light = append(light, OpenPullOf(p))
	}
	equal(t, inTx(t, d, func(tx *Tx) ([]OpenPull, error) { return tx.ListOpenPulls(ctx, i.RepoID) }), light)
	equal(t, inTx(t, d, func(tx *Tx) ([]work.PullRequest, error) { return tx.ListWholeOpenPulls(ctx, i.RepoID) }), want)
	equal(t, inTx(t, d, func(tx *Tx) ([]work.PullRequest, error) { return tx.listPulls(ctx, i.RepoID) }), want)
}

func TestThreads(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	pull := inTx(t, d, func(tx *Tx) (int64, error) { return tx.PutPull(ctx, work.PullRequest{RepoID: r.ID, Number: 1}) })
	a, b := work.Thread{NodeID: "A", Top: 1}, work.Thread{NodeID: "B", Top: 2, Resolved: true}
	for _, put := range [][]work.Thread{{b, a}, {a, b}, {{NodeID: "A", Top: 1, Resolved: true}}, {{NodeID: "A", Top: 1}, b}, nil} {
		update(t, d, func(tx *Tx) error { return tx.PutThreads(ctx, pull, put) })
		got := inTx(t, d, func(tx *Tx) ([]work.Thread, error) { return tx.ListThreads(ctx, pull) })
		if len(put) == 2 {
			equal(t, got, []work.Thread{a, b})
		} else {
			equal(t, got, put)
		}
		update(t, d, func(tx *Tx) error {
			before := changedRows(t, tx)
			err := tx.PutThreads(ctx, pull, put)
			if changedRows(t, tx) != before {
				t.Error("the same threads were written again")
			}
			return err
		})
	}
}

// However many issues wait for others, two statements find those whose blockers changed, and three those
// whose dependencies are open.
func TestDependenciesAreReadTogether(t *testing.T) {
	for _, n := range []int{3, 30} {
		d, r := recording(t, filepath.Join(t.TempDir(), "state.db"))
		repo := addRepo(t, d)
		update(t, d, func(tx *Tx) error {
			for i := range n {
				ref := fmt.Sprintf("h/o/r#%d", 1000+i)
				id, err := tx.AddItem(t.Context(), work.Item{RepoID: repo.ID, Number: i + 1, State: work.StateReady, DependsOn: []string{ref}})
				if err == nil {
					err = tx.SetBlockers(t.Context(), id, work.Blocked{Open: 1, LookAt: t0.Add(time.Hour)}, []work.Blocker{{Ref: ref, State: work.DependencyOpen}}, t0)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
		r.sent = nil
		blocked := inTx(t, d, func(tx *Tx) ([]work.Item, error) {
			return tx.ListBlocked(t.Context(), repo.ID, map[string]work.DependencyState{"h/o/r#1001": work.DependencyClosed}, t0)
		})
		if len(blocked) != 1 || blocked[0].Number != 2 || len(r.sent) != 2 {
			t.Errorf("%d items: %d statements find %+v", n, len(r.sent), blocked)
		}
		r.sent = nil
		open := inTx(t, d, func(tx *Tx) ([]Dependency, error) { return tx.ListOpenDependencies(t.Context(), repo.ID) })
		if len(open) != n || len(r.sent) != 3 {
			t.Errorf("%d items: %d statements find %d open dependencies", n, len(r.sent), len(open))
		}
	}
}

// listPulls returns every tracked pull request of a repository, by number.
func (t *Tx) listPulls(ctx context.Context, repoID int64) ([]work.PullRequest, error) {
	return listRows(ctx, t, "list pull requests", scanPulls(), selectPull+`WHERE repo_id = ? ORDER BY number`, repoID)
}

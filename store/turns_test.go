package store

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// steps are all that a turn can have.
var steps = []work.Step{
	work.StepClaimed, work.StepAnswered, work.StepPushed, work.StepApplied,
	work.StepDone, work.StepSuperseded, work.StepFailed, work.StepCancelled,
}

func TestTurnKeepsEveryField(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	var want work.Turn
	fill(t, &want)
	want.RepoID, want.ItemID, want.Machine = i.RepoID, i.ID, ""
	added := addTurn(t, d, want)
	want.ID = added.ID
	equal(t, added, want)
	update(t, d, func(tx *Tx) error {
		got, ok, err := tx.FindTurn(ctx, want.Key)
		equal(t, got, want)
		equal(t, ok, true)
		if err != nil {
			return err
		}
		_, ok, err = tx.FindTurn(ctx, "another")
		equal(t, ok, false)
		return err
	})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.Turn, error) { return tx.ListTurns(ctx, i.ID) }), []work.Turn{want})

	saved := want
	saved.Slot, saved.Blocked, saved.Branch, saved.Base, saved.Head, saved.Agent, saved.Request = 9, false, "b", "ba", "h", "a", nil
	saved.Runs, saved.Answer, saved.Commit, saved.Session, saved.EventKeys = 7, []byte("{}"), "c0", "s", nil
	saved.Used = work.UsageSum{Usage: work.Usage{InputTokens: 1, OutputTokens: 2, CostUSD: 3.5}, UnknownTokens: 4, UnknownCost: 5}
	update(t, d, func(tx *Tx) error {
		stranger := saved // these are not SaveTurn's
		stranger.Step, stranger.Attempts, stranger.NotBefore, stranger.WaitReason, stranger.LastError = work.StepDone, 99, t0, work.Reason{Kind: work.WhyFailed}, "no"
		return tx.SaveTurn(ctx, stranger)
	})
	saved.UpdatedAt = t0
	equal(t, getTurn(t, d, want.ID), saved)
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { _, err := tx.GetTurn(ctx, 99); return err })
}

func TestOneUnfinishedTurn(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	i, j := addItem(t, d, work.Item{RepoID: r.ID, Number: 1}), addItem(t, d, work.Item{RepoID: r.ID, Number: 2})
	add := func(item int64, number int, key string) func(*Tx) error {
		return func(tx *Tx) error {
			_, err := tx.AddTurn(ctx, work.Turn{RepoID: r.ID, ItemID: item, Number: number, Key: key, Step: work.StepClaimed})
			return err
		}
	}
	for n, ended := range steps {
		if !ended.Ended() {
			continue
		}
		key := fmt.Sprint("key", n)
		update(t, d, add(i.ID, 1, key))
		u := inTx(t, d, func(tx *Tx) ([]work.Turn, error) { return tx.ListUnfinishedTurns(ctx) })[0]
		for _, live := range steps {
			if u.Step.MayMoveTo(live) && live.MayMoveTo(ended) {
				update(t, d, func(tx *Tx) error { return tx.AdvanceTurn(ctx, u.ID, u.Step, live, t0) })
				u.Step = live
			}
			wantErr(t, d, ErrStale, add(i.ID, 5, "same item"))
			wantErr(t, d, ErrStale, add(j.ID, 1, "same number"))
		}
		update(t, d, func(tx *Tx) error { return tx.EndTurn(ctx, u.ID, u.Step, ended, "", t0) })
		wantErr(t, d, ErrStale, add(i.ID, 1, key)) // a key is used once
	}
	update(t, d, add(i.ID, 1, "next"))
	update(t, d, add(j.ID, 2, "beside"))
	equal(t, len(inTx(t, d, func(tx *Tx) ([]work.Turn, error) { return tx.ListUnfinishedTurns(ctx) })), 2)
	if err := d.Update(ctx, add(99, 99, "of no item")); err == nil {
		t.Error("a turn of no item was added")
	}
}

func TestAdvanceAndEndTurn(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	advance := func(from, to work.Step) func(*Tx) error {
		return func(tx *Tx) error { return tx.AdvanceTurn(ctx, u.ID, from, to, t0.Add(time.Hour)) }
	}
	end := func(from, to work.Step) func(*Tx) error {
		return func(tx *Tx) error { return tx.EndTurn(ctx, u.ID, from, to, "last", t0.Add(2*time.Hour)) }
	}
	update(t, d, advance(work.StepClaimed, work.StepAnswered))
	if got := getTurn(t, d, u.ID); got.Step != work.StepAnswered || got.UpdatedAt != t0.Add(time.Hour) {
		t.Errorf("advanced: %+v", got)
	}
	wantErr(t, d, ErrStale, advance(work.StepClaimed, work.StepAnswered))
	wantErr(t, d, ErrStale, end(work.StepClaimed, work.StepFailed))
	for what, wrong := range map[string]func(*Tx) error{
		"advanced to its end":  advance(work.StepAnswered, work.StepDone),
		"advanced from an end": advance(work.StepDone, work.StepClaimed),
		"ended without an end": end(work.StepAnswered, work.StepPushed),
		"ended twice":          end(work.StepDone, work.StepFailed),
		"pushed and not seen":  advance(work.StepAnswered, work.StepApplied),
	} {
		if err := d.Update(ctx, wrong); err == nil {
			t.Error(what)
		}
	}
	update(t, d, func(tx *Tx) error { return tx.BlockTurn(ctx, u.ID, work.Reason{Kind: work.WhyFailed}) })
	update(t, d, end(work.StepAnswered, work.StepDone))
	got := getTurn(t, d, u.ID)
	equal(t, []any{got.Step, got.EndedAt, got.LastError, got.Blocked, got.WaitReason},
		[]any{work.StepDone, t0.Add(2 * time.Hour), "last", false, work.Reason{}})

	for what, write := range map[string]func(*Tx) error{
		"save":   func(tx *Tx) error { return tx.SaveTurn(ctx, u) },
		"defer":  func(tx *Tx) error { return tx.DeferTurn(ctx, u.ID, t0, work.Reason{}, true, "") },
		"block":  func(tx *Tx) error { return tx.BlockTurn(ctx, u.ID, work.Reason{}) },
		"resume": func(tx *Tx) error { return tx.ResumeTurn(ctx, u.ID) },
	} {
		t.Run(what+" after the end", func(t *testing.T) { wantErr(t, d, ErrStale, write) })
	}
	equal(t, getTurn(t, d, u.ID), got)
}

func TestDeferBlockResumeTurn(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	check := func(notBefore time.Time, reason work.ReasonKind, attempts int, last string, blocked bool) {
		t.Helper()
		got := getTurn(t, d, u.ID)
		equal(t, []any{got.NotBefore, got.WaitReason.Kind, got.Attempts, got.LastError, got.Blocked, got.Step},
			[]any{notBefore, reason, attempts, last, blocked, work.StepClaimed})
	}
	update(t, d, func(tx *Tx) error {
		return tx.DeferTurn(ctx, u.ID, t0.Add(time.Hour), work.Reason{Kind: work.WhyProvider, Text: "usage limit"}, false, "")
	})
	check(t0.Add(time.Hour), work.WhyProvider, 0, "", false)
	for range 2 {
		update(t, d, func(tx *Tx) error {
			return tx.DeferTurn(ctx, u.ID, t0.Add(2*time.Hour), work.Reason{Kind: work.WhyTriedAgain}, true, "boom")
		})
	}
	check(t0.Add(2*time.Hour), work.WhyTriedAgain, 2, "boom", false)
	update(t, d, func(tx *Tx) error { return tx.BlockTurn(ctx, u.ID, work.Reason{Kind: work.WhyPushRefused}) })
	check(time.Time{}, work.WhyPushRefused, 2, "boom", true)
	update(t, d, func(tx *Tx) error { return tx.ResumeTurn(ctx, u.ID) })
	check(time.Time{}, "", 0, "boom", false)
}

func TestHasTurnCommit(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	u := newTurn(t, d, 1)
	u.Commit = "c0ffee"
	has := func(repoID int64, oid string, want bool) {
		t.Helper()
		equal(t, inTx(t, d, func(tx *Tx) (bool, error) { return tx.HasTurnCommit(ctx, repoID, oid) }), want)
	}
	has(u.RepoID, "c0ffee", false)
	has(u.RepoID, "", false) // a turn without a commit is no match
	update(t, d, func(tx *Tx) error { return tx.SaveTurn(ctx, u) })
	has(u.RepoID, "c0ffee", true)
	has(u.RepoID+1, "c0ffee", false)
	update(t, d, func(tx *Tx) error { return tx.EndTurn(ctx, u.ID, u.Step, work.StepDone, "", t0) })
	has(u.RepoID, "c0ffee", true)
}

// A commit names the turn that made it by the beginning of its key, or by all of it.
func TestTurnIsFoundByItsTrailer(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	key := strings.Repeat("9f", 32)
	addTurn(t, d, work.Turn{RepoID: i.RepoID, ItemID: i.ID, Number: 1, Key: key})
	update(t, d, func(tx *Tx) error {
		for trailer, of := range map[string]bool{key: true, work.ShortTurn(key): true, key + "0": false, "9e": false, "a": false, key[:15] + "e": false} {
			if _, ok, err := tx.FindTurnOf(ctx, trailer); ok != of || err != nil {
				t.Errorf("%q: %v, %v", trailer, ok, err)
			}
		}
		return nil
	})
}

package store

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The remote of a repository that is not merged into is told so once that is due, until it is
// told; and of the stop that nobody was told of the repository knows also when it begins again.
func TestAHaltIsToldToItsRemote(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	for _, told := range []bool{false, true} {
		r := addRepo(t, d)
		update(t, d, func(tx *Tx) error {
			r.IssuesSince = t0
			return errors.Join(tx.SetCursors(ctx, r), tx.StopMerging(ctx, r.ID, work.Reason{Kind: work.WhyMergeDiffers, Text: "x"}))
		})
		due := func(now time.Time, want ...int64) {
			t.Helper()
			equal(t, inTx(t, d, func(tx *Tx) ([]int64, error) { return tx.ListHaltsToTell(ctx, now) }), want)
		}
		due(t0, r.ID)
		update(t, d, func(tx *Tx) error {
			_, err := tx.MergingTold(ctx, r.ID) // people know it, and the remote does not
			return errors.Join(err, tx.TellHaltAt(ctx, r.ID, t0.Add(time.Hour)))
		})
		due(t0)
		due(t0.Add(time.Hour), r.ID)
		for after, want := range map[time.Duration]bool{0: false, time.Hour: true} {
			busy := inTx(t, d, func(tx *Tx) (BusySet, error) { return tx.ListBusy(ctx, t0.Add(after)) })
			equal(t, busy[r.ID], want)
		}
		if told {
			update(t, d, func(tx *Tx) error { return tx.TellHaltAt(ctx, r.ID, time.Time{}) })
			due(t0.Add(time.Hour))
		}
		now := inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.BeginAgain(ctx, r) })
		halt, stopped := haltOf(t, d, now.ID)
		if _, former := haltOf(t, d, r.ID); former || stopped == told || stopped && (halt.TellAt.IsZero() || !halt.Told) {
			t.Errorf("told %v: stopped %v, %+v; as the former one %v", told, stopped, halt, former)
		}
		update(t, d, func(tx *Tx) error { _, err := tx.ResumeMerging(ctx, now.ID); return err })
		due(t0.Add(time.Hour))
	}
}

// Nothing was read yet of a repository: whether merging is stopped there it says itself, unless
// it could not be told.
func TestAStopOfARepositoryThatWasNotRead(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	for _, told := range []bool{false, true} {
		r := addRepo(t, d)
		update(t, d, func(tx *Tx) error {
			return tx.StopMerging(ctx, r.ID, work.Reason{Kind: work.WhyMergeDiffers, Text: "x"})
		})
		if told {
			update(t, d, func(tx *Tx) error { return tx.TellHaltAt(ctx, r.ID, time.Time{}) })
		}
		now := inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.BeginAgain(ctx, r) })
		if _, stopped := haltOf(t, d, now.ID); now.ID != r.ID || stopped == told {
			t.Errorf("told %v: stopped %v", told, stopped)
		}
		update(t, d, func(tx *Tx) error { _, err := tx.ResumeMerging(ctx, now.ID); return err })
	}
}

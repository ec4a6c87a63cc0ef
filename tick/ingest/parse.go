package ingest

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// recallStop takes up a comment of ours that says that an item is blocked, made
// by a pass whose database is gone, or shown by GitHub only now. With it on record the same stop is the same
// comment, and it is not left saying so once the item resumes.
func (h *Rebuild) recallStop(ctx context.Context, tx *store.Tx, e work.Event) error {
	if e.Outcome != work.OutcomeOwn || e.ItemID == 0 {
		return nil
	}
	stop, ok := stopSaid(e.Body)
	marks, marked := work.ParseMarks(e.Body)
	if !ok || !marked {
		return nil
	}
	said, known, err := tx.GetAction(ctx, marks.Token)
	switch {
	case err != nil:
		return err
	case known && said.Kind == work.ActionSticky && said.State == work.ActionVoid && said.ResultID == "":
		return tx.RenewAction(ctx, said) // it appeared after it was given up as never made
	case known:
		return nil
	}
	_, err = tx.AddAction(ctx, work.Action{
		RepoID: e.RepoID, ItemID: e.ItemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: marks.Token, State: work.ActionApplied,
		Number: e.Number, Body: e.Body, Why: "blocked", PlannedAt: e.CreatedAt, SeenAt: e.SeenAt, ResultID: e.Source, ResultURL: e.URL,
	})
	if err != nil {
		return err
	}
	stop.ItemID, stop.Number, stop.Token = e.ItemID, e.Number, marks.Token
	return tx.PutStop(ctx, stop)
}

// stopSaid reads what notice.Notices.StopText wrote.
func stopSaid(body string) (stop work.Stop, ok bool) {
	said, begins := strings.CutPrefix(work.Normalise(body), work.StoppedHere)
	reason, rest, complete := strings.Cut(said, work.StoppedSince)
	if !begins || !complete {
		return stop, false // it has resumed already
	}
	since, rest, _ := strings.Cut(rest, work.StoppedOften)
	often, rest, _ := strings.Cut(rest, work.StoppedNext)
	hint, _, _ := strings.Cut(rest, "\n")
	at, err := time.Parse(work.StoppedTime, since)
	if err != nil {
		return stop, false
	}
	attempts, err := strconv.Atoi(often)
	return work.Stop{Reason: reason, Hint: strings.TrimSuffix(hint, "."), Attempts: attempts, Since: at}, err == nil && attempts > 0
}

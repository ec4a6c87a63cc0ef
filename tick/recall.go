package tick

import (
	"context"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// How the comment about a stop is worded where it is read back.
const (
	stoppedHere = "gh mergexo stopped here: "
	stoppedMore = "\n\n- Since: "
	stoppedNext = "\n- To go on: "
)

// recallStop takes up a comment of ours that says that an item stands still, made
// by a pass whose database is gone. With it on record the same stop is the same
// comment, and it is not left saying so once the item goes on.
func (h *harvest) recallStop(ctx context.Context, tx *store.Tx, e work.Event) error {
	if e.Outcome != outcomeOwn || e.ItemID == 0 {
		return nil
	}
	reason, hint, ok := stopSaid(e.Body)
	marks, marked := work.ParseMarks(e.Body)
	if !ok || !marked {
		return nil
	}
	if _, known, err := tx.GetAction(ctx, marks.Token); err != nil || known {
		return err
	}
	_, err := tx.AddAction(ctx, work.Action{
		RepoID: e.RepoID, ItemID: e.ItemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: marks.Token, State: work.ActionApplied,
		Number: e.Number, Body: e.Body, Why: "blocked", PlannedAt: e.CreatedAt, SeenAt: e.SeenAt, ResultID: e.Source, ResultURL: e.URL,
	})
	if err != nil {
		return err
	}
	return tx.PutStop(ctx, work.Stop{
		ItemID: e.ItemID, Number: e.Number, Token: marks.Token, Reason: reason, Hint: hint, Attempts: 1, Since: e.CreatedAt,
	})
}

// stopSaid reads what stopText wrote.
func stopSaid(body string) (reason, hint string, ok bool) {
	said, begins := strings.CutPrefix(work.Normalise(body), stoppedHere)
	reason, rest, complete := strings.Cut(said, stoppedMore)
	if !begins || !complete {
		return "", "", false // it went on already
	}
	_, hint, _ = strings.Cut(rest, stoppedNext)
	hint, _, _ = strings.Cut(hint, "\n")
	return reason, strings.TrimSuffix(hint, "."), true
}

package tick

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// stoppedHere begins the comment that says why an item stands still.
const stoppedHere = "gh mergexo stopped here: "

// recallStop remembers such a comment on a pull request that is found again: the
// stop is forgotten with the database, and the comment must not go on telling of
// it.
func (h *harvest) recallStop(e work.Event) {
	if _, found := h.adopted[e.Number]; found && strings.HasPrefix(e.Body, stoppedHere) {
		h.stopped[e.Number] = e
	}
}

// storeRecalled stores the stop of which a found pull request tells, with its
// comment: the move that follows ends it there, unless it comes to it again.
func (h *harvest) storeRecalled(ctx context.Context, tx *store.Tx, pull work.PullRequest, itemID int64, now time.Time) error {
	e, ok := h.stopped[pull.Number]
	if !ok {
		return nil
	}
	marks, _ := work.ParseMarks(e.Body)
	if _, known, err := tx.FindStop(ctx, itemID); err != nil || known {
		return err
	}
	if _, known, err := tx.GetAction(ctx, marks.Token); err != nil || known {
		return err
	}
	reason, _, _ := strings.Cut(strings.TrimPrefix(e.Body, stoppedHere), "\n")
	_, err := tx.AddAction(ctx, work.Action{
		RepoID: h.repo.ID, ItemID: itemID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: marks.Token, State: work.ActionApplied,
		Number: pull.Number, Body: e.Body, Why: "blocked", ResultID: e.Source, ResultURL: e.URL, PlannedAt: e.CreatedAt, SeenAt: now,
	})
	if err != nil {
		return err
	}
	return tx.PutStop(ctx, work.Stop{ItemID: itemID, Number: pull.Number, Token: marks.Token, Reason: reason, Attempts: 1, Since: e.CreatedAt})
}

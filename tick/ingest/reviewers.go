package ingest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// reviewerLife is the time after which GitHub is asked about a reviewer again.
const reviewerLife = 10 * time.Minute

// readReviewers asks GitHub what the accounts of configured reviewers may do, where the approval of
// one is waited for: one that may not write ends no wait. An answer counts for reviewerLife.
func (h *reading) readReviewers(ctx context.Context) error {
	if !h.repo.Settings.Review.Enabled {
		return nil
	}
	var awaited []string
	var known map[string]store.Level
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if awaited, err = tx.ListAwaitedReviewers(ctx, h.row.ID); err == nil {
			known, err = tx.ListReviewerLevels(ctx, h.row.ID)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, x := range h.repo.Settings.Reviewers {
		login := x.Speaks()
		was, asked := known[strings.ToLower(login)]
		wanted := h.guarded || x.Human && slices.Contains(awaited, x.Name)
		if age := h.now().Sub(was.At); login == "" || !wanted || asked && age >= 0 && age < reviewerLife {
			continue
		}
		who := work.Account{ID: x.LoginID, Login: login}
		if x.Human && who.ID == 0 { // the first account that was seen with the login
			who.ID = stored(ctx, h, func(ctx context.Context, tx *store.Tx) (int64, error) {
				id, _, err := tx.PinnedAccount(ctx, h.row.ID, login)
				return id, err
			})
		}
		level, err := h.repo.GitHub.Permission(ctx, h.row.Current, who)
		if err == nil {
			decides := work.MayWrite(level) != (!asked || work.MayWrite(was.Level))
			err = h.update(ctx, func(ctx context.Context, tx *store.Tx) error {
				return tx.PutReviewerLevel(ctx, h.row.ID, login, store.Level{Level: level, At: h.now()}, decides)
			})
		}
		if err := h.deferOne(err, "ask what reviewer %s may do", x.Name); err != nil {
			return err
		}
	}
	return nil
}

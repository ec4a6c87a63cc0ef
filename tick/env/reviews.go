package env

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// Due returns the request for the turn's review; false: the turn makes none.
func (l *Lease) Due() (review.Due, bool) {
	for _, e := range l.Events {
		if d, ok := review.DueOf(e); ok {
			return d, true
		}
	}
	return review.Due{}, false
}

// FixDue returns the request for the turn's fix of a review; false: the turn makes none.
func (l *Lease) FixDue() (review.FixDue, bool) {
	for _, e := range l.Events {
		if d, ok := review.FixDueOf(e); ok {
			return d, true
		}
	}
	return review.FixDue{}, false
}

// ReviewPolicy returns today's config for reviews of the turn's pull request.
func (l *Lease) ReviewPolicy() review.Policy { return l.Repo.Settings.ReviewPolicy(l.Item.Flow) }

// Reviews returns the turn's pull request and its stored reviews.
func (p *Env) Reviews(ctx context.Context, l *Lease) (pull work.PullRequest, stored store.Reviews, err error) {
	if pull, err = p.ItemPull(ctx, l); err != nil {
		return pull, stored, err
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		stored, err = tx.GetReviews(ctx, pull.ID)
		return err
	})
	if err != nil {
		err = fmt.Errorf("read the reviews of #%d: %w", pull.Number, err)
	}
	return pull, stored, err
}

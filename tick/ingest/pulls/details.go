package pulls

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// detailsAtOnce is how many queries for details are under way at a time.
const detailsAtOnce = 10

// details are read of pull requests.
type details struct{ *Pulls }

// ReadBatch reads the details of any number of pull requests, by their node ids: the
// queries are under way side by side, and what they bring is taken in one by one, in order.
func (h *Pulls) ReadBatch(ctx context.Context, ids []string) error {
	groups := slices.Collect(slices.Chunk(ids, github.MaxDetails))
	answers := make([][]github.PullDetail, len(groups))
	reads := make([]func() error, len(groups))
	for i, group := range groups {
		reads[i] = func() (err error) {
			answers[i], err = details{h}.fetch(ctx, group)
			return err
		}
	}
	err := batch.FirstError(batch.AtOnce(detailsAtOnce, reads))
	for _, d := range slices.Concat(answers...) {
		if err := h.Take(ctx, d); err != nil {
			return err
		}
	}
	return err
}

// Fetch reads the details of some, of up to ten, and takes nothing in.
func (h *Pulls) Fetch(ctx context.Context, ids []string) ([]github.PullDetail, error) {
	return details{h}.fetch(ctx, ids)
}

// fetch asks for the details of some, and puts off those that GitHub does not
// answer for. What it read it gives with an error, too.
func (h details) fetch(ctx context.Context, ids []string) ([]github.PullDetail, error) {
	read, missing, err := h.R.GitHub.Details(ctx, ids)
	if err != nil {
		err = h.halve(ctx, ids, err, func(ctx context.Context, half []string) error {
			some, err := h.fetch(ctx, half)
			read = append(read, some...)
			return err
		})
		return read, err
	}
	for _, id := range missing {
		h.defers(id, errors.New("GitHub does not know this pull request any more"))
	}
	return read, nil
}

// Take takes in what was read of one.
func (h *Pulls) Take(ctx context.Context, d github.PullDetail) error {
	pull, ok, err := h.Open.Whole(ctx, d.Number)
	if !ok || err != nil {
		return err
	}
	err = h.intakePull(ctx, pull, d)
	if err != nil && batch.IsItemError(err) {
		h.defers(pull.NodeID, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("read pull request #%d: %w", d.Number, err)
	}
	return nil
}

package env

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// PauseNumbers returns the numbers on which an item can be paused: its issue's and its newest pull
// request's.
func PauseNumbers(ctx context.Context, tx *store.Tx, item work.Item) ([]int, error) {
	numbers := []int{item.Number}
	pull, ok, err := tx.FindPullOfItem(ctx, item.ID)
	if ok {
		numbers = append(numbers, pull.Number)
	}
	return numbers, err
}

// PauseOf returns the oldest open pause of an item.
func PauseOf(ctx context.Context, tx *store.Tx, item work.Item) (work.Pause, bool, error) {
	numbers, err := PauseNumbers(ctx, tx, item)
	if err != nil {
		return work.Pause{}, false, err
	}
	open, err := tx.ListOpenPauses(ctx, item.RepoID)
	at := slices.IndexFunc(open, func(p work.Pause) bool { return slices.Contains(numbers, p.Number) })
	if err != nil || at < 0 {
		return work.Pause{}, false, err
	}
	return open[at], true, nil
}

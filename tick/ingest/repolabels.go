package ingest

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// The labels that start and pause work are what a new user reaches for first, and
// GitHub's web interface offers only labels that the repository has. So each
// configured repository gets them, once: what people delete or change afterwards
// stays as they left it.

// storeRepoLabels plans that the repository has the labels that the config names.
// An idle pass finds the row as it wants it.
func (h *Issues) storeRepoLabels(ctx context.Context, tx *store.Tx, now time.Time) error {
	wanted := work.Labelling{With: work.RepoLabels(h.R.Settings.Labels)}
	if h.R.Settings.Review.Enabled {
		wanted.With = append(wanted.With, work.ReviewLabels(h.R.Settings.Labels)...)
	}
	if h.R.Settings.Review.Merge.Auto {
		wanted.With = append(wanted.With, work.FreezeLabel(h.R.Settings.Labels.Freeze))
	}
	// A repository that is made again under the name is another one.
	a := wanted.Action(h.Repo, 0, 0, "repository "+h.Repo.NodeID)
	a.Kind, a.PlannedAt, a.Why = work.ActionRepoLabels, now, "the labels that start and pause work"
	known, ok, err := tx.GetAction(ctx, a.Token)
	if err != nil || ok && known.Body == a.Body {
		return err
	}
	return tx.RenewAction(ctx, a)
}

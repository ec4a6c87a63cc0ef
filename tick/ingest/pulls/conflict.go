package pulls

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// conflictEvent notes that a pull request cannot be merged: once for a head,
// and again when it could be merged in between.
func (h *Pulls) conflictEvent(ctx context.Context, old, pull work.PullRequest, about func(work.EventKind, string) work.Event) error {
	if pull.Mergeable != work.Conflicting || old.Mergeable == work.Conflicting && old.HeadOID == pull.HeadOID {
		return nil
	}
	e := about(work.EventConflict, "")
	var known bool
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		known, err = tx.HasEvent(ctx, h.Repo.ID, e.Key)
		return err
	})
	if err != nil {
		return err
	}
	if known {
		e = about(work.EventConflict, fmt.Sprintf("since %d", h.Now().Unix()))
	}
	h.Add(batch.Inbound{Event: e, Pull: true})
	return nil
}

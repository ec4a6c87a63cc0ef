package ingest

import (
	"context"

	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

func (h *Reading) logMissed(ctx context.Context) {
	for _, m := range h.Missed {
		if m.Why == batch.OutcomeOwnDeleted {
			h.P.Log.WarnContext(ctx, "somebody deleted a comment of ours; it is not sent again", "repo_full_name", h.R.Name.FullName(),
				"number", m.Event.Number, "url", m.Event.URL)
		}
	}
}

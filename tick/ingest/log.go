package ingest

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// log writes a line for each new event, and one for those that an operator may
// want to act on.
func (h *Reading) log(ctx context.Context) {
	h.logMissed(ctx)
	for _, c := range h.Events {
		e := c.Event
		h.P.Log.InfoContext(ctx, "event", h.EventAttrs(c, "outcome", e.Outcome)...)
		switch e.Outcome {
		case work.OutcomeNoCommander:
			h.P.Log.WarnContext(ctx, "a command was not obeyed: its author may not write to the repository", h.EventAttrs(c)...)
		case work.OutcomeTakenOver:
			h.P.Log.WarnContext(ctx, "a login in allowed_users is another account now; to accept it, write it there as entry says",
				h.EventAttrs(c, "account_id_before", h.TakenOver[e.Author.ID], "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID))...)
		case work.OutcomeOwnEdited:
			h.P.Log.WarnContext(ctx, "somebody edited a comment of ours; it stays ours, and is nobody's feedback", h.EventAttrs(c)...)
		case work.OutcomeNoLabeller:
			h.P.Log.WarnContext(ctx, "a label starts no work: who set it may not triage the repository", h.EventAttrs(c, "label", e.State)...)
		}
	}
}

func (h *Reading) logMissed(ctx context.Context) {
	for _, m := range h.Missed {
		if m.Why == batch.OutcomeOwnDeleted {
			h.P.Log.WarnContext(ctx, "somebody deleted a comment of ours; it is not sent again", "repo_full_name", h.R.Name.FullName(),
				"number", m.Event.Number, "url", m.Event.URL)
		}
	}
}

package tick

import (
	"context"
	"fmt"
)

// log writes a line for each new event.
func (h *harvest) log(ctx context.Context) {
	h.logMissed(ctx)
	for _, c := range h.events {
		e := c.event
		h.p.Log.InfoContext(ctx, "event", "repo_full_name", h.r.Name.FullName(), "number", e.Number, "kind", string(e.Kind),
			"event_key", e.Key, "author", e.Author.Login, "outcome", e.Outcome)
		if e.Outcome == OutcomeNoCommander {
			h.p.Log.WarnContext(ctx, "a command was not obeyed: its author may not write to the repository", "repo_full_name", h.r.Name.FullName(),
				"number", e.Number, "author", e.Author.Login, "url", e.URL)
		}
		if e.Outcome == OutcomeTakenOver {
			h.p.Log.WarnContext(ctx, "a login in allowed_users is another account now; to accept it, write it there as entry says", "repo_full_name", h.r.Name.FullName(),
				"number", e.Number, "author", e.Author.Login, "account_id_before", h.takenOver[e.Author.ID], "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID), "url", e.URL)
		}
		if e.Outcome == outcomeOwnEdited {
			h.p.Log.WarnContext(ctx, "somebody edited a comment of ours; it stays ours, and is nobody's feedback", "repo_full_name", h.r.Name.FullName(),
				"number", e.Number, "url", e.URL)
		}
		if e.Outcome == OutcomeNoLabeller {
			h.p.Log.WarnContext(ctx, "a label starts no work: who set it may not triage the repository", "repo_full_name", h.r.Name.FullName(),
				"number", e.Number, "author", e.Author.Login, "label", e.State)
		}
	}
}

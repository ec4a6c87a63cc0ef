package tick

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// log writes a line for each new event, and one for those that an operator may
// want to act on.
func (h *Reading) log(ctx context.Context) {
	h.logMissed(ctx)
	for _, c := range h.events {
		e := c.event
		h.p.Log.InfoContext(ctx, "event", h.eventAttrs(c, "outcome", e.Outcome)...)
		switch e.Outcome {
		case work.OutcomeNoCommander:
			h.p.Log.WarnContext(ctx, "a command was not obeyed: its author may not write to the repository", h.eventAttrs(c)...)
		case work.OutcomeTakenOver:
			h.p.Log.WarnContext(ctx, "a login in allowed_users is another account now; to accept it, write it there as entry says",
				h.eventAttrs(c, "account_id_before", h.takenOver[e.Author.ID], "entry", fmt.Sprintf("%s:%d", e.Author.Login, e.Author.ID))...)
		case work.OutcomeOwnEdited:
			h.p.Log.WarnContext(ctx, "somebody edited a comment of ours; it stays ours, and is nobody's feedback", h.eventAttrs(c)...)
		case work.OutcomeNoLabeller:
			h.p.Log.WarnContext(ctx, "a label starts no work: who set it may not triage the repository", h.eventAttrs(c, "label", e.State)...)
		}
	}
}

// eventAttrs are the fields of every log line about an event.
func (h *harvest) eventAttrs(c candidate, more ...any) []any {
	e := c.event
	attrs := []any{"repo_full_name", h.r.Name.FullName(), "event_key", e.Key, "kind", string(e.Kind), "author", e.Author.Login, "url", e.URL}
	if id := h.itemOf(c); id != 0 {
		attrs = append(attrs, "work_item_id", id)
	}
	number := "issue_number"
	if c.pull {
		number = "pr_number"
	}
	return append(append(attrs, number, e.Number), more...)
}

// itemOf is the work item that an event belongs to, once the harvest's items are
// stored; 0 where it belongs to none.
func (h *harvest) itemOf(c candidate) int64 {
	e := c.event
	issue := e.Number
	if c.pull {
		issue = h.adopted[e.Number]
	}
	if item, ok := h.items[issue]; ok && !c.former && (!c.pull || e.ItemID == 0) {
		return item.ID
	}
	return e.ItemID
}

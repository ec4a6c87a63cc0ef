package batch

// EventAttrs are the fields of every log line about an event.
func (h *Batch) EventAttrs(c Candidate, more ...any) []any {
	e := c.Event
	attrs := []any{"repo_full_name", h.R.Name.FullName(), "event_key", e.Key, "kind", string(e.Kind), "author", e.Author.Login, "url", e.URL}
	if id := h.ItemOf(c); id != 0 {
		attrs = append(attrs, "work_item_id", id)
	}
	number := "issue_number"
	if c.Pull {
		number = "pr_number"
	}
	return append(append(attrs, number, e.Number), more...)
}

// ItemOf is the work item that an event belongs to, once the batch's items are
// stored; 0 where it belongs to none.
func (h *Batch) ItemOf(c Candidate) int64 {
	e := c.Event
	issue := e.Number
	if c.Pull {
		issue = h.Adopted[e.Number]
	}
	if item, ok := h.Items[issue]; ok && !c.Former && (!c.Pull || e.ItemID == 0) {
		return item.ID
	}
	return e.ItemID
}

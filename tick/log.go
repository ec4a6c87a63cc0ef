package tick

// turnAttrs are the fields of every log line about a turn.
func (p *Pass) turnAttrs(l *lease, more ...any) []any {
	attrs := []any{
		"repo_full_name", l.remote.Name.FullName(), "work_item_id", l.item.ID, "issue_number", l.item.Number,
		"turn_key", l.turn.Key, "kind", string(l.turn.Kind),
	}
	if !l.turn.Kind.Start() {
		attrs = append(attrs, "pr_number", l.turn.Number)
	}
	return append(attrs, more...)
}

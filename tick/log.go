package tick

import "github.com/mergexo/gh-mergexo/internal/work"

// turnAttrs are the fields of every log line about a turn.
func (p *Env) turnAttrs(l *lease, more ...any) []any {
	return append(attrsOf(l.remote.Name, l.item, l.turn), more...)
}

func attrsOf(repo work.RepoName, item work.Item, t work.Turn) []any {
	attrs := []any{"repo_full_name", repo.FullName(), "work_item_id", item.ID, "issue_number", item.Number, "turn_key", t.Key, "kind", string(t.Kind)}
	if !t.Kind.Start() {
		attrs = append(attrs, "pr_number", t.Number)
	}
	return attrs
}

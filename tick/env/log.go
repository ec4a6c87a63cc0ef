package env

import "github.com/mergexo/gh-mergexo/internal/work"

// TurnAttrs returns the fields of every log line about a turn, followed by more.
func (p *Env) TurnAttrs(l *Lease, more ...any) []any {
	return append(AttrsOf(l.Repo.Name, l.Item, l.Turn), more...)
}

// AttrsOf returns the fields of a log line about a turn.
func AttrsOf(repo work.RepoName, item work.Item, t work.Turn) []any {
	attrs := []any{"repo_full_name", repo.FullName(), "work_item_id", item.ID, "issue_number", item.Number, "turn_key", t.Key, "kind", string(t.Kind)}
	if !t.Kind.Start() {
		attrs = append(attrs, "pr_number", t.Number)
	}
	return attrs
}

// IDRange returns the lowest and highest id of comments; 0 for none.
func IDRange(comments []work.Event) (from, to int64) {
	for _, e := range comments {
		id := work.CommentID(e)
		if from == 0 || id < from {
			from = id
		}
		to = max(to, id)
	}
	return from, to
}

package actions

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// LogAttrs returns the fields of a log line about an action. By them a line is found from a work
// item, turn, issue or pull request.
func (r *Runner) LogAttrs(ctx context.Context, repo work.Repo, a work.Action, more ...any) []any {
	attrs := []any{"repo_full_name", repo.Name.FullName(), "action_token", a.Token, "kind", string(a.Kind)}
	var names store.Names
	err := r.Store.View(context.WithoutCancel(ctx), func(tx *store.Tx) (err error) {
		names, err = tx.NamesOf(context.WithoutCancel(ctx), a)
		return err
	})
	switch {
	case a.Number == 0 && names.Item == 0: // about the repository
	case err != nil || names.Item == 0: // a notice that belongs to no work item
		attrs = append(attrs, "number", a.Number)
	case names.Pull != 0:
		attrs = append(attrs, "work_item_id", names.Item, "issue_number", names.Issue, "pr_number", names.Pull)
	default:
		attrs = append(attrs, "work_item_id", names.Item, "issue_number", names.Issue)
	}
	if names.Turn != "" {
		attrs = append(attrs, "turn_key", names.Turn)
	}
	return append(attrs, more...)
}

// Package repos is what is remembered of repositories as such, and of their hosts:
// names, cursors, pages that were read, limits, accounts and what they may do.
package repos

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the rows of repositories and hosts, in one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows as a transaction sees them.
func In(tx *rows.Tx) Rows { return Rows{tx} }

const repoColumns = `name, current_name, node_id, github_id, default_branch, issues_since, comments_since,
	review_comments_since, heartbeat_at, not_before, failures, last_error, confirmed_at, left_at, named_by,
	pulse_at, pulse_issues, pulse_pulls, changed_at`

func repoFields(r *work.Repo) []any {
	return []any{
		rows.NameOf(&r.Name),
		rows.NameOf(&r.Current),
		&r.NodeID, &r.GitHubID, &r.DefaultBranch,
		rows.TimeOf(&r.IssuesSince),
		rows.TimeOf(&r.CommentsSince),
		rows.TimeOf(&r.ReviewCommentsSince),
		rows.TimeOf(&r.HeartbeatAt),
		rows.TimeOf(&r.NotBefore),
		&r.Failures, &r.LastError,
		rows.TimeOf(&r.ConfirmedAt),
		rows.TimeOf(&r.LeftAt),
		&r.NamedBy,
		rows.TimeOf(&r.Pulse.At),
		rows.TimeOf(&r.Pulse.Issues),
		rows.TimeOf(&r.Pulse.Pulls),
		rows.TimeOf(&r.Pulse.Changed),
	}
}

func scanRepo(row rows.Row) (r work.Repo, err error) {
	return r, row.Scan(append([]any{&r.ID}, repoFields(&r)...)...)
}

const selectRepo = `SELECT id, ` + repoColumns + ` FROM repositories `

// ListRepos gives every repository that was ever configured, by name.
func (t Rows) ListRepos(ctx context.Context) ([]work.Repo, error) {
	return rows.List(ctx, t.tx, "list repositories", scanRepo, selectRepo+`ORDER BY name_key`)
}

// GetRepo gives a repository by its id.
func (t Rows) GetRepo(ctx context.Context, id int64) (work.Repo, error) {
	return rows.Get(ctx, t.tx, fmt.Sprintf("get repository %d", id), scanRepo, selectRepo+`WHERE id = ?`, id)
}

// SetCursors stores the repository's three Since.
func (t Rows) SetCursors(ctx context.Context, r work.Repo) error {
	return t.tx.One(ctx, fmt.Sprintf("set cursors of repository %d", r.ID), rows.ErrNotFound,
		`UPDATE repositories SET issues_since = ?, comments_since = ?, review_comments_since = ? WHERE id = ?`,
		rows.TimeOf(&r.IssuesSince), rows.TimeOf(&r.CommentsSince), rows.TimeOf(&r.ReviewCommentsSince), r.ID)
}

// Heartbeat records a completed ingest, which ends what was wrong before.
func (t Rows) Heartbeat(ctx context.Context, id int64, at time.Time) error {
	return t.tx.One(ctx, fmt.Sprintf("heartbeat of repository %d", id), rows.ErrNotFound,
		`UPDATE repositories SET heartbeat_at = ?, not_before = 0, failures = 0, last_error = '' WHERE id = ?`, t.tx.Stamp(at), id)
}

// DeferRepo makes no request to the repository before until. failed counts a
// failure; a limit is none. Without a reason nothing is wrong any more, and what failed before is over.
func (t Rows) DeferRepo(ctx context.Context, id int64, until time.Time, reason string, failed bool) error {
	return t.tx.One(ctx, fmt.Sprintf("defer repository %d", id), rows.ErrNotFound,
		`UPDATE repositories SET not_before = ?, last_error = ?, failures = iif(? = '', 0, failures + ?) WHERE id = ?`, rows.Millis(until), t.tx.Clean(reason), reason, failed, id)
}

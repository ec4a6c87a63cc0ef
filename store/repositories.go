package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const repoColumns = `name, current_name, node_id, github_id, default_branch, issues_since, comments_since,
	review_comments_since, heartbeat_at, not_before, failures, last_error, confirmed_at, left_at, named_by`

func repoFields(r *work.Repo) []any {
	return []any{
		nameOf{&r.Name},
		nameOf{&r.Current},
		&r.NodeID, &r.GitHubID, &r.DefaultBranch,
		timeOf{&r.IssuesSince},
		timeOf{&r.CommentsSince},
		timeOf{&r.ReviewCommentsSince},
		timeOf{&r.HeartbeatAt},
		timeOf{&r.NotBefore},
		&r.Failures, &r.LastError,
		timeOf{&r.ConfirmedAt},
		timeOf{&r.LeftAt},
		&r.NamedBy,
	}
}

func scanRepo(row scanner) (r work.Repo, err error) {
	return r, row.Scan(append([]any{&r.ID}, repoFields(&r)...)...)
}

const selectRepo = `SELECT id, ` + repoColumns + ` FROM repositories `

// ListRepos gives every repository that was ever configured, by name.
func (t repoRows) ListRepos(ctx context.Context) ([]work.Repo, error) {
	return list(ctx, t.transaction, "list repositories", scanRepo, selectRepo+`ORDER BY name_key`)
}

// GetRepo gives a repository by its id.
func (t repoRows) GetRepo(ctx context.Context, id int64) (work.Repo, error) {
	return get(ctx, t.transaction, fmt.Sprintf("get repository %d", id), scanRepo, selectRepo+`WHERE id = ?`, id)
}

// SetCursors stores the repository's three Since.
func (t repoRows) SetCursors(ctx context.Context, r work.Repo) error {
	return t.one(ctx, fmt.Sprintf("set cursors of repository %d", r.ID), ErrNotFound,
		`UPDATE repositories SET issues_since = ?, comments_since = ?, review_comments_since = ? WHERE id = ?`,
		timeOf{&r.IssuesSince}, timeOf{&r.CommentsSince}, timeOf{&r.ReviewCommentsSince}, r.ID)
}

// Heartbeat records a completed ingest, which ends what was wrong before.
func (t repoRows) Heartbeat(ctx context.Context, id int64, at time.Time) error {
	return t.one(ctx, fmt.Sprintf("heartbeat of repository %d", id), ErrNotFound,
		`UPDATE repositories SET heartbeat_at = ?, not_before = 0, failures = 0, last_error = '' WHERE id = ?`, t.stamp(at), id)
}

// DeferRepo makes no request to the repository before until. failed counts a
// failure; a limit is none.
func (t repoRows) DeferRepo(ctx context.Context, id int64, until time.Time, reason string, failed bool) error {
	return t.one(ctx, fmt.Sprintf("defer repository %d", id), ErrNotFound,
		`UPDATE repositories SET not_before = ?, last_error = ?, failures = failures + ? WHERE id = ?`, millis(until), t.clean(reason), failed, id)
}

package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const repoColumns = `name, current_name, node_id, github_id, default_branch, issues_since, comments_since,
	review_comments_since, heartbeat_at, not_before, failures, last_error`

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
	}
}

func scanRepo(row scanner) (r work.Repo, err error) {
	return r, row.Scan(append([]any{&r.ID}, repoFields(&r)...)...)
}

const selectRepo = `SELECT id, ` + repoColumns + ` FROM repositories `

// EnsureRepo gives the row of a repository that the config names, and makes it
// when there is none. A repository that was renamed on GitHub and then in the
// config keeps its row. The returned Name is spelled as the config has it.
func (t *Tx) EnsureRepo(ctx context.Context, name work.RepoName) (work.Repo, error) {
	what := fmt.Sprintf("ensure repository %s", name)
	key := strings.ToLower(name.String())
	r, ok, err := find(ctx, t, what, scanRepo,
		selectRepo+`WHERE name_key = ? OR lower(current_name) = ? ORDER BY name_key = ? DESC, id LIMIT 1`, key, key, key)
	if err != nil {
		return work.Repo{}, err
	}
	if !ok {
		r = work.Repo{Name: name, Current: name}
		r.ID, err = t.insert(ctx, what, "repositories", "name_key, "+repoColumns, append([]any{key}, repoFields(&r)...))
		return r, err
	}
	if r.Name == name {
		return r, nil
	}
	r.Name = name
	return r, t.one(ctx, what, ErrNotFound, `UPDATE repositories SET name = ?, name_key = ? WHERE id = ?`, nameOf{&name}, key, r.ID)
}

// ListRepos gives every repository that was ever configured, by name.
func (t *Tx) ListRepos(ctx context.Context) ([]work.Repo, error) {
	return list(ctx, t, "list repositories", scanRepo, selectRepo+`ORDER BY name_key`)
}

// GetRepo gives a repository by its id.
func (t *Tx) GetRepo(ctx context.Context, id int64) (work.Repo, error) {
	return get(ctx, t, fmt.Sprintf("get repository %d", id), scanRepo, selectRepo+`WHERE id = ?`, id)
}

// SetRepoIdentity records who GitHub says the repository is.
func (t *Tx) SetRepoIdentity(ctx context.Context, id int64, nodeID string, githubID int64, current work.RepoName, defaultBranch string) error {
	return t.one(ctx, fmt.Sprintf("set identity of repository %d", id), ErrNotFound,
		`UPDATE repositories SET node_id = ?, github_id = ?, current_name = ?, default_branch = ? WHERE id = ?`,
		nodeID, githubID, nameOf{&current}, defaultBranch, id)
}

// SetCursors stores the repository's three Since.
func (t *Tx) SetCursors(ctx context.Context, r work.Repo) error {
	return t.one(ctx, fmt.Sprintf("set cursors of repository %d", r.ID), ErrNotFound,
		`UPDATE repositories SET issues_since = ?, comments_since = ?, review_comments_since = ? WHERE id = ?`,
		timeOf{&r.IssuesSince}, timeOf{&r.CommentsSince}, timeOf{&r.ReviewCommentsSince}, r.ID)
}

// Heartbeat records a completed ingest, which ends what was wrong before.
func (t *Tx) Heartbeat(ctx context.Context, id int64, at time.Time) error {
	return t.one(ctx, fmt.Sprintf("heartbeat of repository %d", id), ErrNotFound,
		`UPDATE repositories SET heartbeat_at = ?, not_before = 0, failures = 0, last_error = '' WHERE id = ?`, t.stamp(at), id)
}

// DeferRepo makes no request to the repository before until. failed counts a
// failure; a limit is none.
func (t *Tx) DeferRepo(ctx context.Context, id int64, until time.Time, reason string, failed bool) error {
	return t.one(ctx, fmt.Sprintf("defer repository %d", id), ErrNotFound,
		`UPDATE repositories SET not_before = ?, last_error = ?, failures = failures + ? WHERE id = ?`, millis(until), t.clean(reason), failed, id)
}

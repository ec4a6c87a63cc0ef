package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

const repoColumns = `name, current_name, node_id, github_id, default_branch, issues_since, comments_since,
	review_comments_since, heartbeat_at, not_before, failures, last_error, confirmed_at, left_at, named_by,
	newest_issue, newest_pull, machine, served_at, planning_epoch`

func repoFields(r *work.Repo) []any {
	return []any{
		nameOf(&r.Name),
		nameOf(&r.Current),
		&r.NodeID, &r.GitHubID, &r.DefaultBranch,
		timeOf(&r.IssuesSince),
		timeOf(&r.CommentsSince),
		timeOf(&r.ReviewCommentsSince),
		timeOf(&r.HeartbeatAt),
		timeOf(&r.NotBefore),
		&r.Failures, &r.LastError,
		timeOf(&r.ConfirmedAt),
		timeOf(&r.RemovedAt),
		&r.NamedBy,
		timeOf(&r.Newest.Issues),
		timeOf(&r.Newest.Pulls),
		&r.Machine,
		timeOf(&r.ServedAt),
		&r.PlanningEpoch,
	}
}

func scanRepo(row scanner) (r work.Repo, err error) {
	return r, row.Scan(append([]any{&r.ID}, repoFields(&r)...)...)
}

const selectRepo = `SELECT id, ` + repoColumns + ` FROM repositories `

// ListRepos returns every repository that was ever configured, sorted by name.
func (t *Tx) ListRepos(ctx context.Context) ([]work.Repo, error) {
	return listRows(ctx, t, "list repositories", scanRepo, selectRepo+`ORDER BY name_key`)
}

// GetRepo returns a repository by its id.
func (t *Tx) GetRepo(ctx context.Context, id int64) (work.Repo, error) {
	return getRow(ctx, t, fmt.Sprintf("get repository %d", id), scanRepo, selectRepo+`WHERE id = ?`, id)
}

// SetCursors stores the repository's three Since fields.
func (t *Tx) SetCursors(ctx context.Context, r work.Repo) error {
	return t.execOne(ctx, fmt.Sprintf("set cursors of repository %d", r.ID), ErrNotFound,
		`UPDATE repositories SET issues_since = ?, comments_since = ?, review_comments_since = ? WHERE id = ?`,
		timeOf(&r.IssuesSince), timeOf(&r.CommentsSince), timeOf(&r.ReviewCommentsSince), r.ID)
}

// Heartbeat records a completed ingest and clears the failures before it.
func (t *Tx) Heartbeat(ctx context.Context, id int64, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("heartbeat of repository %d", id), ErrNotFound,
		`UPDATE repositories SET heartbeat_at = ?, not_before = 0, failures = 0, last_error = '' WHERE id = ?`, t.stamp(at), id)
}

// PutNewest stores what GitHub showed of a repository that was read whole. Call it in the transaction that
// stores what was read.
func (t *Tx) PutNewest(ctx context.Context, id int64, s work.Stamps) error {
	return t.execOne(ctx, fmt.Sprintf("put the newest changes of repository %d", id), ErrNotFound,
		`UPDATE repositories SET newest_issue = ?, newest_pull = ? WHERE id = ?`, millis(s.Issues), millis(s.Pulls), id)
}

// ListAllSeenLabels returns, for each repository, the labels whose open issues were listed before.
func (t *Tx) ListAllSeenLabels(ctx context.Context) (map[int64][]string, error) {
	all := map[int64][]string{}
	scan := func(row scanner) (id int64, err error) {
		var label string
		err = row.Scan(&id, &label)
		all[id] = append(all[id], label)
		return id, err
	}
	_, err := listRows(ctx, t, "list seen labels", scan, `SELECT repo_id, key FROM reading WHERE what = 'label' ORDER BY repo_id, key`)
	return all, err
}

// DeferRepo allows no request to the repository before until. failed counts a failure; a rate limit
// is none. An empty reason resets the failures.
func (t *Tx) DeferRepo(ctx context.Context, id int64, until time.Time, reason string, failed bool) error {
	return t.execOne(ctx, fmt.Sprintf("defer repository %d", id), ErrNotFound,
		`UPDATE repositories SET not_before = ?, last_error = ?, failures = CASE ? WHEN '' THEN 0 ELSE failures + ? END WHERE id = ?`, millis(until), t.clean(reason), reason, failed, id)
}

// AddRepoError adds an error to those that are shown of a repository until a pass reads it; the next pass
// may read it at once.
func (t *Tx) AddRepoError(ctx context.Context, id int64, reason string) error {
	reason = t.clean(reason)
	return t.write(ctx, fmt.Sprintf("add an error of repository %d", id),
		`UPDATE repositories SET last_error = CASE last_error WHEN '' THEN ? ELSE last_error || '; ' || ? END WHERE id = ? AND replace(last_error, ?, '') = last_error`, reason, reason, id, reason)
}

// OpenRepos returns the rows of the repositories that the config names, in its order, and creates
// missing ones. A repository that was renamed on GitHub and then in the config keeps its row. If
// the config still has the former name too, that name gets another row. Names keep the config's
// spelling.
func (t *Tx) OpenRepos(ctx context.Context, names []work.RepoName) ([]work.Repo, error) {
	known, err := t.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	sorted.By(known, func(a, b work.Repo) int {
		return cmp.Or(cmp.Compare(min(1, millis(a.RemovedAt)), min(1, millis(b.RemovedAt))), b.RemovedAt.Compare(a.RemovedAt)) // current ones first, then the one that was left last
	})
	all := assignRows(names, known)
	for i, name := range names {
		if r := all[i]; r.ID != 0 && (r.Name != name || !r.RemovedAt.IsZero()) {
			all[i], err = t.takeName(ctx, r, name)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if all[i].ID == 0 {
			all[i], err = t.addRepo(ctx, work.Repo{Name: name, Current: name})
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// NameRepo stores which config names the repository.
func (t *Tx) NameRepo(ctx context.Context, id int64, by string) error {
	return t.execOne(ctx, fmt.Sprintf("note who names repository %d", id), ErrNotFound, `UPDATE repositories SET named_by = ? WHERE id = ?`, by, id)
}

// MarkRepoRemoved records that the config no longer names the repository.
func (t *Tx) MarkRepoRemoved(ctx context.Context, id int64) error {
	return t.execOne(ctx, fmt.Sprintf("leave repository %d", id), ErrNotFound, `UPDATE repositories SET left_at = ? WHERE id = ?`, t.stamp(time.Time{}), id)
}

func nameKey(name work.RepoName) string { return strings.ToLower(name.String()) }

func (t *Tx) addRepo(ctx context.Context, r work.Repo) (work.Repo, error) {
	if err := t.freeName(ctx, r.Name, 0); err != nil {
		return work.Repo{}, err
	}
	var err error
	r.ID, err = t.insertNew(ctx, fmt.Sprintf("add repository %s", r.Name), "repositories", "name_key, "+repoColumns, append([]any{nameKey(r.Name)}, repoFields(&r)...), "name_key")
	return r, err
}

// takeName gives a known repository a name of the config.
func (t *Tx) takeName(ctx context.Context, r work.Repo, name work.RepoName) (work.Repo, error) {
	if err := t.freeName(ctx, name, r.ID); err != nil {
		return work.Repo{}, err
	}
	r.Name, r.RemovedAt = name, time.Time{}
	return r, t.execOne(ctx, fmt.Sprintf("give repository %d the name %s", r.ID, name), ErrNotFound,
		`UPDATE repositories SET name = ?, name_key = ?, left_at = 0 WHERE id = ?`, nameOf(&name), nameKey(name), r.ID)
}

// freeName takes the name away from the row that has it, unless that row is the exception.
func (t *Tx) freeName(ctx context.Context, name work.RepoName, but int64) error {
	return t.write(ctx, fmt.Sprintf("free the name %s", name),
		`UPDATE repositories SET name_key = name_key || ' ' || id, left_at = CASE left_at WHEN 0 THEN ? ELSE left_at END WHERE name_key = ? AND id <> ?`,
		t.stamp(time.Time{}), nameKey(name), but)
}

// assignRows finds the best row for each name: first the row with that name both here and on
// GitHub, then the row with that name on GitHub today, then a row that had it. A row is given to
// one name only. A name without a row gets a zero Repo.
func assignRows(names []work.RepoName, known []work.Repo) []work.Repo {
	named, called := map[string][]work.Repo{}, map[string][]work.Repo{} // each in the order of known
	for _, r := range known {
		named[nameKey(r.Name)] = append(named[nameKey(r.Name)], r)
		called[nameKey(r.Current)] = append(called[nameKey(r.Current)], r)
	}
	found := make([]work.Repo, len(names))
	taken := map[int64]bool{}
	for _, rule := range []struct {
		among map[string][]work.Repo
		fits  func(work.Repo) bool
	}{
		{named, func(r work.Repo) bool { return r.RemovedAt.IsZero() && r.Current.Equal(r.Name) }},
		{called, func(r work.Repo) bool { return !r.Name.Equal(r.Current) }},
		{named, func(work.Repo) bool { return true }},
	} {
		for i, n := range names {
			if found[i].ID != 0 {
				continue
			}
			for _, r := range rule.among[nameKey(n)] {
				if !taken[r.ID] && rule.fits(r) {
					found[i], taken[r.ID] = r, true
					break
				}
			}
		}
	}
	return found
}

// Identified is the result of IdentifyRepo.
type Identified string

const (
	// RepoSame: GitHub reports the known repository, or the first one.
	RepoSame Identified = "same"
	// RepoRenamed: the repository was known under another name.
	RepoRenamed Identified = "renamed"
	// RepoReplaced: the name now belongs to another repository; the former one keeps its own row.
	RepoReplaced Identified = "replaced"
)

// RepoIdentity is a repository's identity on GitHub.
type RepoIdentity struct {
	NodeID        string
	GitHubID      int64
	Current       work.RepoName
	DefaultBranch string
	At            time.Time
}

// IdentifyRepo records which repository GitHub has under the name of a row, and returns that
// repository's row. Rows are matched by node id: a renamed repository keeps its row, and another
// repository under the same name gets a new one. The former repository's row and data are kept.
func (t *Tx) IdentifyRepo(ctx context.Context, id int64, who RepoIdentity) (work.Repo, Identified, error) {
	row, err := t.GetRepo(ctx, id)
	if err != nil {
		return work.Repo{}, "", err
	}
	if row.NodeID == who.NodeID {
		row, err = t.setIdentity(ctx, row, who)
		return row, RepoSame, err
	}
	known, isKnown, err := t.findNode(ctx, row.Name.Host, who.NodeID)
	if err != nil {
		return work.Repo{}, "", err
	}
	outcome := RepoSame
	switch {
	case row.NodeID != "":
		outcome, err = RepoReplaced, t.freeName(ctx, row.Name, 0)
	case isKnown:
		outcome, err = RepoRenamed, t.execOne(ctx, fmt.Sprintf("drop the empty repository %d", id), ErrNotFound, `DELETE FROM repositories WHERE id = ?`, id)
	}
	switch {
	case err != nil:
		return work.Repo{}, "", err
	case isKnown:
		row, err = t.takeName(ctx, known, row.Name)
	case outcome == RepoReplaced:
		row, err = t.addRepo(ctx, work.Repo{Name: row.Name})
	}
	if err != nil {
		return work.Repo{}, "", err
	}
	row, err = t.setIdentity(ctx, row, who)
	return row, outcome, err
}

// findNode finds a repository's row by its node id, which never changes.
func (t *Tx) findNode(ctx context.Context, host, nodeID string) (work.Repo, bool, error) {
	all, err := listRows(ctx, t, "find repository "+nodeID, scanRepo, selectRepo+`WHERE node_id = ? ORDER BY left_at > 0, id`, nodeID)
	at := slices.IndexFunc(all, func(r work.Repo) bool { return r.Name.Host == host })
	if err != nil || at < 0 {
		return work.Repo{}, false, err
	}
	return all[at], true, nil
}

func (t *Tx) setIdentity(ctx context.Context, r work.Repo, who RepoIdentity) (work.Repo, error) {
	r.NodeID, r.GitHubID, r.Current, r.DefaultBranch, r.ConfirmedAt = who.NodeID, who.GitHubID, who.Current, who.DefaultBranch, who.At
	return r, t.execOne(ctx, fmt.Sprintf("set identity of repository %d", r.ID), ErrNotFound,
		`UPDATE repositories SET node_id = ?, github_id = ?, current_name = ?, default_branch = ?, confirmed_at = ? WHERE id = ?`,
		r.NodeID, r.GitHubID, nameOf(&r.Current), r.DefaultBranch, t.stamp(r.ConfirmedAt), r.ID)
}

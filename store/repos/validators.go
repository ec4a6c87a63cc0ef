package repos

import (
	"context"
	"fmt"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

func scanValidator(row rows.Row) (v work.Validator, err error) {
	return v, row.Scan(&v.RepoID, &v.URL, &v.ETag, &v.Next, rows.TimeOf(&v.SeenAt))
}

// GetValidator gives what is known of a page.
func (t Rows) GetValidator(ctx context.Context, repoID int64, url string) (work.Validator, bool, error) {
	return rows.Find(ctx, t.tx, "get validator of "+url, scanValidator,
		`SELECT repo_id, url, etag, next_url, seen_at FROM http_validators WHERE repo_id = ? AND url = ?`, repoID, url)
}

// ListValidators gives what is known of every page of a repository's lists.
func (t Rows) ListValidators(ctx context.Context, repoID int64) ([]work.Validator, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list validators of repository %d", repoID), scanValidator,
		`SELECT repo_id, url, etag, next_url, seen_at FROM http_validators WHERE repo_id = ? ORDER BY url`, repoID)
}

// PutValidator stores what is known of a page, in the transaction that stores
// what it vouches for.
func (t Rows) PutValidator(ctx context.Context, v work.Validator) error {
	_, err := t.tx.Exec(ctx, "put validator of "+v.URL,
		`INSERT INTO http_validators (repo_id, url, etag, next_url, seen_at) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (repo_id, url) DO UPDATE SET etag = excluded.etag, next_url = excluded.next_url, seen_at = excluded.seen_at`,
		v.RepoID, v.URL, v.ETag, v.Next, t.tx.Stamp(v.SeenAt))
	return err
}

// DeleteValidators forgets every page whose URL begins with urlPrefix.
func (t Rows) DeleteValidators(ctx context.Context, repoID int64, urlPrefix string) error {
	_, err := t.tx.Exec(ctx, "delete validators of "+urlPrefix,
		`DELETE FROM http_validators WHERE repo_id = ? AND substr(url, 1, ?) = ?`, repoID, utf8.RuneCountInString(urlPrefix), urlPrefix)
	return err
}

// ListRepoWalks gives the links at which walks of a repository were cut, by name.
func (t Rows) ListRepoWalks(ctx context.Context, repoID int64) (map[string]string, error) {
	all := map[string]string{}
	scan := func(row rows.Row) (name string, err error) {
		var next string
		err = row.Scan(&name, &next)
		all[name] = next
		return name, err
	}
	_, err := rows.List(ctx, t.tx, "list walks", scan, `SELECT name, next_url FROM walks WHERE repo_id = ?`, repoID)
	return all, err
}

// ListWalks gives the links at which walks of one name were cut, by repository.
func (t Rows) ListWalks(ctx context.Context, name string) (map[int64]string, error) {
	all := map[int64]string{}
	scan := func(row rows.Row) (id int64, err error) {
		var next string
		err = row.Scan(&id, &next)
		all[id] = next
		return id, err
	}
	_, err := rows.List(ctx, t.tx, "list walks "+name, scan, `SELECT repo_id, next_url FROM walks WHERE name = ?`, name)
	return all, err
}

// SetWalk stores the link at which a walk was cut; an empty one ends it.
func (t Rows) SetWalk(ctx context.Context, repoID int64, name, next string) error {
	what := "set walk " + name
	if next == "" {
		_, err := t.tx.Exec(ctx, what, `DELETE FROM walks WHERE repo_id = ? AND name = ?`, repoID, name)
		return err
	}
	_, err := t.tx.Exec(ctx, what,
		`INSERT INTO walks (repo_id, name, next_url) VALUES (?, ?, ?)
		 ON CONFLICT (repo_id, name) DO UPDATE SET next_url = excluded.next_url`, repoID, name, next)
	return err
}

// ListSeenLabels gives the labels whose open issues were listed once already.
func (t Rows) ListSeenLabels(ctx context.Context, repoID int64) ([]string, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list seen labels of repository %d", repoID), rows.ScanString,
		`SELECT label FROM seen_labels WHERE repo_id = ? ORDER BY label`, repoID)
}

// AddSeenLabel records that a label's open issues were listed.
func (t Rows) AddSeenLabel(ctx context.Context, repoID int64, label string) error {
	_, err := t.tx.Exec(ctx, "add seen label "+label,
		`INSERT INTO seen_labels (repo_id, label) VALUES (?, ?) ON CONFLICT DO NOTHING`, repoID, label)
	return err
}

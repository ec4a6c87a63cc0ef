package store

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func scanValidator(row scanner) (v work.Validator, err error) {
	return v, row.Scan(&v.RepoID, &v.URL, &v.ETag, &v.Next, timeOf(&v.SeenAt))
}

// GetValidator returns the stored validator of a page.
func (t *Tx) GetValidator(ctx context.Context, repoID int64, url string) (work.Validator, bool, error) {
	return findRow(ctx, t, "get validator of "+url, scanValidator,
		`SELECT repo_id, url, etag, next_url, seen_at FROM http_validators WHERE repo_id = ? AND url = ?`, repoID, url)
}

// ListValidators returns the validators of every page of a repository's lists.
func (t *Tx) ListValidators(ctx context.Context, repoID int64) ([]work.Validator, error) {
	return listRows(ctx, t, fmt.Sprintf("list validators of repository %d", repoID), scanValidator,
		`SELECT repo_id, url, etag, next_url, seen_at FROM http_validators WHERE repo_id = ? ORDER BY url`, repoID)
}

// PutValidator stores a page's validator. Call it in the transaction that stores the page's
// contents.
func (t *Tx) PutValidator(ctx context.Context, v work.Validator) error {
	_, err := t.exec(ctx, "put validator of "+v.URL,
		`INSERT INTO http_validators (repo_id, url, etag, next_url, seen_at) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (repo_id, url) DO UPDATE SET etag = excluded.etag, next_url = excluded.next_url, seen_at = excluded.seen_at`,
		v.RepoID, v.URL, v.ETag, v.Next, t.stamp(v.SeenAt))
	return err
}

// DeleteValidators deletes the validators of every page whose URL begins with urlPrefix.
func (t *Tx) DeleteValidators(ctx context.Context, repoID int64, urlPrefix string) error {
	_, err := t.exec(ctx, "delete validators of "+urlPrefix,
		`DELETE FROM http_validators WHERE repo_id = ? AND substr(url, 1, ?) = ?`, repoID, utf8.RuneCountInString(urlPrefix), urlPrefix)
	return err
}

// ListRepoWalks returns the links at which a repository's walks were interrupted, by name.
func (t *Tx) ListRepoWalks(ctx context.Context, repoID int64) (map[string]string, error) {
	all := map[string]string{}
	scan := func(row scanner) (name string, err error) {
		var next string
		err = row.Scan(&name, &next)
		all[name] = next
		return name, err
	}
	_, err := listRows(ctx, t, "list walks", scan, `SELECT name, next_url FROM walks WHERE repo_id = ?`, repoID)
	return all, err
}

// ListWalks returns the links at which walks of one name were interrupted, by repository.
func (t *Tx) ListWalks(ctx context.Context, name string) (map[int64]string, error) {
	all := map[int64]string{}
	scan := func(row scanner) (id int64, err error) {
		var next string
		err = row.Scan(&id, &next)
		all[id] = next
		return id, err
	}
	_, err := listRows(ctx, t, "list walks "+name, scan, `SELECT repo_id, next_url FROM walks WHERE name = ?`, name)
	return all, err
}

// SetWalk stores the link at which a walk was interrupted. An empty link ends the walk.
func (t *Tx) SetWalk(ctx context.Context, repoID int64, name, next string) error {
	what := "set walk " + name
	if next == "" {
		_, err := t.exec(ctx, what, `DELETE FROM walks WHERE repo_id = ? AND name = ?`, repoID, name)
		return err
	}
	_, err := t.exec(ctx, what,
		`INSERT INTO walks (repo_id, name, next_url) VALUES (?, ?, ?)
		 ON CONFLICT (repo_id, name) DO UPDATE SET next_url = excluded.next_url`, repoID, name, next)
	return err
}

// ListSeenLabels returns the labels whose open issues were listed before.
func (t *Tx) ListSeenLabels(ctx context.Context, repoID int64) ([]string, error) {
	return listRows(ctx, t, fmt.Sprintf("list seen labels of repository %d", repoID), scanString,
		`SELECT label FROM seen_labels WHERE repo_id = ? ORDER BY label`, repoID)
}

// AddSeenLabel records that a label's open issues were listed.
func (t *Tx) AddSeenLabel(ctx context.Context, repoID int64, label string) error {
	_, err := t.exec(ctx, "add seen label "+label,
		`INSERT INTO seen_labels (repo_id, label) VALUES (?, ?) ON CONFLICT (repo_id, label) DO NOTHING`, repoID, label)
	return err
}

// ListPage is a page of a list that is kept until the list is complete.
type ListPage struct {
	Begun time.Time // when the first page of the list was read
	URL   string
	Items string // JSON
}

func scanListPage(row scanner) (p ListPage, err error) {
	return p, row.Scan(timeOf(&p.Begun), &p.URL, &p.Items)
}

// ListPages returns the kept pages of a list, in order.
func (t *Tx) ListPages(ctx context.Context, repoID int64, list string) ([]ListPage, error) {
	return listRows(ctx, t, "list the pages of "+list, scanListPage,
		`SELECT begun_at, url, items FROM list_pages WHERE repo_id = ? AND list = ? ORDER BY page`, repoID, list)
}

// PutPages keeps pages of a list after its first behind pages, and replaces those kept there.
func (t *Tx) PutPages(ctx context.Context, repoID int64, list string, behind int, pages []ListPage) error {
	if _, err := t.exec(ctx, "drop pages of "+list, `DELETE FROM list_pages WHERE repo_id = ? AND list = ? AND page >= ?`, repoID, list, behind); err != nil {
		return err
	}
	for i, p := range pages {
		_, err := t.exec(ctx, "keep a page of "+list, `INSERT INTO list_pages (repo_id, list, page, begun_at, url, items) VALUES (?, ?, ?, ?, ?, ?)`,
			repoID, list, behind+i, t.stamp(p.Begun), p.URL, p.Items)
		if err != nil {
			return err
		}
	}
	return nil
}

// ListBacklog returns the numbers that lists showed and that are not ingested yet. Those tried
// longest ago come first.
func (t *Tx) ListBacklog(ctx context.Context, repoID int64) ([]int, error) {
	return listRows(ctx, t, fmt.Sprintf("list the backlog of repository %d", repoID), scanCount,
		`SELECT number FROM backlog WHERE repo_id = ? ORDER BY tried_at, number`, repoID)
}

// AddBacklog records that a number must be ingested later, after those that were not tried since.
func (t *Tx) AddBacklog(ctx context.Context, repoID int64, number int, tried time.Time) error {
	_, err := t.exec(ctx, fmt.Sprintf("add #%d to the backlog", number),
		`INSERT INTO backlog (repo_id, number, tried_at) VALUES (?, ?, ?)
		 ON CONFLICT (repo_id, number) DO UPDATE SET tried_at = excluded.tried_at`, repoID, number, t.stamp(tried))
	return err
}

// DropBacklog records that a number was ingested.
func (t *Tx) DropBacklog(ctx context.Context, repoID int64, number int) error {
	_, err := t.exec(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM backlog WHERE repo_id = ? AND number = ?`, repoID, number)
	return err
}

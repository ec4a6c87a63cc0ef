package store

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// putReading stores a row of the table reading.
func (t *Tx) putReading(ctx context.Context, what, of string, repoID int64, key string, n int, etag string, p ListPage) error {
	_, err := t.exec(ctx, what,
		`INSERT INTO reading (what, repo_id, key, n, at, etag, url, items) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		 ON CONFLICT (what, repo_id, key, n) DO UPDATE SET at = excluded.at, etag = excluded.etag, url = excluded.url, items = excluded.items`,
		of, repoID, key, n, t.stamp(p.Begun), etag, p.URL, p.Items)
	return err
}

const selectPage = `SELECT repo_id, key, etag, url, at FROM reading WHERE what = 'page' AND repo_id = ? `

func scanValidator(row scanner) (v work.Validator, err error) {
	return v, row.Scan(&v.RepoID, &v.URL, &v.ETag, &v.Next, timeOf(&v.SeenAt))
}

// GetValidator returns the stored validator of a page.
func (t *Tx) GetValidator(ctx context.Context, repoID int64, url string) (work.Validator, bool, error) {
	return findRow(ctx, t, "get validator of "+url, scanValidator, selectPage+`AND key = ?`, repoID, url)
}

// ListValidators returns the validators of every page of a repository's lists.
func (t *Tx) ListValidators(ctx context.Context, repoID int64) ([]work.Validator, error) {
	return listRows(ctx, t, fmt.Sprintf("list validators of repository %d", repoID), scanValidator, selectPage+`ORDER BY key`, repoID)
}

// PutValidator stores a page's validator. Call it in the transaction that stores the page's
// contents.
func (t *Tx) PutValidator(ctx context.Context, v work.Validator) error {
	return t.putReading(ctx, "put validator of "+v.URL, "page", v.RepoID, v.URL, 0, v.ETag, ListPage{Begun: v.SeenAt, URL: v.Next})
}

// DeleteValidators deletes the validators of every page whose URL begins with urlPrefix.
func (t *Tx) DeleteValidators(ctx context.Context, repoID int64, urlPrefix string) error {
	_, err := t.exec(ctx, "delete validators of "+urlPrefix,
		`DELETE FROM reading WHERE what = 'page' AND repo_id = ? AND substr(key, 1, ?) = ?`, repoID, utf8.RuneCountInString(urlPrefix), urlPrefix)
	return err
}

// ListRepoWalks returns the links at which a repository's walks were interrupted, by name.
func (t *Tx) ListRepoWalks(ctx context.Context, repoID int64) (map[string]string, error) {
	return listWalks[string](ctx, t, fmt.Sprintf("list walks of repository %d", repoID), `SELECT key, url FROM reading WHERE what = 'walk' AND repo_id = ?`, repoID)
}

// ListWalks returns the links at which walks of one name were interrupted, by repository.
func (t *Tx) ListWalks(ctx context.Context, name string) (map[int64]string, error) {
	return listWalks[int64](ctx, t, "list walks "+name, `SELECT repo_id, url FROM reading WHERE what = 'walk' AND key = ?`, name)
}

func listWalks[K comparable](ctx context.Context, t *Tx, what, query string, arg any) (map[K]string, error) {
	all := map[K]string{}
	_, err := listRows(ctx, t, what, func(row scanner) (by K, err error) {
		var next string
		err = row.Scan(&by, &next)
		all[by] = next
		return by, err
	}, query, arg)
	return all, err
}

// SetWalk stores the link at which a walk was interrupted. An empty link ends the walk.
func (t *Tx) SetWalk(ctx context.Context, repoID int64, name, next string) error {
	what := "set walk " + name
	if next == "" {
		_, err := t.exec(ctx, what, `DELETE FROM reading WHERE what = 'walk' AND repo_id = ? AND key = ?`, repoID, name)
		return err
	}
	return t.putReading(ctx, what, "walk", repoID, name, 0, "", ListPage{URL: next})
}

// ListSeenLabels returns the labels whose open issues were listed before.
func (t *Tx) ListSeenLabels(ctx context.Context, repoID int64) ([]string, error) {
	return listRows(ctx, t, fmt.Sprintf("list seen labels of repository %d", repoID), scanString,
		`SELECT key FROM reading WHERE what = 'label' AND repo_id = ? ORDER BY key`, repoID)
}

// AddSeenLabel records that a label's open issues were listed.
func (t *Tx) AddSeenLabel(ctx context.Context, repoID int64, label string) error {
	return t.putReading(ctx, "add seen label "+label, "label", repoID, label, 0, "", ListPage{})
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
		`SELECT at, url, items FROM reading WHERE what = 'kept' AND repo_id = ? AND key = ? ORDER BY n`, repoID, list)
}

// PutPages keeps pages of a list after its first behind pages, and replaces those kept there.
func (t *Tx) PutPages(ctx context.Context, repoID int64, list string, behind int, pages []ListPage) error {
	if _, err := t.exec(ctx, "drop pages of "+list, `DELETE FROM reading WHERE what = 'kept' AND repo_id = ? AND key = ? AND n >= ?`, repoID, list, behind); err != nil {
		return err
	}
	for i, p := range pages {
		if err := t.putReading(ctx, "keep a page of "+list, "kept", repoID, list, behind+i, "", p); err != nil {
			return err
		}
	}
	return nil
}

// ListBacklog returns the numbers that lists showed and that are not ingested yet. Those tried
// longest ago come first.
func (t *Tx) ListBacklog(ctx context.Context, repoID int64) ([]int, error) {
	return listRows(ctx, t, fmt.Sprintf("list the backlog of repository %d", repoID), scanCount,
		`SELECT n FROM reading WHERE what = 'backlog' AND repo_id = ? ORDER BY at, n`, repoID)
}

// AddBacklog records that a number must be ingested later, after those that were not tried since.
func (t *Tx) AddBacklog(ctx context.Context, repoID int64, number int, tried time.Time) error {
	return t.putReading(ctx, fmt.Sprintf("add #%d to the backlog", number), "backlog", repoID, "", number, "", ListPage{Begun: tried})
}

// DropBacklog records that a number was ingested.
func (t *Tx) DropBacklog(ctx context.Context, repoID int64, number int) error {
	_, err := t.exec(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM reading WHERE what = 'backlog' AND repo_id = ? AND n = ?`, repoID, number)
	return err
}

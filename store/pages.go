package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// readingRow is a row of the table reading.
type readingRow struct {
	what      string
	repoID    int64
	key       string
	n         int
	at        time.Time
	etag, url string
	failures  int
	within    time.Duration
}

func (t *Tx) putReading(ctx context.Context, what string, r readingRow) error {
	_, err := t.exec(ctx, what,
		`INSERT INTO reading (what, repo_id, key, n, at, etag, url, failures, within) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		 ON CONFLICT (what, repo_id, key, n) DO UPDATE SET at = excluded.at, etag = excluded.etag, url = excluded.url, failures = excluded.failures, within = excluded.within`,
		r.what, r.repoID, r.key, r.n, t.stamp(r.at), r.etag, r.url, r.failures, r.within.Milliseconds())
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

// longestURL bounds the URLs of pages that have a validator, in bytes: they are a key.
const longestURL = 2000

// PutValidator stores a page's validator. Call it in the transaction that stores the page's
// contents. A page with a longer URL than longestURL has none: it is read whole each time.
func (t *Tx) PutValidator(ctx context.Context, v work.Validator) error {
	if len(v.URL) > longestURL {
		return nil
	}
	return t.putReading(ctx, "put validator of "+v.URL, readingRow{what: "page", repoID: v.RepoID, key: v.URL, at: v.SeenAt, etag: v.ETag, url: v.Next})
}

// DeleteValidators deletes the validators of every page whose URL begins with urlPrefix.
func (t *Tx) DeleteValidators(ctx context.Context, repoID int64, urlPrefix string) error {
	_, err := t.exec(ctx, "delete validators of "+urlPrefix,
		`DELETE FROM reading WHERE what = 'page' AND repo_id = ?1 AND substr(key, 1, length(?2)) = ?2`, repoID, urlPrefix)
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
	return t.putReading(ctx, what, readingRow{what: "walk", repoID: repoID, key: name, url: next})
}

// ListSeenLabels returns the labels whose open issues were listed before.
func (t *Tx) ListSeenLabels(ctx context.Context, repoID int64) ([]string, error) {
	return listRows(ctx, t, fmt.Sprintf("list seen labels of repository %d", repoID), scanString,
		`SELECT key FROM reading WHERE what = 'label' AND repo_id = ? ORDER BY key`, repoID)
}

// AddSeenLabel records that a label's open issues were listed.
func (t *Tx) AddSeenLabel(ctx context.Context, repoID int64, label string) error {
	return t.putReading(ctx, "add seen label "+label, readingRow{what: "label", repoID: repoID, key: label})
}

// Backlogged is an issue or a pull request that lists showed and that is not ingested yet.
type Backlogged struct {
	Number   int
	At       time.Time     // when it was tried; if it failed, when it is tried again
	Failures int           // how often a pass had too little time for it alone
	Within   time.Duration // the time that did not suffice the last time
}

func scanBacklogged(row scanner) (b Backlogged, err error) {
	var within int64
	err = row.Scan(&b.Number, timeOf(&b.At), &b.Failures, &within)
	b.Within = time.Duration(within) * time.Millisecond
	return b, err
}

// ListBacklog returns the numbers that lists showed and that are not ingested yet. Those tried
// longest ago come first.
func (t *Tx) ListBacklog(ctx context.Context, repoID int64) ([]Backlogged, error) {
	return listRows(ctx, t, fmt.Sprintf("list the backlog of repository %d", repoID), scanBacklogged,
		`SELECT n, at, failures, within FROM reading WHERE what = 'backlog' AND repo_id = ? ORDER BY at, n`, repoID)
}

// PutBacklog records that a number must be ingested later, after those with an earlier time.
func (t *Tx) PutBacklog(ctx context.Context, repoID int64, b Backlogged) error {
	return t.putReading(ctx, fmt.Sprintf("put #%d into the backlog", b.Number), readingRow{what: "backlog", repoID: repoID, n: b.Number, at: b.At, failures: b.Failures, within: b.Within})
}

// DropBacklog records that a number was ingested.
func (t *Tx) DropBacklog(ctx context.Context, repoID int64, number int) error {
	_, err := t.exec(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM reading WHERE what = 'backlog' AND repo_id = ? AND n = ?`, repoID, number)
	return err
}

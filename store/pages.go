package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
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
	since     time.Time
	why       string
	again     bool
}

func (t *Tx) putReading(ctx context.Context, what string, r readingRow) error {
	return t.write(ctx, what,
		`INSERT INTO reading (what, repo_id, key, n, at, etag, url, failures, within, since, why, again) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)
		 ON CONFLICT (what, repo_id, key, n) DO UPDATE SET at = excluded.at, etag = excluded.etag, url = excluded.url,
		 failures = excluded.failures, since = excluded.since, why = excluded.why, again = excluded.again`,
		r.what, r.repoID, r.key, r.n, t.stamp(r.at), r.etag, r.url, r.failures, millis(r.since), t.clean(r.why), r.again)
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
	return t.write(ctx, "delete validators of "+urlPrefix,
		`DELETE FROM reading WHERE what = 'page' AND repo_id = ?1 AND substr(key, 1, length(?2)) = ?2`, repoID, urlPrefix)
}

// GetFirstLook returns how far the first look at a repository is: until which change what is open was listed, or
// work.FirstLookDone.
func (t *Tx) GetFirstLook(ctx context.Context, repoID int64) (string, error) {
	place, _, err := findRow(ctx, t, fmt.Sprintf("get the first look of repository %d", repoID), scanString,
		`SELECT url FROM reading WHERE what = 'first look' AND repo_id = ? AND key = ?`, repoID, firstLookKey)
	return place, err
}

// firstLookKey is the key of the row: programs one release back use it, too.
const firstLookKey = "adopted"

// SetFirstLook stores how far a first look is. An empty place begins it.
func (t *Tx) SetFirstLook(ctx context.Context, repoID int64, place string) error {
	return t.putReading(ctx, fmt.Sprintf("set the first look of repository %d", repoID), readingRow{what: "first look", repoID: repoID, key: firstLookKey, url: place})
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

// ListReviewerLevels returns what GitHub lets the accounts of configured reviewers do, by their login
// in lower case, as far as it was asked.
func (t *Tx) ListReviewerLevels(ctx context.Context, repoID int64) (map[string]Level, error) {
	all := map[string]Level{}
	_, err := listRows(ctx, t, fmt.Sprintf("list what reviewers of repository %d may do", repoID), func(row scanner) (login string, err error) {
		var l Level
		err = row.Scan(&login, &l.Level, timeOf(&l.At))
		all[login] = l
		return login, err
	}, `SELECT key, why, at FROM reading WHERE what = 'reviewer' AND repo_id = ?`, repoID)
	return all, err
}

// Level is what GitHub lets an account do, in GitHub's words, and when it said so.
type Level struct {
	Level string
	At    time.Time
}

// PutReviewerLevel stores what GitHub lets the account of a reviewer do. If that decides about an
// approval, the reviews in the repository are decided again.
func (t *Tx) PutReviewerLevel(ctx context.Context, repoID int64, login string, level Level, decides bool) error {
	what := "put what " + login + " may do"
	err := t.putReading(ctx, what, readingRow{what: "reviewer", repoID: repoID, key: strings.ToLower(login), at: level.At, why: level.Level})
	if err != nil || !decides {
		return err
	}
	return t.write(ctx, what, `UPDATE pull_reviews SET look = look + 1 WHERE `+inOpenPulls+` AND state = ?`, repoID, review.Reviewing)
}

// NearLabel is a label of an issue or a pull request that starts nothing: it is nearly one of ours, the
// issue is closed, or another label keeps it from starting.
type NearLabel struct {
	Number  int
	Set     string    // empty: it has none
	Meant   string    // empty: the issue is closed
	Ignored bool      // Set starts nothing while the issue has the label Meant
	At      time.Time // when the closed issue changed
}

// SetNearLabel stores the label of a number that starts nothing, in place of an earlier one.
func (t *Tx) SetNearLabel(ctx context.Context, repoID int64, l NearLabel) error {
	what := fmt.Sprintf("set the near label of #%d", l.Number)
	if err := t.write(ctx, what, `DELETE FROM reading WHERE what = 'near label' AND repo_id = ? AND n = ?`, repoID, l.Number); err != nil || l.Set == "" {
		return err
	}
	return t.putReading(ctx, what, readingRow{what: "near label", repoID: repoID, key: l.Set, n: l.Number, why: l.Meant, again: l.Ignored, at: l.At})
}

// ListNearLabels returns the labels that start nothing, by repository: those of closed issues only if these
// changed within the last day.
func (t *Tx) ListNearLabels(ctx context.Context, now time.Time) (map[int64][]NearLabel, error) {
	all := map[int64][]NearLabel{}
	_, err := listRows(ctx, t, "list near labels", func(row scanner) (id int64, err error) {
		var l NearLabel
		err = row.Scan(&id, &l.Number, &l.Set, &l.Meant, &l.Ignored, timeOf(&l.At))
		all[id] = append(all[id], l)
		return id, err
	}, `SELECT repo_id, n, key, why, again, at FROM reading WHERE what = 'near label' AND (why <> '' OR at > ?) ORDER BY repo_id, n`, millis(now)-dayMillis)
	return all, err
}

// Backlogged is an issue or a pull request that changed and is not read yet.
type Backlogged struct {
	Number int
	Since  time.Time // what was said on it since then is not read; zero: nothing
	At     time.Time // when it was put there or tried; after a failure, when it is tried again
	Tries  int       // how often it could not be read
	Why    string    // why not, the last time
	Again  bool      // it was read once, when GitHub's lists and timelines did not agree
}

func scanBacklogged(row scanner) (b Backlogged, err error) {
	return b, row.Scan(&b.Number, timeOf(&b.Since), timeOf(&b.At), &b.Tries, &b.Why, &b.Again)
}

// ListBacklog returns the numbers that changed and are not read yet. Those tried longest ago come first.
func (t *Tx) ListBacklog(ctx context.Context, repoID int64) ([]Backlogged, error) {
	return listRows(ctx, t, fmt.Sprintf("list the backlog of repository %d", repoID), scanBacklogged,
		`SELECT n, since, at, failures, why, again FROM reading WHERE what = 'backlog' AND repo_id = ? ORDER BY at, n`, repoID)
}

// Unread is what of a repository's backlog no pass had the time for yet.
type Unread struct {
	Numbers int       // issues and pull requests
	Since   time.Time // of the change that waits longest
}

// ListUnreadNumbers returns what no pass had the time for yet, by repository.
func (t *Tx) ListUnreadNumbers(ctx context.Context) (map[int64]Unread, error) {
	all := map[int64]Unread{}
	_, err := listRows(ctx, t, "list what is not read yet", func(row scanner) (id int64, err error) {
		var u Unread
		err = row.Scan(&id, &u.Numbers, timeOf(&u.Since))
		all[id] = u
		return id, err
	}, `SELECT repo_id, COUNT(*), COALESCE(MIN(NULLIF(at, 0)), 0) FROM reading WHERE what = 'backlog' AND failures = 0 AND again = 0 AND why = '' GROUP BY repo_id`)
	return all, err
}

// PutBacklog records that a number is to be read, after those with an earlier time.
func (t *Tx) PutBacklog(ctx context.Context, repoID int64, b Backlogged) error {
	return t.putReading(ctx, fmt.Sprintf("put #%d into the backlog", b.Number), readingRow{
		what: "backlog", repoID: repoID, n: b.Number, at: b.At, failures: b.Tries, since: b.Since, why: b.Why, again: b.Again,
	})
}

// MarkBacklogRead records that a pass has stored what it read of a number, which stays in the backlog until the pass
// ends.
func (t *Tx) MarkBacklogRead(ctx context.Context, repoID int64, number int, by string) error {
	return t.write(ctx, fmt.Sprintf("mark #%d as read", number), `UPDATE reading SET etag = ? WHERE what = 'backlog' AND repo_id = ? AND n = ?`, by, repoID, number)
}

// DropBacklogRead takes a number off the backlog if its row has the pass's mark: a database that was set back has
// neither what was read nor the mark.
func (t *Tx) DropBacklogRead(ctx context.Context, repoID int64, number int, by string) error {
	return t.write(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM reading WHERE what = 'backlog' AND repo_id = ? AND n = ? AND etag = ?`, repoID, number, by)
}

// DropBacklog records that a number was read.
func (t *Tx) DropBacklog(ctx context.Context, repoID int64, number int) error {
	return t.write(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM reading WHERE what = 'backlog' AND repo_id = ? AND n = ?`, repoID, number)
}

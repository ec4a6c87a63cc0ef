// Package told has the rows of what the operator is told outside of GitHub: since when each
// target is told what, and each message, stored before it is sent. internal/work/news
// decides by them.
package told

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/news"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are those of one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows of a transaction.
func In(tx *rows.Tx) Rows { return Rows{tx} }

const columns = `target, key, what, repo_id, item_id, number, at, state, sent_at, settled_at, last_error, body`

func fields(e *news.Entry) []any {
	return []any{
		&e.Target, &e.Key, &e.What, rows.RefOf(&e.RepoID), rows.RefOf(&e.ItemID), &e.Number, rows.TimeOf(&e.At), &e.State,
		rows.TimeOf(&e.SentAt), rows.TimeOf(&e.SettledAt), &e.LastError, &e.Body,
	}
}

func scan(row rows.Row) (e news.Entry, err error) {
	return e, row.Scan(append([]any{&e.ID}, fields(&e)...)...)
}

// ofPasses says of a message that it is about passes, word for word as the index has it.
const ofPasses = `key BETWEEN 'pass_' AND 'pass_~'`

const selectEntry = `SELECT id, ` + columns + ` FROM notifications `

// ListKnownTargets gives since when each target is told what.
func (t Rows) ListKnownTargets(ctx context.Context) ([]news.Known, error) {
	return rows.List(ctx, t.tx, "list who is told", func(row rows.Row) (k news.Known, err error) {
		return k, row.Scan(&k.Target, &k.What, &k.Config, rows.TimeOf(&k.Since))
	}, `SELECT target, what, config, since FROM notify_targets ORDER BY target, what`)
}

// KnowTarget stores since when a target is told something.
func (t Rows) KnowTarget(ctx context.Context, k news.Known) error {
	_, err := t.tx.Exec(ctx, "store who is told", `INSERT OR REPLACE INTO notify_targets (target, what, config, since) VALUES (?, ?, ?, ?)`,
		k.Target, k.What, k.Config, rows.Millis(k.Since))
	return err
}

// ForgetTarget has a target not be told something any more.
func (t Rows) ForgetTarget(ctx context.Context, k news.Known, now time.Time) error {
	if _, err := t.tx.Exec(ctx, "forget who was told", `DELETE FROM notify_targets WHERE target = ? AND what = ?`, k.Target, k.What); err != nil {
		return err
	}
	_, err := t.tx.Exec(ctx, "forget what was to be told", `UPDATE notifications INDEXED BY notifications_planned SET state = 'dropped', settled_at = ?, last_error = 'it is not to be told any more'
		WHERE state IN ('planned', 'sent') AND state = 'planned' AND target = ? AND what = ?`, rows.Millis(now), k.Target, k.What)
	return err
}

// HasNews reports whether a target has, or had, the message with a key.
func (t Rows) HasNews(ctx context.Context, target, key string) (bool, error) {
	_, ok, err := rows.Find(ctx, t.tx, "find a message", rows.ScanID, `SELECT id FROM notifications WHERE target = ? AND key = ?`, target, key)
	return ok, err
}

// AddNews plans a message, unless its target has, or had, it already.
func (t Rows) AddNews(ctx context.Context, e news.Entry) error {
	had, err := t.HasNews(ctx, e.Target, e.Key)
	if err != nil || had {
		return err
	}
	_, err = t.tx.Insert(ctx, "plan a message to "+e.Target, "notifications", columns, fields(&e))
	return err
}

// ListPlannedNews gives the messages that are to be sent, the oldest first, and those that
// were being sent by somebody.
func (t Rows) ListPlannedNews(ctx context.Context) ([]news.Entry, error) {
	return rows.List(ctx, t.tx, "list messages to be sent", scan, selectEntry+`WHERE state IN ('planned', 'sent') ORDER BY at, id`)
}

// MarkNewsSent stores that a planned message is being sent: nobody sends it again.
func (t Rows) MarkNewsSent(ctx context.Context, id int64, at time.Time) error {
	return t.tx.One(ctx, fmt.Sprintf("send message %d", id), rows.ErrStale,
		`UPDATE notifications SET state = 'sent', sent_at = ? WHERE id = ? AND state = 'planned'`, rows.Millis(at), id)
}

// UnsendNews stores that a message never went out: its target could not be reached.
func (t Rows) UnsendNews(ctx context.Context, id int64, why string) error {
	return t.tx.One(ctx, fmt.Sprintf("take message %d back", id), rows.ErrStale,
		`UPDATE notifications SET state = 'planned', last_error = ? WHERE id = ? AND state = 'sent'`, t.tx.Clean(why), id)
}

// SettleNews stores what became of a message that was planned or being sent.
func (t Rows) SettleNews(ctx context.Context, id int64, state news.State, why string, at time.Time) error {
	return t.tx.One(ctx, fmt.Sprintf("settle message %d", id), rows.ErrStale,
		`UPDATE notifications SET state = ?, last_error = ?, settled_at = ? WHERE id = ? AND state IN ('planned', 'sent')`, state, t.tx.Clean(why), rows.Millis(at), id)
}

// ListNews gives the last messages, newest first.
func (t Rows) ListNews(ctx context.Context, limit int) ([]news.Entry, error) {
	return rows.List(ctx, t.tx, "list messages", scan, selectEntry+`ORDER BY id DESC LIMIT ?`, limit)
}

// ListUntold gives the targets that did not take their last messages, of those that were
// planned since a time.
func (t Rows) ListUntold(ctx context.Context, since time.Time) ([]news.Untold, error) {
	return rows.List(ctx, t.tx, "list who was not told", func(row rows.Row) (u news.Untold, err error) {
		var newest int64 // SQLite takes the bare column from the row that has the maximum
		return u, row.Scan(&u.Target, &u.Count, &newest, &u.LastError)
	}, `SELECT n.target, count(*), max(n.id), n.last_error FROM notifications n JOIN notify_targets t ON t.target = n.target AND t.what = n.what
		WHERE n.at >= ? AND (n.state IN ('failed', 'unclear') OR n.state = 'planned' AND n.last_error <> '')
		AND n.id > coalesce((SELECT max(d.id) FROM notifications d WHERE d.target = n.target AND d.state = 'done'), 0) GROUP BY n.target ORDER BY n.target`, rows.Millis(since))
}

// Lasting says of a message that it is the last that its target was told of passes, and says
// that they fail. They may for months: its row is what keeps it from being told again, and has
// their end be told.
const Lasting = `(what = '` + string(news.PassFailing) + `' AND id = (SELECT max(n.id) FROM notifications n INDEXED BY notifications_passes
	WHERE n.target = notifications.target AND n.` + ofPasses + `))`

// FindFailing gives the last time that a target was told that passes fail, unless it was
// told since that they do no more.
func (t Rows) FindFailing(ctx context.Context, target string) (news.Entry, bool, error) {
	e, ok, err := rows.Find(ctx, t.tx, "find what was told of passes", scan,
		selectEntry+`INDEXED BY notifications_passes WHERE target = ? AND `+ofPasses+` ORDER BY id DESC LIMIT 1`, target)
	told := e.State == news.Sent || e.State == news.Done || e.State == news.Unclear
	return e, ok && e.What == news.PassFailing && told, err
}

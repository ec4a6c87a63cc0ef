package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

const newsColumns = `target, key, what, repo_id, item_id, number, at, state, sent_at, settled_at, last_error, machine, body`

func newsFields(e *news.Entry) []any {
	return []any{
		&e.Target, &e.Key, &e.What, refOf(&e.RepoID), refOf(&e.ItemID), &e.Number, timeOf(&e.At), &e.State,
		timeOf(&e.SentAt), timeOf(&e.SettledAt), &e.LastError, &e.Machine, &e.Body,
	}
}

func scanNews(row scanner) (e news.Entry, err error) {
	return e, row.Scan(append([]any{&e.ID}, newsFields(&e)...)...)
}

// newsOfPasses and newsOfSilences match the messages about a machine's passes and its silences,
// exactly as in the indexes.
const (
	newsOfPasses   = `what IN ('pass_failing', 'pass_recovered')`
	newsOfSilences = `what IN ('machine_silent', 'machine_back')`
)

const selectNews = `SELECT id, ` + newsColumns + ` FROM notifications `

// ListKnownTargets returns since when each target gets each kind of message.
func (t *Tx) ListKnownTargets(ctx context.Context) ([]news.Known, error) {
	return listRows(ctx, t, "list who is told", func(row scanner) (k news.Known, err error) {
		return k, row.Scan(&k.Target, &k.What, &k.Config, timeOf(&k.Since))
	}, `SELECT target, what, config, since FROM notify_targets ORDER BY target, what`)
}

// KnowTarget stores since when a target gets a kind of message.
func (t *Tx) KnowTarget(ctx context.Context, k news.Known) error {
	return t.write(ctx, "store who is told", `INSERT INTO notify_targets (target, what, config, since) VALUES (?, ?, ?, ?)
		ON CONFLICT (target, what) DO UPDATE SET config = excluded.config, since = excluded.since`,
		k.Target, k.What, k.Config, millis(k.Since))
}

// ForgetTarget stops a kind of message for a target and drops its planned messages.
func (t *Tx) ForgetTarget(ctx context.Context, k news.Known, now time.Time) error {
	if err := t.write(ctx, "forget who was told", `DELETE FROM notify_targets WHERE target = ? AND what = ?`, k.Target, k.What); err != nil {
		return err
	}
	return t.write(ctx, "forget what was to be told", `UPDATE notifications SET state = 'dropped', settled_at = ?, last_error = 'it is not to be told any more'
		WHERE state IN ('planned', 'sent') AND state = 'planned' AND target || '' = ? AND what = ?`, millis(now), k.Target, k.What)
}

// HasNews reports whether a target has a message with a key, sent or not.
func (t *Tx) HasNews(ctx context.Context, target, key string) (bool, error) {
	_, ok, err := findRow(ctx, t, "find a message", scanID, `SELECT id FROM notifications WHERE target = ? AND key = ?`, target, key)
	return ok, err
}

// AddNews plans a message, unless its target already has it.
func (t *Tx) AddNews(ctx context.Context, e news.Entry) error {
	had, err := t.HasNews(ctx, e.Target, e.Key)
	if err != nil || had {
		return err
	}
	_, err = t.insertNew(ctx, "plan a message to "+e.Target, "notifications", newsColumns, newsFields(&e), "target, key")
	return err
}

// ListPlannedNews returns the messages that are planned or being sent, oldest first.
func (t *Tx) ListPlannedNews(ctx context.Context) ([]news.Entry, error) {
	return listRows(ctx, t, "list messages to be sent", scanNews, selectNews+`WHERE state IN ('planned', 'sent') ORDER BY at, id`)
}

// MarkNewsSent stores that a planned message is being sent, so that nobody else sends it.
func (t *Tx) MarkNewsSent(ctx context.Context, id int64, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("send message %d", id), ErrStale,
		`UPDATE notifications SET state = 'sent', sent_at = ? WHERE id = ? AND state = 'planned'`, millis(at), id)
}

// MarkNewsUnsent stores that a message was not sent because its target could not be reached.
func (t *Tx) MarkNewsUnsent(ctx context.Context, id int64, why string) error {
	return t.execOne(ctx, fmt.Sprintf("take message %d back", id), ErrStale,
		`UPDATE notifications SET state = 'planned', last_error = ? WHERE id = ? AND state = 'sent'`, t.clean(why), id)
}

// SettleNews stores the result of a message that was planned or being sent.
func (t *Tx) SettleNews(ctx context.Context, id int64, state news.State, why string, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("settle message %d", id), ErrStale,
		`UPDATE notifications SET state = ?, last_error = ?, settled_at = ? WHERE id = ? AND state IN ('planned', 'sent')`, state, t.clean(why), millis(at), id)
}

// ListNews returns the last messages, newest first.
func (t *Tx) ListNews(ctx context.Context, limit int) ([]news.Entry, error) {
	return listRows(ctx, t, "list messages", scanNews, selectNews+`ORDER BY at DESC, id DESC LIMIT ?`, limit)
}

// ListUndelivered returns the targets that did not get their last messages, among those planned
// since a time. What counts is when they were sent, and not their ids: any pass plans messages, and one
// that commits late has the lower ids.
func (t *Tx) ListUndelivered(ctx context.Context, since time.Time) (all []news.Undelivered, err error) {
	_, err = listRows(ctx, t, "list who was not told", func(row scanner) (none struct{}, err error) {
		var target, last string
		err = row.Scan(&target, &last)
		if len(all) == 0 || all[len(all)-1].Target != target {
			all = append(all, news.Undelivered{Target: target})
		}
		u := &all[len(all)-1]
		u.Count, u.LastError = u.Count+1, last
		return none, err
	}, `SELECT n.target, n.last_error FROM notifications n JOIN notify_targets t ON t.target = n.target AND t.what = n.what
		WHERE n.at >= ? AND (n.state IN ('failed', 'unclear') OR n.state = 'planned' AND n.last_error <> '')
		AND NOT EXISTS (SELECT 1 FROM notifications d WHERE d.target = n.target AND d.state = 'done' AND (d.sent_at > n.sent_at OR d.sent_at = n.sent_at AND d.id > n.id))
		ORDER BY n.target, n.sent_at, n.id`, millis(since))
	return all, err
}

// lasts matches a target's last message of some about a machine, if it is that a state began and not
// that it ended. The state may last for months; the row keeps the message from being sent again, and
// causes the one about the end.
func lasts(begun news.Kind, of string) string {
	return `(what = '` + string(begun) + `' AND id = (SELECT n.id FROM notifications n
	WHERE n.target = notifications.target AND n.machine = notifications.machine AND n.` + of + ` ORDER BY n.at DESC, n.id DESC LIMIT 1))`
}

// newsThatLast matches the messages whose state lasts.
var newsThatLast = `(` + lasts(news.PassFailing, newsOfPasses) + ` OR ` + lasts(news.Silent, newsOfSilences) + `)`

// ListSilences returns the last messages to targets that a machine is silent, unless the target got
// one about the end of the silence since, or the machine is forgotten.
func (t *Tx) ListSilences(ctx context.Context) ([]news.Entry, error) {
	return listRows(ctx, t, "list what was told of silent machines", scanNews,
		selectNews+`WHERE id IN (SELECT (SELECT n.id FROM notifications n WHERE n.target = t.target AND n.machine = m.name AND n.`+newsOfSilences+`
			ORDER BY n.at DESC, n.id DESC LIMIT 1) FROM machines m CROSS JOIN (SELECT DISTINCT target FROM notify_targets) t)
			AND what = '`+string(news.Silent)+`' AND state IN ('sent', 'done', 'unclear') ORDER BY target, machine`)
}

// FindFailing returns the last message to a target that a machine's passes fail, unless the target
// got a recovery message since.
func (t *Tx) FindFailing(ctx context.Context, target, machine string) (news.Entry, bool, error) {
	e, ok, err := findRow(ctx, t, "find what was told of passes", scanNews,
		selectNews+`WHERE target = ? AND machine = ? AND `+newsOfPasses+` ORDER BY at DESC, id DESC LIMIT 1`, target, machine)
	told := e.State == news.Sent || e.State == news.Done || e.State == news.Unclear
	return e, ok && e.What == news.PassFailing && told, err
}

// placeColumns are the columns of a place, where r is repositories.
const placeColumns = `r.id, r.name, r.node_id, `

// scanPlace scans placeColumns, then item, number, whether it is a pull request, url and title.
func scanPlace(row scanner, p *news.Place, more ...any) error {
	var repo work.Repo
	err := row.Scan(append([]any{&repo.ID, nameOf(&repo.Name), &repo.NodeID, refOf(&p.ItemID), &p.Number, &p.Pull, &p.URL, &p.Title}, more...)...)
	p.RepoID, p.Repo, p.Key = repo.ID, repo.Name, repo.Key()
	return err
}

// ListNewStops returns the work items that wait for a person since a time or later.
func (t *Tx) ListNewStops(ctx context.Context, since time.Time) ([]news.Stop, error) {
	return listRows(ctx, t, "list stops to tell of", func(row scanner) (s news.Stop, err error) {
		return s, scanPlace(row, &s.Place, &s.Token, reasonOf(&s.Reason), &s.State, timeOf(&s.Since))
	}, `SELECT `+placeColumns+`i.id, s.number, p.id IS NOT NULL, coalesce(p.url, i.url), coalesce(p.title, i.title), s.token, s.reason, i.state, s.since
		FROM stops s JOIN work_items i ON i.id = s.item_id JOIN repositories r ON r.id = i.repo_id
		LEFT JOIN pull_requests p ON p.repo_id = i.repo_id AND p.number = s.number
		WHERE s.ended_at = 0 AND s.attempts > 0 AND s.since >= ? ORDER BY s.since, s.item_id`, millis(since))
}

// ListNewWaits returns the work items that wait for too long, and that a comment told of since a
// time.
func (t *Tx) ListNewWaits(ctx context.Context, since time.Time) ([]news.Wait, error) {
	return listRows(ctx, t, "list waits to tell of", func(row scanner) (w news.Wait, err error) {
		return w, scanPlace(row, &w.Place, reasonOf(&w.Reason), timeOf(&w.Since), timeOf(&w.ToldAt))
	}, `SELECT `+placeColumns+`i.id, coalesce(p.number, i.number), p.id IS NOT NULL, coalesce(p.url, i.url), coalesce(p.title, i.title), i.wait, i.wait_since, i.wait_told_at
		FROM work_items i JOIN repositories r ON r.id = i.repo_id
		LEFT JOIN pull_requests p ON p.item_id = i.id AND p.state = 'open'
		WHERE i.wait_told_at > 0 AND i.wait_told_at >= ? ORDER BY i.wait_told_at, i.id`, millis(since))
}

// ListNewPulls returns our pull requests that were opened since a time.
func (t *Tx) ListNewPulls(ctx context.Context, since time.Time) ([]news.Pull, error) {
	return listRows(ctx, t, "list pull requests to tell of", scanNewPull, `SELECT `+placeColumns+`p.item_id, p.number, TRUE, p.url, p.title, p.created_at
		FROM pull_requests p JOIN repositories r ON r.id = p.repo_id JOIN work_items i ON i.id = p.item_id
		WHERE p.created_at >= ? AND i.flow <> '`+string(work.FlowReview)+`' ORDER BY p.created_at, p.id`, millis(since))
}

func scanNewPull(row scanner) (p news.Pull, err error) {
	return p, scanPlace(row, &p.Place, timeOf(&p.At))
}

// ListNewMerged returns our pull requests that anybody merged since a time. The time of a merge is
// GitHub's, or if unknown, the time it was read. A pull request without a stored end was merged
// before any target was configured.
func (t *Tx) ListNewMerged(ctx context.Context, since time.Time) ([]news.Pull, error) {
	// The index of merged pull requests begins with the repository.
	const at = `coalesce(nullif(p.ended_at, 0), p.end_read_at)`
	return listRows(ctx, t, "list merged pull requests to tell of", scanNewPull, `SELECT `+placeColumns+`p.item_id, p.number, TRUE, p.url, p.title, `+at+`
		FROM pull_requests p JOIN repositories r ON r.id = p.repo_id JOIN work_items i ON i.id = p.item_id
		WHERE p.repo_id IN (SELECT id FROM repositories) AND p.state = 'merged' AND p.end_read_at > 0 AND p.updated_at >= ?1 AND `+at+` >= ?1 AND i.flow <> '`+string(work.FlowReview)+`' ORDER BY p.updated_at, p.id`, millis(since))
}

// ListNewApprovals returns the pull requests that wait only for a person's approval, since a time
// or later. They wait since the last of their other reviewers approved.
func (t *Tx) ListNewApprovals(ctx context.Context, since time.Time) ([]news.Approval, error) {
	const at = `coalesce((SELECT max(v.at) FROM reviews v WHERE v.pull_id = p.id AND v.head = w.head AND v.decision = 'approve'), p.head_since)`
	return listRows(ctx, t, "list pull requests that people review", func(row scanner) (a news.Approval, err error) {
		return a, scanPlace(row, &a.Place, &a.Head, timeOf(&a.At))
	}, `SELECT `+placeColumns+`p.item_id, p.number, TRUE, p.url, p.title, w.head, `+at+`
		FROM pull_reviews w JOIN pull_requests p ON p.id = w.pull_id JOIN repositories r ON r.id = p.repo_id
		WHERE p.id IN (SELECT pull_id FROM pull_reviews WHERE `+landing+` AND state = 'checking_approval' AND since >= ?1) AND p.state = 'open' ORDER BY w.since, p.id`, millis(since))
}

// ListNewHalts returns the repositories in which merging is halted since a time or later.
func (t *Tx) ListNewHalts(ctx context.Context, since time.Time) ([]news.Halt, error) {
	return listRows(ctx, t, "list repositories that are not merged into", func(row scanner) (h news.Halt, err error) {
		return h, scanPlace(row, &h.Place, reasonOf(&h.Reason), timeOf(&h.At))
	}, `SELECT `+placeColumns+`NULL, 0, FALSE, '', '', r.merge_why, r.merge_stopped_at FROM repositories r WHERE r.merge_why <> '' AND r.merge_stopped_at >= ? ORDER BY r.merge_stopped_at, r.id`, millis(since))
}

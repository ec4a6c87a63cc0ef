// Package busy tells in which repositories there is something to read, to decide or to
// send. A pass over many repositories looks into these, and into no other. Each statement
// walks indexes that hold only what is unfinished; of what may be thousands of rows after
// many comments at once it looks for the first one of each repository.
package busy

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/firstlook"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Rows are the rows of all repositories, in one transaction.
type Rows struct{ tx *rows.Tx }

// In gives the rows as a transaction sees them.
func In(tx *rows.Tx) Rows { return Rows{tx} }

// Set has repositories by their rows' ids.
type Set map[int64]bool

// unread selects the repositories of which something is known to be unread, or to be under
// way so that nothing may be late.
const unread = `
	SELECT repo_id FROM backlog
	UNION SELECT repo_id FROM walks WHERE name NOT IN ('` + firstlook.Walk + `', 'pauses') AND name NOT LIKE 'front %'
	UNION SELECT id FROM repositories r WHERE NOT EXISTS (SELECT 1 FROM walks w WHERE w.repo_id = r.id AND w.name = '` + firstlook.Walk + `' AND w.next_url = '` + firstlook.Through + `')
	UNION SELECT repo_id FROM pull_requests WHERE state = 'open' AND (failures > 0 OR details_at = 0 OR fingerprint = '')
	UNION SELECT repo_id FROM pull_requests INDEXED BY pull_requests_pending
		WHERE state = 'open' AND (rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN') AND updated_at >= ?1
	UNION SELECT repo_id FROM work_items WHERE state = 'ready' AND depends_on <> '[]'
	UNION SELECT repo_id FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')
	UNION SELECT repo_id FROM pull_reviews WHERE state = '` + string(review.Checking) + `'
	UNION SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM events e INDEXED BY events_facts WHERE e.repo_id = r.id AND kind = 'command' AND ` + facts + `)
		OR EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND processed_at = 0)
		AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.repo_id = r.id AND p.ended_at = 0)`

// facts is what waits and is no comment, word for word as the index has it.
const facts = `processed_at = 0 AND kind NOT IN ('review', 'issue', 'summary', 'source')`

// ListUnread gives the repositories that are to be read whatever their pulse shows: what
// lists showed was not taken in, a walk was cut, the first look is not through, a pull request could not be read, something
// waits for an issue elsewhere, or there is something under way, such as checks of what
// changed since a time. What is paused is not.
func (t Rows) ListUnread(ctx context.Context, since time.Time) (Set, error) {
	return t.set(ctx, "list what is to be read", unread, rows.Millis(since))
}

// busy selects the repositories in which there may be something to decide, or to send.
const busy = `
	SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND processed_at = 0)
		OR EXISTS (SELECT 1 FROM actions a WHERE a.repo_id = r.id AND turn_id IS NULL AND state IN ('planned', 'sent'))
		OR EXISTS (SELECT 1 FROM merges m WHERE m.repo_id = r.id AND watch_until > ?1 AND watch_until > 0 AND red = '[]')
	UNION SELECT repo_id FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')
	UNION SELECT repo_id FROM pull_reviews WHERE look > 0
	UNION SELECT repo_id FROM pull_requests WHERE state = 'open' AND lost_oid <> '' AND accepted_oid = '' AND item_id IS NOT NULL
	UNION SELECT repo_id FROM pauses WHERE ended_at = 0
	UNION SELECT i.repo_id FROM stops s INDEXED BY stops_taken CROSS JOIN work_items i ON i.id = s.item_id WHERE s.taken_at <> 0
	UNION SELECT repo_id FROM actions WHERE state = 'dropped' AND not_before > 0
	UNION SELECT repo_id FROM merges WHERE stage IN ('intended', 'queued', 'half')
	UNION SELECT repo_id FROM repo_merging WHERE why <> '' AND told = 0 OR tell_at BETWEEN 1 AND ?1`

// ListBusy gives the repositories in which there may be something to decide or to send. What
// merging alone asks for is in ListLanding, but for merges that are watched at a time.
func (t Rows) ListBusy(ctx context.Context, now time.Time) (Set, error) {
	return t.set(ctx, "list what is busy", busy, rows.Millis(now))
}

// landing selects the repositories in which a pull request may be merged, or was merged
// since a time.
const landing = `
	SELECT repo_id FROM pull_reviews WHERE state IN ('` + string(review.Approved) + `', '` + string(review.Checking) + `')
	UNION SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM merges m WHERE m.repo_id = r.id AND m.at >= ?1)
		OR EXISTS (SELECT 1 FROM pull_requests p WHERE p.repo_id = r.id AND p.state = 'merged' AND p.updated_at >= ?1)`

// ListLanding gives the repositories in which a pull request may be merged, or was merged
// since a time: where the config has us merge, there is something to look at.
func (t Rows) ListLanding(ctx context.Context, since time.Time) (Set, error) {
	return t.set(ctx, "list where something may be merged", landing, rows.Millis(since))
}

func (t Rows) set(ctx context.Context, what, query string, args ...any) (Set, error) {
	ids, err := rows.List(ctx, t.tx, what, rows.ScanID, query, args...)
	all := make(Set, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all, err
}

// Policies are the lowest and the highest name of what a config said when the reviews of a
// repository were decided last; both are empty where it was never said.
type Policies struct{ Low, High string }

// ListPolicies gives those of every repository that has reviews which are not over.
func (t Rows) ListPolicies(ctx context.Context) (map[int64]Policies, error) {
	all := map[int64]Policies{}
	scan := func(row rows.Row) (id int64, err error) {
		var p Policies
		err = row.Scan(&id, &p.Low, &p.High)
		all[id] = p
		return id, err
	}
	const open = `FROM pull_reviews p WHERE p.repo_id = r.id AND p.state NOT IN ('merged', 'closed') ORDER BY p.policy`
	_, err := rows.List(ctx, t.tx, "list what reviews were decided by", scan,
		`SELECT r.id, (SELECT p.policy `+open+` LIMIT 1), (SELECT p.policy `+open+` DESC LIMIT 1) FROM repositories r
		 WHERE EXISTS (SELECT 1 FROM pull_reviews p WHERE p.repo_id = r.id AND p.state NOT IN ('merged', 'closed'))`)
	return all, err
}

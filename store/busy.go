package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// A pass over many repositories looks only into those with something to read, decide or send. Each
// statement here uses partial indexes of unfinished rows. If a repository may have thousands of
// such rows, it looks only for the first.

// landing matches reviews after which a pull request may be merged, exactly as in the index.
const landing = `state IN ('` + string(review.Approved) + `', '` + string(review.Checking) + `')`

// BusySet is a set of repository ids.
type BusySet map[int64]bool

// unreadRepos selects the repositories with something unread, or with something in progress that
// GitHub does not report as a change.
const unreadRepos = `
	SELECT repo_id FROM reading WHERE what = 'backlog'
	UNION SELECT id FROM repositories r WHERE NOT EXISTS (SELECT 1 FROM reading w
		WHERE w.what = 'first look' AND w.repo_id = r.id AND w.key = '` + firstLookKey + `' AND w.url = '` + work.FirstLookDone + `')
	UNION SELECT repo_id FROM pull_requests WHERE state = 'open' AND (details_at = 0 OR fingerprint = '')
	UNION SELECT repo_id FROM pull_requests
		WHERE state = 'open' AND (rollup IN ('PENDING', 'EXPECTED') OR mergeable = 'UNKNOWN') AND updated_at >= ?1
	UNION SELECT repo_id FROM work_items WHERE ` + openItem + ` AND state = 'ready' AND depends_on <> '[]'
	UNION SELECT i.repo_id FROM work_items i WHERE blockers_look_at > 0 AND blockers_look_at <= ?2 AND ` + openItem + `
		AND NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = i.id)
	UNION SELECT repo_id FROM roadmaps WHERE state <> 'ended' AND look_at <= ?2
	UNION SELECT repo_id FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')
	UNION SELECT repo_id FROM pull_reviews WHERE ` + landing + ` AND state = '` + string(review.Checking) + `'
	UNION SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND kind = 'command' AND processed_at = 0)
		OR EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND processed_at = 0)
		AND NOT EXISTS (SELECT 1 FROM pauses p WHERE p.repo_id = r.id AND p.ended_at = 0)`

// ListUnread returns the repositories to read even if GitHub shows no change of them. They have a backlog, an
// unfinished first look, an item that waits for
// another issue, a roadmap that is due, an unfinished turn, or checks that run on a pull request updated since a time.
// Pending events count only in repositories without an open pause. Commands always count.
func (t *Tx) ListUnread(ctx context.Context, since, now time.Time) (BusySet, error) {
	return t.listBusySet(ctx, "list what is to be read", unreadRepos, millis(since), millis(now))
}

// busyRepos selects the repositories in which there may be something to decide or send.
const busyRepos = `
	SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM events e WHERE e.repo_id = r.id AND processed_at = 0)
		OR EXISTS (SELECT 1 FROM actions a WHERE a.repo_id = r.id AND turn_id IS NULL AND state IN ('planned', 'sent'))
		OR EXISTS (SELECT 1 FROM merges m WHERE m.repo_id = r.id AND m.at >= ?2)
	UNION SELECT repo_id FROM turns WHERE step NOT IN ('done', 'superseded', 'failed', 'cancelled')
	UNION SELECT repo_id FROM pull_reviews WHERE look > 0
	UNION SELECT repo_id FROM pull_requests WHERE state = 'open' AND lost_oid <> '' AND accepted_oid = '' AND item_id IS NOT NULL
	UNION SELECT repo_id FROM pauses WHERE ended_at = 0
	UNION SELECT (SELECT i.repo_id FROM work_items i WHERE i.id = s.item_id) FROM stops s WHERE s.taken_at <> 0
	UNION SELECT repo_id FROM actions WHERE state = 'dropped' AND not_before > 0
	UNION SELECT repo_id FROM merges WHERE stage IN ('intended', 'queued', 'half')
	UNION SELECT id FROM repositories WHERE merge_why <> '' AND merge_told = 0
	UNION SELECT repo_id FROM work_items WHERE wait_look_at > 0 AND wait_look_at <= ?1
	UNION SELECT repo_id FROM roadmaps WHERE state <> 'ended' AND (look > 0 OR state IN ('unfolding', 'cancelled'))
	UNION SELECT repo_id FROM roadmaps WHERE table_at > 0 AND table_at <= ?1`

// ListBusy returns the repositories in which there may be something to decide or send, including
// merges of ours since a time: what follows them does not depend on the config. ListLanding returns the repositories where only a merge may be due.
func (t *Tx) ListBusy(ctx context.Context, now, since time.Time) (BusySet, error) {
	return t.listBusySet(ctx, "list what is busy", busyRepos, millis(now), millis(since))
}

// landingRepos selects the repositories in which a pull request may be merged, or somebody merged one
// since a time.
const landingRepos = `
	SELECT repo_id FROM pull_reviews WHERE ` + landing + `
	UNION SELECT r.id FROM repositories r WHERE EXISTS (SELECT 1 FROM pull_requests p WHERE p.repo_id = r.id AND p.state = 'merged' AND p.updated_at >= ?1)`

// ListLanding returns the repositories in which a pull request may be merged, or somebody merged one
// since a time. A pass looks into them if the config enables merging there.
func (t *Tx) ListLanding(ctx context.Context, since time.Time) (BusySet, error) {
	return t.listBusySet(ctx, "list where something may be merged", landingRepos, millis(since))
}

func (t *Tx) listBusySet(ctx context.Context, what, query string, args ...any) (BusySet, error) {
	ids, err := listRows(ctx, t, what, scanID, query, args...)
	all := make(BusySet, len(ids))
	for _, id := range ids {
		all[id] = true
	}
	return all, err
}

// Policies are the lowest and highest policy name by which a repository's reviews were last
// decided. Both are empty if none was stored.
type Policies struct{ Low, High string }

// ListPolicies returns the policies of every repository with unfinished reviews.
func (t *Tx) ListPolicies(ctx context.Context) (map[int64]Policies, error) {
	all := map[int64]Policies{}
	scan := func(row scanner) (id int64, err error) {
		var p Policies
		err = row.Scan(&id, &p.Low, &p.High)
		all[id] = p
		return id, err
	}
	const open = `FROM pull_reviews p WHERE p.repo_id = r.id AND p.state NOT IN ('merged', 'closed') ORDER BY p.policy`
	_, err := listRows(ctx, t, "list what reviews were decided by", scan,
		`SELECT r.id, (SELECT p.policy `+open+` LIMIT 1), (SELECT p.policy `+open+` DESC LIMIT 1) FROM repositories r
		 WHERE EXISTS (SELECT 1 FROM pull_reviews p WHERE p.repo_id = r.id AND p.state NOT IN ('merged', 'closed'))`)
	return all, err
}

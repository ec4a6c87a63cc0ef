package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

// Conditions for pending events, exactly as in the indexes.
const (
	// waitingSaid matches pending comments that no turn has.
	waitingSaid = `processed_at = 0 AND turn_id IS NULL AND kind IN ('review', 'issue', 'summary', 'source')`
	// waitingFact matches pending events of all other kinds.
	waitingFact = `processed_at = 0 AND kind IN ('check', 'conflict', 'head', 'merged', 'closed', 'reopened', 'labelled', 'command', 'review_due', 'fix_due', 'replan')`
)

// waitingColumns selects an event but leaves hash, body, URL, path and diff hunk of comments
// empty: LoadTexts loads them for a turn. Commands keep theirs.
var waitingColumns = without(eventColumns, "content_hash", "body", "url", "path", "diff_hunk")

func without(columns string, forAgents ...string) string {
	for _, c := range forAgents {
		columns = strings.Replace(columns, c, `CASE WHEN kind IN ('review', 'issue', 'summary', 'source') THEN '' ELSE `+c+` END`, 1)
	}
	return columns
}

// ListPendingFacts returns the pending events of a repository that no turn has, without comments,
// by work item (0: none), oldest first.
func (t *Tx) ListPendingFacts(ctx context.Context, repoID int64) (map[int64][]work.Event, error) {
	return t.listByItem(ctx, fmt.Sprintf("list facts that wait in repository %d", repoID),
		`SELECT id, `+waitingColumns+` FROM events WHERE repo_id = ? AND turn_id IS NULL AND `+waitingFact, repoID)
}

// ListItemsWithComments returns the work items of a repository with pending comments that no turn
// has.
func (t *Tx) ListItemsWithComments(ctx context.Context, repoID int64) ([]int64, error) {
	return listRows(ctx, t, fmt.Sprintf("list what people wrote on in repository %d", repoID), scanID,
		`WITH RECURSIVE `+saying+` SELECT id FROM item WHERE id IS NOT NULL`, sql.Named("repo", repoID))
}

// ListPendingCommentsOf returns the pending comments of some work items that no turn has, oldest first,
// without their texts.
func (t *Tx) ListPendingCommentsOf(ctx context.Context, repoID int64, items []int64) (map[int64][]work.Event, error) {
	of, scan := map[int64][]work.Event{}, scanEvents()
	_, err := listIn(ctx, t, fmt.Sprintf("list what waits in repository %d", repoID), func(row scanner) (none struct{}, err error) {
		e, err := scan(row)
		of[e.ItemID] = append(of[e.ItemID], e)
		return none, err
	}, `SELECT id, `+waitingColumns+` FROM events WHERE repo_id = ? AND `+waitingSaid+` AND item_id IN (%s) ORDER BY created_at, id`, items, repoID)
	return of, err
}

func (t *Tx) listByItem(ctx context.Context, what, query string, args ...any) (map[int64][]work.Event, error) {
	of, scan := map[int64][]work.Event{}, scanEvents()
	_, err := listRows(ctx, t, what, func(row scanner) (none struct{}, err error) {
		e, err := scan(row)
		of[e.ItemID] = append(of[e.ItemID], e)
		return none, err
	}, query, args...)
	for _, events := range of { // sorted here, because SQLite would sort the whole rows
		sorted.By(events, func(a, b work.Event) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	}
	return of, err
}

// saying finds the work items with pending comments one by one in the index.
const saying = `item (id) AS (
			SELECT (SELECT min(item_id) FROM events WHERE repo_id = @repo AND item_id > 0 AND ` + waitingSaid + `)
			UNION ALL
			SELECT (SELECT min(item_id) FROM events WHERE repo_id = @repo AND item_id > item.id AND ` + waitingSaid + `) FROM item WHERE item.id IS NOT NULL
		)`

// LoadTexts returns events of ListPendingCommentsOf with their texts, for a turn.
func (t *Tx) LoadTexts(ctx context.Context, events []work.Event) ([]work.Event, error) {
	events, at := slices.Clone(events), map[int64]*work.Event{}
	for i, e := range events {
		at[e.ID] = &events[i]
	}
	_, err := listIn(ctx, t, "read the texts of events", func(row scanner) (id int64, err error) {
		var e work.Event
		if err = row.Scan(&id, &e.Hash, &e.Body, &e.URL, &e.Path, &e.DiffHunk); err == nil {
			into := at[id]
			into.Hash, into.Body, into.URL, into.Path, into.DiffHunk = e.Hash, e.Body, e.URL, e.Path, e.DiffHunk
		}
		return id, err
	}, `SELECT id, content_hash, body, url, path, diff_hunk FROM events WHERE id IN (%s)`, work.EventIDs(events))
	return events, err
}

// ListPendingComments returns the pending comments of a work item that no turn has, oldest first.
func (t *Tx) ListPendingComments(ctx context.Context, repoID, itemID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list what was said on item %d", itemID), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND item_id = ? AND `+waitingSaid+` ORDER BY created_at, id`, repoID, itemID)
}

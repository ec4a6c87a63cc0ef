package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What waits, word for word as the indexes have it.
const (
	// waitingSaid is what work.EventKind.Said means, of no turn.
	waitingSaid = `processed_at = 0 AND turn_id IS NULL AND kind IN ('review', 'issue', 'summary', 'source')`
	// waitingFact is what waits and no person said: all other kinds.
	waitingFact = `processed_at = 0 AND kind IN ('check', 'conflict', 'head', 'merged', 'closed', 'reopened', 'labelled', 'command', 'review_due', 'fix_due')`
)

// waitingColumns selects an event but leaves hash, body, URL, path and diff hunk of comments
// empty: WithTexts loads them for a turn. Commands keep theirs.
var waitingColumns = without(eventColumns, "content_hash", "body", "url", "path", "diff_hunk")

func without(columns string, forAgents ...string) string {
	for _, c := range forAgents {
		columns = strings.Replace(columns, c, `CASE WHEN kind IN ('review', 'issue', 'summary', 'source') THEN '' ELSE `+c+` END`, 1)
	}
	return columns
}

// ListFacts gives what waits in a repository and is no turn's, but for what people wrote: by
// work item, 0 where there is none, oldest first.
func (t *Tx) ListFacts(ctx context.Context, repoID int64) (map[int64][]work.Event, error) {
	return t.listByItem(ctx, fmt.Sprintf("list facts that wait in repository %d", repoID),
		`SELECT id, `+waitingColumns+` FROM events WHERE repo_id = ? AND turn_id IS NULL AND `+waitingFact, repoID)
}

// ListWrittenOn gives the work items of a repository about which people wrote what waits and
// is no turn's.
func (t *Tx) ListWrittenOn(ctx context.Context, repoID int64) ([]int64, error) {
	return listRows(ctx, t, fmt.Sprintf("list what people wrote on in repository %d", repoID), scanID,
		`WITH RECURSIVE `+saying+` SELECT id FROM item WHERE id IS NOT NULL`, sql.Named("repo", repoID))
}

// ListWaiting gives of what people wrote about some work items, and is no turn's, the first
// ones of each, so many of them and without their texts, oldest first. Thousands of comments
// may wait, of which a turn takes some.
func (t *Tx) ListWaiting(ctx context.Context, repoID int64, items []int64, most int) (map[int64][]work.Event, error) {
	of := map[int64][]work.Event{}
	for _, id := range items {
		first, err := t.ListFirstSaid(ctx, repoID, id, most)
		if err != nil {
			return nil, err
		}
		if len(first) > 0 {
			of[id] = first
		}
	}
	return of, nil
}

func (t *Tx) listByItem(ctx context.Context, what, query string, args ...any) (map[int64][]work.Event, error) {
	of, scan := map[int64][]work.Event{}, scanEvents()
	_, err := listRows(ctx, t, what, func(row scanner) (none struct{}, err error) {
		e, err := scan(row)
		of[e.ItemID] = append(of[e.ItemID], e)
		return none, err
	}, query, args...)
	for _, events := range of { // here, for SQLite would sort all of them, with all that they have
		slices.SortFunc(events, func(a, b work.Event) int { return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID)) })
	}
	return of, err
}

// saying are the work items on which people wrote what waits, one after the other by the index.
const saying = `item (id) AS (
			SELECT (SELECT min(item_id) FROM events WHERE repo_id = @repo AND item_id > 0 AND ` + waitingSaid + `)
			UNION ALL
			SELECT (SELECT min(item_id) FROM events WHERE repo_id = @repo AND item_id > item.id AND ` + waitingSaid + `) FROM item WHERE item.id IS NOT NULL
		)`

// ListFromIssues gives the work items about which somebody wrote on the issue what waits.
func (t *Tx) ListFromIssues(ctx context.Context, repoID int64) ([]int64, error) {
	return listRows(ctx, t, "list the items on whose issues comments wait", scanID,
		`SELECT DISTINCT item_id FROM events WHERE repo_id = ? AND item_id > 0 AND processed_at = 0 AND turn_id IS NULL AND kind = 'source'`, repoID)
}

// ListFirstSaid gives what people wrote about one work item and waits, as ListWaiting does.
func (t *Tx) ListFirstSaid(ctx context.Context, repoID, itemID int64, most int) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list what waits on item %d", itemID), scanEvents(),
		`SELECT id, `+waitingColumns+` FROM events WHERE repo_id = ? AND item_id = ? AND `+waitingSaid+` ORDER BY created_at, id LIMIT ?`, repoID, itemID, most)
}

// WithTexts gives events of ListWaiting with their texts, as a turn needs them.
func (t *Tx) WithTexts(ctx context.Context, events []work.Event) ([]work.Event, error) {
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

// ListSaid gives what people said on a work item and no turn was told of, oldest first.
func (t *Tx) ListSaid(ctx context.Context, repoID, itemID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list what was said on item %d", itemID), scanEvents(),
		selectEvent+`WHERE repo_id = ? AND item_id = ? AND `+waitingSaid+` ORDER BY created_at, id`, repoID, itemID)
}

// Waiting is how much people wrote about a work item that waits and is no turn's.
type Waiting struct {
	Item   int64
	Count  int
	Newest time.Time // the newest of it was written; GitHub's clock
}

// CountWaiting counts what people wrote about some work items of a repository that waits.
func (t *Tx) CountWaiting(ctx context.Context, repoID int64, items []int64) ([]Waiting, error) {
	scan := func(row scanner) (w Waiting, err error) {
		return w, row.Scan(&w.Item, &w.Count, timeOf(&w.Newest))
	}
	return listIn(ctx, t, fmt.Sprintf("count what waits in repository %d", repoID), scan,
		`SELECT item_id, count(*), max(created_at) FROM events WHERE repo_id = ? AND `+waitingSaid+` AND item_id IN (%s) GROUP BY item_id`, items, repoID)
}

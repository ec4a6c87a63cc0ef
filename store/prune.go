package store

import (
	"context"
	"database/sql"
	"time"
)

// pruneBatch limits a transaction of Prune, because other passes wait for it.
const pruneBatch = 1000

// kept matches a work item, named i, whose keys are still needed: it is open, was closed recently,
// or has a roadmap that has not ended.
const kept = `(i.` + openItem + ` OR i.state_since >= @before OR EXISTS (SELECT 1 FROM roadmaps m WHERE m.item_id = i.id AND ` + liveRoadmap + `))`

// outsideKeptItems matches a row of a table that belongs to no kept work item, neither by its own
// reference nor by its issue or pull request.
func outsideKeptItems(table string) string {
	return `NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = ` + table + `.item_id AND ` + kept + `)
		AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.repo_id = ` + table + `.repo_id AND i.number = ` + table + `.number AND ` + kept + `)
		AND NOT EXISTS (SELECT 1 FROM pull_requests p JOIN work_items i ON i.id = p.item_id
			WHERE p.repo_id = ` + table + `.repo_id AND p.number = ` + table + `.number AND ` + kept + `)`
}

// reviewOutsideKeptItems matches a row about reviews or merges whose pull request belongs to no
// kept work item.
func reviewOutsideKeptItems(table string) string {
	return `NOT EXISTS (SELECT 1 FROM pull_requests p LEFT JOIN work_items i ON i.id = p.item_id
		WHERE p.id = ` + table + `.pull_id AND (p.item_id IS NULL AND p.updated_at >= @before OR ` + kept + `))`
}

// oldTurns matches turns that ended long ago, even if other rows refer to them.
var oldTurns = `NOT (` + unfinished + `) AND ended_at < @before AND ` + outsideKeptItems("turns")

// oldNews matches messages that will not be sent again when their rows are deleted.
var oldNews = `settled_at > 0 AND settled_at < @before AND ` + outsideKeptItems("notifications") + ` AND NOT ` + newsThatLast

// prune is a kind of row that Prune deletes, with the condition.
type prune struct {
	table string
	key   string // its primary key
	old   string
}

// prunes lists what Prune deletes. Referring rows come before the rows they refer to: a turn is
// deleted once no row refers to it.
func prunes() []prune {
	return []prune{
		{"history", "id", `at < @before AND ` + outsideKeptItems("history")},
		{"actions", "id", `settled_at > 0 AND settled_at < @before AND kind <> 'repo_labels' AND ` + outsideKeptItems("actions")},
		{"events", "id", `processed_at > 0 AND processed_at < @before AND ` + outsideKeptItems("events")},
		{"runs", "id", `turn_id IN (SELECT id FROM turns WHERE ` + oldTurns + `)`},
		{"turns", "id", oldTurns + `
			AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.turn_id = turns.id)
			AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.turn_id = turns.id)
			AND NOT EXISTS (SELECT 1 FROM events e WHERE e.turn_id = turns.id)`},
		{"agent_sessions", "item_id, agent, role", `updated_at < @before
			AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = agent_sessions.item_id AND ` + kept + `)`},
		{"pauses", "id", `ended_at > 0 AND ended_at < @before
			AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.repo_id = pauses.repo_id AND i.number = pauses.number AND ` + kept + `)
			AND NOT EXISTS (SELECT 1 FROM pull_requests p JOIN work_items i ON i.id = p.item_id
				WHERE p.repo_id = pauses.repo_id AND p.number = pauses.number AND ` + kept + `)`},
		{"stops", "item_id", `since < @before AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = stops.item_id AND ` + kept + `)`},
		{"roadmap_nodes", "item_id, node", `NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = roadmap_nodes.item_id AND ` + kept + `)`},
		{"sub_issues", "item_id, ref", `NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = sub_issues.item_id AND ` + kept + `)`},
		{"findings", "pull_id, id", reviewOutsideKeptItems("findings")},
		{"reviews", "id", reviewOutsideKeptItems("reviews")},
		{"fixes", "pull_id, review_id, epoch, cycle", reviewOutsideKeptItems("fixes")},
		{"review_calls", "pull_id, reviewer, head", reviewOutsideKeptItems("review_calls")},
		{"pull_reviews", "pull_id", reviewOutsideKeptItems("pull_reviews")},
		{"merge_words", "pull_id, head, comment_id", reviewOutsideKeptItems("merge_words")},
		{"merges", "id", reviewOutsideKeptItems("merges")},
		{"notifications", "id", oldNews},
		{"reading", "what, repo_id, key, n", `what IN ('page', 'kept') AND at < @before`},
	}
}

// Prune deletes rows that are older than before and belong to work items closed before then:
// processed events, ended turns, settled actions, history, sessions, reviews, merges. It also
// deletes pages of GitHub last read before then. It keeps work items, pull requests and the totals
// of deleted rows. It keeps all keys of open items, so that nothing is answered twice. It returns
// the number of deleted rows.
func (d *DB) Prune(ctx context.Context, before time.Time) (int64, error) {
	var total int64
	for _, p := range prunes() {
		for {
			var n int64
			err := d.Update(ctx, func(tx *Tx) (err error) {
				n, err = tx.prune(ctx, p, before)
				return err
			})
			total += n
			if err != nil {
				return total, err
			}
			if n < pruneBatch {
				break
			}
		}
	}
	return total, nil
}

// prune deletes some rows of one kind after adding them to the totals.
func (t *Tx) prune(ctx context.Context, p prune, before time.Time) (int64, error) {
	what := "prune " + p.table
	args := []any{sql.Named("before", millis(before)), sql.Named("batch", pruneBatch)}
	if p.key != "id" {
		return t.exec(ctx, what, `DELETE FROM `+p.table+` WHERE (`+p.key+`) IN (SELECT `+p.key+` FROM `+p.table+` WHERE `+p.old+` LIMIT @batch)`, args...)
	}
	ids, err := listRows(ctx, t, what, scanID, `SELECT id FROM `+p.table+` WHERE `+p.old+` LIMIT @batch`, args...)
	if err == nil {
		err = t.keepTotals(ctx, p.table, ids)
	}
	if err != nil {
		return 0, err
	}
	return execIn(ctx, t, what, `DELETE FROM `+p.table+` WHERE id IN (%s)`, ids)
}

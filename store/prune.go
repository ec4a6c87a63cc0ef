package store

import (
	"context"
	"database/sql"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// pruneBatch bounds a transaction of Prune: other passes wait for it.
const pruneBatch = 1000

// kept says that a work item, named i, still needs its keys: it is open, or
// was closed only lately.
const kept = `(i.` + openItem + ` OR i.state_since >= @before)`

// loose says that no kept work item has to do with a row of a table, neither
// by its own reference nor by the issue or pull request on which it stands.
func loose(table string) string {
	return `NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = ` + table + `.item_id AND ` + kept + `)
		AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.repo_id = ` + table + `.repo_id AND i.number = ` + table + `.number AND ` + kept + `)
		AND NOT EXISTS (SELECT 1 FROM pull_requests p JOIN work_items i ON i.id = p.item_id
			WHERE p.repo_id = ` + table + `.repo_id AND p.number = ` + table + `.number AND ` + kept + `)`
}

// looseReview says that no kept work item has the pull request of a row about reviews or
// merges.
func looseReview(table string) string {
	return `NOT EXISTS (SELECT 1 FROM pull_requests p LEFT JOIN work_items i ON i.id = p.item_id
		WHERE p.id = ` + table + `.pull_id AND (p.item_id IS NULL AND p.updated_at >= @before OR ` + kept + `))`
}

// oldTurns says which turns are over for long, whatever still refers to them.
var oldTurns = `NOT (` + unfinished + `) AND ended_at < @before AND ` + loose("turns")

// prunes are what Prune deletes, referrers before what they refer to. A turn
// goes once nothing refers to it any more.
func prunes() []string {
	return []string{
		`DELETE FROM history WHERE id IN (SELECT id FROM history WHERE at < @before AND ` + loose("history") + ` LIMIT @batch)`,
		`DELETE FROM actions WHERE id IN (SELECT id FROM actions WHERE settled_at > 0 AND settled_at < @before AND kind <> 'repo_labels' AND ` + loose("actions") + ` LIMIT @batch)`,
		`DELETE FROM events WHERE id IN (SELECT id FROM events WHERE processed_at > 0 AND processed_at < @before AND ` + loose("events") + ` LIMIT @batch)`,
		`DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE turn_id IN (SELECT id FROM turns WHERE ` + oldTurns + `) LIMIT @batch)`,
		`DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE ` + oldTurns + `
			AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.turn_id = turns.id)
			AND NOT EXISTS (SELECT 1 FROM actions a WHERE a.turn_id = turns.id)
			AND NOT EXISTS (SELECT 1 FROM events e WHERE e.turn_id = turns.id) LIMIT @batch)`,
		`DELETE FROM agent_sessions WHERE updated_at < @before
			AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = agent_sessions.item_id AND ` + kept + `)`,
		`DELETE FROM session_usage WHERE updated_at < @before
			AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = session_usage.item_id AND ` + kept + `)`,
		`DELETE FROM followups WHERE since < @before AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = followups.item_id AND ` + kept + `)`,
		`DELETE FROM pauses WHERE ended_at > 0 AND ended_at < @before
			AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.repo_id = pauses.repo_id AND i.number = pauses.number AND ` + kept + `)
			AND NOT EXISTS (SELECT 1 FROM pull_requests p JOIN work_items i ON i.id = p.item_id
				WHERE p.repo_id = pauses.repo_id AND p.number = pauses.number AND ` + kept + `)`,
		`DELETE FROM stops WHERE since < @before AND NOT EXISTS (SELECT 1 FROM work_items i WHERE i.id = stops.item_id AND ` + kept + `)`,
		`DELETE FROM review_log WHERE id IN (SELECT id FROM review_log WHERE at < @before AND ` + loose("review_log") + ` LIMIT @batch)`,
		`DELETE FROM findings WHERE ` + looseReview("findings"),
		`DELETE FROM reviews WHERE ` + looseReview("reviews"),
		`DELETE FROM fixes WHERE ` + looseReview("fixes"),
		`DELETE FROM insertions WHERE ` + looseReview("insertions"),
		`DELETE FROM review_requests WHERE ` + looseReview("review_requests"),
		`DELETE FROM pull_reviews WHERE ` + looseReview("pull_reviews"),
		`DELETE FROM merge_boxes WHERE ` + looseReview("merge_boxes"),
		`DELETE FROM merge_words WHERE ` + looseReview("merge_words"),
		`DELETE FROM merge_trouble WHERE ` + looseReview("merge_trouble"),
		`DELETE FROM merges WHERE ` + looseReview("merges"),
		`DELETE FROM http_validators WHERE seen_at < @before`,
	}
}

// ListOldTurns gives up to limit of the turns that Prune would delete, oldest
// first: what is kept of them elsewhere goes before their rows.
func (t turnRows) ListOldTurns(ctx context.Context, before time.Time, after int64, limit int) ([]work.Turn, error) {
	return rows.List(ctx, t.tx, "list old turns", scanTurn, selectTurn+`WHERE id > @after AND `+oldTurns+` ORDER BY id LIMIT @limit`,
		sql.Named("before", rows.Millis(before)), sql.Named("after", after), sql.Named("limit", limit))
}

// Prune deletes what is older than before and belongs to work items that were
// closed before then: processed events, ended turns, settled actions, history,
// sessions, reviews, merges; and pages of GitHub that were last read before then. Work items and
// pull requests stay. Keys of open items stay whatever their age, so that
// nothing is answered twice. It tells how many rows it deleted.
func (d *DB) Prune(ctx context.Context, before time.Time) (int64, error) {
	var total int64
	for _, query := range prunes() {
		for {
			var n int64
			err := d.Update(ctx, func(tx *Tx) (err error) {
				n, err = tx.tx.Exec(ctx, "prune", query, sql.Named("before", rows.Millis(before)), sql.Named("batch", pruneBatch))
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

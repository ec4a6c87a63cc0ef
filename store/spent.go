package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

func scanSpent(row rows.Row) (s work.Spent, err error) {
	return s, row.Scan(&s.Turn, &s.Run, &s.Kind, &s.Reviewer, &s.Step, &s.Head, &s.Commit, &s.CostUSD, &s.Attempts, &s.Unknown, rows.TimeOf(&s.At))
}

// ListSpent gives what an item's turns have taken of its budgets since they were
// renewed last, oldest first: those whose agent ran, and those whose agent is
// going to.
func (t turnRows) ListSpent(ctx context.Context, itemID int64) ([]work.Spent, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list what item %d spent", itemID), scanSpent,
		`SELECT turns.id, 0, kind, reviewer, step, head, commit_oid, coalesce(sum(r.cost_usd), 0.0), coalesce(sum(r.attempt), 0), coalesce(sum(r.unknown), 0), claimed_at
		 FROM turns JOIN work_items i ON i.id = turns.item_id LEFT JOIN runs r ON r.turn_id = turns.id AND r.id > i.allowance_run
		 WHERE turns.item_id = ? AND (turns.id > i.allowance_from OR turns.id = i.allowance_from AND `+unfinished+`)
		 GROUP BY turns.id HAVING sum(r.attempt) > 0 OR sum(r.cost_usd) > 0 OR `+unfinished+` ORDER BY turns.id`, itemID)
}

// ListSpentSince gives the runs of all repositories that began after a time, and
// the turns claimed since then whose agent is going to run, oldest first.
func (t turnRows) ListSpentSince(ctx context.Context, since time.Time) ([]work.Spent, error) {
	return rows.List(ctx, t.tx, "list what was spent lately", scanSpent,
		`SELECT turns.id, r.id, kind, reviewer, step, head, commit_oid, r.cost_usd, r.attempt, r.unknown, r.began_at AS at
		 FROM runs r JOIN turns ON turns.id = r.turn_id WHERE r.began_at > ?1
		 UNION ALL
		 SELECT turns.id, 0, kind, reviewer, step, head, commit_oid, 0.0, 0, 0, claimed_at AS at
		 FROM turns WHERE claimed_at > ?1 AND `+unfinished+` AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.turn_id = turns.id AND r.attempt)
		 ORDER BY at`, rows.Millis(since))
}

// RenewAllowance lets an item's budgets count from its newest turn and run on: a
// person wants it to resume.
func (t turnRows) RenewAllowance(ctx context.Context, itemID int64) error {
	return t.tx.One(ctx, fmt.Sprintf("renew the allowance of item %d", itemID), ErrNotFound,
		`UPDATE work_items SET allowance_from = (SELECT coalesce(max(u.id), 0) FROM turns u WHERE u.item_id = work_items.id),
		 allowance_run = (SELECT coalesce(max(r.id), 0) FROM turns u JOIN runs r ON r.turn_id = u.id WHERE u.item_id = work_items.id) WHERE id = ?`, itemID)
}

// LastTurn gives the id of the newest turn of a kind in a repository; 0 when
// there is none.
func (t turnRows) LastTurn(ctx context.Context, repoID int64, kind work.Kind) (int64, error) {
	id, _, err := rows.Find(ctx, t.tx, fmt.Sprintf("find the newest %s", kind), rows.ScanID,
		`SELECT id FROM turns WHERE repo_id = ? AND kind = ? ORDER BY id DESC LIMIT 1`, repoID, kind)
	return id, err
}

// ListTurnEvents gives the events that a turn has, or had when it ended.
func (t turnRows) ListTurnEvents(ctx context.Context, turnID int64) ([]work.Event, error) {
	return rows.List(ctx, t.tx, fmt.Sprintf("list events of turn %d", turnID), scanEvents(), selectEvent+`WHERE turn_id = ? ORDER BY created_at, id`, turnID)
}

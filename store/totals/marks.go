package totals

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/store/rows"
)

// MarkKind says what a Mark is.
type MarkKind string

// The kinds of marks.
const (
	MarkTurn    MarkKind = "turn"
	MarkVerdict MarkKind = "verdict"
	MarkPerson  MarkKind = "person" // somebody said or did something
)

// Mark is something that happened in the life of a work item.
type Mark struct {
	ItemID int64
	What   MarkKind
	Kind   string // of a turn; of an event
	Who    string // a reviewer; who said it
	Says   string // the step of a turn; what a verdict decides
	At     time.Time
	End    time.Time // of a turn that ended
}

// Marks gives what happened in the lives of work items and was not pruned, the oldest first.
func (t Rows) Marks(ctx context.Context, items []int64) ([]Mark, error) {
	ids, err := json.Marshal(items)
	if err != nil {
		return nil, fmt.Errorf("list marks: %w", err)
	}
	return rows.List(ctx, t.tx, "list marks", func(row rows.Row) (m Mark, err error) {
		return m, row.Scan(&m.ItemID, &m.What, &m.Kind, &m.Who, &m.Says, rows.TimeOf(&m.At), rows.TimeOf(&m.End))
	}, `WITH wanted AS (SELECT value AS id FROM json_each(?))
		SELECT u.item_id, 'turn', u.kind, u.reviewer, u.step, u.claimed_at AS at, u.ended_at FROM wanted w JOIN turns u ON u.item_id = w.id
		UNION ALL
		SELECT p.item_id, 'verdict', '', CASE v.reviewer WHEN '' THEN v.by_login ELSE v.reviewer END, v.decision, v.at AS at, 0
		FROM wanted w JOIN pull_requests p ON p.item_id = w.id JOIN reviews v ON v.pull_id = p.id WHERE v.kept_from = ''
		UNION ALL
		SELECT p.item_id, 'person', e.kind, e.author_login, e.state, e.created_at AS at, 0
		FROM wanted w JOIN pull_requests p ON p.item_id = w.id JOIN events e ON e.repo_id = p.repo_id AND e.number = p.number
		WHERE `+doneByPeople+` ORDER BY at`, string(ids))
}

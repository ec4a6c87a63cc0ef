package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Dependency is an issue that a work item waits for.
type Dependency struct {
	ItemID int64
	Ref    string // host/owner/name#12
	State  work.DependencyState
	SeenAt time.Time
}

// PutDependency stores what was seen of a dependency.
func (t itemRows) PutDependency(ctx context.Context, d Dependency) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("put dependency %s", d.Ref),
		`INSERT INTO dependencies (item_id, ref, state, seen_at) VALUES (?, ?, ?, ?)
		 ON CONFLICT (item_id, ref) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at`,
		d.ItemID, d.Ref, d.State, t.tx.Stamp(d.SeenAt))
	return err
}

// ListDependencies gives what was seen of an item's dependencies.
func (t itemRows) ListDependencies(ctx context.Context, itemID int64) ([]Dependency, error) {
	return rows.List(ctx, t.tx, "list dependencies", scanDependency,
		`SELECT item_id, ref, state, seen_at FROM dependencies WHERE item_id = ? ORDER BY ref`, itemID)
}

func scanDependency(row rows.Row) (d Dependency, err error) {
	return d, row.Scan(&d.ItemID, &d.Ref, &d.State, rows.TimeOf(&d.SeenAt))
}

// ListOpenDependencies gives those of a repository's ready items that are not
// known to be closed.
func (t itemRows) ListOpenDependencies(ctx context.Context, repoID int64) ([]Dependency, error) {
	items, err := rows.List(ctx, t.tx, "list ready items", scanItem, selectItem+`WHERE repo_id = ? AND `+openItem+` AND state = 'ready' AND depends_on <> '[]'`, repoID)
	if err != nil {
		return nil, err
	}
	var waiting []Dependency
	for _, i := range items {
		seen, err := t.ListDependencies(ctx, i.ID)
		if err != nil {
			return nil, err
		}
		for _, ref := range i.DependsOn {
			at := slices.IndexFunc(seen, func(d Dependency) bool { return strings.EqualFold(d.Ref, ref) })
			switch {
			case at < 0:
				waiting = append(waiting, Dependency{ItemID: i.ID, Ref: ref})
			case seen[at].State != work.DependencyClosed:
				waiting = append(waiting, seen[at])
			}
		}
	}
	return waiting, nil
}

package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
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
	_, err := t.exec(ctx, fmt.Sprintf("put dependency %s", d.Ref),
		`INSERT INTO dependencies (item_id, ref, state, seen_at) VALUES (?, ?, ?, ?)
		 ON CONFLICT (item_id, ref) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at`,
		d.ItemID, d.Ref, d.State, t.stamp(d.SeenAt))
	return err
}

// ListDependencies gives what was seen of an item's dependencies.
func (t itemRows) ListDependencies(ctx context.Context, itemID int64) ([]Dependency, error) {
	return list(ctx, t.transaction, "list dependencies", scanDependency,
		`SELECT item_id, ref, state, seen_at FROM dependencies WHERE item_id = ? ORDER BY ref`, itemID)
}

func scanDependency(row scanner) (d Dependency, err error) {
	return d, row.Scan(&d.ItemID, &d.Ref, &d.State, timeOf{&d.SeenAt})
}

// ListOpenDependencies gives those of a repository's ready items that are not
// known to be closed.
func (t itemRows) ListOpenDependencies(ctx context.Context, repoID int64) ([]Dependency, error) {
	items, err := list(ctx, t.transaction, "list ready items", scanItem, selectItem+`WHERE repo_id = ? AND `+openItem+` AND state = 'ready' AND depends_on <> '[]'`, repoID)
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

// ListBacklog gives the numbers that lists showed and that were not taken in yet,
// those first that were tried longest ago.
func (t repoRows) ListBacklog(ctx context.Context, repoID int64) ([]int, error) {
	return list(ctx, t.transaction, fmt.Sprintf("list the backlog of repository %d", repoID), scanCount,
		`SELECT number FROM backlog WHERE repo_id = ? ORDER BY tried_at, number`, repoID)
}

// AddBacklog records that a number is to be taken in later, after those that were
// not tried since.
func (t repoRows) AddBacklog(ctx context.Context, repoID int64, number int, tried time.Time) error {
	_, err := t.exec(ctx, fmt.Sprintf("add #%d to the backlog", number),
		`INSERT INTO backlog (repo_id, number, tried_at) VALUES (?, ?, ?)
		 ON CONFLICT (repo_id, number) DO UPDATE SET tried_at = excluded.tried_at`, repoID, number, t.stamp(tried))
	return err
}

// DropBacklog records that a number was taken in.
func (t repoRows) DropBacklog(ctx context.Context, repoID int64, number int) error {
	_, err := t.exec(ctx, fmt.Sprintf("take #%d off the backlog", number), `DELETE FROM backlog WHERE repo_id = ? AND number = ?`, repoID, number)
	return err
}

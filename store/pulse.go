package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// MarkPulseRead records when the pulse of many repositories was read, in one statement. It clears
// the error of an earlier MarkPulseFailed.
func (t *Tx) MarkPulseRead(ctx context.Context, ids []int64, at time.Time) error {
	return t.updateRepos(ctx, "note the pulse", ids, `UPDATE repositories SET pulse_at = ?, last_error = CASE failures WHEN 0 THEN '' ELSE last_error END`, t.stamp(at))
}

// MarkPulseFailed records why the pulse of many repositories could not be read.
func (t *Tx) MarkPulseFailed(ctx context.Context, ids []int64, why string) error {
	return t.updateRepos(ctx, "note why there is no pulse", ids, `UPDATE repositories SET last_error = ?`, t.clean(why))
}

// updateRepos sets the same columns of many repositories.
func (t *Tx) updateRepos(ctx context.Context, what string, ids []int64, update string, value any) error {
	_, err := execIn(ctx, t, fmt.Sprintf("%s of %d repositories", what, len(ids)), update+` WHERE id IN (%s)`, ids, value)
	return err
}

// PutPulse stores a repository's pulse after a full read. Call it in the transaction that stores
// what was read.
func (t *Tx) PutPulse(ctx context.Context, id int64, p work.Pulse) error {
	return t.execOne(ctx, fmt.Sprintf("put the pulse of repository %d", id), ErrNotFound,
		`UPDATE repositories SET pulse_issues = ?, pulse_pulls = ?, changed_at = ? WHERE id = ?`,
		millis(p.Issues), millis(p.Pulls), millis(p.Changed), id)
}

// ListAllSeenLabels returns, for each repository, the labels whose open issues were listed before.
func (t *Tx) ListAllSeenLabels(ctx context.Context) (map[int64][]string, error) {
	all := map[int64][]string{}
	scan := func(row scanner) (id int64, err error) {
		var label string
		err = row.Scan(&id, &label)
		all[id] = append(all[id], label)
		return id, err
	}
	_, err := listRows(ctx, t, "list seen labels", scan, `SELECT repo_id, key FROM reading WHERE what = 'label' ORDER BY repo_id, key`)
	return all, err
}

// CountOpenPulls counts the open pull requests that are tracked in all repositories.
func (t *Tx) CountOpenPulls(ctx context.Context) (int, error) {
	return getRow(ctx, t, "count open pull requests", scanCount, `SELECT count(*) FROM pull_requests WHERE state = 'open'`)
}

// ListOldDetails returns the node ids of open pull requests of some repositories whose details were
// read before a time. It returns at most n, oldest first.
func (t *Tx) ListOldDetails(ctx context.Context, repos []int64, before time.Time, n int) ([]string, error) {
	type old struct {
		node string
		at   int64
	}
	scan := func(row scanner) (o old, err error) { return o, row.Scan(&o.node, &o.at) }
	all, err := listIn(ctx, t, "list old details", scan,
		fmt.Sprintf(`SELECT node_id, %s AS at FROM pull_requests WHERE state = 'open' AND %[1]s < ? AND repo_id IN (%%s) ORDER BY at LIMIT %d`, readWholeAt, n),
		repos, millis(before))
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b old) int { return cmp.Compare(a.at, b.at) })
	var nodes []string
	for _, o := range all[:min(n, len(all))] {
		nodes = append(nodes, o.node)
	}
	return nodes, nil
}

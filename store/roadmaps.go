package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

const roadmapColumns = `item_id, repo_id, state, since, document, hash, pull, commit_oid, run, revision, look, look_at, why, goal`

func roadmapFields(r *roadmap.Record) []any {
	return []any{
		&r.ItemID, &r.RepoID, &r.State,
		timeOf(&r.Since),
		&r.Document, &r.Hash, &r.Pull, &r.Commit, &r.Run, &r.Revision, &r.Look,
		timeOf(&r.LookAt),
		reasonOf(&r.Why),
		&r.Goal,
	}
}

func scanRoadmap(row scanner) (r roadmap.Record, err error) {
	return r, row.Scan(append(roadmapFields(&r), &r.Number, &r.Title, &r.Closed, nameOf(&r.Repo), &r.Ref, &r.Parent, &r.Pause.By, timeOf(&r.Pause.Began), &r.Changing)...)
}

const (
	// selectRoadmap reads the issue as its newest work item has it, which a replan is, too, and its oldest pause.
	selectRoadmap = `SELECT m.item_id, m.repo_id, m.state, m.since, m.document, m.hash, m.pull, m.commit_oid, m.run, m.revision, m.look, m.look_at, m.why, m.goal,
		i.number, i.title, i.issue_closed, r.name, ` + issueRef + `, i.parent_ref, coalesce(p.by_login, ''), coalesce(p.began_at, 0), coalesce(i.parent_id, 0) = m.item_id AND i.` + openItem + `
		FROM roadmaps m JOIN repositories r ON r.id = m.repo_id JOIN work_items f ON f.id = m.item_id
		JOIN work_items i ON i.id = (SELECT max(n.id) FROM work_items n WHERE n.repo_id = f.repo_id AND n.number = f.number)
		LEFT JOIN pauses p ON p.id = (SELECT q.id FROM pauses q WHERE q.repo_id = m.repo_id AND q.number = f.number AND q.ended_at = 0 ORDER BY q.began_at, q.id LIMIT 1) `

	// liveRoadmap matches roadmaps that have not ended, exactly as in the index.
	liveRoadmap = `m.state <> 'ended'`
)

// AddRoadmap stores a roadmap whose first document was merged, with its nodes. It fails with ErrStale
// if the work item has one.
func (t *Tx) AddRoadmap(ctx context.Context, r roadmap.Record, nodes []roadmap.Child) error {
	what := fmt.Sprintf("add the roadmap of item %d", r.ItemID)
	if r.Since.IsZero() {
		r.Since = t.now
	}
	r.Why = r.Why.Map(t.clean)
	fields := roadmapFields(&r)
	err := t.execOne(ctx, what, ErrStale, `INSERT INTO roadmaps (`+roadmapColumns+`) VALUES (`+placeholders(len(fields))+`) ON CONFLICT (item_id) DO NOTHING`, fields...)
	for _, c := range nodes {
		if err == nil {
			c.ItemID = r.ItemID
			err = t.addChild(ctx, c)
		}
	}
	return err
}

// FindRoadmap returns the roadmap of a work item.
func (t *Tx) FindRoadmap(ctx context.Context, itemID int64) (roadmap.Record, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find the roadmap of item %d", itemID), scanRoadmap, selectRoadmap+`WHERE m.item_id = ?`, itemID)
}

// ListRoadmaps returns the roadmaps of a repository that have not ended, by their issues.
func (t *Tx) ListRoadmaps(ctx context.Context, repoID int64) ([]roadmap.Record, error) {
	return listRows(ctx, t, "list roadmaps", scanRoadmap, selectRoadmap+`WHERE m.repo_id = ? AND `+liveRoadmap+` ORDER BY i.number`, repoID)
}

// MoveRoadmap stores a roadmap after an event: its state, and what it says about the document that is
// applied. Another state is shown in its table. It fails with ErrStale if the stored one has another state or revision than before.
func (t *Tx) MoveRoadmap(ctx context.Context, before, after roadmap.Record) error {
	what := fmt.Sprintf("move the roadmap of item %d to %q", before.ItemID, after.State)
	after.Why = after.Why.Map(t.clean)
	if after.State != before.State {
		after.Since = t.now
	}
	err := t.execOne(ctx, what, ErrStale, `UPDATE roadmaps SET state = ?, since = ?, document = ?, hash = ?, pull = ?, commit_oid = ?, revision = ?, why = ?, goal = ?, look = look + 1,
		table_at = CASE WHEN state <> ? THEN ? ELSE table_at END WHERE item_id = ? AND state = ? AND revision = ?`,
		after.State, timeOf(&after.Since), after.Document, after.Hash, after.Pull, after.Commit, after.Revision, reasonOf(&after.Why), after.Goal,
		after.State, millis(t.now), before.ItemID, before.State, before.Revision)
	if err == nil && after.Revision != before.Revision { // what the new document asks for is planned again, in its order
		err = t.write(ctx, what, `DELETE FROM actions WHERE item_id = ? AND turn_id IS NULL AND state = 'planned' AND sends = 0
			AND (kind IN ('block', 'edit_issue') OR kind = 'flow' AND extra <> '')`, before.ItemID)
	}
	if err != nil || after.State == before.State {
		return err
	}
	return t.AddHistory(ctx, work.History{
		RepoID: before.RepoID, ItemID: before.ItemID, Number: before.Number, At: t.now, What: "roadmap", Detail: fmt.Sprintf("%s → %s", before.State, after.State),
	})
}

// MarkRoadmapChanged makes the next plan decide about a roadmap.
func (t *Tx) MarkRoadmapChanged(ctx context.Context, itemID int64) error {
	return t.write(ctx, fmt.Sprintf("mark the roadmap of item %d as changed", itemID), `UPDATE roadmaps SET look = look + 1 WHERE item_id = ? AND state <> 'ended'`, itemID)
}

// MarkRoadmapDecided records that the plan decided about a roadmap with as many changes.
func (t *Tx) MarkRoadmapDecided(ctx context.Context, itemID int64, changes int) error {
	return t.write(ctx, fmt.Sprintf("mark the roadmap of item %d as decided", itemID), `UPDATE roadmaps SET look = look - ?2 WHERE item_id = ?1 AND look >= ?2`, itemID, changes)
}

const childColumns = `item_id, node, position, title, flow, needs, hash, step, number, applied, edges, body`

func childFields(c *roadmap.Child) []any {
	return []any{
		&c.ItemID, &c.Node, &c.Position, &c.Title, &c.Flow,
		listOf(&c.Needs),
		&c.Hash, &c.Step, &c.Number, &c.Applied,
		listOf(&c.Edges),
		&c.Body,
	}
}

func scanChild(row scanner) (c roadmap.Child, err error) { return c, row.Scan(childFields(&c)...) }

// addChild adds a node to a roadmap.
func (t *Tx) addChild(ctx context.Context, c roadmap.Child) error {
	fields := childFields(&c)
	return t.thenMark(ctx, c.ItemID, t.execOne(ctx, fmt.Sprintf("add node %s to the roadmap of item %d", c.Node, c.ItemID), ErrStale,
		`INSERT INTO roadmap_nodes (`+childColumns+`) VALUES (`+placeholders(len(fields))+`) ON CONFLICT (item_id, node) DO NOTHING`, fields...))
}

// ListChildren returns the nodes of a roadmap in the order of its document.
func (t *Tx) ListChildren(ctx context.Context, itemID int64) ([]roadmap.Child, error) {
	return listRows(ctx, t, fmt.Sprintf("list the nodes of the roadmap of item %d", itemID), scanChild, `SELECT `+childColumns+` FROM roadmap_nodes WHERE item_id = ? ORDER BY position, node`, itemID)
}

// MoveChild stores a node of a roadmap, or adds it if before has none. It fails with ErrStale if the
// stored one is not as before, and with another error if the step may not move like that.
func (t *Tx) MoveChild(ctx context.Context, before, after roadmap.Child) error {
	what := fmt.Sprintf("move node %s of the roadmap of item %d to %q", after.Node, after.ItemID, after.Step)
	switch {
	case before.Node == "":
		return t.addChild(ctx, after)
	case !before.Step.MayMoveTo(after.Step), before.Number != 0 && after.Number != before.Number:
		return fmt.Errorf("%s: it is %q, with the sub-issue %d", what, before.Step, before.Number)
	}
	return t.thenMark(ctx, before.ItemID, t.execOne(ctx, what, ErrStale, `UPDATE roadmap_nodes SET position = ?, title = ?, flow = ?, needs = ?, hash = ?, step = ?, number = ?, applied = ?, edges = ?, body = ?
		WHERE item_id = ? AND node = ? AND step = ? AND number = ? AND hash = ? AND applied = ? AND edges = ?`,
		after.Position, after.Title, after.Flow, listOf(&after.Needs), after.Hash, after.Step, after.Number, after.Applied, listOf(&after.Edges), after.Body,
		before.ItemID, before.Node, before.Step, before.Number, before.Hash, before.Applied, listOf(&before.Edges)))
}

// ForgetGone deletes the actions of a roadmap that were not done because their issues were gone: people put one back.
func (t *Tx) ForgetGone(ctx context.Context, itemID int64) error {
	_, err := t.exec(ctx, fmt.Sprintf("forget what item %d could not do", itemID),
		`DELETE FROM actions WHERE item_id = ? AND turn_id IS NULL AND state = 'void' AND ending = 'gone' AND kind IN ('block', 'flow')`, itemID)
	return err
}

func scanSubIssue(row scanner) (s roadmap.SubIssue, err error) {
	return s, row.Scan(&s.ItemID, &s.Ref, &s.Position, &s.State, &s.Title)
}

// ListSubIssues returns what GitHub lists below a roadmap's issue, in its order.
func (t *Tx) ListSubIssues(ctx context.Context, itemID int64) ([]roadmap.SubIssue, error) {
	return listRows(ctx, t, fmt.Sprintf("list the sub-issues of item %d", itemID), scanSubIssue,
		`SELECT item_id, ref, position, state, title FROM sub_issues WHERE item_id = ? ORDER BY position, ref`, itemID)
}

// SetSubIssues replaces what GitHub lists below a roadmap's issue, and stores when it is read again.
func (t *Tx) SetSubIssues(ctx context.Context, itemID int64, list []roadmap.SubIssue, lookAt time.Time) error {
	what := fmt.Sprintf("set the sub-issues of item %d", itemID)
	stored, err := t.ListSubIssues(ctx, itemID)
	if err != nil {
		return err
	}
	list = slices.Clone(list)
	for i := range list {
		list[i].ItemID, list[i].Title = itemID, storable(list[i].Title)
	}
	changes := 0
	if !slices.Equal(stored, list) {
		changes = 1
		if err := t.MarkTable(ctx, itemID); err != nil {
			return err
		}
		if err := t.write(ctx, what, `DELETE FROM sub_issues WHERE item_id = ?`, itemID); err != nil {
			return err
		}
		for some := range batches(list) {
			var args []any
			for _, s := range some {
				args = append(args, s.ItemID, s.Ref, s.Position, s.State, s.Title)
			}
			if err := t.write(ctx, what, `INSERT INTO sub_issues (item_id, ref, position, state, title) VALUES `+rowPlaceholders(len(some), 5), args...); err != nil {
				return err
			}
		}
	}
	return t.execOne(ctx, what, ErrNotFound, `UPDATE roadmaps SET look_at = ?, look = look + ? WHERE item_id = ?`, timeOf(&lookAt), changes, itemID)
}

// WakeRoadmaps makes the next pass read what is below the roadmaps of other repositories to which a sub-issue belongs.
func (t *Tx) WakeRoadmaps(ctx context.Context, repoID int64, ref string, now time.Time) error {
	return t.write(ctx, "wake the roadmaps of "+ref, `UPDATE roadmaps SET look_at = ?
		WHERE repo_id <> ? AND look_at > ? AND state <> 'ended' AND item_id IN (SELECT item_id FROM sub_issues WHERE ref = ?)`, millis(now), repoID, millis(now), ref)
}

// ListWorkOn returns how far work on issues has come, by their numbers; it omits those without a work
// item.
func (t *Tx) ListWorkOn(ctx context.Context, repoID int64, numbers []int) (map[int]roadmap.Work, error) {
	all := map[int]roadmap.Work{}
	_, err := listIn(ctx, t, "list the work on issues", func(row scanner) (n int, err error) {
		var w roadmap.Work
		var ran bool
		var title, body string
		if err = row.Scan(&n, &w.State, &w.Pull, &w.Merged, &ran, &title, &body); err != nil {
			return n, err
		}
		w.Begun, w.Text = ran || w.Pull != 0, work.IssueHash(title, body)
		all[n] = all[n].And(w)
		return n, nil
	}, `SELECT i.number, i.state, coalesce(p.number, 0), coalesce(p.state, '') = 'merged',
			EXISTS (SELECT 1 FROM turns t WHERE t.item_id = i.id AND t.runs > 0), i.title, i.body
		FROM work_items i LEFT JOIN pull_requests p ON p.item_id = i.id WHERE i.repo_id = ? AND i.number IN (%s) ORDER BY i.id, p.number`, numbers, repoID)
	return all, err
}

// ListActions returns the known actions among tokens, by token.
func (t *Tx) ListActions(ctx context.Context, tokens []string) (map[string]work.Action, error) {
	found, err := listIn(ctx, t, "list actions", scanAction, selectAction+`WHERE token IN (%s)`, tokens)
	all := make(map[string]work.Action, len(found))
	for _, a := range found {
		all[a.Token] = a
	}
	return all, err
}

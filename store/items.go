package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

const itemColumns = `repo_id, number, flow, parent_id, state, state_since, reason, title, body,
	author_id, author_login, author_bot, url, priority, label, label_event, branch, document, touch_paths,
	decision_summary, fingerprint, design_pull, design_commit, size, depends_on, edited,
	issue_closed, wait, wait_since, wait_look_at, wait_told_at, blockers_open, blockers_look_at, setup_failure, setup_command, setup_failed_at, parent_ref`

func itemFields(i *work.Item) []any {
	return []any{
		&i.RepoID, &i.Number, &i.Flow,
		refOf(&i.Parent),
		&i.State,
		timeOf(&i.Since),
		reasonOf(&i.Reason),
		&i.Title, &i.Body,
		&i.Author.ID, &i.Author.Login, &i.Author.Bot, &i.URL, &i.Priority, &i.Label, &i.LabelEvent, &i.Branch, &i.Document,
		listOf(&i.TouchPaths),
		&i.DecisionSummary,
		&i.Fingerprint,
		&i.DesignPull, &i.DesignCommit, &i.Size,
		listOf(&i.DependsOn),
		&i.Edited,
		&i.IssueClosed,
		reasonOf(&i.Wait.Reason),
		timeOf(&i.Wait.Since),
		timeOf(&i.Wait.LookAt),
		timeOf(&i.Wait.ToldAt),
		&i.Blocked.Open,
		timeOf(&i.Blocked.LookAt),
		&i.Setup.Why, &i.Setup.Command,
		timeOf(&i.Setup.At),
		&i.SubIssueOf,
	}
}

func scanItem(row scanner) (i work.Item, err error) {
	return i, row.Scan(append([]any{&i.ID}, itemFields(&i)...)...)
}

const (
	selectItem = `SELECT id, ` + itemColumns + ` FROM work_items `

	// openItem is work.State.Open, exactly as in the index.
	openItem = `state NOT IN ('merged', 'completed', 'closed')`
)

// AddProposals adds follow-ups that an agent proposed to a work item. One whose number is stored stays
// as it is.
func (t *Tx) AddProposals(ctx context.Context, itemID int64, added []work.Proposal) error {
	for _, p := range added {
		err := t.write(ctx, fmt.Sprintf("add a follow-up to item %d", itemID),
			`INSERT INTO proposals (item_id, number, title, why) VALUES (?, ?, ?, ?) ON CONFLICT (item_id, number) DO NOTHING`, itemID, p.Number, t.clean(p.Title), t.clean(p.Why))
		if err != nil {
			return err
		}
	}
	return nil
}

// ListProposals returns the follow-ups that the agents of all work items of an issue proposed, by
// their numbers.
func (t *Tx) ListProposals(ctx context.Context, repoID int64, number int) ([]work.Proposal, error) {
	scan := func(row scanner) (p work.Proposal, err error) { return p, row.Scan(&p.Number, &p.Title, &p.Why) }
	return listRows(ctx, t, fmt.Sprintf("list the follow-ups of #%d", number), scan,
		`SELECT p.number, p.title, p.why FROM proposals p JOIN work_items i ON i.id = p.item_id WHERE i.repo_id = ? AND i.number = ? ORDER BY p.number`, repoID, number)
}

// AddItem adds a work item. A zero Since becomes the transaction's time.
func (t *Tx) AddItem(ctx context.Context, i work.Item) (int64, error) {
	if i.Since.IsZero() {
		i.Since = t.now
	}
	return t.insert(ctx, fmt.Sprintf("add item for #%d", i.Number), "work_items", itemColumns, itemFields(&i))
}

// GetItem returns a work item by its id.
func (t *Tx) GetItem(ctx context.Context, id int64) (work.Item, error) {
	return getRow(ctx, t, fmt.Sprintf("get item %d", id), scanItem, selectItem+`WHERE id = ?`, id)
}

// ListStatesOf returns the states of the given work items by id. It omits items of other
// repositories.
func (t *Tx) ListStatesOf(ctx context.Context, repoID int64, ids []int64) (map[int64]work.State, error) {
	states := map[int64]work.State{}
	_, err := listIn(ctx, t, "list states of items", func(row scanner) (id int64, err error) {
		var s work.State
		err = row.Scan(&id, &s)
		states[id] = s
		return id, err
	}, `SELECT id, state FROM work_items WHERE repo_id + 0 = ? AND id IN (%s)`, ids, repoID)
	return states, err
}

// FindItem returns the newest work item of an issue.
func (t *Tx) FindItem(ctx context.Context, repoID int64, number int) (work.Item, bool, error) {
	return findRow(ctx, t, fmt.Sprintf("find item of #%d", number), scanItem,
		selectItem+`WHERE repo_id = ? AND number = ? ORDER BY id DESC LIMIT 1`, repoID, number)
}

// GetNewest returns the newest item of an item's issue or pull request.
func (t *Tx) GetNewest(ctx context.Context, id int64) (work.Item, error) {
	return getRow(ctx, t, fmt.Sprintf("get the newest item beside item %d", id), scanItem,
		selectItem+`WHERE repo_id = (SELECT repo_id FROM work_items WHERE id = ?1) AND number = (SELECT number FROM work_items WHERE id = ?1) ORDER BY id DESC LIMIT 1`, id)
}

// ListItems returns every work item of a repository, oldest first.
func (t *Tx) ListItems(ctx context.Context, repoID int64) ([]work.Item, error) {
	return listRows(ctx, t, "list items", scanItem, selectItem+`WHERE repo_id = ? ORDER BY id`, repoID)
}

// ListOpenItems returns the open work items of a repository, oldest first.
func (t *Tx) ListOpenItems(ctx context.Context, repoID int64) ([]work.Item, error) {
	items, err := listRows(ctx, t, "list open items", scanItem, selectItem+`WHERE repo_id = ? AND `+openItem, repoID)
	sorted.By(items, func(a, b work.Item) int { return cmp.Compare(a.ID, b.ID) }) // sorted here, because SQLite would sort the whole rows
	return items, err
}

// ListEndedItems returns the work items that ended since a time, oldest first.
func (t *Tx) ListEndedItems(ctx context.Context, repoID int64, since time.Time) ([]work.Item, error) {
	return listRows(ctx, t, "list ended items", scanItem, selectItem+`WHERE repo_id = ? AND state_since >= ? AND NOT `+openItem+` ORDER BY id`, repoID, millis(since))
}

// SetIssue stores what ingest read of an item's issue: title, body, author, URL, label and its
// event, fingerprint, edits, whether it is closed, its parent issue and when its blockers are read. It stores the branch if none is stored. It
// does not overwrite the fields of a turn that ends between read and write (SetResult).
func (t *Tx) SetIssue(ctx context.Context, i work.Item) error {
	return t.execOne(ctx, fmt.Sprintf("update item %d", i.ID), ErrNotFound,
		`UPDATE work_items SET title = ?, body = ?, author_id = ?, author_login = ?, author_bot = ?, url = ?, label = ?, label_event = ?,
		 fingerprint = ?, edited = ?, issue_closed = ?, blockers_look_at = ?, parent_ref = ?, branch = CASE branch WHEN '' THEN ? ELSE branch END WHERE id = ?`,
		i.Title, i.Body, i.Author.ID, i.Author.Login, i.Author.Bot, i.URL, i.Label, i.LabelEvent,
		i.Fingerprint, i.Edited, i.IssueClosed, timeOf(&i.Blocked.LookAt), i.SubIssueOf, i.Branch, i.ID)
}

// SetResult stores what a turn leaves to the item's later turns: branch, document, touch paths,
// priority and decision summary. It keeps the fields that another pass may have
// read from the issue while the turn ran (SetIssue).
func (t *Tx) SetResult(ctx context.Context, i work.Item) error {
	return t.execOne(ctx, fmt.Sprintf("update item %d", i.ID), ErrNotFound,
		`UPDATE work_items SET branch = ?, document = ?, touch_paths = ?, priority = ?, decision_summary = ? WHERE id = ?`,
		i.Branch, i.Document, listOf(&i.TouchPaths), i.Priority, i.DecisionSummary, i.ID)
}

// SetDesign stores what the front matter of its design says of an implementation.
func (t *Tx) SetDesign(ctx context.Context, i work.Item) error {
	return t.execOne(ctx, fmt.Sprintf("update item %d", i.ID), ErrNotFound,
		`UPDATE work_items SET touch_paths = ?, depends_on = ?, priority = ?, size = ? WHERE id = ?`,
		listOf(&i.TouchPaths), listOf(&i.DependsOn), i.Priority, i.Size, i.ID)
}

// MoveItem moves an item from one of the given states (from any if none is given) to another, or
// fails with ErrStale. It adds the move to the history, with its text for people. A move to the
// current state changes the reason and keeps Since; with the same reason it writes nothing.
func (t *Tx) MoveItem(ctx context.Context, id int64, from []work.State, to work.State, why work.Reason, says string, at time.Time) error {
	what := fmt.Sprintf("move item %d to %q", id, to)
	why = why.Map(t.clean)
	i, err := t.GetItem(ctx, id)
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	if len(from) > 0 && !slices.Contains(from, i.State) {
		return fmt.Errorf("%s from %q, it is %q: %w", what, from, i.State, ErrStale)
	}
	if i.State == to && i.Reason.Equal(why) {
		return nil
	}
	stamp := t.stamp(at)
	since := stamp
	if i.State == to {
		since = millis(i.Since)
	}
	err = t.execOne(ctx, what, ErrStale,
		`UPDATE work_items SET state = ?, state_since = ?, reason = ? WHERE id = ? AND state = ?`,
		to, since, reasonOf(&why), id, i.State)
	if err == nil && i.SubIssueOf != "" {
		err = t.MarkTableAbove(ctx, id)
	}
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("%s → %s", i.State, to)
	if says != "" {
		detail += ": " + says
	}
	return t.AddHistory(ctx, work.History{RepoID: i.RepoID, ItemID: i.ID, Number: i.Number, At: fromMillis(stamp), What: historyState, Detail: detail})
}

// SetWait stores what an item waits for.
func (t *Tx) SetWait(ctx context.Context, id int64, w work.Wait) error {
	w.Reason = w.Reason.Map(t.clean)
	return t.execOne(ctx, fmt.Sprintf("store what item %d waits for", id), ErrNotFound,
		`UPDATE work_items SET wait = ?, wait_since = ?, wait_look_at = ?, wait_told_at = ? WHERE id = ?`,
		reasonOf(&w.Reason), timeOf(&w.Since), timeOf(&w.LookAt), timeOf(&w.ToldAt), id)
}

// SetSetupFailure stores why the repository's set-up failed for a turn of an item; zero: it did not.
func (t *Tx) SetSetupFailure(ctx context.Context, id int64, f work.SetupFailure) error {
	return t.execOne(ctx, fmt.Sprintf("store how the set-up for item %d ended", id), ErrNotFound,
		`UPDATE work_items SET setup_failure = ?, setup_command = ?, setup_failed_at = ? WHERE id = ?`, t.clean(f.Why), t.clean(f.Command), timeOf(&f.At), id)
}

// ListDueWaits returns the ids of a repository's items whose waits are due to be decided about.
func (t *Tx) ListDueWaits(ctx context.Context, repoID int64, now time.Time) ([]int64, error) {
	return listRows(ctx, t, "list due waits", scanID,
		`SELECT id FROM work_items WHERE repo_id = ? AND wait_look_at > 0 AND wait_look_at <= ? ORDER BY id`, repoID, millis(now))
}

// Dependency is an issue that a work item waits for.
type Dependency struct {
	ItemID int64
	Ref    string // host/owner/name#12; empty: issues that the account may not see
	State  work.DependencyState
	SeenAt time.Time
	Listed bool      // GitHub lists it as blocking; else the item's design names it
	Edge   bool      // it can be listed so: it is an issue on a host with dependencies; not stored
	EdgeAt time.Time // when the edge was set that makes GitHub list it; zero: it was not, or this was not read
}

// PutDependency stores the state of a dependency.
func (t *Tx) PutDependency(ctx context.Context, d Dependency) error {
	return t.write(ctx, fmt.Sprintf("put dependency %s", d.Ref),
		`INSERT INTO dependencies (item_id, ref, state, seen_at, listed) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (item_id, ref) DO UPDATE SET state = excluded.state, seen_at = excluded.seen_at, listed = excluded.listed`,
		d.ItemID, d.Ref, d.State, t.stamp(d.SeenAt), d.Listed)
}

// SetBlockers replaces what GitHub lists as blocking an item's issue.
func (t *Tx) SetBlockers(ctx context.Context, itemID int64, b work.Blocked, list []work.Blocker, now time.Time) error {
	what := fmt.Sprintf("set the blockers of item %d", itemID)
	if err := t.write(ctx, what, `DELETE FROM dependencies WHERE item_id = ? AND listed = 1`, itemID); err != nil {
		return err
	}
	for _, x := range list {
		if err := t.PutDependency(ctx, Dependency{ItemID: itemID, Ref: x.Ref, State: x.State, SeenAt: now, Listed: true}); err != nil {
			return err
		}
	}
	if err := t.execOne(ctx, what, ErrNotFound, `UPDATE work_items SET blockers_open = ?, blockers_look_at = ? WHERE id = ?`, b.Open, timeOf(&b.LookAt), itemID); err != nil {
		return err
	}
	return t.MarkTableAbove(ctx, itemID)
}

// LookAtBlockers makes the next pass read what blocks an item's issue.
func (t *Tx) LookAtBlockers(ctx context.Context, itemID int64, now time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("look at the blockers of item %d", itemID), ErrNotFound,
		`UPDATE work_items SET blockers_look_at = ? WHERE id = ?`, millis(now), itemID)
}

// WakeBlocked makes the next pass read what blocks the items of other repositories than that of an issue, which
// GitHub lists as blocking them.
func (t *Tx) WakeBlocked(ctx context.Context, repoID int64, ref string, now time.Time) error {
	return t.write(ctx, "wake what waits for "+ref, `UPDATE work_items SET blockers_look_at = ?
		WHERE repo_id <> ? AND `+openItem+` AND id IN (SELECT item_id FROM dependencies WHERE ref = ? AND listed = 1)`, millis(now), repoID, ref)
}

// ListBlocked returns the items of a repository whose blockers are to be read: those that are due, and those that one
// of the given issues blocks, by reference in lower case, that has another state than is stored. With a pull request, an item does not wait, and only a comment there says what
// blocks it.
func (t *Tx) ListBlocked(ctx context.Context, repoID int64, states map[string]work.DependencyState, now time.Time) ([]work.Item, error) {
	const blocked = `WHERE repo_id = ? AND (blockers_look_at > 0 OR EXISTS (SELECT 1 FROM dependencies d WHERE d.item_id = work_items.id AND d.listed = 1)) AND ` + openItem + `
		AND (NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.item_id = work_items.id) OR state = 'awaiting_feedback')`
	items, err := listRows(ctx, t, "list blocked items", scanItem, selectItem+blocked, repoID)
	var known map[int64][]Dependency
	if err == nil && len(items) > 0 && len(states) > 0 {
		known, err = t.listDependenciesOf(ctx, blocked, repoID)
	}
	changed := func(d Dependency) bool {
		state, read := states[strings.ToLower(d.Ref)]
		return d.Listed && read && state != d.State
	}
	return slices.DeleteFunc(items, func(i work.Item) bool {
		due := !i.Blocked.LookAt.IsZero() && !i.Blocked.LookAt.After(now)
		return !due && !slices.ContainsFunc(known[i.ID], changed)
	}), err
}

// listDependenciesOf returns the dependencies of the items that a condition selects, by item.
func (t *Tx) listDependenciesOf(ctx context.Context, where string, args ...any) (map[int64][]Dependency, error) {
	of := map[int64][]Dependency{}
	all, err := listRows(ctx, t, "list dependencies", scanDependency,
		`SELECT item_id, ref, state, seen_at, listed FROM dependencies WHERE item_id IN (SELECT id FROM work_items `+where+`) ORDER BY item_id, ref`, args...)
	for _, d := range all {
		of[d.ItemID] = append(of[d.ItemID], d)
	}
	return of, err
}

// ListDependencies returns an item's dependencies with their stored states.
func (t *Tx) ListDependencies(ctx context.Context, itemID int64) ([]Dependency, error) {
	return listRows(ctx, t, "list dependencies", scanDependency,
		`SELECT item_id, ref, state, seen_at, listed FROM dependencies WHERE item_id = ? ORDER BY ref`, itemID)
}

func scanDependency(row scanner) (d Dependency, err error) {
	return d, row.Scan(&d.ItemID, &d.Ref, &d.State, timeOf(&d.SeenAt), &d.Listed)
}

// ListDependenciesOf returns the dependencies of several items, by item.
func (t *Tx) ListDependenciesOf(ctx context.Context, items []int64) (map[int64][]Dependency, error) {
	found, err := listIn(ctx, t, "list dependencies of items", scanDependency,
		`SELECT item_id, ref, state, seen_at, listed FROM dependencies WHERE item_id IN (%s) ORDER BY ref`, items)
	all := map[int64][]Dependency{}
	for _, d := range found {
		all[d.ItemID] = append(all[d.ItemID], d)
	}
	return all, err
}

// LeaveToGitHub removes a dependency from what an item's design names, because an edge of its issue
// stands for it now: the next read of its blockers decides.
func (t *Tx) LeaveToGitHub(ctx context.Context, d Dependency, now time.Time) error {
	what := fmt.Sprintf("leave dependency %s to GitHub", d.Ref)
	item, err := t.GetItem(ctx, d.ItemID)
	if err != nil {
		return err
	}
	left := slices.DeleteFunc(item.DependsOn, func(ref string) bool { return strings.EqualFold(ref, d.Ref) })
	if err := t.write(ctx, what, `DELETE FROM dependencies WHERE item_id = ? AND ref = ? AND listed = 0`, d.ItemID, d.Ref); err != nil {
		return err
	}
	return t.execOne(ctx, what, ErrNotFound, `UPDATE work_items SET depends_on = ?, blockers_look_at = ? WHERE id = ?`, listOf(&left), millis(now), d.ItemID)
}

// edgesOf returns when edges of the issues that a condition selects were set, by item and by what blocks it.
func (t *Tx) edgesOf(ctx context.Context, where string, args ...any) (map[int64]map[string]time.Time, error) {
	of := map[int64]map[string]time.Time{}
	_, err := listRows(ctx, t, "list edges", func(row scanner) (id int64, err error) {
		var ref string
		var at time.Time
		err = row.Scan(&id, &ref, timeOf(&at))
		if of[id] == nil {
			of[id] = map[string]time.Time{}
		}
		of[id][strings.ToLower(ref)] = at
		return id, err
	}, `SELECT item_id, target, seen_at FROM actions WHERE kind = 'block' AND state = 'applied' AND base = '' AND item_id IN (SELECT id FROM work_items `+where+`)`, args...)
	return of, err
}

// ListOpenDependencies returns the dependencies that the designs of a repository's ready items name,
// without those known to be closed.
func (t *Tx) ListOpenDependencies(ctx context.Context, repoID int64) ([]Dependency, error) {
	const ready = `WHERE repo_id = ? AND ` + openItem + ` AND state = 'ready' AND depends_on <> '[]'`
	items, err := listRows(ctx, t, "list ready items", scanItem, selectItem+ready, repoID)
	if err != nil || len(items) == 0 {
		return nil, err
	}
	known, err := t.listDependenciesOf(ctx, ready, repoID)
	if err != nil {
		return nil, err
	}
	edges, err := t.edgesOf(ctx, ready, repoID)
	if err != nil {
		return nil, err
	}
	var waiting []Dependency
	for _, i := range items {
		seen := known[i.ID]
		for _, ref := range i.DependsOn {
			d := Dependency{ItemID: i.ID, Ref: ref}
			if at := slices.IndexFunc(seen, func(d Dependency) bool { return strings.EqualFold(d.Ref, ref) }); at >= 0 {
				d = seen[at]
			}
			if d.State != work.DependencyClosed {
				d.EdgeAt = edges[i.ID][strings.ToLower(ref)]
				waiting = append(waiting, d)
			}
		}
	}
	return waiting, nil
}

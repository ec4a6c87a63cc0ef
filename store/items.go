package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const itemColumns = `repo_id, number, flow, parent_id, state, state_since, reason, title, body,
	author_id, author_login, author_bot, url, priority, label, label_event, branch, document, touch_paths,
	decision_summary, fingerprint, design_pull, design_commit, size, depends_on, edited,
	issue_closed`

func itemFields(i *work.Item) []any {
	return []any{
		&i.RepoID, &i.Number, &i.Flow,
		rows.RefOf(&i.Parent),
		&i.State,
		rows.TimeOf(&i.Since),
		rows.ReasonOf(&i.Reason),
		&i.Title, &i.Body,
		&i.Author.ID, &i.Author.Login, &i.Author.Bot, &i.URL, &i.Priority, &i.Label, &i.LabelEvent, &i.Branch, &i.Document,
		rows.ListOf(&i.TouchPaths),
		&i.DecisionSummary,
		&i.Fingerprint,
		&i.DesignPull, &i.DesignCommit, &i.Size,
		rows.ListOf(&i.DependsOn),
		&i.Edited,
		&i.IssueClosed,
	}
}

func scanItem(row rows.Row) (i work.Item, err error) {
	return i, row.Scan(append([]any{&i.ID}, itemFields(&i)...)...)
}

const (
	selectItem = `SELECT id, ` + itemColumns + ` FROM work_items `

	// openItem is work.State.Open, word for word as the index has it.
	openItem = `state NOT IN ('merged', 'completed', 'closed')`
)

// AddItem adds a work item. A Since that is zero becomes the transaction's.
func (t itemRows) AddItem(ctx context.Context, i work.Item) (int64, error) {
	if i.Since.IsZero() {
		i.Since = t.tx.Now
	}
	return t.tx.Insert(ctx, fmt.Sprintf("add item for #%d", i.Number), "work_items", itemColumns, itemFields(&i))
}

// GetItem gives a work item by its id.
func (t itemRows) GetItem(ctx context.Context, id int64) (work.Item, error) {
	return rows.Get(ctx, t.tx, fmt.Sprintf("get item %d", id), scanItem, selectItem+`WHERE id = ?`, id)
}

// ListStatesOf gives the states of those of some work items that are a repository's, by id.
func (t itemRows) ListStatesOf(ctx context.Context, repoID int64, ids []int64) (map[int64]work.State, error) {
	states := map[int64]work.State{}
	_, err := rows.List(ctx, t.tx, "list states of items", func(row rows.Row) (id int64, err error) {
		var s work.State
		err = row.Scan(&id, &s)
		states[id] = s
		return id, err
	}, `SELECT id, state FROM work_items NOT INDEXED WHERE repo_id = ? AND id IN (SELECT value FROM json_each(?))`, repoID, rows.IDsOf(ids))
	return states, err
}

// FindItem gives the newest work item of an issue.
func (t itemRows) FindItem(ctx context.Context, repoID int64, number int) (work.Item, bool, error) {
	return rows.Find(ctx, t.tx, fmt.Sprintf("find item of #%d", number), scanItem,
		selectItem+`WHERE repo_id = ? AND number = ? ORDER BY id DESC LIMIT 1`, repoID, number)
}

// ListItems gives every work item of a repository, oldest first.
func (t itemRows) ListItems(ctx context.Context, repoID int64) ([]work.Item, error) {
	return rows.List(ctx, t.tx, "list items", scanItem, selectItem+`WHERE repo_id = ? ORDER BY id`, repoID)
}

// ListOpenItems gives the work items that may still ask for work, oldest first.
func (t itemRows) ListOpenItems(ctx context.Context, repoID int64) ([]work.Item, error) {
	return rows.List(ctx, t.tx, "list open items", scanItem, selectItem+`WHERE repo_id = ? AND `+openItem+` ORDER BY id`, repoID)
}

// ListEndedItems gives the work items that ended since a time, oldest first.
func (t itemRows) ListEndedItems(ctx context.Context, repoID int64, since time.Time) ([]work.Item, error) {
	return rows.List(ctx, t.tx, "list ended items", scanItem, selectItem+`WHERE repo_id = ? AND state_since >= ? AND NOT `+openItem+` ORDER BY id`, repoID, rows.Millis(since))
}

// SetIssue stores what ingest read of an item's issue: title, body, author, URL,
// label and its event, fingerprint, what was edited and whether it is closed; and its branch, where
// none is known. A turn that ends in between keeps what it left (SetResult).
func (t itemRows) SetIssue(ctx context.Context, i work.Item) error {
	return t.tx.One(ctx, fmt.Sprintf("update item %d", i.ID), ErrNotFound,
		`UPDATE work_items SET title = ?, body = ?, author_id = ?, author_login = ?, author_bot = ?, url = ?, label = ?, label_event = ?,
		 fingerprint = ?, edited = ?, issue_closed = ?, branch = CASE branch WHEN '' THEN ? ELSE branch END WHERE id = ?`,
		i.Title, i.Body, i.Author.ID, i.Author.Login, i.Author.Bot, i.URL, i.Label, i.LabelEvent,
		i.Fingerprint, i.Edited, i.IssueClosed, i.Branch, i.ID)
}

// SetResult stores what a turn leaves to the item's later turns: branch,
// document, touch paths, priority and decision summary. What another pass read
// of the issue in between stays (SetIssue).
func (t itemRows) SetResult(ctx context.Context, i work.Item) error {
	return t.tx.One(ctx, fmt.Sprintf("update item %d", i.ID), ErrNotFound,
		`UPDATE work_items SET branch = ?, document = ?, touch_paths = ?, priority = ?, decision_summary = ? WHERE id = ?`,
		i.Branch, i.Document, rows.ListOf(&i.TouchPaths), i.Priority, i.DecisionSummary, i.ID)
}

// MoveItem moves an item to a state from one of the given states (from any,
// when none is given), or fails with ErrStale. The move is written to the
// history, with what it says to people. A move to the state in which the item is
// changes its reason and keeps its Since; with the same reason it writes nothing.
func (t itemRows) MoveItem(ctx context.Context, id int64, from []work.State, to work.State, why work.Reason, says string, at time.Time) error {
	what := fmt.Sprintf("move item %d to %q", id, to)
	why = why.Map(t.tx.Clean)
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
	stamp := t.tx.Stamp(at)
	since := stamp
	if i.State == to {
		since = rows.Millis(i.Since)
	}
	err = t.tx.One(ctx, what, ErrStale,
		`UPDATE work_items SET state = ?, state_since = ?, reason = ? WHERE id = ? AND state = ?`,
		to, since, rows.ReasonOf(&why), id, i.State)
	if err != nil {
		return err
	}
	detail := fmt.Sprintf("%s → %s", i.State, to)
	if says != "" {
		detail += ": " + says
	}
	return t.AddHistory(ctx, work.History{RepoID: i.RepoID, ItemID: i.ID, Number: i.Number, At: rows.FromMillis(stamp), What: HistoryState, Detail: detail})
}

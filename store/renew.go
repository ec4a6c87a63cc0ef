package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Most actions are what they were planned as. Some say what is to be so: which
// labels an issue has, what a comment that is kept up to date says. Such a row is
// renewed when that changes, and only the newest is sent. Whoever is sending
// it finds out by CheckRenewal.

// RenewAction plans an action, or replaces what a known one is to bring about. With
// the content that it has already it is left alone, however far it came; with the
// content that was last seen to be so it is applied without being sent. What was
// seen and then taken away by a person stays void.
func (t actionRows) RenewAction(ctx context.Context, a work.Action) error {
	what := fmt.Sprintf("renew %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, a)
	if err != nil || added {
		return err
	}
	same := known.Target == a.Target && known.Base == a.Base && known.Body == a.Body && known.Extra == a.Extra
	switch {
	case known.State == work.ActionVoid && known.ResultID != "":
		return nil
	case same && (known.State == work.ActionApplied || !known.State.Settled()):
		return nil
	}
	if unclear := known.Made > 0 && known.ResultID == ""; unclear && known.NotBefore.After(a.NotBefore) {
		a.NotBefore = known.NotBefore // what it may have made is looked for before another is made
	}
	const asSeen = `(state <> 'sent' AND seen_content <> '' AND seen_content = ?)`
	content := seenContent(a)
	return t.tx.One(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, target = ?, base = ?, body = ?, extra = ?, why = ?, not_before = ?, last_error = '', sends = 0, dropped = 0,
		 renewals = renewals + 1, settled_at = CASE WHEN `+asSeen+` THEN ? ELSE 0 END,
		 state = CASE WHEN `+asSeen+` THEN 'applied' ELSE 'planned' END
		 WHERE id = ? AND renewals = ?`,
		rows.RefOf(&a.ItemID), a.Need, a.Target, a.Base, a.Body, a.Extra, a.Why, rows.TimeOf(&a.NotBefore), content, rows.Millis(t.tx.Now), content, known.ID, known.Renewals)
}

// knownAction gives the row of an action's token, or adds one.
func (t actionRows) knownAction(ctx context.Context, what string, a work.Action) (known work.Action, added bool, err error) {
	known, ok, err := t.GetAction(ctx, a.Token)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", what, err)
	case !ok:
		known, err = t.insertAction(ctx, what, a)
	}
	return known, !ok, err
}

// seenContent is what is remembered of an action that was seen to be so: of
// labels, which.
func seenContent(a work.Action) string {
	if a.Kind != work.ActionLabels {
		return ""
	}
	return a.Target + "\n" + a.Base
}

// CheckRenewal is ErrStale when an action has been renewed since it was read.
func (t actionRows) CheckRenewal(ctx context.Context, a work.Action) error {
	what := fmt.Sprintf("check action %d", a.ID)
	n, err := rows.Get(ctx, t.tx, what, rows.ScanID, `SELECT renewals FROM actions WHERE id = ?`, a.ID)
	if err == nil && int(n) != a.Renewals {
		err = fmt.Errorf("%s: %w", what, ErrStale)
	}
	return err
}

// RepeatAction plans an action, or a known one again, with what it is to bring
// about now: people may have undone what it brought about before, and somebody
// asks for it again. Of the row there is one, so that the newest wish counts.
func (t actionRows) RepeatAction(ctx context.Context, a work.Action) error {
	what := fmt.Sprintf("repeat %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, a)
	if err != nil || added {
		return err
	}
	return t.tx.One(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, state = ?, target = ?, base = ?, head = ?, body = ?, extra = ?, why = ?, not_before = 0, last_error = '',
		 sends = 0, seen_content = '', renewals = renewals + 1, settled_at = 0, planned_at = ? WHERE id = ? AND renewals = ?`,
		rows.RefOf(&a.ItemID), a.Need, work.ActionPlanned, a.Target, a.Base, a.Head, a.Body, a.Extra, a.Why, t.tx.Stamp(a.PlannedAt), known.ID, known.Renewals)
}

// ShowLater has an action that was given up tried again. until says when, after it was
// given up so many times; zero: never.
func (t actionRows) ShowLater(ctx context.Context, id int64, until func(dropped int) time.Time) error {
	what := fmt.Sprintf("show action %d later", id)
	n, err := rows.Get(ctx, t.tx, what, rows.ScanCount, `SELECT dropped + 1 FROM actions WHERE id = ?`, id)
	if err != nil {
		return err
	}
	return t.tx.One(ctx, what, ErrStale,
		`UPDATE actions SET dropped = ?, not_before = ? WHERE id = ? AND state = 'dropped'`, n, rows.Millis(until(n)), id)
}

// ListUnshown gives the ids of a repository's actions that were given up, and whose
// time has come again.
func (t actionRows) ListUnshown(ctx context.Context, repoID int64, now time.Time) ([]int64, error) {
	return rows.List(ctx, t.tx, "list what was not shown", rows.ScanID,
		`SELECT id FROM actions WHERE repo_id = ? AND state = 'dropped' AND not_before > 0 AND not_before <= ?`, repoID, rows.Millis(now))
}

// ShowAgain plans an action again that was given up.
func (t actionRows) ShowAgain(ctx context.Context, id int64) error {
	return t.tx.One(ctx, fmt.Sprintf("show action %d again", id), ErrStale,
		`UPDATE actions SET state = 'planned', sends = 0, settled_at = 0, not_before = 0, renewals = renewals + 1 WHERE id = ? AND state = 'dropped'`, id)
}

// PlanMerging plans an action that merges, and gives the row that stands for it. A known
// one that was never sent becomes what this one is, when it is due stays; so does, as one
// that was never sent, one that was void or given up: whoever settled it saw that nothing
// came of it. What may be on GitHub, or is, stays as it is.
func (t actionRows) PlanMerging(ctx context.Context, a work.Action) (work.Action, error) {
	what := fmt.Sprintf("plan %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, a)
	if err != nil || added || known.State == work.ActionApplied || known.State == work.ActionSent {
		return known, err
	}
	same := known.Target == a.Target && known.Title == a.Title && known.Body == a.Body && known.Base == a.Base && known.Head == a.Head && known.Extra == a.Extra
	if same && known.State == work.ActionPlanned {
		return known, nil
	}
	err = t.tx.One(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, target = ?, title = ?, body = ?, base = ?, head = ?, extra = ?, why = ?,
		 not_before = CASE state WHEN 'planned' THEN not_before ELSE 0 END, last_error = CASE state WHEN 'planned' THEN last_error ELSE '' END,
		 state = 'planned', sends = 0, dropped = 0, settled_at = 0, renewals = renewals + 1 WHERE id = ? AND state NOT IN ('sent', 'applied')`,
		rows.RefOf(&a.ItemID), a.Need, a.Target, a.Title, a.Body, a.Base, a.Head, a.Extra, a.Why, known.ID)
	if err != nil {
		return work.Action{}, err
	}
	return rows.Get(ctx, t.tx, what, scanAction, selectAction+`WHERE id = ?`, known.ID)
}

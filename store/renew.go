package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Most actions keep the content they were planned with. Some hold a wanted state: the
// labels of an issue, the text of a comment that is kept up to date. Such a row is renewed
// when that state changes, and only the newest content is sent. CheckRenewal tells the
// sender that the row was renewed after the sender read it.

// RenewAction plans an action, or replaces the content of its row. A planned, sent or
// applied row with the same content stays as it is. A row whose new content is what was
// last seen on GitHub becomes applied without being sent. An action that was seen and
// then undone by a person stays void.
func (t *Tx) RenewAction(ctx context.Context, a work.Action) error {
	what := fmt.Sprintf("renew %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, &a)
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
		a.NotBefore = known.NotBefore // an earlier comment is looked for before another is created
	}
	const asSeen = `(state <> 'sent' AND seen_content <> '' AND seen_content = ?)`
	content := seenContent(a)
	return t.execOne(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, target = ?, base = ?, body = ?, extra = ?, why = ?, not_before = ?, last_error = '', ending = '', sends = 0, dropped = 0,
		 renewals = renewals + 1, settled_at = CASE WHEN `+asSeen+` THEN ? ELSE 0 END,
		 state = CASE WHEN `+asSeen+` THEN 'applied' ELSE 'planned' END
		 WHERE id = ? AND renewals = ?`,
		refOf(&a.ItemID), a.Need, a.Target, a.Base, a.Body, a.Extra, a.Why, timeOf(&a.NotBefore), content, millis(t.now), content, known.ID, known.Renewals)
}

// RedoAction plans an applied action again, because GitHub shows something else since it was seen
// there. An action that is not applied is unchanged.
func (t *Tx) RedoAction(ctx context.Context, id int64) error {
	return t.write(ctx, fmt.Sprintf("redo action %d", id),
		`UPDATE actions SET state = 'planned', sends = 0, dropped = 0, not_before = 0, settled_at = 0, seen_content = '', renewals = renewals + 1 WHERE id = ? AND state = 'applied'`, id)
}

// knownAction returns the row of an action's token, or plans one. It makes the action's texts what is
// stored of them, so that they compare with the row's.
func (t *Tx) knownAction(ctx context.Context, what string, a *work.Action) (known work.Action, added bool, err error) {
	makeStorable(actionFields(a))
	known, ok, err := t.GetAction(ctx, a.Token)
	switch {
	case err != nil:
		err = fmt.Errorf("%s: %w", what, err)
	case !ok:
		err = t.PlanAction(ctx, *a)
	}
	return known, !ok, err
}

// seenContent is the content of an action to remember once it was seen on GitHub. Only labels have
// one.
func seenContent(a work.Action) string {
	if a.Kind != work.ActionLabels {
		return ""
	}
	return a.Target + contentSeparator + a.Base
}

const contentSeparator = "\n"

// CheckRenewal fails with ErrStale if an action was renewed since it was read. It writes what is there: that needs no
// answer of its own.
func (t *Tx) CheckRenewal(ctx context.Context, a work.Action) error {
	return t.execOne(ctx, fmt.Sprintf("check action %d", a.ID), ErrStale, `UPDATE actions SET renewals = renewals WHERE id = ? AND renewals = ?`, a.ID, a.Renewals)
}

// RepeatAction plans an action, or plans its row again with new content, because a person asks
// again for an effect that may have been undone. There is one row, so the newest request counts.
func (t *Tx) RepeatAction(ctx context.Context, a work.Action) error {
	what := fmt.Sprintf("repeat %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, &a)
	if err != nil || added {
		return err
	}
	return t.execOne(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, state = ?, target = ?, base = ?, head = ?, body = ?, extra = ?, why = ?, not_before = 0, last_error = '', ending = '',
		 sends = 0, seen_content = '', renewals = renewals + 1, settled_at = 0, planned_at = ? WHERE id = ? AND renewals = ?`,
		refOf(&a.ItemID), a.Need, work.ActionPlanned, a.Target, a.Base, a.Head, a.Body, a.Extra, a.Why, t.stamp(a.PlannedAt), known.ID, known.Renewals)
}

// DeferDropped sets when a dropped action is tried again. until returns that time for how
// often the action was dropped; zero means never.
func (t *Tx) DeferDropped(ctx context.Context, id int64, until func(dropped int) time.Time) error {
	what := fmt.Sprintf("defer dropped action %d", id)
	n, err := getRow(ctx, t, what, scanCount, `SELECT dropped + 1 FROM actions WHERE id = ?`, id)
	if err != nil {
		return err
	}
	return t.execOne(ctx, what, ErrStale,
		`UPDATE actions SET dropped = ?, not_before = ? WHERE id = ? AND state = 'dropped'`, n, millis(until(n)), id)
}

// ListDroppedDue returns the ids of a repository's dropped actions that are due again.
func (t *Tx) ListDroppedDue(ctx context.Context, repoID int64, now time.Time) ([]int64, error) {
	return listRows(ctx, t, "list dropped actions that are due", scanID,
		`SELECT id FROM actions WHERE repo_id = ? AND state = 'dropped' AND not_before > 0 AND not_before <= ?`, repoID, millis(now))
}

// ReplanDropped plans a dropped action again.
func (t *Tx) ReplanDropped(ctx context.Context, id int64) error {
	return t.execOne(ctx, fmt.Sprintf("plan action %d again", id), ErrStale,
		`UPDATE actions SET state = 'planned', sends = 0, settled_at = 0, not_before = 0, renewals = renewals + 1 WHERE id = ? AND state = 'dropped'`, id)
}

// PlanMerging inserts or updates a merging action and returns its row. Planned, void and
// dropped rows take the new content; planned ones keep not_before. Sent and applied rows
// are returned unchanged: they may be on GitHub.
func (t *Tx) PlanMerging(ctx context.Context, a work.Action) (work.Action, error) {
	what := fmt.Sprintf("plan %s action %s", a.Kind, a.Token)
	known, added, err := t.knownAction(ctx, what, &a)
	if err == nil && added {
		known, _, err = t.GetAction(ctx, a.Token)
	}
	if err != nil || added || known.State == work.ActionApplied || known.State == work.ActionSent {
		return known, err
	}
	same := known.Target == a.Target && known.Title == a.Title && known.Body == a.Body && known.Base == a.Base && known.Head == a.Head && known.Extra == a.Extra
	if same && known.State == work.ActionPlanned {
		return known, nil
	}
	err = t.execOne(ctx, what, ErrStale,
		`UPDATE actions SET item_id = ?, need = ?, target = ?, title = ?, body = ?, base = ?, head = ?, extra = ?, why = ?,
		 not_before = CASE state WHEN 'planned' THEN not_before ELSE 0 END, last_error = CASE state WHEN 'planned' THEN last_error ELSE '' END, ending = '',
		 state = 'planned', sends = 0, dropped = 0, settled_at = 0, renewals = renewals + 1 WHERE id = ? AND state NOT IN ('sent', 'applied')`,
		refOf(&a.ItemID), a.Need, a.Target, a.Title, a.Body, a.Base, a.Head, a.Extra, a.Why, known.ID)
	if err != nil {
		return work.Action{}, err
	}
	return getRow(ctx, t, what, scanAction, selectAction+`WHERE id = ?`, known.ID)
}

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const actionColumns = `repo_id, turn_id, item_id, position, kind, need, token, state, number, target, on_kind, title, body, base,
	head, why, sends, result_id, result_url, planned_at, sent_at, seen_at, not_before, last_error, ending, renewals, made, extra`

func actionFields(a *work.Action) []any {
	return []any{
		&a.RepoID,
		refOf(&a.TurnID),
		refOf(&a.ItemID),
		&a.Position, &a.Kind, &a.Need, &a.Token, &a.State, &a.Number, &a.Target,
		&a.On, &a.Title, &a.Body, &a.Base, &a.Head, &a.Why, &a.Sends, &a.ResultID, &a.ResultURL,
		timeOf(&a.PlannedAt),
		timeOf(&a.SentAt),
		timeOf(&a.SeenAt),
		timeOf(&a.NotBefore),
		&a.LastError, &a.Ending, &a.Renewals, &a.Made, &a.Extra,
	}
}

func scanAction(row scanner) (a work.Action, err error) {
	return a, row.Scan(append([]any{&a.ID}, actionFields(&a)...)...)
}

const (
	selectAction = `SELECT id, ` + actionColumns + ` FROM actions `

	// unsettled is !work.ActionState.Settled, exactly as in the index.
	unsettled = `state IN ('planned', 'sent')`

	// ofMerging is work.ActionKind.Merging, exactly as in the index.
	ofMerging = `kind IN ('merge', 'enqueue', 'dequeue', 'update_branch')`
)

// ListStates returns the states of the known actions among tokens, by token.
func (t *Tx) ListStates(ctx context.Context, tokens []string) (map[string]work.ActionState, error) {
	states := map[string]work.ActionState{}
	_, err := listIn(ctx, t, "list the states of actions", func(row scanner) (none struct{}, err error) {
		var token string
		var state work.ActionState
		err = row.Scan(&token, &state)
		states[token] = state
		return none, err
	}, `SELECT token, state FROM actions WHERE token IN (%s)`, tokens)
	return states, err
}

// AddAction is PlanAction, and returns the row.
func (t *Tx) AddAction(ctx context.Context, a work.Action) (work.Action, error) {
	if err := t.PlanAction(ctx, a); err != nil {
		return work.Action{}, err
	}
	a, _, err := t.GetAction(ctx, a.Token)
	return a, err
}

// PlanAction plans an action. Actions are identified by their token. A known
// action that was never sent and never seen on GitHub takes the new turn, item, position and
// content, as does one that became void with an earlier turn. Any other known action is unchanged:
// what was sent, or may have been, is not planned again.
func (t *Tx) PlanAction(ctx context.Context, a work.Action) error {
	if a.State == "" {
		a.State = work.ActionPlanned
	}
	if a.PlannedAt.IsZero() {
		a.PlannedAt = t.now
	}
	var settled int64
	if a.State.Settled() {
		settled = millis(t.now)
	}
	fields := append(actionFields(&a), settled)
	return t.write(ctx, fmt.Sprintf("plan %s action %s", a.Kind, a.Token),
		`INSERT INTO actions (`+actionColumns+`, settled_at) VALUES (`+placeholders(len(fields))+`)
		 ON CONFLICT (token) DO UPDATE SET turn_id = excluded.turn_id, item_id = excluded.item_id, position = excluded.position, need = excluded.need,
		 state = 'planned', number = excluded.number, target = excluded.target, on_kind = excluded.on_kind, title = excluded.title, body = excluded.body,
		 base = excluded.base, head = excluded.head, extra = excluded.extra, why = excluded.why, not_before = excluded.not_before,
		 last_error = '', ending = '', settled_at = 0
		 WHERE actions.sends = 0 AND actions.state IN ('planned', 'void')`, fields...)
}

// SetActionBody stores the text of an answer to a command once it is known what its actions came to.
func (t *Tx) SetActionBody(ctx context.Context, id int64, body string) error {
	return t.execOne(ctx, fmt.Sprintf("set the text of action %d", id), ErrNotFound, `UPDATE actions SET body = ? WHERE id = ?`, t.clean(body), id)
}

// GetAction returns an action by its token.
func (t *Tx) GetAction(ctx context.Context, token string) (work.Action, bool, error) {
	return findRow(ctx, t, "get action "+token, scanAction, selectAction+`WHERE token = ?`, token)
}

// ListTurnActions returns a turn's actions in the order of their effects.
func (t *Tx) ListTurnActions(ctx context.Context, turnID int64) ([]work.Action, error) {
	return listRows(ctx, t, fmt.Sprintf("list actions of turn %d", turnID), scanAction,
		selectAction+`WHERE turn_id = ? ORDER BY position, id`, turnID)
}

// ListItemActions returns every action of a work item, oldest first.
func (t *Tx) ListItemActions(ctx context.Context, itemID int64) ([]work.Action, error) {
	return listRows(ctx, t, fmt.Sprintf("list actions of item %d", itemID), scanAction, selectAction+`WHERE item_id = ? ORDER BY id`, itemID)
}

// ChooseNotices returns a repository's unsettled actions that belong to no turn, oldest first, due or
// not, without those that merge; of them those for which wanted is true, or all if it is nil. It drops the
// others while it reads, because there may be thousands.
func (t *Tx) ChooseNotices(ctx context.Context, repoID int64, wanted func(work.Action) bool) ([]work.Action, error) {
	return t.listWithoutTurn(ctx, "notices", repoID, `NOT `+ofMerging, wanted)
}

// ListMergingActions returns a repository's unsettled actions that merge, oldest first.
func (t *Tx) ListMergingActions(ctx context.Context, repoID int64) ([]work.Action, error) {
	return t.listWithoutTurn(ctx, "merging actions", repoID, ofMerging, nil)
}

// updated selects updates of branches since a time whose heads have not moved.
const updated = `WHERE sent_at > ? AND sent_at > 0 AND repo_id = ? AND kind = 'update_branch' AND state = 'applied' AND EXISTS (
	SELECT 1 FROM pull_requests p WHERE p.repo_id = actions.repo_id AND p.number = actions.number AND p.state = 'open' AND p.head_oid = actions.result_id)`

// ListUpdates returns the updates of branches since a time, oldest first. It returns only those of
// open pull requests that still have the updated head.
func (t *Tx) ListUpdates(ctx context.Context, repoID int64, since time.Time) ([]work.Action, error) {
	return listRows(ctx, t, fmt.Sprintf("list updates of branches of repository %d", repoID), scanAction, selectAction+updated+` ORDER BY sent_at, id`, t.stamp(since), repoID)
}

func (t *Tx) listWithoutTurn(ctx context.Context, what string, repoID int64, which string, wanted func(work.Action) bool) (all []work.Action, err error) {
	_, err = listRows(ctx, t, fmt.Sprintf("list %s of repository %d", what, repoID), func(row scanner) (none struct{}, err error) {
		a, err := scanAction(row)
		if err == nil && (wanted == nil || wanted(a)) {
			all = append(all, a)
		}
		return none, err
	}, selectAction+`WHERE repo_id = ? AND turn_id IS NULL AND `+unsettled+` AND `+which+` ORDER BY planned_at, id`, repoID)
	return all, err
}

// Pace limits how many writes of content are sent in a time.
type Pace struct {
	Since time.Time
	Most  int
}

// MarkSent records the intent to send an action now. Commit before sending the request. It fails with ErrStale if
// the action is settled, or one of the paces is used up.
func (t *Tx) MarkSent(ctx context.Context, id int64, at time.Time, paces ...Pace) error {
	return t.markSent(ctx, fmt.Sprintf("mark action %d as sent", id), paces,
		`UPDATE actions SET state = 'sent', sends = sends + 1, sent_at = ?, seen_content = '', made = made + CASE kind WHEN 'sticky' THEN 1 ELSE 0 END WHERE id = ? AND `+unsettled, t.stamp(at), id)
}

// MarkEdited is MarkSent for a send that creates nothing new.
func (t *Tx) MarkEdited(ctx context.Context, id int64, paces ...Pace) error {
	return t.markSent(ctx, fmt.Sprintf("mark action %d as edited", id), paces, `UPDATE actions SET state = 'sent', sends = sends + 1 WHERE id = ? AND `+unsettled, id)
}

func (t *Tx) markSent(ctx context.Context, what string, paces []Pace, query string, args ...any) error {
	for _, p := range paces {
		query += ` AND (SELECT COUNT(*) ` + sentSince + `) < ?`
		args = append(append(args, millis(p.Since)), append(anys(contentKinds), p.Most)...)
	}
	return t.execOne(ctx, what, ErrStale, query, args...)
}

// contentKinds are the kinds of actions whose sends GitHub limits.
var contentKinds = []work.ActionKind{
	work.ActionComment, work.ActionReply, work.ActionPullRequest, work.ActionIssue, work.ActionSticky, work.ActionReview, work.ActionChild,
	work.ActionEditIssue, work.ActionEditPull,
}

// sentSince selects the sends of content since a time. The index has the condition sent_at > 0, so SQLite uses it only if
// the query has it too. If the condition came first, SQLite would search the index by it.
const sentSince = `FROM actions WHERE sent_at >= ? AND sent_at > 0 AND kind IN (?, ?, ?, ?, ?, ?, ?, ?, ?)`

// MarkUnsent records that no send of the action was carried out or still can be. Its count of sends
// is reset; the time of the last send is kept. It fails with ErrStale if the action is settled.
func (t *Tx) MarkUnsent(ctx context.Context, id int64) error {
	return t.execOne(ctx, fmt.Sprintf("mark action %d as unsent", id), ErrStale,
		`UPDATE actions SET state = ?, sends = 0, not_before = 0 WHERE id = ? AND `+unsettled, work.ActionPlanned, id)
}

// MarkApplied records that an action was seen on GitHub. It fails with ErrStale if the action is
// settled.
func (t *Tx) MarkApplied(ctx context.Context, id int64, resultID, url string, at time.Time) error {
	stamp := t.stamp(at)
	return t.execOne(ctx, fmt.Sprintf("mark action %d as applied", id), ErrStale,
		`UPDATE actions SET state = ?, result_id = ?, result_url = ?, seen_at = ?, settled_at = ?, not_before = 0, last_error = '',
		 seen_content = CASE kind WHEN 'labels' THEN target || ? || base ELSE '' END
		 WHERE id = ? AND `+unsettled, work.ActionApplied, resultID, url, stamp, stamp, contentSeparator, id)
}

// MarkVoid records that an action is not sent any more.
func (t *Tx) MarkVoid(ctx context.Context, id int64, how work.Ending, why string, at time.Time) error {
	return t.settleAction(ctx, id, work.ActionVoid, how, why, at)
}

// VoidUnsent makes a planned action void. It fails with ErrStale if it was sent, or is settled.
func (t *Tx) VoidUnsent(ctx context.Context, id int64, why string, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("void unsent action %d", id), ErrStale,
		`UPDATE actions SET state = ?, last_error = ?, settled_at = ?, not_before = 0 WHERE id = ? AND state = 'planned' AND sends = 0`,
		work.ActionVoid, t.clean(why), t.stamp(at), id)
}

// MarkDropped records that a cosmetic action was given up.
func (t *Tx) MarkDropped(ctx context.Context, id int64, why string, at time.Time) error {
	return t.settleAction(ctx, id, work.ActionDropped, "", why, at)
}

func (t *Tx) settleAction(ctx context.Context, id int64, to work.ActionState, how work.Ending, why string, at time.Time) error {
	return t.execOne(ctx, fmt.Sprintf("mark action %d as %s", id, to), ErrStale,
		`UPDATE actions SET state = ?, ending = ?, last_error = ?, settled_at = ?, not_before = 0 WHERE id = ? AND `+unsettled, to, how, t.clean(why), t.stamp(at), id)
}

// DeferAction does not try an unsettled action before until.
func (t *Tx) DeferAction(ctx context.Context, id int64, until time.Time, lastErr string) error {
	return t.execOne(ctx, fmt.Sprintf("defer action %d", id), ErrStale,
		`UPDATE actions SET not_before = ?, last_error = ? WHERE id = ? AND `+unsettled, millis(until), t.clean(lastErr), id)
}

// RefuseAction defers an unsettled action that GitHub refused and stores the kind of wait in Extra,
// so that later passes tell it as this one did.
func (t *Tx) RefuseAction(ctx context.Context, id int64, until time.Time, why work.Reason) error {
	return t.execOne(ctx, fmt.Sprintf("defer the refused action %d", id), ErrStale,
		`UPDATE actions SET not_before = ?, last_error = ?, extra = ? WHERE id = ? AND `+unsettled, millis(until), t.clean(why.Text), why.Kind, id)
}

// HastenAction makes a planned action due now. A sent or settled action is unchanged: a sent one
// must be looked for first.
func (t *Tx) HastenAction(ctx context.Context, id int64) error {
	return t.write(ctx, fmt.Sprintf("hasten action %d", id),
		`UPDATE actions SET not_before = 0, last_error = '' WHERE id = ? AND state = ?`, id, work.ActionPlanned)
}

// VoidTurnActions makes the unsettled actions of a turn void.
func (t *Tx) VoidTurnActions(ctx context.Context, turnID int64, why string, at time.Time) error {
	return t.write(ctx, fmt.Sprintf("void actions of turn %d", turnID),
		`UPDATE actions SET state = ?, last_error = ?, settled_at = ?, not_before = 0 WHERE turn_id = ? AND `+unsettled,
		work.ActionVoid, t.clean(why), t.stamp(at), turnID)
}

// CountSends counts the writes of content (comments, replies, reviews, pull requests, issues, their edits) since
// a time, over all repositories. GitHub limits these.
func (t *Tx) CountSends(ctx context.Context, since time.Time) (int, error) {
	n, _, err := findRow(ctx, t, "count sends", scanCount, `SELECT COUNT(*) `+sentSince, append([]any{millis(since)}, anys(contentKinds)...)...)
	return n, err
}

// Names are what an action belongs to.
type Names struct {
	Item  int64 // 0: it belongs to none
	Flow  work.Flow
	Issue int    // of the item
	Pull  int    // the item's newest pull request; 0: none yet
	Turn  string // the turn's key; empty for a notice
}

// NamesOf returns the names of an action.
func (t *Tx) NamesOf(ctx context.Context, a work.Action) (Names, error) {
	scan := func(row scanner) (n Names, err error) {
		return n, row.Scan(&n.Item, &n.Flow, &n.Issue, &n.Pull, &n.Turn)
	}
	n, _, err := findRow(ctx, t, "names of action "+a.Token, scan, `
		SELECT i.id, i.flow, i.number, (SELECT coalesce(max(number), 0) FROM pull_requests WHERE item_id = i.id), coalesce((SELECT turn_key FROM turns WHERE id = ?1), '')
		FROM work_items i WHERE i.id = coalesce((SELECT item_id FROM turns WHERE id = ?1), ?2)`, a.TurnID, a.ItemID)
	return n, err
}

package store

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/sorted"
)

const turnColumns = `repo_id, item_id, number, kind, turn_key, step, slot, reason, blocked, branch, base, head, agent, request,
	attempts, runs, answer, commit_oid, session, input_tokens, output_tokens, cost_usd, unknown_tokens, unknown_cost, event_keys, not_before, wait_reason,
	last_error, claimed_at, updated_at, ended_at, sandbox, reviewer, tested, instead_of, machine, epoch`

func turnFields(u *work.Turn) []any {
	return []any{
		&u.RepoID, &u.ItemID, &u.Number, &u.Kind, &u.Key, &u.Step, &u.Slot, &u.Reason, &u.Blocked, &u.Branch, &u.Base, &u.Head,
		&u.Agent, &u.Request, &u.Attempts, &u.Runs, &u.Answer, &u.Commit, &u.Session,
		&u.Used.InputTokens, &u.Used.OutputTokens, &u.Used.CostUSD, &u.Used.UnknownTokens, &u.Used.UnknownCost,
		listOf(&u.EventKeys),
		timeOf(&u.NotBefore),
		reasonOf(&u.WaitReason),
		&u.LastError,
		timeOf(&u.ClaimedAt),
		timeOf(&u.UpdatedAt),
		timeOf(&u.EndedAt),
		&u.Sandbox, &u.Reviewer, &u.Tested, &u.InsteadOf, &u.Machine, &u.Epoch,
	}
}

func scanTurn(row scanner) (u work.Turn, err error) {
	return u, row.Scan(append([]any{&u.ID}, turnFields(&u)...)...)
}

const (
	selectTurn = `SELECT id, ` + turnColumns + ` FROM turns `

	// unfinished is !work.Step.Ended, exactly as in the indexes.
	unfinished = `step NOT IN ('done', 'superseded', 'failed', 'cancelled')`
)

// AddTurn adds a turn of this machine. It fails with ErrStale if its work item, issue or pull request has an
// unfinished turn, or if the key exists.
func (t *Tx) AddTurn(ctx context.Context, u work.Turn) (int64, error) {
	for _, at := range []*time.Time{&u.ClaimedAt, &u.UpdatedAt} {
		if at.IsZero() {
			*at = t.now
		}
	}
	u.Epoch = cmp.Or(u.Epoch, NewEpoch())
	u.Machine = t.machine
	what := "add turn " + u.Key
	_, taken, err := findRow(ctx, t, what, scanID,
		`SELECT id FROM turns WHERE item_id = ? AND `+unfinished+` UNION ALL SELECT id FROM turns WHERE repo_id = ? AND number = ? AND `+unfinished+` LIMIT 1`,
		u.ItemID, u.RepoID, u.Number)
	if err == nil && taken && !u.Step.Ended() {
		err = fmt.Errorf("%s: %w", what, ErrStale)
	}
	if err != nil {
		return 0, err
	}
	id, err := t.insertNew(ctx, what, "turns", turnColumns, turnFields(&u), "turn_key")
	if err != nil {
		return id, err
	}
	err = t.write(ctx, what, `UPDATE repositories SET machine = ?, served_at = ? WHERE id = ?`, t.machine, millis(t.now), u.RepoID)
	return id, err
}

// CountUnfinished returns how many unfinished turns that nothing blocks each machine has claimed.
func (t *Tx) CountUnfinished(ctx context.Context) (map[string]int, error) {
	all := map[string]int{}
	scan := func(row scanner) (machine string, err error) {
		var n int
		err = row.Scan(&machine, &n)
		all[machine] = n
		return machine, err
	}
	_, err := listRows(ctx, t, "count unfinished turns", scan, `SELECT machine, count(*) FROM turns WHERE `+unfinished+` AND blocked = 0 GROUP BY machine`)
	return all, err
}

// GetTurn returns a turn by its id.
func (t *Tx) GetTurn(ctx context.Context, id int64) (work.Turn, error) {
	return getRow(ctx, t, fmt.Sprintf("get turn %d", id), scanTurn, selectTurn+`WHERE id = ?`, id)
}

// FindTurn returns a turn by its key.
func (t *Tx) FindTurn(ctx context.Context, key string) (work.Turn, bool, error) {
	return findRow(ctx, t, "find turn "+key, scanTurn, selectTurn+`WHERE turn_key = ?`, key)
}

// FindTurnOf returns the turn that a commit's trailer names by the beginning of its key.
func (t *Tx) FindTurnOf(ctx context.Context, trailer string) (work.Turn, bool, error) {
	return findRow(ctx, t, "find turn "+trailer, scanTurn, selectTurn+`WHERE turn_key >= ? AND turn_key < ? ORDER BY turn_key LIMIT 1`, trailer, trailer+"g")
}

// ListUnfinishedTurns returns the unfinished turns of all repositories, including blocked ones,
// oldest first.
func (t *Tx) ListUnfinishedTurns(ctx context.Context) ([]work.Turn, error) {
	// With ORDER BY id, SQLite would read the whole table instead of the index.
	turns, err := listRows(ctx, t, "list unfinished turns", scanTurn, selectTurn+`WHERE `+unfinished)
	sorted.By(turns, func(a, b work.Turn) int { return cmp.Compare(a.ID, b.ID) })
	return turns, err
}

// ListTurns returns every turn of a work item, oldest first.
func (t *Tx) ListTurns(ctx context.Context, itemID int64) ([]work.Turn, error) {
	return listRows(ctx, t, fmt.Sprintf("list turns of item %d", itemID), scanTurn, selectTurn+`WHERE item_id = ? ORDER BY id`, itemID)
}

// HasTurnCommit reports whether a turn stored this commit, so that it is ours.
func (t *Tx) HasTurnCommit(ctx context.Context, repoID int64, oid string) (bool, error) {
	_, ok, err := findRow(ctx, t, "look for commit "+oid, scanID,
		`SELECT id FROM turns WHERE repo_id = ? AND commit_oid = ? AND commit_oid <> '' LIMIT 1`, repoID, oid)
	return ok, err
}

// AdvanceTurn moves a turn from one step to a later one that does not end it, or fails with
// ErrStale.
func (t *Tx) AdvanceTurn(ctx context.Context, id int64, from, to work.Step, at time.Time) error {
	what := fmt.Sprintf("advance turn %d from %q to %q", id, from, to)
	if to.Ended() || !from.MayMoveTo(to) {
		return fmt.Errorf("%s: no such way; a turn is ended by EndTurn", what)
	}
	err := t.execOne(ctx, what, ErrStale, `UPDATE turns SET step = ?, updated_at = ? WHERE id = ? AND step = ?`, to, t.stamp(at), id, from)
	if err != nil {
		return err
	}
	return t.dropBundle(ctx, id, from)
}

// SaveTurn stores a live turn's slot, blocked, branch, base, head, agent, instead of whom, sandbox,
// request, runs, answer, commit, tested, session, usage and event keys. Step, attempts and waiting have their own methods.
// This machine holds the turn from then on. It fails with ErrStale if the turn has ended.
func (t *Tx) SaveTurn(ctx context.Context, u work.Turn) error {
	return t.execOne(ctx, fmt.Sprintf("save turn %d", u.ID), ErrStale,
		`UPDATE turns SET slot = ?, blocked = ?, branch = ?, base = ?, head = ?, agent = ?, request = ?, runs = ?, answer = ?,
		 commit_oid = ?, session = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, unknown_tokens = ?, unknown_cost = ?,
		 event_keys = ?, sandbox = ?, tested = ?, instead_of = ?, machine = ?, updated_at = ?
		 WHERE id = ? AND `+unfinished,
		u.Slot, u.Blocked, u.Branch, u.Base, u.Head, u.Agent, u.Request, u.Runs, u.Answer,
		u.Commit, u.Session, u.Used.InputTokens, u.Used.OutputTokens, u.Used.CostUSD, u.Used.UnknownTokens, u.Used.UnknownCost,
		listOf(&u.EventKeys), u.Sandbox, u.Tested, u.InsteadOf, t.machine, millis(t.now), u.ID)
}

// DeferTurn does not try a live turn before until. attemptUsed counts a failed attempt; waiting is
// none.
func (t *Tx) DeferTurn(ctx context.Context, id int64, until time.Time, why work.Reason, attemptUsed bool, lastErr string) error {
	why = why.Map(t.clean)
	return t.execOne(ctx, fmt.Sprintf("defer turn %d", id), ErrStale,
		`UPDATE turns SET not_before = ?, wait_reason = ?, attempts = attempts + ?, last_error = ?, updated_at = ? WHERE id = ? AND `+unfinished,
		millis(until), reasonOf(&why), attemptUsed, t.clean(lastErr), millis(t.now), id)
}

// BlockTurn parks a live turn until a person acts. It keeps its step.
func (t *Tx) BlockTurn(ctx context.Context, id int64, why work.Reason) error {
	why = why.Map(t.clean)
	return t.execOne(ctx, fmt.Sprintf("block turn %d", id), ErrStale,
		`UPDATE turns SET blocked = 1, not_before = 0, wait_reason = ?, updated_at = ? WHERE id = ? AND `+unfinished,
		reasonOf(&why), millis(t.now), id)
}

// ResumeTurn unblocks a live turn at its step, and resets its attempts. The pass that had the turn has lost
// it.
func (t *Tx) ResumeTurn(ctx context.Context, id int64) error {
	return t.execOne(ctx, fmt.Sprintf("resume turn %d", id), ErrStale,
		`UPDATE turns SET epoch = ?, blocked = 0, not_before = 0, wait_reason = '', attempts = 0, updated_at = ? WHERE id = ? AND `+unfinished,
		NewEpoch(), millis(t.now), id)
}

// EndTurn moves a turn from a step to one that ends it, or fails with ErrStale. The pass that had the turn
// has lost it.
func (t *Tx) EndTurn(ctx context.Context, id int64, from, to work.Step, lastErr string, at time.Time) error {
	what := fmt.Sprintf("end turn %d from %q as %q", id, from, to)
	if !to.Ended() || !from.MayMoveTo(to) {
		return fmt.Errorf("%s: no such end", what)
	}
	stamp := t.stamp(at)
	err := t.execOne(ctx, what, ErrStale,
		`UPDATE turns SET step = ?, epoch = ?, blocked = 0, not_before = 0, wait_reason = '', last_error = ?, updated_at = ?, ended_at = ? WHERE id = ? AND step = ?`,
		to, NewEpoch(), t.clean(lastErr), stamp, stamp, id, from)
	if err != nil {
		return err
	}
	return t.dropBundle(ctx, id, from)
}

// ListTurnKeys returns the keys of all turns of a repository that the database has.
func (t *Tx) ListTurnKeys(ctx context.Context, repoID int64) ([]string, error) {
	return listRows(ctx, t, "list the keys of turns", scanString, `SELECT turn_key FROM turns WHERE repo_id = ? ORDER BY turn_key`, repoID)
}

package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const runColumns = `turn_id, attempt, agent, session, began_at, ended_at, input_tokens, output_tokens, cost_usd, tokens_known, cost_known, tells, machine`

func runFields(r *work.Run) []any {
	return []any{
		&r.Turn, &r.Attempt, &r.Agent, &r.Session,
		timeOf(&r.Began),
		timeOf(&r.Ended),
		&r.Usage.InputTokens, &r.Usage.OutputTokens, &r.Usage.CostUSD, &r.Known.Tokens, &r.Known.Cost, &r.Tells, &r.Machine,
	}
}

func scanRun(row scanner) (r work.Run, err error) {
	return r, row.Scan(append([]any{&r.ID}, runFields(&r)...)...)
}

// AddRun adds a run of an agent on this machine without changing its turn.
func (t *Tx) AddRun(ctx context.Context, r work.Run) (int64, error) {
	r.Machine = t.machine
	return t.insert(ctx, fmt.Sprintf("add a run of turn %d", r.Turn), "runs", runColumns, runFields(&r))
}

// BeginRun adds a run that is about to start, and counts it in its turn. It fails with ErrStale if
// the turn has ended.
func (t *Tx) BeginRun(ctx context.Context, r work.Run) (int64, error) {
	err := t.execOne(ctx, fmt.Sprintf("begin a run of turn %d", r.Turn), ErrStale,
		`UPDATE turns SET runs = runs + 1, attempts = attempts + ?, updated_at = ? WHERE id = ? AND `+unfinished, r.Attempt, millis(t.now), r.Turn)
	if err != nil {
		return 0, err
	}
	return t.AddRun(ctx, r)
}

// NoteRun stores a running run's usage so far, and its session.
func (t *Tx) NoteRun(ctx context.Context, id int64, session string, u work.Usage, k work.Known) error {
	return t.write(ctx, fmt.Sprintf("note run %d", id),
		`UPDATE runs SET session = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, tokens_known = ?, cost_known = ? WHERE id = ? AND ended_at = 0`,
		session, u.InputTokens, u.OutputTokens, u.CostUSD, k.Tokens, k.Cost, id)
}

// EndRun stores a run's end and usage. It fails with ErrStale if the run has ended.
func (t *Tx) EndRun(ctx context.Context, r work.Run) error {
	return t.execOne(ctx, fmt.Sprintf("end run %d", r.ID), ErrStale,
		`UPDATE runs SET session = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, tokens_known = ?, cost_known = ?, tells = ?, ended_at = ? WHERE id = ? AND ended_at = 0`,
		r.Session, r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CostUSD, r.Known.Tokens, r.Known.Cost, r.Tells, t.stamp(r.Ended), r.ID)
}

// ListUsageKnown returns what was known of the usage of an agent's last five runs that tell, newest first. Runs
// before since are not looked at.
func (t *Tx) ListUsageKnown(ctx context.Context, agent string, since time.Time) ([]work.Known, error) {
	return listRows(ctx, t, fmt.Sprintf("list the last runs of agent %q", agent), func(row scanner) (k work.Known, err error) { return k, row.Scan(&k.Tokens, &k.Cost) },
		`SELECT tokens_known, cost_known FROM runs WHERE began_at > ? AND agent = ? AND tells = 1 ORDER BY began_at DESC LIMIT 5`, millis(since), agent)
}

// ListOpenRuns returns the runs of all repositories without a stored end, oldest first. Their pass
// is alive, or was killed during the run.
func (t *Tx) ListOpenRuns(ctx context.Context) ([]work.Run, error) {
	return listRows(ctx, t, "list open runs", scanRun, `SELECT id, `+runColumns+` FROM runs WHERE ended_at = 0 ORDER BY turn_id, id`)
}

// RefundAttempt takes back a counted attempt of a live turn, because it gave an answer or was not paid
// for.
func (t *Tx) RefundAttempt(ctx context.Context, turnID int64) error {
	return t.execOne(ctx, fmt.Sprintf("return an attempt of turn %d", turnID), ErrStale,
		`UPDATE turns SET attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END, updated_at = ? WHERE id = ? AND `+unfinished, millis(t.now), turnID)
}

// RefundTurn excludes a run from the turns that budgets count, because it used nothing.
func (t *Tx) RefundTurn(ctx context.Context, runID int64) error {
	return t.write(ctx, fmt.Sprintf("return run %d", runID), `UPDATE runs SET attempt = 0 WHERE id = ?`, runID)
}

// AddTurnUsage adds to a turn's usage, even if the turn has ended: the usage of a run that died
// with its pass is read later.
func (t *Tx) AddTurnUsage(ctx context.Context, turnID int64, u work.Usage, k work.Known) error {
	sum := work.UsageSum{}.Add(u, k)
	return t.write(ctx, fmt.Sprintf("add to the usage of turn %d", turnID),
		`UPDATE turns SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost_usd = cost_usd + ?,
		 unknown_tokens = unknown_tokens + ?, unknown_cost = unknown_cost + ? WHERE id = ?`,
		sum.InputTokens, sum.OutputTokens, sum.CostUSD, sum.UnknownTokens, sum.UnknownCost, turnID)
}

func scanSpent(row scanner) (s work.Spent, err error) {
	return s, row.Scan(&s.Turn, &s.Run, &s.Kind, &s.Reviewer, &s.Step, &s.Head, &s.Commit, &s.CostUSD, &s.Attempts, &s.UnknownCost, timeOf(&s.At))
}

// ListSpent returns what an item's turns used of its budgets since the budgets were last renewed,
// oldest first. It includes turns whose agent has not run yet, and of the turn that was renewed the runs since.
func (t *Tx) ListSpent(ctx context.Context, itemID int64) ([]work.Spent, error) {
	return listRows(ctx, t, fmt.Sprintf("list what item %d spent", itemID), scanSpent,
		`SELECT turns.id, 0, kind, reviewer, step, head, commit_oid, coalesce(sum(r.cost_usd), 0.0), coalesce(sum(r.attempt), 0), coalesce(sum(1 - r.cost_known), 0), claimed_at
		 FROM turns JOIN work_items i ON i.id = turns.item_id LEFT JOIN runs r ON r.turn_id = turns.id AND r.id > i.allowance_run
		 WHERE turns.item_id = ? AND turns.id >= i.allowance_from
		 GROUP BY turns.id HAVING sum(r.attempt) > 0 OR sum(r.cost_usd) > 0 OR sum(1 - r.cost_known) > 0 OR `+unfinished+` ORDER BY turns.id`, itemID)
}

// ListSpentSince returns the runs of all repositories that began after a time, and the turns
// claimed since then whose agent has not run yet, oldest first.
func (t *Tx) ListSpentSince(ctx context.Context, since time.Time) ([]work.Spent, error) {
	return listRows(ctx, t, "list what was spent lately", scanSpent,
		`SELECT turns.id, r.id, kind, reviewer, step, head, commit_oid, r.cost_usd, r.attempt, 1 - r.cost_known, r.began_at AS at
		 FROM runs r JOIN turns ON turns.id = r.turn_id WHERE r.began_at > ?1
		 UNION ALL
		 SELECT turns.id, 0, kind, reviewer, step, head, commit_oid, 0.0, 0, 0, claimed_at AS at
		 FROM turns WHERE claimed_at > ?1 AND `+unfinished+` AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.turn_id = turns.id AND r.attempt > 0)
		 ORDER BY at`, millis(since))
}

// RenewAllowance lets an item's budgets count from its newest turn and run, because a person wants
// it to resume.
func (t *Tx) RenewAllowance(ctx context.Context, itemID int64) error {
	return t.execOne(ctx, fmt.Sprintf("renew the allowance of item %d", itemID), ErrNotFound,
		`UPDATE work_items SET allowance_from = (SELECT coalesce(max(u.id), 0) FROM turns u WHERE u.item_id = work_items.id),
		 allowance_run = (SELECT coalesce(max(r.id), 0) FROM turns u JOIN runs r ON r.turn_id = u.id WHERE u.item_id = work_items.id) WHERE id = ?`, itemID)
}

// LastTurn returns the id of the newest turn of any of these kinds in a repository; 0: none.
func (t *Tx) LastTurn(ctx context.Context, repoID int64, kinds ...work.Kind) (int64, error) {
	newest, args := make([]string, len(kinds)), []any{repoID}
	for i, kind := range kinds { // by kind, because only so the index has the last one at its end
		args = append(args, kind)
		newest[i] = fmt.Sprintf(`SELECT (SELECT id FROM turns WHERE repo_id = ?1 AND kind = ?%d ORDER BY id DESC LIMIT 1) AS id`, len(args))
	}
	id, _, err := findRow(ctx, t, fmt.Sprintf("find the newest turn of %v", kinds), scanID,
		`SELECT coalesce(max(id), 0) FROM (`+strings.Join(newest, " UNION ALL ")+`) newest`, args...)
	return id, err
}

// ListTurnEvents returns the events that a turn has, or had when it ended.
func (t *Tx) ListTurnEvents(ctx context.Context, turnID int64) ([]work.Event, error) {
	return listRows(ctx, t, fmt.Sprintf("list events of turn %d", turnID), scanEvents(), selectEvent+`WHERE turn_id = ? ORDER BY created_at, id`, turnID)
}

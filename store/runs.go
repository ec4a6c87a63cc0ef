package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

const runColumns = `turn_id, attempt, agent, session, began_at, ended_at, input_tokens, output_tokens, cost_usd, unknown`

func runFields(r *work.Run) []any {
	return []any{
		&r.Turn, &r.Attempt, &r.Agent, &r.Session,
		rows.TimeOf(&r.Began),
		rows.TimeOf(&r.Ended),
		&r.Usage.InputTokens, &r.Usage.OutputTokens, &r.Usage.CostUSD, &r.Unknown,
	}
}

func scanRun(row rows.Row) (r work.Run, err error) {
	return r, row.Scan(append([]any{&r.ID}, runFields(&r)...)...)
}

// AddRun adds a run of an agent, and leaves its turn as it is.
func (t turnRows) AddRun(ctx context.Context, r work.Run) (int64, error) {
	return t.tx.Insert(ctx, fmt.Sprintf("add a run of turn %d", r.Turn), "runs", runColumns, runFields(&r))
}

// BeginRun adds a run that is about to start, and counts it at its turn. A turn
// that has ended is ErrStale.
func (t turnRows) BeginRun(ctx context.Context, r work.Run) (int64, error) {
	err := t.tx.One(ctx, fmt.Sprintf("begin a run of turn %d", r.Turn), ErrStale,
		`UPDATE turns SET runs = runs + 1, attempts = attempts + ?, updated_at = ? WHERE id = ? AND `+unfinished, r.Attempt, rows.Millis(t.tx.Now), r.Turn)
	if err != nil {
		return 0, err
	}
	return t.AddRun(ctx, r)
}

// NoteRun stores what a run has used so far, and in which session, while it runs.
func (t turnRows) NoteRun(ctx context.Context, id int64, session string, u work.Usage) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("note run %d", id),
		`UPDATE runs SET session = ?, input_tokens = ?, output_tokens = ?, cost_usd = ? WHERE id = ? AND ended_at = 0`,
		session, u.InputTokens, u.OutputTokens, u.CostUSD, id)
	return err
}

// EndRun stores how a run ended that had not: when, and what it used.
func (t turnRows) EndRun(ctx context.Context, r work.Run) error {
	return t.tx.One(ctx, fmt.Sprintf("end run %d", r.ID), ErrStale,
		`UPDATE runs SET session = ?, input_tokens = ?, output_tokens = ?, cost_usd = ?, unknown = ?, ended_at = ? WHERE id = ? AND ended_at = 0`,
		r.Session, r.Usage.InputTokens, r.Usage.OutputTokens, r.Usage.CostUSD, r.Unknown, t.tx.Stamp(r.Ended), r.ID)
}

// ListOpenRuns gives the runs whose end nobody saw, of all repositories, oldest
// first: those of living passes, and those that ended with theirs.
func (t turnRows) ListOpenRuns(ctx context.Context) ([]work.Run, error) {
	return rows.List(ctx, t.tx, "list open runs", scanRun, `SELECT id, `+runColumns+` FROM runs WHERE ended_at = 0 ORDER BY turn_id, id`)
}

// GiveBackAttempt takes an attempt of a live turn off its count: it came to an
// answer, or nothing came of it through nobody's fault.
func (t turnRows) GiveBackAttempt(ctx context.Context, turnID int64) error {
	return t.tx.One(ctx, fmt.Sprintf("return an attempt of turn %d", turnID), ErrStale,
		`UPDATE turns SET attempts = max(attempts - 1, 0), updated_at = ? WHERE id = ? AND `+unfinished, rows.Millis(t.tx.Now), turnID)
}

// GiveBackTurn has the budgets count a run as no turn: nothing was used.
func (t turnRows) GiveBackTurn(ctx context.Context, runID int64) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("return run %d", runID), `UPDATE runs SET attempt = 0 WHERE id = ?`, runID)
	return err
}

// AddTurnUsage adds to what a turn used, also to one that has ended: what a run
// that died with its pass used is read later.
func (t turnRows) AddTurnUsage(ctx context.Context, turnID int64, u work.Usage) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("add to the usage of turn %d", turnID),
		`UPDATE turns SET input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost_usd = cost_usd + ? WHERE id = ?`,
		u.InputTokens, u.OutputTokens, u.CostUSD, turnID)
	return err
}

package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// SessionKey identifies a session: the author and each reviewer have one for each agent.
type SessionKey struct {
	ItemID int64
	Agent  string
	Role   string // from work.Turn.Role
}

// SessionOf returns the key of a turn's session.
func SessionOf(u work.Turn) SessionKey { return SessionKey{u.ItemID, u.Agent, u.Role()} }

// PutSession stores an agent's session for a work item, and the slot whose checkout the session
// knows. Its provider knows it only on the machine that ran it last.
func (t *Tx) PutSession(ctx context.Context, of SessionKey, session string, slot int, at time.Time) error {
	return t.write(ctx, fmt.Sprintf("put session of item %d", of.ItemID),
		`INSERT INTO agent_sessions (item_id, agent, role, session, slot, updated_at, machine) VALUES (?, ?, ?, ?, ?, ?, coalesce((
			SELECT r.machine FROM turns u JOIN runs r ON r.turn_id = u.id WHERE u.item_id = ? AND r.agent = ? AND r.session = ? ORDER BY r.id DESC LIMIT 1), ?))
		 ON CONFLICT (item_id, agent, role) DO UPDATE SET session = excluded.session, slot = excluded.slot, updated_at = excluded.updated_at, machine = excluded.machine`,
		of.ItemID, of.Agent, of.Role, session, slot, t.stamp(at), of.ItemID, of.Agent, session, t.machine)
}

// GetSession returns a session of this machine and its slot. One of another machine cannot be
// continued here: its provider keeps it there.
func (t *Tx) GetSession(ctx context.Context, of SessionKey) (session string, slot int, ok bool, err error) {
	scan := func(row scanner) (string, error) { return session, row.Scan(&session, &slot) }
	_, ok, err = findRow(ctx, t, fmt.Sprintf("get session of item %d", of.ItemID), scan,
		`SELECT session, slot FROM agent_sessions WHERE item_id = ? AND agent = ? AND role = ? AND machine = ?`, of.ItemID, of.Agent, of.Role, t.machine)
	return session, slot, ok, err
}

// DropSessions deletes every session of a work item.
func (t *Tx) DropSessions(ctx context.Context, itemID int64) error {
	return t.write(ctx, fmt.Sprintf("drop sessions of item %d", itemID), `DELETE FROM agent_sessions WHERE item_id = ?`, itemID)
}

// DropOtherSessions deletes the sessions that other agents, or other machines, have in the same
// role: they do not know what this one did since.
func (t *Tx) DropOtherSessions(ctx context.Context, of SessionKey) error {
	return t.write(ctx, fmt.Sprintf("drop other agents' sessions of item %d", of.ItemID),
		`DELETE FROM agent_sessions WHERE item_id = ? AND role = ? AND (agent <> ? OR machine <> ?)`, of.ItemID, of.Role, of.Agent, t.machine)
}

// DropSession deletes a session.
func (t *Tx) DropSession(ctx context.Context, of SessionKey) error {
	return t.write(ctx, fmt.Sprintf("drop session of item %d", of.ItemID),
		`DELETE FROM agent_sessions WHERE item_id = ? AND agent = ? AND role = ?`, of.ItemID, of.Agent, of.Role)
}

// PutSessionUsage stores, with a run, a provider's usage counts of its session since the session's
// beginning.
func (t *Tx) PutSessionUsage(ctx context.Context, runID int64, u work.Usage) error {
	return t.execOne(ctx, fmt.Sprintf("put the usage of the session of run %d", runID), ErrNotFound,
		`UPDATE runs SET counted_input_tokens = ?, counted_output_tokens = ?, counted_cost_usd = ? WHERE id = ?`,
		u.InputTokens, u.OutputTokens, u.CostUSD, runID)
}

// GetSessionUsage returns the usage counts of a session when it was last used; zero for a new one.
func (t *Tx) GetSessionUsage(ctx context.Context, itemID int64, agent, session string) (work.Usage, error) {
	u, _, err := findRow(ctx, t, fmt.Sprintf("get the usage of a session of item %d", itemID), scanUsage,
		`SELECT counted_input_tokens, counted_output_tokens, counted_cost_usd FROM turns u JOIN runs r ON r.turn_id = u.id
		 WHERE u.item_id = ? AND r.agent = ? AND r.session = ? AND (counted_input_tokens > 0 OR counted_output_tokens > 0 OR counted_cost_usd > 0.0)
		 ORDER BY r.id DESC LIMIT 1`, itemID, agent, session)
	return u, err
}

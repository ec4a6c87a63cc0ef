package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// NoteOutage stores that a run of an agent ended at a time and waits for its provider. The beginning of
// the outage is stored once.
func (t *Tx) NoteOutage(ctx context.Context, agent string, until, at time.Time) error {
	return t.write(ctx, "note that the provider of "+agent+" is out",
		`INSERT INTO outages (agent, machine, since, tried_at, until, why, passes, setup) VALUES (?, '', ?, ?, ?, '', 0, '')
		 ON CONFLICT (agent, machine) DO UPDATE SET since = CASE WHEN outages.tried_at < ? THEN excluded.since ELSE outages.since END,
		 tried_at = excluded.tried_at, until = excluded.until`,
		agent, millis(at), millis(at), millis(until), millis(at.Add(-work.OutageForgotten)))
}

// EndOutage stores that the provider of an agent answers.
func (t *Tx) EndOutage(ctx context.Context, agent string) error {
	return t.write(ctx, "note that the provider of "+agent+" answers", `DELETE FROM outages WHERE agent = ? AND machine = ''`, agent)
}

// PutAgentStop stores why no turn of an agent can run on this machine.
func (t *Tx) PutAgentStop(ctx context.Context, o work.Outage) error {
	o.Why = o.Why.Map(t.clean)
	return t.write(ctx, "note that "+o.Agent+" cannot work",
		`INSERT INTO outages (agent, machine, since, tried_at, until, why, passes, setup) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		 ON CONFLICT (agent, machine) DO UPDATE SET since = excluded.since, tried_at = excluded.tried_at, until = excluded.until,
		 why = excluded.why, passes = excluded.passes, setup = excluded.setup`,
		o.Agent, t.machine, millis(o.Since), millis(o.Tried), millis(o.Until), reasonOf(&o.Why), o.Passes, o.Setup)
}

// EndAgentStop stores that turns of an agent run on this machine.
func (t *Tx) EndAgentStop(ctx context.Context, agent string) error {
	return t.write(ctx, "note that "+agent+" works", `DELETE FROM outages WHERE agent = ? AND machine = ? AND why <> ''`, agent, t.machine)
}

// ListOutages returns the agents whose provider was out, or which could not work, when they ran last.
func (t *Tx) ListOutages(ctx context.Context) ([]work.Outage, error) {
	return listRows(ctx, t, "list the agents that wait", scanOutage, selectOutage+`ORDER BY agent, machine`)
}

// FindOutage returns the outage of an agent's provider.
func (t *Tx) FindOutage(ctx context.Context, agent string) (work.Outage, bool, error) {
	return findRow(ctx, t, "find the outage of "+agent, scanOutage, selectOutage+`WHERE agent = ? AND machine = ''`, agent)
}

// FindAgentStop returns why an agent could not work on this machine when it ran last.
func (t *Tx) FindAgentStop(ctx context.Context, agent string) (work.Outage, bool, error) {
	return findRow(ctx, t, "find why "+agent+" cannot work", scanOutage, selectOutage+`WHERE agent = ? AND machine = ? AND why <> ''`, agent, t.machine)
}

const selectOutage = `SELECT agent, machine, since, tried_at, until, why, passes, setup FROM outages `

func scanOutage(row scanner) (o work.Outage, err error) {
	return o, row.Scan(&o.Agent, &o.Machine, timeOf(&o.Since), timeOf(&o.Tried), timeOf(&o.Until), reasonOf(&o.Why), &o.Passes, &o.Setup)
}

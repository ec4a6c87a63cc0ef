package store

import (
	"context"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// NoteOutage stores that a run of an agent ended at a time and waits for its provider. The beginning of
// the outage is stored once.
func (t *Tx) NoteOutage(ctx context.Context, agent string, until, at time.Time) error {
	_, err := t.exec(ctx, "note that the provider of "+agent+" is out",
		`INSERT INTO outages (agent, since, tried_at, until) VALUES (?, ?, ?, ?)
		 ON CONFLICT (agent) DO UPDATE SET since = CASE WHEN outages.tried_at < ? THEN excluded.since ELSE outages.since END,
		 tried_at = excluded.tried_at, until = excluded.until`,
		agent, millis(at), millis(at), millis(until), millis(at.Add(-work.OutageForgotten)))
	return err
}

// EndOutage stores that the provider of an agent answers.
func (t *Tx) EndOutage(ctx context.Context, agent string) error {
	_, err := t.exec(ctx, "note that the provider of "+agent+" answers", `DELETE FROM outages WHERE agent = ?`, agent)
	return err
}

// ListOutages returns the agents whose provider was out when they ran last.
func (t *Tx) ListOutages(ctx context.Context) ([]work.Outage, error) {
	return listRows(ctx, t, "list the agents whose provider is out", scanOutage, selectOutage+`ORDER BY agent`)
}

// FindOutage returns the outage of an agent's provider.
func (t *Tx) FindOutage(ctx context.Context, agent string) (work.Outage, bool, error) {
	return findRow(ctx, t, "find the outage of "+agent, scanOutage, selectOutage+`WHERE agent = ?`, agent)
}

const selectOutage = `SELECT agent, since, tried_at, until FROM outages `

func scanOutage(row scanner) (o work.Outage, err error) {
	return o, row.Scan(&o.Agent, timeOf(&o.Since), timeOf(&o.Tried), timeOf(&o.Until))
}

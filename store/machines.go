package store

import (
	"context"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const machineColumns = `name, installation, host, version, began_at, good_at, failures, why, silent_after`

func machineFields(m *work.Machine) []any {
	return []any{&m.Name, &m.Installation, &m.Host, &m.Version, timeOf(&m.BeganAt), timeOf(&m.GoodAt), &m.Failures, &m.Why, durationOf(&m.SilentAfter)}
}

// PutMachine stores how a machine describes itself.
func (t *Tx) PutMachine(ctx context.Context, m work.Machine) error {
	m.Why = t.clean(m.Why)
	_, err := t.exec(ctx, "put machine "+m.Name, `INSERT INTO machines (`+machineColumns+`) VALUES (`+placeholders(9)+`)
		ON CONFLICT (name) DO UPDATE SET installation = excluded.installation, host = excluded.host, version = excluded.version, began_at = excluded.began_at,
		good_at = excluded.good_at, failures = excluded.failures, why = excluded.why, silent_after = excluded.silent_after`, machineFields(&m)...)
	return err
}

// ListMachines returns the machines whose passes use the database, by name.
func (t *Tx) ListMachines(ctx context.Context) ([]work.Machine, error) {
	scan := func(row scanner) (m work.Machine, err error) { return m, row.Scan(machineFields(&m)...) }
	return listRows(ctx, t, "list machines", scan, `SELECT `+machineColumns+` FROM machines ORDER BY name`)
}

// ConfigOf names a config of one of several machines.
func ConfigOf(machine, path string) string { return machine + ":" + path }

// ForgetMachine deletes a machine that is gone, and lets the configs of others name its repositories.
// It returns false if there is none of that name. One whose passes go on is there again with the next
// of them.
func (t *Tx) ForgetMachine(ctx context.Context, name string) (bool, error) {
	config := ConfigOf(name, "")
	if _, err := t.exec(ctx, "let others name the repositories of "+name, `UPDATE repositories SET named_by = '' WHERE substr(named_by, 1, length(?1)) = ?1`, config); err != nil {
		return false, err
	}
	n, err := t.exec(ctx, "forget machine "+name, `DELETE FROM machines WHERE name = ?`, name)
	return n == 1, err
}

// Fleet is what holds for all machines together.
type Fleet struct {
	PausedAt time.Time // since when everything is paused; zero: it is not
	PausedBy string    // the machine on which a person said so
	Why      string    // their reason
	Oldest   string    // the oldest version of the program that may use the database; empty: any
	MovedTo  string    // the database to which all rows were moved, which is used instead
}

// GetFleet returns what holds for all machines together.
func (t *Tx) GetFleet(ctx context.Context) (Fleet, error) {
	scan := func(row scanner) (f Fleet, err error) {
		return f, row.Scan(timeOf(&f.PausedAt), &f.PausedBy, &f.Why, &f.Oldest, &f.MovedTo)
	}
	f, _, err := findRow(ctx, t, "read what holds for all machines", scan, `SELECT paused_at, paused_by, why, oldest, moved_to FROM fleet WHERE id = 1`)
	return f, err
}

// PauseFleet pauses everything on all machines. A pause keeps its beginning; why replaces its reason.
func (t *Tx) PauseFleet(ctx context.Context, at time.Time, why string) error {
	_, err := t.exec(ctx, "pause all machines", `INSERT INTO fleet (id, paused_at, paused_by, why) VALUES (1, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET paused_at = CASE fleet.paused_at WHEN 0 THEN excluded.paused_at ELSE fleet.paused_at END,
		paused_by = CASE fleet.paused_at WHEN 0 THEN excluded.paused_by ELSE fleet.paused_by END,
		why = CASE fleet.moved_to WHEN '' THEN excluded.why ELSE fleet.why END`, t.stamp(at), t.machine, t.clean(why))
	return err
}

// ResumeFleet ends the pause of all machines. It returns false if there was none, and ErrMoved for a
// database whose rows were moved to another one.
func (t *Tx) ResumeFleet(ctx context.Context) (bool, error) {
	n, err := t.exec(ctx, "resume all machines", `UPDATE fleet SET paused_at = 0, paused_by = '', why = '' WHERE id = 1 AND paused_at > 0 AND moved_to = ''`)
	if err != nil || n == 1 {
		return n == 1, err
	}
	f, err := t.GetFleet(ctx)
	if err == nil && f.MovedTo != "" {
		err = fmt.Errorf("%w to %s", ErrMoved, f.MovedTo)
	}
	return false, err
}

// moved pauses everything that still uses the database, for good: its rows were moved to another one.
func (t *Tx) moved(ctx context.Context, to string) error {
	if err := t.PauseFleet(ctx, t.now, "the database was moved to "+to+"; name that one in the config of this machine"); err != nil {
		return err
	}
	_, err := t.exec(ctx, "store where the database was moved to", `UPDATE fleet SET moved_to = ? WHERE id = 1`, to)
	return err
}

// RequireVersion stores the oldest version of the program that may use the database.
func (t *Tx) RequireVersion(ctx context.Context, oldest string) error {
	_, err := t.exec(ctx, "store the oldest version that may use the database", `INSERT INTO fleet (id, oldest) VALUES (1, ?)
		ON CONFLICT (id) DO UPDATE SET oldest = excluded.oldest`, oldest)
	return err
}

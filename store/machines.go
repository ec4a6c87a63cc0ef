package store

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

const machineColumns = `name, installation, host, version, config, began_at, good_at, failures, why, silent_after, stopped`

func machineFields(m *work.Machine) []any {
	return []any{&m.Name, &m.Installation, &m.Host, &m.Version, &m.Config, timeOf(&m.BeganAt), timeOf(&m.GoodAt), &m.Failures, &m.Why, durationOf(&m.SilentAfter), &m.Stopped}
}

// PutMachine stores how a machine describes itself.
func (t *Tx) PutMachine(ctx context.Context, m work.Machine) error {
	m.Why = t.clean(m.Why)
	return t.write(ctx, "put machine "+m.Name, `INSERT INTO machines (`+machineColumns+`) VALUES (`+placeholders(11)+`)
		ON CONFLICT (name) DO UPDATE SET installation = excluded.installation, host = excluded.host, version = excluded.version, config = excluded.config, began_at = excluded.began_at,
		good_at = excluded.good_at, failures = excluded.failures, why = excluded.why, silent_after = excluded.silent_after, stopped = excluded.stopped`, machineFields(&m)...)
}

// StopMachine stores how a person stopped the passes of this machine, until the next one begins.
func (t *Tx) StopMachine(ctx context.Context, how work.MachineStop) error {
	return t.write(ctx, "note that "+t.machine+" is stopped", `UPDATE machines SET stopped = ? WHERE name = ? AND stopped <> ?`, how, t.machine, how)
}

// ListMachines returns the machines whose passes use the database, by name.
func (t *Tx) ListMachines(ctx context.Context) ([]work.Machine, error) {
	scan := func(row scanner) (m work.Machine, err error) {
		return m, row.Scan(machineFields(&m)...)
	}
	return listRows(ctx, t, "list machines", scan,
		`SELECT `+machineColumns+` FROM machines ORDER BY name`)
}

// ConfigOf names a config of one of several machines.
func ConfigOf(machine, path string) string { return machine + ":" + path }

// ForgetMachine deletes a machine that is gone, and lets the configs of others name its repositories. It
// returns false if there is none of that name. One whose passes go on is there again with the next of them.
func (t *Tx) ForgetMachine(ctx context.Context, name string) (bool, error) {
	config := ConfigOf(name, "")
	if err := t.write(ctx, "let others name the repositories of "+name, `UPDATE repositories SET named_by = '' WHERE substr(named_by, 1, length(?1)) = ?1`, config); err != nil {
		return false, err
	}
	n, err := t.exec(ctx, "forget machine "+name, `DELETE FROM machines WHERE name = ?`, name)
	return n == 1, err
}

// Fleet is what holds for all machines together.
type Fleet struct {
	PausedAt time.Time // since when everything is paused; zero: it is not
	PausedBy string    // who said so, by their name on that machine; empty: not known
	PausedOn string    // the machine on which they said so
	Why      string    // their reason
	MovedTo  string    // the database to which all rows were moved, which is used instead
	Known    bool      // the database says whether everything is paused; false: as far as it knows, it never was
}

// Moved returns a *MovedError if all rows were moved to another database.
func (f Fleet) Moved() error {
	if f.MovedTo == "" {
		return nil
	}
	return &MovedError{f.MovedTo}
}

// MovedError says that all rows of the database were moved to another one, which is used instead.
type MovedError struct{ To string }

func (e *MovedError) Error() string { return e.Says() + "; " + e.Do() }

// Says is what happened.
func (e *MovedError) Says() string { return "the database was moved to " + e.To }

// Do is what makes passes use the other one. A file is on the machine that moved the database there.
func (e *MovedError) Do() string {
	if filepath.IsAbs(e.To) {
		return "on the machine that has this file, remove database from [runtime] in the config; on each other one: gh mergexo schedule remove"
	}
	return "write database with its URL under [runtime] in the config of this machine"
}

// GetFleet returns what holds for all machines together.
func (t *Tx) GetFleet(ctx context.Context) (Fleet, error) {
	scan := func(row scanner) (f Fleet, err error) {
		return f, row.Scan(timeOf(&f.PausedAt), &f.PausedBy, &f.PausedOn, &f.Why, &f.MovedTo)
	}
	f, known, err := findRow(ctx, t, "read what holds for all machines", scan, `SELECT paused_at, paused_by, paused_on, why, moved_to FROM fleet WHERE id = 1`)
	f.Known = known
	return f, err
}

// PauseFleet pauses everything on all machines. A pause keeps its beginning, and who began it; why
// replaces its reason.
func (t *Tx) PauseFleet(ctx context.Context, at time.Time, by, why string) error {
	return t.write(ctx, "pause all machines", `INSERT INTO fleet (id, paused_at, paused_by, paused_on, why) VALUES (1, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET paused_at = CASE fleet.paused_at WHEN 0 THEN excluded.paused_at ELSE fleet.paused_at END,
		paused_by = CASE fleet.paused_at WHEN 0 THEN excluded.paused_by ELSE fleet.paused_by END,
		paused_on = CASE fleet.paused_at WHEN 0 THEN excluded.paused_on ELSE fleet.paused_on END,
		why = CASE fleet.moved_to WHEN '' THEN excluded.why ELSE fleet.why END`, t.stamp(at), by, t.machine, t.clean(why))
}

// ResumeFleet ends the pause of all machines. It returns false if there was none, and a *MovedError for a
// database whose rows were moved to another one.
func (t *Tx) ResumeFleet(ctx context.Context) (bool, error) {
	n, err := t.exec(ctx, "resume all machines", `UPDATE fleet SET paused_at = 0, paused_by = '', paused_on = '', why = '' WHERE id = 1 AND paused_at > 0 AND moved_to = ''`)
	if err != nil || n == 1 {
		return n == 1, err
	}
	f, err := t.GetFleet(ctx)
	return false, cmp.Or(err, f.Moved())
}

// moved pauses everything that still uses the database, for good: its rows were moved to another one.
func (t *Tx) moved(ctx context.Context, to string) error {
	if err := t.PauseFleet(ctx, t.now, "", (&MovedError{to}).Error()); err != nil {
		return err
	}
	return t.write(ctx, "store where the database was moved to", `UPDATE fleet SET moved_to = ? WHERE id = 1`, to)
}

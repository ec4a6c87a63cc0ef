package store

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// UnreadJournals are the journals of a mirror that its machine has not compared with the database since
// it was lost or set back: they may have turns that the database does not.
type UnreadJournals struct {
	Machine string
	Mirror  string // as the state folder names it; empty: no pass has begun there since, so that it may be any
}

// AwaitMachine stores that a machine has not compared its journals with the database. It may have no
// row of its own.
func (t *Tx) AwaitMachine(ctx context.Context, name string) error {
	m := work.Machine{Name: name}
	_, err := t.exec(ctx, "await machine "+name, `INSERT INTO machines (`+machineColumns+`) VALUES (`+placeholders(len(machineFields(&m)))+`) ON CONFLICT (name) DO NOTHING`, machineFields(&m)...)
	if err != nil {
		return err
	}
	return t.addUnreadJournals(ctx, name, "")
}

// SetUnreadJournals stores the mirrors whose journals this machine has yet to compare with the database,
// in place of what others awaited from it.
func (t *Tx) SetUnreadJournals(ctx context.Context, mirrors []string) error {
	if _, err := t.exec(ctx, "set unread journals", `DELETE FROM unread_journals WHERE machine = ?`, t.machine); err != nil {
		return err
	}
	for _, mirror := range mirrors {
		if err := t.addUnreadJournals(ctx, t.machine, mirror); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) addUnreadJournals(ctx context.Context, machine, mirror string) error {
	_, err := t.exec(ctx, "add unread journals of "+machine, `INSERT INTO unread_journals (machine, mirror) VALUES (?, ?) ON CONFLICT (machine, mirror) DO NOTHING`, machine, mirror)
	return err
}

// DropUnreadJournals stores that this machine has compared the journals of a mirror with the database.
func (t *Tx) DropUnreadJournals(ctx context.Context, mirror string) error {
	_, err := t.exec(ctx, "drop unread journals of "+mirror, `DELETE FROM unread_journals WHERE machine = ? AND mirror = ?`, t.machine, mirror)
	return err
}

// ListUnreadJournals returns the journals of all machines that are not compared yet.
func (t *Tx) ListUnreadJournals(ctx context.Context) ([]UnreadJournals, error) {
	scan := func(row scanner) (u UnreadJournals, err error) { return u, row.Scan(&u.Machine, &u.Mirror) }
	return listRows(ctx, t, "list unread journals", scan, `SELECT machine, mirror FROM unread_journals ORDER BY machine, mirror`)
}

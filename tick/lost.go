package tick

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// Machines share a database, and each has its own journals. After the database was lost, or set back to
// an earlier state, each compares its journals with it. Until then no turn starts where another one may
// have been answered already: its agent would be paid again.

// remembered is what this machine's state folder knows of the machines and their turns.
type remembered struct {
	folder.Fleet
	mirrors []string
}

// remember reads the state folder. Where no other machine has the database, there is nothing to read.
func (p *Pass) remember(m work.Machine) (r remembered, err error) {
	if m.BeganAt.IsZero() || !p.Store.Shared() {
		return r, nil
	}
	if r.Fleet, err = p.Dirs.Fleet(); err == nil {
		r.mirrors, err = p.Dirs.Mirrors()
	}
	return r, err
}

// listUnread reads which journals are not compared with the database.
func (p *Pass) listUnread(ctx context.Context, tx *store.Tx) (err error) {
	p.Unread, err = tx.ListUnreadJournals(ctx)
	return err
}

// mayLack reports whether the database may lack turns of this machine's journals: it does not know the
// machine, is behind what the machine wrote, or was found to be so by another machine.
func (p *Pass) mayLack(m work.Machine, known []work.Machine, r remembered) bool {
	i := slices.IndexFunc(known, func(k work.Machine) bool { return k.Name == m.Name })
	return p.Store.Shared() && (i < 0 || p.awaited(m) || behind(known[i], m, r))
}

// awaited reports whether another machine found that the database may lack turns of this one.
func (p *Pass) awaited(m work.Machine) bool {
	return slices.Contains(p.Unread, store.UnreadJournals{Machine: m.Name})
}

// behind reports whether the database has an earlier state of a machine's row than its state folder.
func behind(row, m work.Machine, r remembered) bool {
	return row.Installation == m.Installation && row.BeganAt.Before(r.Noted)
}

// awaitJournals stores that this machine's journals are to be compared. The first machine to find that
// the database was lost or set back has the others awaited that were at work before.
func (p *Pass) awaitJournals(ctx context.Context, tx *store.Tx, n machineNote) error {
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return err
	}
	if err := p.listUnread(ctx, tx); err != nil {
		return err
	}
	i := slices.IndexFunc(known, func(k work.Machine) bool { return k.Name == n.row.Name })
	if !p.awaited(n.row) && (i < 0 || behind(known[i], n.row, n.before)) {
		for _, name := range n.before.Others {
			if i < 0 && slices.ContainsFunc(known, func(k work.Machine) bool { return k.Name == name }) {
				continue // it found the loss by itself
			}
			if err := tx.AwaitMachine(ctx, name); err != nil {
				return err
			}
		}
	}
	if err := tx.SetUnreadJournals(ctx, n.before.mirrors); err != nil {
		return err
	}
	return p.listUnread(ctx, tx)
}

// fleetOf returns what the state folder is to remember once the row of a machine is stored: the machines
// that are at work with it. One that was silent already is not waited for: the others did its work.
func fleetOf(m work.Machine, known []work.Machine) *folder.Fleet {
	f := &folder.Fleet{Noted: m.BeganAt.Truncate(time.Millisecond), As: m.Installation} // as the row has it
	for _, k := range known {
		if _, silent := k.Silent(m.BeganAt); k.Name != m.Name && !silent {
			f.Others = append(f.Others, k.Name)
		}
	}
	return f
}

// dropAwaited drops the turns of repositories whose journals are not compared yet, and reports why they
// wait.
func (p *Pass) dropAwaited(ctx context.Context, line []plan.Turn, rep *env.Report) []plan.Turn {
	var held []string
	kept := slices.DeleteFunc(slices.Clone(line), func(t plan.Turn) bool {
		machines := p.Awaited(p.RemoteByID(t.Item.RepoID).Row)
		held = append(held, machines...)
		return len(machines) > 0
	})
	if len(held) == 0 {
		return kept
	}
	waiting, why := len(line)-len(kept), p.whyAwaited(held)
	rep.Held = fmt.Sprintf("%s held back: %s", work.Count(waiting, "turn"), why)
	p.Log.WarnContext(ctx, "turns wait for the journals of machines", "turns", waiting, "why", why)
	return kept
}

// whyAwaited says why turns wait for the journals of machines.
func (p *Pass) whyAwaited(machines []string) string {
	slices.Sort(machines)
	var why []string
	for _, name := range slices.Compact(machines) {
		says, do := work.Machine{Name: name, Unread: 1}.Awaited()
		if name == p.Machine.Name {
			says, do = "this machine reads its journals once it has looked at the whole repository", ""
		}
		why = append(why, strings.TrimSuffix(says+"; "+do, "; "))
	}
	return strings.Join(why, ". ")
}

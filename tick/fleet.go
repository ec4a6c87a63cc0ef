package tick

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// describeMachine returns this machine as its row has it from now on. The row says how the passes
// before this one ended: so this one needs no write of its own at its end.
func (p *Pass) describeMachine(ctx context.Context) work.Machine {
	m, now := p.Machine, p.Local()
	last, err := p.Dirs.LastPass()
	if err != nil {
		p.Log.WarnContext(ctx, "could not read how the last passes ended", "error", err)
	}
	every := work.LongestWait
	if !last.At.IsZero() {
		every = max(0, now.Sub(last.At))
	}
	m.BeganAt, m.GoodAt, m.Failures, m.Why, m.SilentAfter = now, last.GoodAt, last.Failures, last.Why, work.Silence(every)
	return m
}

// machineNote is what a pass stores of its machine; zero: nothing.
type machineNote struct {
	row    work.Machine
	forget []string      // machines whose state folder the database came here with
	former string        // the state folder that had the machine's name before; empty: the same
	known  work.Machine  // the row as it was; zero: there was none
	after  *folder.Fleet // what that is to remember once the row is stored; nil: nothing new
}

// noteMachine reads what holds for all machines, and returns what to store of this one: if that has
// changed, or is some minutes old. ahead is how far this machine's clock is ahead. r is what
// this machine's state folder remembers.
func (p *Pass) noteMachine(ctx context.Context, tx *store.Tx, m work.Machine, ahead time.Duration, r folder.Fleet) (note machineNote, fleet store.Fleet, err error) {
	if fleet, err = tx.GetFleet(ctx); err != nil {
		return note, fleet, err
	}
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return note, fleet, err
	}
	if m.Name == "" || m.BeganAt.IsZero() {
		return note, fleet, nil
	}
	for _, at := range []*time.Time{&m.BeganAt, &m.GoodAt} {
		if !at.IsZero() {
			*at = at.Add(-ahead)
		}
	}
	if p.Store.Shared() {
		p.Machines = known
	}
	if other, is := r.Namesake(m.Name, known); is && r.As == m.Installation {
		says, do := other.Namesake()
		return note, fleet, &namesakeError{&work.MachineError{Err: errors.New(says), Do: do}}
	}
	if i := slices.IndexFunc(known, func(k work.Machine) bool { return k.Name == m.Name }); i >= 0 {
		old := p.Store.Shared() && m.BeganAt.Sub(known[i].BeganAt).Abs() >= work.MachineNoteEvery
		if note.known = known[i]; !old && !m.Differs(known[i]) {
			return note, fleet, nil
		}
		if note.former = known[i].Installation; note.former == m.Installation {
			note.former = ""
		}
		if m.GoodAt.IsZero() { // a new state folder
			m.GoodAt = known[i].GoodAt
		}
	}
	for _, k := range known {
		if !p.Store.Shared() && k.Name != m.Name {
			note.forget = append(note.forget, k.Name)
		}
	}
	if p.Store.Shared() {
		note.after = &folder.Fleet{Noted: m.BeganAt.Truncate(time.Millisecond), As: m.Installation} // as the row has it
	}
	note.row = m
	return note, fleet, nil
}

// storeMachine stores a note in a transaction of its own: other machines store theirs at the same time.
func (p *Pass) storeMachine(ctx context.Context, n machineNote) error {
	if n.row.Name == "" {
		return nil
	}
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		for _, name := range n.forget {
			if _, err := tx.ForgetMachine(ctx, name); err != nil {
				return err
			}
		}
		return tx.PutMachine(ctx, n.row)
	})
	if err != nil || n.after == nil {
		return err
	}
	return p.Dirs.RememberFleet(*n.after)
}

// noteEnd stores how the pass ended, if this machine's row says something else: other machines show it at once.
func (p *Pass) noteEnd(ctx context.Context, e *tell.PassEnd) error {
	m := p.noted
	m.Failures, m.Why = e.Passes.Last.Failures, e.Passes.Last.Why
	if m.Failures == 0 && (p.noted.Failures > 0 || m.GoodAt.IsZero()) {
		m.GoodAt = p.Now()
	}
	if m.Name == "" || !p.Store.Shared() || !m.Differs(p.noted) && m.GoodAt.Equal(p.noted.GoodAt) {
		return nil
	}
	return p.Store.Update(ctx, func(tx *store.Tx) error { return tx.PutMachine(ctx, m) })
}

// namesakeError means that another state folder goes by this machine's name.
type namesakeError struct{ *work.MachineError }

func (e *namesakeError) Unwrap() error { return e.MachineError }

// firstAhead returns how far this machine's clock is ahead of the one that passes use.
func (p *Pass) firstAhead(clocks map[string]time.Duration) time.Duration {
	if len(p.All) == 0 {
		return 0
	}
	return clocks[p.All[0].Name.Host]
}

// otherMachines returns the other machines that are silent, or whose passes fail, as the pass began.
func (p *Pass) otherMachines() (all []work.Machine) {
	for _, m := range p.Machines {
		if says, _ := m.Says(p.Now()); says != "" && m.Name != p.Machine.Name {
			all = append(all, m)
		}
	}
	return all
}

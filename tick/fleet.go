package tick

import (
	"context"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// describeMachine returns this machine as its row has it from now on. The row says how the passes
// before this one ended: so this one needs no write of its own at its end.
func (p *Pass) describeMachine(ctx context.Context) work.Machine {
	m, now := p.Machine, p.Local()
	last, err := p.Dirs.LastPass()
	if err != nil {
		p.Log.WarnContext(ctx, "could not read how the last passes ended", "error", err)
	}
	every, alone := work.LongestWait, time.Duration(0)
	if !last.At.IsZero() {
		every = max(0, now.Sub(last.At))
	}
	if !p.Config.Runtime.Overlap {
		alone = p.Config.PassLimits().Pass
	}
	m.BeganAt, m.GoodAt, m.Failures, m.Why, m.SilentAfter = now, last.GoodAt, last.Failures, last.Why, work.Silence(every, alone)
	return m
}

// noteMachine stores this machine in the transaction with which a pass begins, if that has changed
// or is some minutes old, and reads what holds for all machines. ahead is how far this machine's
// clock is ahead. It returns the state folder that had the machine's name before; empty: the same. r is
// what this one's state folder remembers, and p.remembers what it is to remember afterwards.
func (p *Pass) noteMachine(ctx context.Context, tx *store.Tx, m work.Machine, ahead time.Duration, r remembered) (former string, fleet store.Fleet, err error) {
	p.remembers = nil
	if fleet, err = tx.GetFleet(ctx); err != nil {
		return "", fleet, err
	}
	if m.Name == "" || m.BeganAt.IsZero() {
		return "", fleet, nil
	}
	for _, at := range []*time.Time{&m.BeganAt, &m.GoodAt} {
		if !at.IsZero() {
			*at = at.Add(-ahead)
		}
	}
	known, err := tx.ListMachines(ctx)
	if err != nil {
		return "", fleet, err
	}
	found, err := p.findLost(ctx, tx, m, known, r)
	if err != nil {
		return "", fleet, err
	}
	if i := slices.IndexFunc(known, func(k work.Machine) bool { return k.Name == m.Name }); i >= 0 {
		old := p.Store.Shared() && m.BeganAt.Sub(known[i].BeganAt).Abs() >= work.MachineNoteEvery
		if !old && !found && !m.Differs(known[i]) {
			return "", fleet, nil
		}
		if former = known[i].Installation; former == m.Installation {
			former = ""
		}
		if m.GoodAt.IsZero() { // a new state folder
			m.GoodAt = known[i].GoodAt
		}
	}
	for _, k := range known {
		if p.Store.Shared() || k.Name == m.Name {
			continue
		}
		if _, err := tx.ForgetMachine(ctx, k.Name); err != nil { // the database came here with a state folder
			return "", fleet, err
		}
	}
	if p.Store.Shared() {
		p.remembers = fleetOf(m, known)
	}
	return former, fleet, tx.PutMachine(ctx, m)
}

// firstAhead returns how far this machine's clock is ahead of the one that passes use.
func (p *Pass) firstAhead(clocks map[string]time.Duration) time.Duration {
	if len(p.All) == 0 {
		return 0
	}
	return clocks[p.All[0].Name.Host]
}

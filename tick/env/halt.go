package env

import (
	"context"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Halted returns the pause of everything; false: there is none. The file of this machine comes
// first and needs no database. Where other machines have the same database, the pause of all machines
// follows; while the database cannot be read, the file decides.
func (p *Env) Halted(ctx context.Context) (folder.Halt, bool) {
	return p.HaltedBy(ctx, func() (fleet store.Fleet, err error) {
		return fleet, p.Store.Glance(ctx, func(tx *store.Tx) (err error) {
			fleet, err = tx.GetFleet(ctx)
			return err
		})
	})
}

// HaltedBy is Halted with another way to read what holds for all machines.
func (p *Env) HaltedBy(ctx context.Context, read func() (store.Fleet, error)) (folder.Halt, bool) {
	h, halted := p.Dirs.Halted()
	if p.Store == nil || !p.Store.Shared() || halted && !h.Fleet {
		return h, halted
	}
	fleet, err := read()
	if err == nil {
		h, halted, err = p.Dirs.HaltedWith(HaltOf(fleet))
	}
	if err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "could not find out whether all machines are paused", "error", err)
	}
	return h, halted
}

// HaltOf returns the pause of all machines; zero: there is none.
func HaltOf(f store.Fleet) folder.Halt {
	return folder.Halt{Since: f.PausedAt, Why: f.Why, Fleet: true, By: f.PausedBy, On: f.PausedOn}
}

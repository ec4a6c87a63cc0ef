package recheck

import (
	"context"

	"github.com/mergexo/gh-mergexo/tick/env"
)

// NotHalted ends a turn before its first effect when everything is paused. After
// that it is carried to its end, as in a pause of its item.
func (p *Looks) NotHalted(ctx context.Context, l *env.Lease) error {
	h, halted := p.Dirs.Halted()
	if !halted {
		return nil
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	return &env.HaltedError{Halt: h}
}

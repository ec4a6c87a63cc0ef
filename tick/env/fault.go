package env

import (
	"errors"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// faults are the faults of this machine that turns met. The pass reports each once, however many
// turns wait for it.
type faults struct {
	mu  sync.Mutex
	all []error
}

// AddFault records the fault of this machine that ended a turn.
func (p *Env) AddFault(err error) {
	fault, ok := work.MachineFault(err)
	if !ok {
		return
	}
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	if !slices.ContainsFunc(p.faults.all, func(known error) bool { return known.Error() == fault.Error() }) {
		p.faults.all = append(p.faults.all, fault)
	}
}

// Faults returns the faults of this machine that turns wait for; nil: none.
func (p *Env) Faults() error {
	p.faults.mu.Lock()
	defer p.faults.mu.Unlock()
	return errors.Join(p.faults.all...)
}

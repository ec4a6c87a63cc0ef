package proc

import (
	"crypto/rand"
	"sync"
	"sync/atomic"
)

// guarding is set once this process has asked for its orphans.
var guarding atomic.Bool

// Guard prepares this process for programs that nobody trusts, where the
// system can: descendants that lose their parent become its own children, so
// that Run finds and ends those of an agent, whatever they did to their
// environment and session; and other processes of the same user can no longer
// read its memory and environment. It holds until the process ends, and is for
// a process whose children are all started by this package.
func Guard() error {
	if err := guard(); err != nil {
		return err
	}
	guarding.Store(true)
	return nil
}

// kept is in the environment of programs whose survivors may stay: their
// orphans are told by it from those of agents, which cannot guess it.
var kept = sync.OnceValue(func() string { return "MERGEXO_KEPT=" + rand.Text() })

// children are the processes that this package started and has not waited for.
// Whoever ends orphans holds the lock, so that none is taken for one between
// its start and its entry.
var children = struct {
	sync.RWMutex
	pids sync.Map // int -> struct{}
}{}

// startChild starts a program and enters it.
func (p *process) startChild() error {
	children.RLock()
	defer children.RUnlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	children.pids.Store(p.cmd.Process.Pid, struct{}{})
	return nil
}

// await waits for the program's own end; the exit code is in ProcessState.
func (p *process) await() {
	_ = p.cmd.Wait()
	children.pids.Delete(p.cmd.Process.Pid)
	close(p.exited)
}

package proc

import (
	"crypto/rand"
	"sync"
	"sync/atomic"
)

// guarding is set once Guard has succeeded.
var guarding atomic.Bool

// Guard prepares this process for untrusted programs, if the system can. Descendants that lose
// their parent become our children, so that Run finds and ends an agent's, even if they changed
// their environment and session. Other processes of the same user can no longer read our memory and
// environment. This lasts until the process ends. All children of the process must be started by
// this package.
func Guard() error {
	if err := guard(); err != nil {
		return err
	}
	guarding.Store(true)
	return nil
}

// kept is in the environment of programs whose survivors may stay. It distinguishes their orphans
// from those of agents, which cannot guess it.
var kept = sync.OnceValue(func() string { return "MERGEXO_KEPT=" + rand.Text() })

// liveMarks counts the runs of this process that have not ended by their marks. Other marks prove
// nothing, because anyone can write one into an environment.
var liveMarks = struct {
	sync.Mutex
	runs map[string]int
}{runs: map[string]int{}}

// enterMark registers the mark of a new run; leave unregisters it.
func enterMark(mark string) (leave func()) {
	count := func(n int) {
		liveMarks.Lock()
		defer liveMarks.Unlock()
		if liveMarks.runs[mark] += n; liveMarks.runs[mark] == 0 {
			delete(liveMarks.runs, mark)
		}
	}
	if mark == "" {
		return func() {}
	}
	count(1)
	return func() { count(-1) }
}

// children has the processes that this package started and has not waited for. Ending orphans takes
// the lock, so that a child between start and entry is not taken for an orphan.
var children = struct {
	sync.RWMutex
	pids    sync.Map // int -> struct{}
	started atomic.Int64
}{}

// Started is how many programs this process has started.
func Started() int64 { return children.started.Load() }

// startChild starts a program and adds it to children.
func (p *process) startChild() error {
	keepDescriptors()
	children.RLock()
	defer children.RUnlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	children.started.Add(1)
	children.pids.Store(p.cmd.Process.Pid, struct{}{})
	return nil
}

// await waits for the program itself to exit; the exit code is in ProcessState.
func (p *process) await() {
	_ = p.cmd.Wait()
	children.pids.Delete(p.cmd.Process.Pid)
	close(p.exited)
}

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

// liveMarks are the marks of the runs of this process that have not ended, and
// how many runs carry each. What carries a mark that is not among them is
// nobody's: anybody can write one into an environment.
var liveMarks = struct {
	sync.Mutex
	runs map[string]int
}{runs: map[string]int{}}

// enterMark enters the mark of a run that begins; what it returns ends it.
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

// children are the processes that this package started and has not waited for.
// Whoever ends orphans holds the lock, so that none is taken for one between
// its start and its entry.
var children = struct {
	sync.RWMutex
	pids sync.Map // int -> struct{}
}{}

// startChild starts a program and enters it.
func (p *process) startChild() error {
	keepDescriptors()
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

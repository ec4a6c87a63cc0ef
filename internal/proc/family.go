package proc

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// entry is a row of the system's process table.
type entry struct {
	pid, parent, group, session int
	start                       string // distinguishes processes with the same pid

	// cpu is its computing time, including children that it waited for, if the system adds them up.
	cpu time.Duration

	resident int64 // bytes of memory, if ps reports them
}

// family is a program with its recorded descendants. A child that starts its own session and loses
// its parent can no longer be found by looking, so it is recorded while it can.
type family struct {
	leader int
	mark   string // of the run; orphans that may belong to it count as members
	seen   map[int]entry
	cpu    cpuMeter

	resident int64 // bytes of memory of all, if ps reports them

	now atomic.Pointer[[]int] // pids of the last look, for goroutines that look in parallel
}

func newFamily(mark string) *family {
	return &family{mark: mark, seen: map[int]entry{}}
}

// record adds the program's current descendants. The leader's pid stays reserved while its session
// has members, so membership in the session is proof.
func (f *family) record(ctx context.Context) {
	table, err := processes(context.WithoutCancel(ctx))
	if err != nil {
		return // the group is ended anyway, and the mark finds the rest
	}
	f.forget(table)
	defer f.measure(table)
	for _, e := range orphans(table, f.mark) {
		f.seen[e.pid] = e
	}
	for grew := true; grew; {
		grew = false
		for _, e := range table {
			if _, known := f.seen[e.pid]; known || e.pid == f.leader || e.pid == os.Getpid() {
				continue
			}
			_, ofSeen := f.seen[e.parent]
			_, inSeen := f.seen[e.session]
			if ofSeen || inSeen || e.parent == f.leader || e.session == f.leader || e.group == f.leader {
				f.seen[e.pid] = e
				grew = true
			}
		}
	}
	pids := f.pids()
	f.now.Store(&pids)
}

// forget drops ended processes, whose pids may be reused.
func (f *family) forget(table []entry) {
	now := make(map[int]string, len(table))
	for _, e := range table {
		now[e.pid] = e.start
	}
	for pid, e := range f.seen {
		if now[pid] != e.start {
			delete(f.seen, pid)
		}
	}
}

// pids returns the leader and all recorded descendants.
func (f *family) pids() []int {
	return append(slices.Collect(maps.Keys(f.seen)), f.leader)
}

// ask signals all recorded descendants, without the leader. It reports whether any was signalled.
func (f *family) ask(ctx context.Context, sig os.Signal) bool {
	asked := false
	for _, e := range f.seen {
		if signalEntry(context.WithoutCancel(ctx), e, sig) {
			asked = true
		}
	}
	return asked
}

// kill kills the leader, if not nil, and every recorded descendant, each with its group.
func (f *family) kill(ctx context.Context, leader *os.Process) {
	ctx = context.WithoutCancel(ctx)
	if leader != nil {
		killGroup(ctx, leader)
	}
	for _, e := range f.seen {
		if _, ours := f.seen[e.group]; ours || e.group == f.leader {
			killRecordedGroup(ctx, e)
		}
		killEntry(ctx, e)
	}
}

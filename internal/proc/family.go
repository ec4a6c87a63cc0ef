package proc

import (
	"context"
	"maps"
	"os"
	"slices"
	"sync/atomic"
	"time"
)

// entry is a line of the system's process table.
type entry struct {
	pid, parent, group, session int
	start                       string // tells two processes of one pid apart

	// cpu is what it computed, with its children that have ended and been waited
	// for where the system adds them up.
	cpu time.Duration

	resident int64 // bytes of memory, where ps is asked
}

// family is a program and those that were seen to descend from it. A child
// that begins a session of its own and loses its parent can no longer be found
// by looking, so it is remembered.
type family struct {
	leader int
	mark   string // of the run: orphans that may be its own belong to it
	seen   map[int]entry
	cpu    cpuMeter

	resident int64 // bytes of memory of all, where ps is asked

	now atomic.Pointer[[]int] // who was seen at the last look, for whoever looks beside us
}

func newFamily(mark string) *family {
	return &family{mark: mark, seen: map[int]entry{}}
}

// record looks who descends from the program now. The leader's pid is reserved
// while anybody is left in its session, so membership in that is proof.
func (f *family) record(ctx context.Context) {
	table, err := processes(context.WithoutCancel(ctx))
	if err != nil {
		return // the group is still ended; the mark finds the rest
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

// forget drops those that have ended: their pid may be somebody else's now.
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

// pids are the leader and all that was seen.
func (f *family) pids() []int {
	return append(slices.Collect(maps.Keys(f.seen)), f.leader)
}

// ask signals what was seen, the leader excepted. It says whether there was
// anybody to ask.
func (f *family) ask(ctx context.Context, sig os.Signal) bool {
	asked := false
	for _, e := range f.seen {
		if signalEntry(context.WithoutCancel(ctx), e, sig) {
			asked = true
		}
	}
	return asked
}

// kill ends the leader, if it is given, and every recorded descendant, each
// with its group.
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

package proc

import (
	"context"
	"sync/atomic"
	"time"
)

// memoryInterval is how often the memory of a program is looked at. A process
// that does nothing else takes about a gigabyte in that time.
const memoryInterval = 250 * time.Millisecond

// memoryMeter compares what a family holds with what it may hold.
type memoryMeter struct {
	most  int64        // bytes; 0: no bound
	skip  int          // so many looks need not be close
	files atomic.Int64 // that the family holds in file systems in memory
}

// looks is a tick for each look.
func (m *memoryMeter) looks() (<-chan time.Time, func()) {
	if m.most <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(memoryInterval)
	return t.C, t.Stop
}

// closeLook is how many looks later what is shared may be told again: it takes the
// kernel some 0.1 s for a gigabyte.
const closeLook = 8

// passed reports whether a family holds more than it may. What each process
// holds is cheap to tell, and counts what they share more than once; only where
// that is too much is it looked at closely.
func (m *memoryMeter) passed(ctx context.Context, f *family) bool {
	if len(f.seen) == 0 {
		f.record(ctx)
	}
	m.skip = max(0, m.skip-1)
	files := m.files.Load()
	if m.skip > 0 || f.held()+files <= m.most {
		return false
	}
	m.skip = closeLook
	f.record(ctx)
	return f.shares()+files > m.most
}

// lookAtFiles notes what a family holds in file systems in memory. It is called
// beside the run.
func (m *memoryMeter) lookAtFiles(f *family) {
	if pids := f.now.Load(); pids != nil {
		m.files.Store(memoryFiles(*pids))
	}
}

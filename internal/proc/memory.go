package proc

import (
	"context"
	"sync/atomic"
	"time"
)

// memoryInterval is how often a program's memory is checked. A process that only allocates takes
// about a gigabyte in that time.
const memoryInterval = 250 * time.Millisecond

// memoryMeter compares a family's memory with its limit.
type memoryMeter struct {
	most  int64        // bytes; 0: no limit
	skip  int          // number of looks until the next close one
	files atomic.Int64 // bytes the family holds in memory file systems
}

// looks returns a ticker for the checks, nil without a limit.
func (m *memoryMeter) looks() (<-chan time.Time, func()) {
	if m.most <= 0 {
		return nil, func() {}
	}
	t := time.NewTicker(memoryInterval)
	return t.C, t.Stop
}

// closeLook is how many looks must pass between two close ones: counting shared memory takes the
// kernel about 0.1 s per gigabyte.
const closeLook = 8

// passed reports whether a family holds more than its limit. The sum of what each process holds is
// cheap but counts shared memory several times. Only if that exceeds the limit is shared memory
// counted exactly.
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

// lookAtFiles updates what a family holds in memory file systems. It runs in parallel with the run.
func (m *memoryMeter) lookAtFiles(f *family) {
	if pids := f.now.Load(); pids != nil {
		m.files.Store(memoryFiles(*pids))
	}
}

package proc

import (
	"context"
	"time"
)

// busyShare is the share of one processor's time, since the last sign of life,
// above which a silent program is taken to compute. Measured: codex 0.169 that
// waits for its model or tries again to reach it takes 0.01, claude 2.1.197
// 0.005 and, while it is sent an answer word by word, 0.12; a compiler or a test
// that computes takes 1 and more.
const busyShare = 0.05

// lives is asked when a program has given no sign of life for as long as it
// may.
func (p *process) lives(ctx context.Context) bool {
	p.family.record(ctx)
	return p.family.cpu.rested() >= time.Duration(busyShare*float64(p.Idle)) || p.Alive != nil && p.Alive(ctx)
}

// A stream that a silent program reads, such as one long answer of a model, shows
// by what its connections get. It is looked at for a while before the program is
// ended: a provider's pings, some 40 bytes every quarter of a minute, are less,
// and an answer of ten words a second is ten times as much.
const (
	streamWatch = 10 * time.Second
	streamRate  = 100 // bytes a second
)

// stream is a look at what a program's connections get.
type stream struct {
	began    bool
	received uint64
	window   time.Duration
}

// flows begins to look, and says at the second time whether enough came in
// between. Until then nothing is decided.
func (s *stream) flows(f *family, idle time.Duration) (decided, flows bool) {
	got := f.received()
	if !s.began {
		*s = stream{began: true, received: got, window: min(streamWatch, idle/2)}
		return got == 0, false
	}
	enough := uint64(streamRate * s.window.Seconds())
	flows = got >= s.received+enough
	*s = stream{}
	return true, flows
}

// cpuMeter adds up what a family computes. A program that ends takes its time
// out of the sum, until its parent has waited for it; so only growth counts.
type cpuMeter struct {
	sum, spent, rest time.Duration
}

func (m *cpuMeter) read(sum time.Duration) {
	m.spent += max(0, sum-m.sum)
	m.sum = sum
}

// rested is what was computed since reset.
func (m *cpuMeter) rested() time.Duration { return m.spent - m.rest }

func (m *cpuMeter) reset() { m.rest = m.spent }

// measure reads what those who were seen have computed, and hold.
func (f *family) measure(table []entry) {
	var sum time.Duration
	f.resident = 0
	for _, e := range table {
		if _, seen := f.seen[e.pid]; seen || e.pid == f.leader {
			sum += e.cpu
			f.resident += e.resident
		}
	}
	f.cpu.read(sum)
}

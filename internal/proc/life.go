package proc

import (
	"context"
	"time"
)

// busyShare is the share of one processor since the last sign of life above which a silent program
// counts as computing. Measured: codex 0.169 uses 0.01 while it waits for its model or retries to
// reach it; claude 2.1.197 uses 0.005, and 0.12 while an answer streams in; a compiler or test that
// computes uses 1 or more.
const busyShare = 0.05

// lives reports whether a program without a sign of life for Idle computes or is Alive.
func (p *process) lives(ctx context.Context) bool {
	p.family.record(ctx)
	return p.family.cpu.rested() >= time.Duration(busyShare*float64(p.Idle)) || p.Alive != nil && p.Alive(ctx)
}

// A silent program may read a stream, such as one long answer of a model; its connections then
// receive data. They are watched for a while before the program is ended. A provider's pings, some
// 40 bytes every quarter of a minute, stay below the rate; an answer of ten words a second is ten
// times above it.
const (
	streamWatch = 10 * time.Second
	streamRate  = 100 // bytes a second
)

// stream watches what a program's connections receive.
type stream struct {
	began    bool
	received uint64
	window   time.Duration
}

// flows starts to watch at its first call, and decides at the second whether enough was received in
// between.
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

// cpuMeter sums the computing time of a family. An ended program's time is missing from the sum
// until its parent has waited for it, so only growth counts.
type cpuMeter struct {
	sum, spent, rest time.Duration
}

func (m *cpuMeter) read(sum time.Duration) {
	m.spent += max(0, sum-m.sum)
	m.sum = sum
}

// rested returns the computing time since reset.
func (m *cpuMeter) rested() time.Duration { return m.spent - m.rest }

func (m *cpuMeter) reset() { m.rest = m.spent }

// measure sums computing time and memory of the family.
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

package proc

import (
	"context"
	"time"
)

// lookBeside starts slow checks of a run until stop. They run in parallel, because file systems
// mounted by the run may answer as slowly as they like.
func (p *process) lookBeside(ctx context.Context) (full <-chan struct{}, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	found := make(chan struct{})
	if p.disk != nil {
		go eachScan(ctx, func() bool {
			if !p.disk.passed(ctx) || ctx.Err() != nil {
				return false
			}
			close(found)
			return true
		})
	}
	if p.memory.most > 0 {
		go eachScan(ctx, func() bool {
			p.memory.lookAtFiles(p.family)
			return false
		})
	}
	return found, cancel
}

// eachScan calls last every second until it returns true or ctx ends.
func eachScan(ctx context.Context, last func() bool) {
	scan := time.NewTicker(scanInterval)
	defer scan.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-scan.C:
		}
		if last() {
			return
		}
	}
}

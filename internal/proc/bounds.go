package proc

import (
	"context"
	"time"
)

// lookBeside begins the looks at a run that may take their time, until stop. What
// the run mounted may answer them as it likes, so nobody waits for them.
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

// eachScan looks once a second until a look was the last, or the run is over.
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

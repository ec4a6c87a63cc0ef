package proc

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync/atomic"
	"syscall"
)

// Disk bounds what a run takes of the disk.
type Disk struct {
	Most  int64    // bytes; 0: no bound
	Whole []string // folders that count with all that is in them
	Grows []string // folders that count with what comes to them in the run
}

// diskMeter compares what a run takes with what it may take. To walk through
// folders takes time, so it does that where a file system has filled by as much
// as the run had left, and else now and then: somebody may have made room beside
// it.
type diskMeter struct {
	Disk
	pids   *atomic.Pointer[[]int] // of the run
	before int64                  // what stood in Grows
	taken  int64                  // at the last walk
	filled int64                  // of the file systems, at the last walk
	looks  int                    // since the last walk
	files  int                    // that it came by
}

// A walk comes at the earliest and at the latest so many looks after another;
// for each of so many files it came by, one look more.
const (
	walkLatest      = 30
	filesOfAnEarly  = 10_000
	filesOfTheLeast = 1_000
)

func newDiskMeter(ctx context.Context, d Disk, pids *atomic.Pointer[[]int]) *diskMeter {
	m := &diskMeter{Disk: d, pids: pids}
	m.before, m.files, _ = diskUse(ctx.Err, d.Grows)
	m.taken, _, _ = diskUse(ctx.Err, d.Whole)
	m.filled = m.full()
	return m
}

// passed looks once.
func (m *diskMeter) passed(ctx context.Context) bool {
	m.looks++
	grown := m.full() - m.filled
	if m.looks <= m.files/filesOfAnEarly || grown <= m.Most-m.taken && m.looks < walkLatest+m.files/filesOfTheLeast {
		return false
	}
	filled := m.full()
	n, files, err := diskUse(ctx.Err, slices.Concat(m.Whole, m.Grows))
	m.taken, m.files, m.filled, m.looks = n-m.before+m.removed(), files, filled, 0
	return err != nil || m.taken > m.Most
}

// removed is what files take that have no name any more, and that a process of
// the run holds open.
func (m *diskMeter) removed() int64 {
	if pids := m.pids.Load(); pids != nil {
		return openRemoved(*pids, slices.Concat(m.Whole, m.Grows))
	}
	return 0
}

// full is how full the file systems of the folders are, all together.
func (m *diskMeter) full() (sum int64) {
	seen := map[uint64]bool{}
	for _, dir := range slices.Concat(m.Whole, m.Grows) {
		if id, used, ok := fileSystem(dir); ok && !seen[id] {
			seen[id] = true
			sum += used
		}
	}
	return sum
}

// DiskUse is how many bytes folders take, and how many files they hold. Each
// file counts once, whatever names it has; what is mounted there does not. An error says that there is more than
// any path could name; what cannot be read for another reason does not count.
func DiskUse(dirs ...string) (sum int64, files int, err error) {
	return diskUse(func() error { return nil }, dirs)
}

func diskUse(stopped func() error, dirs []string) (sum int64, files int, err error) {
	seen := map[fileID]bool{}
	for _, dir := range dirs {
		root, _, known := fileSystem(dir)
		walked := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, syscall.ENAMETOOLONG):
				return err
			case err != nil:
				return nil //nolint:nilerr // gone, or not for us to read
			case stopped() != nil:
				return fs.SkipAll
			}
			info, err := d.Info()
			if err != nil {
				return nil //nolint:nilerr // gone
			}
			n, id, shared := blocks(info)
			if known && id.device != root && d.IsDir() {
				return fs.SkipDir
			}
			files++
			if shared && !d.IsDir() {
				if seen[id] {
					return nil
				}
				seen[id] = true
			}
			sum += n
			return nil
		})
		err = errors.Join(err, walked)
	}
	return sum, files, err
}

// fileID tells files apart.
type fileID struct{ device, number uint64 }

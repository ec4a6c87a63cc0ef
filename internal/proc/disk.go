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

// Disk limits how much disk a run may use.
type Disk struct {
	Most  int64    // bytes; 0: no limit
	Whole []string // folders that count with their whole content
	Grows []string // folders that count with what the run adds
}

// diskMeter compares a run's disk use with its limit. Walking through folders takes time, so it
// walks only once a file system has filled by as much as the run had left, and otherwise from time
// to time: something else may have freed space since.
type diskMeter struct {
	Disk
	pids   *atomic.Pointer[[]int] // of the run
	before int64                  // bytes in Grows before the run
	taken  int64                  // by the run, as of the last walk
	filled int64                  // use of the file systems at the last walk
	looks  int                    // since the last walk
	files  int                    // number of files in the last walk
}

// A walk comes at least files/filesOfAnEarly looks after the last one, and at most walkLatest +
// files/filesOfTheLeast looks.
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

// passed reports whether a walk, if one is due, found more than the limit.
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

// removed returns the size of deleted files that a process of the run holds open.
func (m *diskMeter) removed() int64 {
	if pids := m.pids.Load(); pids != nil {
		return openRemoved(*pids, slices.Concat(m.Whole, m.Grows))
	}
	return 0
}

// full returns how much of the folders' file systems is used, in total.
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

// DiskUse returns how many bytes folders use and how many files they hold. A file with several
// names counts once; other file systems mounted inside do not count. An error means that paths are
// too long to be read; files that cannot be read for other reasons are skipped.
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

// fileID identifies a file.
type fileID struct{ device, number uint64 }

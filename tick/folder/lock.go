package folder

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// FileLock is a lock that is held: a flock, which its holder's death ends. Its file is
// never deleted, and nothing in that proves that somebody lives.
type FileLock struct{ f *flock.Flock }

// Unlock releases the lock.
func (l FileLock) Unlock() { _ = l.f.Unlock() } // closing releases it in any case

// TryLock takes a lock if nobody holds it.
func TryLock(path string) (FileLock, bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return FileLock{}, false, fmt.Errorf("make the folder of locks: %w", err)
	}
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err := f.TryLock()
	if err != nil {
		return FileLock{}, false, fmt.Errorf("lock %q: %w", path, err)
	}
	return FileLock{f}, ok, nil
}

// lockPoll is how often a waiting pass asks for tick.lock again.
const lockPoll = 50 * time.Millisecond

// LockPlanning takes tick.lock, waiting for it only when told to.
func (d Dirs) LockPlanning(ctx context.Context, wait time.Duration) (FileLock, bool, error) {
	path := filepath.Join(d.locks(), "tick.lock")
	l, ok, err := TryLock(path)
	if ok || err != nil || wait <= 0 {
		return l, ok, err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f := flock.New(path, flock.SetPermissions(0o600))
	ok, err = f.TryLockContext(waiting, lockPoll)
	if ctx.Err() != nil {
		return FileLock{}, false, ctx.Err()
	}
	if err != nil && waiting.Err() == nil {
		return FileLock{}, false, fmt.Errorf("lock %q: %w", path, err)
	}
	return FileLock{f}, ok, nil
}

// Slot is one worker's place, held.
type Slot struct {
	K    int
	lock FileLock
	path string

	mu      sync.Mutex
	touched time.Time
}

func (d Dirs) slotPath(k int) string {
	return filepath.Join(d.locks(), fmt.Sprintf("slot-%d.lock", k))
}

// TakeSlot takes slot k if it is free.
func (d Dirs) TakeSlot(k int) (*Slot, bool, error) {
	path := d.slotPath(k)
	l, ok, err := TryLock(path)
	if err != nil || !ok {
		return nil, false, err
	}
	return &Slot{K: k, lock: l, path: path}, true, nil
}

// Announce writes what the slot is used for. Only holders of tick.lock take
// slots, so nobody reads the file between the lock and the announcement.
func (s *Slot) Announce(h work.Holder) error {
	b, err := json.Marshal(h)
	if err == nil {
		err = os.WriteFile(s.path, b, 0o600)
	}
	if err != nil {
		return fmt.Errorf("announce slot %d: %w", s.K, err)
	}
	s.Touch(h.Since)
	return nil
}

// touchEvery is how often at most a slot's file is touched: an agent may print
// thousands of lines in a second.
const touchEvery = time.Second

// Touch notes in the slot's file that its agent gave a sign of life. The file's time says
// so, and not what is in it, which others may be reading.
func (s *Slot) Touch(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := at.Sub(s.touched); at.IsZero() || d >= 0 && d < touchEvery {
		return
	}
	s.touched = at
	_ = os.Chtimes(s.path, at, at) // it is told to people, and decides nothing
}

// Release frees the slot.
func (s *Slot) Release() {
	_ = os.Truncate(s.path, 0) // tidiness; the lock is what counts
	s.lock.Unlock()
}

// HeldSlots says what runs in the slots whose locks are held. A slot beyond
// today's number of workers counts like any other.
func (d Dirs) HeldSlots() (map[int]work.Holder, error) {
	return d.heldSlots(func(string) bool { return true })
}

// named reports whether a slot's file names anything: a free slot's does not.
func named(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// heldSlots are those of the slots that are worth a look. A look takes a free slot for a
// moment, in which no pass can.
func (d Dirs) heldSlots(worth func(path string) bool) (map[int]work.Holder, error) {
	paths, err := filepath.Glob(filepath.Join(d.locks(), "slot-*.lock"))
	if err != nil {
		return nil, fmt.Errorf("list the slots: %w", err)
	}
	held := map[int]work.Holder{}
	for _, path := range paths {
		k, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(path), "slot-"), ".lock"))
		if err != nil || !worth(path) {
			continue
		}
		s, free, err := d.TakeSlot(k)
		if err != nil {
			return nil, err
		}
		if free {
			s.lock.Unlock()
			continue
		}
		var h work.Holder
		if b, err := os.ReadFile(path); err == nil {
			_ = json.Unmarshal(b, &h) // an unreadable announcement names nothing
		}
		held[k] = h
	}
	return held, nil
}

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

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// FileLock is a held lock: a flock, which ends when its process dies. Its file is never deleted;
// neither the file nor its content proves that a process is alive.
type FileLock struct {
	f     *flock.Flock
	named string // the file, if it names the holder
}

// Unlock releases the lock.
func (l FileLock) Unlock() {
	if l.named != "" && l.f.Locked() {
		_ = files.EmptyOwn(l.named)
	}
	_ = l.f.Unlock() // closing releases it in any case
}

// TryLock takes a lock if nobody holds it.
func TryLock(path string) (FileLock, bool, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return FileLock{}, false, fmt.Errorf("make the folder of locks: %w", err)
	}
	f := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDONLY|files.OpenSafely))
	ok, err := f.TryLock()
	if err != nil {
		return FileLock{}, false, fmt.Errorf("lock %q: %w", path, err)
	}
	return FileLock{f: f}, ok, nil
}

// lockPoll is the interval at which a waiting pass tries tick.lock.
const lockPoll = 50 * time.Millisecond

func (d Dirs) planningLock() string { return filepath.Join(d.locks(), "tick.lock") }

// LockPlanning takes tick.lock, which then names this process. It waits at most wait; 0: not at
// all.
func (d Dirs) LockPlanning(ctx context.Context, wait time.Duration, now time.Time) (FileLock, bool, error) {
	path := d.planningLock()
	l, ok, err := lockWithin(ctx, path, wait)
	if err == nil && ok {
		l.named = path
		_ = writeBeginning(path, begin(now)) // only shown; the lock counts
	}
	return l, ok, err
}

// lockWithin takes a lock. It waits at most wait for its holder; 0: not at all.
func lockWithin(ctx context.Context, path string, wait time.Duration) (FileLock, bool, error) {
	l, ok, err := TryLock(path)
	if ok || err != nil || wait <= 0 {
		return l, ok, err
	}
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f := flock.New(path, flock.SetPermissions(0o600), flock.SetFlag(os.O_CREATE|os.O_RDONLY|files.OpenSafely))
	ok, err = f.TryLockContext(waiting, lockPoll)
	if ctx.Err() != nil {
		return FileLock{}, false, ctx.Err()
	}
	if err != nil && waiting.Err() == nil {
		return FileLock{}, false, fmt.Errorf("lock %q: %w", path, err)
	}
	return FileLock{f: f}, ok, nil
}

// Slot is a worker's place, held.
type Slot struct {
	K    int
	lock FileLock
	path string
	then func() // what Release does last

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

// Announce writes the slot's use to its file. Only holders of tick.lock take slots, so no other
// pass reads the file before it is written.
func (s *Slot) Announce(h work.Holder) error {
	b, err := json.Marshal(h)
	if err == nil {
		err = files.WriteOwn(s.path, b)
	}
	if err != nil {
		return fmt.Errorf("announce slot %d: %w", s.K, err)
	}
	s.Touch(h.Since)
	return nil
}

// touchEvery limits how often a slot's file is touched: agents may print thousands of lines per
// second.
const touchEvery = time.Second

// Touch records activity of the slot's agent as the file's time. It leaves the content alone, which
// others may be reading.
func (s *Slot) Touch(at time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := at.Sub(s.touched); at.IsZero() || d >= 0 && d < touchEvery {
		return
	}
	s.touched = at
	_ = os.Chtimes(s.path, at, at) // shown to people only
}

// Then has Release call over last.
func (s *Slot) Then(over func()) { s.then = over }

// Release frees the slot.
func (s *Slot) Release() {
	_ = files.EmptyOwn(s.path) // cosmetic; only the lock counts
	s.lock.Unlock()
	if s.then != nil {
		s.then()
	}
}

// HeldSlots returns what runs in the held slots, including those beyond today's number of workers.
func (d Dirs) HeldSlots() (map[int]work.Holder, error) {
	return d.heldSlots(func(string) bool { return true })
}

// hasHolder reports whether a slot's file has content: a free slot's has none.
func hasHolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Size() > 0
}

// heldSlots returns the held slots among those worth a check. A check takes a free slot for a
// moment, in which no pass can take it.
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
		if b, err := files.ReadOwn(path); err == nil {
			_ = json.Unmarshal(b, &h) // an unreadable file names nothing
		}
		held[k] = h
	}
	return held, nil
}

// Live is a turn that a running pass works on, with this machine's times.
type Live struct {
	Turn         string // its key
	Slot         int
	Since        time.Time // when the pass took it; zero: unknown
	LastActivity time.Time // last activity of its agent, or when the pass took it
}

// LiveTurns returns the turns of running passes by key, as named by held slots. Only a held slot
// proves that a pass works on a turn; no row does.
func (d Dirs) LiveTurns() (map[string]Live, error) {
	held, err := d.heldSlots(hasHolder)
	if err != nil {
		return nil, err
	}
	live := map[string]Live{}
	for k, h := range held {
		if h.Turn == "" {
			continue
		}
		l := Live{Turn: h.Turn, Slot: k, Since: h.Since}
		if info, err := os.Lstat(d.slotPath(k)); err == nil {
			l.LastActivity = info.ModTime()
		}
		live[h.Turn] = l
	}
	return live, nil
}

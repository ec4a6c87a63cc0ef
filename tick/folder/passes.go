package folder

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The records of passes are at the top of the state folder, not in the database or below locks/: a
// pass that can use neither is recorded, too.
const (
	beginnings = "pass-*.lock" // one for each running pass: held while it runs, and empty once it has ended
	summary    = "passes.json" // a summed
	summing    = "passes.lock" // held while the summary is changed
)

// summed is the content of the summary.
type summed struct {
	work.LastPass
	Counted []work.Beginning `json:"counted"` // the latest passes in it: one that died before it emptied a file does not count it twice
	Failing work.Failings    `json:"failing"` // what passes print once an hour
}

// counted is how many passes the summary names: those whose files may not be empty yet, which the
// next pass empties.
const counted = 32

// has reports whether the summary has a pass already.
func (s summed) has(b work.Beginning) bool {
	return slices.ContainsFunc(s.Counted, func(c work.Beginning) bool { return c.PID == b.PID && c.At.Equal(b.At) })
}

// add notes passes that the summary has now.
func (s *summed) add(all ...work.Beginning) {
	s.Counted = append(s.Counted, all...)
	s.Counted = s.Counted[max(0, len(s.Counted)-counted):]
}

// sumWithin is how long a pass waits for another one to change the summary, which takes
// milliseconds.
const sumWithin = 5 * time.Second

// Begun is the record of a running pass. A nil Begun records nothing.
type Begun struct {
	dirs Dirs
	path string
	lock FileLock
	this work.Beginning
	died []work.Beginning // passes that ended without a word: this pass was the first to find them

	mu    sync.Mutex
	ended bool
	last  work.LastPass
	err   error
}

// BeginPass records that a pass begins, and counts passes that began and never ended as failures.
// A pass calls it before it opens anything else.
func (d Dirs) BeginPass(ctx context.Context, now time.Time) (*Begun, error) {
	b := &Begun{dirs: d, this: begin(now)}
	for k := 0; b.path == ""; k++ {
		path := filepath.Join(d.State, fmt.Sprintf("pass-%d.lock", k))
		l, ok, err := TryLock(path)
		if err != nil {
			return nil, err
		}
		if ok {
			b.lock, b.path = l, path
		}
	}
	err := b.count(ctx)
	if err == nil {
		err = writeBeginning(b.path, b.this)
	}
	if err != nil {
		b.lock.Unlock()
		return nil, err
	}
	return b, nil
}

// count counts the passes that died. It holds their locks until their files are empty: passes that
// begin at the same moment find the same ones, and take files whose lock is free.
func (b *Begun) count(ctx context.Context) error {
	if died, ok := readBeginning(b.path); ok {
		b.died = append(b.died, died)
	}
	var left []string
	var locks []FileLock
	defer func() {
		for _, l := range locks {
			l.Unlock()
		}
	}()
	err := b.dirs.eachBeginning(func(path string, at work.Beginning) {
		if !at.Gone || path == b.path {
			return
		}
		l, free, err := TryLock(path)
		if err != nil || !free {
			return // another pass counts it, or the next one does
		}
		locks = append(locks, l)
		if now, still := readBeginning(path); still && now.PID == at.PID && now.At.Equal(at.At) {
			b.died, left = append(b.died, at), append(left, path)
		}
	})
	if err != nil || len(b.died) == 0 {
		return err
	}
	_, err = b.dirs.sum(ctx, func(s *summed) {
		b.died = slices.DeleteFunc(b.died, s.has)
		s.LastPass = s.Died(b.died)
		s.add(b.died...)
	})
	for _, path := range left {
		err = errors.Join(err, files.EmptyOwn(path))
	}
	return err
}

// End records how the pass ended and returns the summary with it. Only the first call counts; later
// ones return the same.
func (b *Begun) End(ctx context.Context, outcome work.PassOutcome, at time.Time, why string, by work.FailedBy) (work.LastPass, error) {
	if b == nil {
		return work.LastPass{}.After(outcome, at, 0, why, by), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return b.last, b.err
	}
	b.ended = true
	b.last, b.err = b.dirs.sum(ctx, func(s *summed) {
		s.LastPass = s.After(outcome, at, at.Sub(b.this.At), why, by)
		s.add(b.this)
	})
	if b.err == nil {
		b.err = files.EmptyOwn(b.path)
	}
	if errors.Is(b.err, fs.ErrNotExist) { // the state folder was deleted under the pass, and the record of its beginning with it
		b.err = nil
	}
	b.lock.Unlock()
	return b.last, b.err
}

// Deaths returns the passes that this one found dead.
func (b *Begun) Deaths() []work.Beginning {
	if b == nil {
		return nil
	}
	return b.died
}

// Ended reports whether End was called.
func (b *Begun) Ended() bool {
	if b == nil {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.ended
}

// Passes reads what work.JudgePasses needs, without the schedule. It is the only reader of these
// facts.
func (d Dirs) Passes(limits work.PassLimits, now time.Time) (work.PassFacts, error) {
	f := work.PassFacts{Now: now, Limits: limits}
	_, f.Paused = d.Halted()
	last, err := d.readSummary()
	if err != nil {
		return f, err
	}
	f.Last, f.Planning = last.LastPass, d.stuckPlanning(limits.Plan, now)
	return f, d.eachBeginning(func(_ string, b work.Beginning) {
		if !last.has(b) {
			b.Stopped = !b.Gone && stopped(b.PID)
			f.Begun = append(f.Begun, b)
		}
	})
}

// stopped reports whether a process is stopped. The state follows the name in parentheses, which may
// contain anything. Other systems than Linux have no such file.
func stopped(pid int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err == nil && bytes.HasPrefix(b[bytes.LastIndexByte(b, ')')+1:], []byte(" T"))
}

// eachBeginning visits the passes that have begun and not ended.
func (d Dirs) eachBeginning(visit func(path string, b work.Beginning)) error {
	paths, err := fs.Glob(os.DirFS(d.State), beginnings)
	if err != nil {
		return fmt.Errorf("list the passes: %w", err)
	}
	for _, name := range paths {
		path := filepath.Join(d.State, name)
		b, ok := readBeginning(path)
		if !ok {
			continue
		}
		if l, free, err := TryLock(path); err == nil && free {
			again, still := readBeginning(path) // it may have ended, and another one begun
			l.Unlock()
			b.Gone = still && again == b
			if !b.Gone {
				continue
			}
		}
		visit(path, b)
	}
	return nil
}

// stuckPlanning returns the holder of tick.lock if it has it for longer than it may.
func (d Dirs) stuckPlanning(most time.Duration, now time.Time) *work.Beginning {
	path := d.planningLock()
	b, ok := readBeginning(path)
	if !ok || most <= 0 || now.Sub(b.At) <= most {
		return nil
	}
	l, free, err := TryLock(path)
	if err == nil && free { // a killed process left its name
		l.Unlock()
		return nil
	}
	if again, ok := readBeginning(path); err != nil || !ok || again != b { // another one has it by now
		return nil
	}
	return &b
}

// sum changes the summary and returns it.
func (d Dirs) sum(ctx context.Context, change func(*summed)) (work.LastPass, error) {
	l, ok, err := lockWithin(ctx, filepath.Join(d.State, summing), sumWithin)
	if err == nil && !ok {
		err = fmt.Errorf("another process has held %s for %s", filepath.Join(d.State, summing), sumWithin)
	}
	if err != nil {
		return work.LastPass{}, err
	}
	defer l.Unlock()
	s, err := d.readSummary()
	if err != nil {
		return s.LastPass, err
	}
	change(&s)
	b, err := json.Marshal(s)
	if err != nil {
		return s.LastPass, fmt.Errorf("write %s: %w", summary, err)
	}
	part := filepath.Join(d.State, summary+".tmp")
	if err := os.WriteFile(part, append(b, '\n'), 0o600); err != nil {
		return s.LastPass, err
	}
	return s.LastPass, os.Rename(part, filepath.Join(d.State, summary)) // not synced: a machine that stops loses one pass
}

// LastPass returns how the passes before ended.
func (d Dirs) LastPass() (work.LastPass, error) {
	s, err := d.readSummary()
	return s.LastPass, err
}

// Failing returns what passes have failed with, so that they print it once an hour. What cannot be read
// is printed again.
func (d Dirs) Failing() work.Failings {
	s, err := d.readSummary()
	if err != nil {
		return nil
	}
	return s.Failing
}

// NoteFailing changes that. A pass calls it after it printed: if it dies before, the next one prints the
// same again.
func (d Dirs) NoteFailing(ctx context.Context, change func(work.Failings) work.Failings) error {
	_, err := d.sum(ctx, func(s *summed) { s.Failing = change(s.Failing) })
	return err
}

// readSummary reads the summary. One that makes no sense, for example after a power cut, is none.
func (d Dirs) readSummary() (last summed, err error) {
	b, err := os.ReadFile(filepath.Join(d.State, summary))
	if errors.Is(err, fs.ErrNotExist) {
		return last, nil
	}
	if err == nil && json.Unmarshal(b, &last) != nil {
		last = summed{}
	}
	return last, err
}

// begin is the beginning of something in this process.
func begin(now time.Time) work.Beginning {
	return work.Beginning{PID: os.Getpid(), At: now.UTC().Round(0)}
}

func writeBeginning(path string, this work.Beginning) error {
	b, err := json.Marshal(this)
	if err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return files.WriteOwn(path, b)
}

// readBeginning reads who holds a lock, or did until it was killed; false: nobody.
func readBeginning(path string) (b work.Beginning, ok bool) {
	text, err := files.ReadOwn(path)
	return b, err == nil && json.Unmarshal(text, &b) == nil && b.PID > 0
}

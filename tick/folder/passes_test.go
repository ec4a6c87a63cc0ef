package folder

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Passes begin, end, overlap and die in any order: each one that died is counted once, when the next
// pass begins. Until then Passes lists it. A pass that dies after it has changed the summary, and
// before it has emptied the files of the passes in it, has counted them; so has one that ends like
// that.
func TestEveryPassThatDiesIsCountedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		state, err := os.MkdirTemp("", "passes")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(state)
		d, ctx, now := Dirs{State: state}, context.Background(), noon
		var running []*Begun
		failures, dead := 0, 0
		take := func() *Begun {
			if len(running) == 0 {
				t.Skip("none runs")
			}
			k := rapid.IntRange(0, len(running)-1).Draw(t, "which")
			b := running[k]
			running = append(running[:k:k], running[k+1:]...)
			return b
		}
		files := func() map[string][]byte {
			all := map[string][]byte{}
			paths, err := filepath.Glob(filepath.Join(state, beginnings))
			for _, path := range paths {
				if all[path], err = os.ReadFile(path); err != nil {
					break
				}
			}
			if err != nil {
				t.Fatal(err)
			}
			return all
		}
		refill := func(path string, text []byte) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"begin": func(t *rapid.T) {
				full := files()
				b, err := d.BeginPass(ctx, now)
				if err == nil && rapid.Bool().Draw(t, "it dies before it has emptied the files") {
					b.lock.Unlock()
					refill(b.path, nil)
					for path, text := range full {
						refill(path, text)
					}
					failures, dead = failures+dead, 0
					return
				}
				if err != nil || len(b.Deaths()) != dead {
					t.Fatalf("%v, %d; want %d", err, len(b.Deaths()), dead)
				}
				running, failures, dead = append(running, b), failures+dead, 0
			},
			"die": func(*rapid.T) { take().lock.Unlock(); dead++ },
			"end": func(t *rapid.T) {
				outcome := rapid.SampledFrom([]work.PassOutcome{work.PassNone, work.PassOK, work.PassFailed, work.PassWaiting, work.PassCancelled}).Draw(t, "outcome")
				b, full := take(), files()
				last, err := b.End(ctx, outcome, now, "broken", "")
				again, againErr := b.End(ctx, work.PassFailed, now, "again", "")
				if err != nil || againErr != nil || again != last {
					t.Fatal(err, againErr, again, last)
				}
				if outcome == work.PassFailed {
					failures++
				}
				if outcome == work.PassOK {
					failures = 0
				}
				if rapid.Bool().Draw(t, "it dies before it has emptied its file") {
					refill(b.path, full[b.path])
				}
			},
			"": func(t *rapid.T) {
				now = now.Add(time.Second)
				f, err := d.Passes(work.PassLimits{}, now)
				if err != nil || len(f.Begun) != len(running)+dead || f.Last.Failures != failures {
					t.Fatalf("%v: %+v; want %d running, %d dead, %d failures", err, f, len(running), dead, failures)
				}
				gone := 0
				for _, b := range f.Begun {
					if b.Gone {
						gone++
					}
				}
				if gone != dead || work.JudgePasses(f).Bad() != (failures+dead > 0) {
					t.Fatalf("%d of %d are gone: %+v", gone, dead, work.JudgePasses(f))
				}
			},
		})
		for _, b := range running {
			b.lock.Unlock()
		}
	})
}

// Whoever holds tick.lock for too long is named; a name that a killed process left is nobody's.
func TestWhoHoldsTickLockForTooLongIsNamed(t *testing.T) {
	d, limits := Dirs{State: t.TempDir()}, work.PassLimits{Plan: time.Minute}
	hangs := func(at time.Time) bool {
		t.Helper()
		f, err := d.Passes(limits, at)
		if err != nil {
			t.Fatal(err)
		}
		v := work.JudgePasses(f)
		if v.Code == work.PassesHang && !strings.Contains(v.Line(), fmt.Sprintf("process %d holds", os.Getpid())) {
			t.Error(v.Line())
		}
		return v.Code == work.PassesHang
	}
	l, ok, err := d.LockPlanning(t.Context(), 0, noon)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if hangs(noon.Add(time.Minute)) || !hangs(noon.Add(2*time.Minute)) {
		t.Error("held for one minute, then two")
	}
	if err := l.f.Unlock(); err != nil { // as when the process is killed
		t.Fatal(err)
	}
	if hangs(noon.Add(time.Hour)) {
		t.Error("its process was killed")
	}
	if l, ok, err = d.LockPlanning(t.Context(), 0, noon); err != nil || !ok {
		t.Fatal(ok, err)
	}
	l.Unlock()
	if b, err := os.ReadFile(d.planningLock()); err != nil || len(b) > 0 {
		t.Errorf("%q, %v", b, err)
	}
}

// A pass that cannot record its beginning does not begin; a summary that a power cut left in pieces
// is none.
func TestRecordsThatCannotBeUsed(t *testing.T) {
	d := Dirs{State: t.TempDir()}
	if err := os.WriteFile(filepath.Join(d.State, summary), []byte(`{"failures":`), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := d.BeginPass(t.Context(), noon)
	if err != nil {
		t.Fatal(err)
	}
	if last, err := b.End(t.Context(), work.PassFailed, noon, "x", ""); err != nil || last.Failures != 1 {
		t.Error(last, err)
	}
	broken := Dirs{State: filepath.Join(d.State, summary)} // a file
	if _, err := broken.BeginPass(t.Context(), noon); !errors.Is(err, os.ErrExist) && err == nil {
		t.Error("it began")
	}
}

// Passes that begin at the same moment find the same dead ones: each of these is counted once, and
// the beginning of none of those passes is erased.
func TestPassesThatBeginTogetherCountTheDeadOnce(t *testing.T) {
	const dead, together = 4, 6
	for range 40 {
		d := Dirs{State: t.TempDir()}
		var first []*Begun
		for k := range dead {
			b, err := d.BeginPass(t.Context(), noon.Add(time.Duration(k)))
			if err != nil {
				t.Fatal(err)
			}
			first = append(first, b)
		}
		for _, b := range first {
			b.lock.Unlock()
		}
		all := make([]*Begun, together)
		var wg sync.WaitGroup
		for k := range all {
			wg.Go(func() {
				b, err := d.BeginPass(t.Context(), noon.Add(time.Minute))
				if err != nil {
					t.Error(err)
				}
				all[k] = b
			})
		}
		wg.Wait()
		if t.Failed() {
			return
		}
		last, err := d.BeginPass(t.Context(), noon.Add(time.Minute)) // counts those whose locks others had for a moment
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, last)
		deaths := 0
		for _, b := range all {
			deaths += len(b.Deaths())
		}
		f, err := d.Passes(work.PassLimits{}, noon.Add(time.Minute))
		if err != nil || deaths != dead || f.Last.Failures != dead || len(f.Begun) != len(all) {
			t.Fatalf("%v: %d deaths, %d failures, %d running", err, deaths, f.Last.Failures, len(f.Begun))
		}
		for _, b := range all {
			b.lock.Unlock()
		}
	}
}

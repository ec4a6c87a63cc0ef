package git

import (
	"errors"
	"os/exec"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/hold"
)

func TestHold(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.check(w.mirror.Ensure(t.Context()))
	if held, oid, err := w.mirror.ReadHold(t.Context()); err != nil || oid != "" || held.By != "" {
		t.Fatalf("%+v at %q, %v", held, oid, err)
	}
	mine := hold.Hold{By: "one", Since: day, Until: day.Add(time.Hour)}
	oid, err := w.mirror.PutHold(t.Context(), mine, "")
	w.check(err)
	if held, at, err := w.mirror.ReadHold(t.Context()); err != nil || at != oid || held != mine {
		t.Fatalf("%+v at %q, %v", held, at, err)
	}

	_, err = w.mirror.PutHold(t.Context(), hold.Hold{By: "two"}, "")
	if _, taken := errors.AsType[*hold.TakenError](err); !taken {
		t.Errorf("taken from somebody: %v", err)
	}
	later := hold.Hold{By: "one", Since: day, Until: day.Add(2 * time.Hour)}
	next, err := w.mirror.PutHold(t.Context(), later, oid)
	w.check(err)
	_, err = w.mirror.PutHold(t.Context(), mine, oid)
	if _, taken := errors.AsType[*hold.TakenError](err); !taken {
		t.Errorf("moved from where it is not: %v", err)
	}
	if again, err := w.mirror.PutHold(t.Context(), later, next); err != nil || again != next {
		t.Errorf("what is there already is at %q, %v", again, err)
	}
	w.check(w.mirror.DropHold(t.Context(), next))
	w.check(w.mirror.DropHold(t.Context(), "")) // as an answer that was lost leaves it
	if _, oid, err := w.mirror.ReadHold(t.Context()); err != nil || oid != "" {
		t.Errorf("dropped, and at %q, %v", oid, err)
	}
}

// Of many machines that want a repository at once one gets it.
func TestOneGetsTheHold(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	var got atomic.Int32
	var wg sync.WaitGroup
	for _, by := range []string{"one", "two", "three", "four"} {
		m := w.git.Mirror(w.root+"/"+by+".git", w.remote, w.root+"/"+by+".lock")
		w.check(m.Ensure(t.Context()))
		wg.Go(func() {
			_, err := m.PutHold(t.Context(), hold.Hold{By: by}, "")
			if _, taken := errors.AsType[*hold.TakenError](err); err == nil {
				got.Add(1)
			} else if !taken {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("%d got it", got.Load())
	}
}

// What somebody else wrote there, or nobody can read, holds nobody up.
func TestAHoldThatCannotBeRead(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.check(w.mirror.Ensure(t.Context()))
	out, err := exec.Command("git", "-C", w.remote, "update-ref", hold.Ref, "refs/heads/main").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	held, oid, err := w.mirror.ReadHold(t.Context())
	if err != nil || held.By != "" || oid == "" {
		t.Fatalf("%+v at %q, %v", held, oid, err)
	}
	_, err = w.mirror.PutHold(t.Context(), hold.Hold{By: "one"}, oid)
	w.check(err)
}

// That merging is stopped is in the repository: the first reason stays, whichever machine asks
// sees it, and once it is resumed nobody does.
func TestMergingIsStoppedForAllMachines(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.check(w.mirror.Ensure(t.Context()))
	if why, stopped, err := w.mirror.ReadStop(t.Context()); err != nil || stopped || why != "" {
		t.Fatalf("%q, %t, %v", why, stopped, err)
	}
	w.check(w.mirror.PutStop(t.Context(), "x differs", day))
	w.check(w.mirror.PutStop(t.Context(), "y differs", day))
	other := w.git.Mirror(t.TempDir()+"/m.git", w.remote, t.TempDir()+"/lock")
	w.check(other.Ensure(t.Context()))
	if why, stopped, err := other.ReadStop(t.Context()); err != nil || !stopped || why != "x differs" {
		t.Fatalf("%q, %t, %v", why, stopped, err)
	}
	if held, at, err := other.ReadHold(t.Context()); err != nil || at != "" || !held.HasStop {
		t.Errorf("%+v holds it at %q, %v", held, at, err)
	}
	for _, was := range []bool{true, false} {
		if stopped, err := other.DropStop(t.Context()); err != nil || stopped != was {
			t.Errorf("it was stopped: %t, %v", stopped, err)
		}
	}
	if _, stopped, err := w.mirror.ReadStop(t.Context()); err != nil || stopped {
		t.Errorf("it is stopped: %t, %v", stopped, err)
	}
	if held, _, err := other.ReadHold(t.Context()); err != nil || held.HasStop {
		t.Errorf("it is stopped: %+v, %v", held, err)
	}
}

package ingest

import (
	"context"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/ahead"
)

// A prefetched list is not yet read by this pass: the read in its turn finds what an earlier pass
// left.
func TestWhatIsAskedInAdvanceIsNotKept(t *testing.T) {
	l := newPartialLists(&reading{})
	ctx, reads := ahead.With(t.Context(), time.Minute)
	ahead.Begin(ctx, func(ctx context.Context) { l.Keep(ctx, "talk", nil, nil) })
	reads.Stop()
	if l.begun["talk"] || len(l.read) != 0 {
		t.Errorf("begun %v, read %v", l.begun, l.read)
	}
	if l.Keep(ctx, "talk", nil, nil); !l.begun["talk"] || len(l.read) != 1 {
		t.Errorf("begun %v, read %v", l.begun, l.read)
	}
}

// A pull request that is taken in does not settle the lists of another, though both are of no
// issue.
func TestOneThatIsTakenInSettlesNoOther(t *testing.T) {
	l := newPartialLists(&reading{forgotten: map[int]bool{}})
	l.Keep(t.Context(), "threads of 3", nil, nil)
	l.settle(false, 3, 0)
	l.settle(true, 4, 0)
	if !l.needed(l.left["threads of 3"]) {
		t.Error("not needed any more")
	}
	l.settle(true, 3, 0)
	if l.needed(l.left["threads of 3"]) {
		t.Error("needed once it is taken in")
	}
}

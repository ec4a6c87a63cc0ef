package git

import (
	"os/exec"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/hold"
)

// A branch whose name ends like the ref's is not the ref.
func TestHoldBesideABranchOfItsName(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.check(w.mirror.Ensure(t.Context()))
	if out, err := exec.Command("git", "-C", w.remote, "update-ref", "refs/heads/"+hold.Ref, "refs/heads/main").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	if held, at, err := w.mirror.ReadHold(t.Context()); err != nil || at != "" {
		t.Errorf("nobody holds it, and %+v does at %q, %v", held, at, err)
	}
	mine := hold.Hold{By: "one", Since: day, Until: day.Add(time.Hour)}
	oid, err := w.mirror.PutHold(t.Context(), mine, "")
	w.check(err)
	if held, at, err := w.mirror.ReadHold(t.Context()); err != nil || at != oid || held != mine {
		t.Errorf("it is held by %+v at %q, %v", held, at, err)
	}
}

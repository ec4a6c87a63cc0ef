package git

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git/hold"
)

// A branch whose name ends like the ref's is not the ref, and nothing is pushed to it.
func TestHoldBesideABranchOfItsName(t *testing.T) {
	w := newWorld(t, map[string]string{"a": "1\n"})
	w.check(w.mirror.Ensure(t.Context()))
	if out, err := exec.Command("git", "-C", w.remote, "update-ref", "refs/heads/"+hold.Ref, "refs/heads/main").CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
	}
	if held, at, err := w.mirror.ReadHold(t.Context()); err == nil || !strings.Contains(err.Error(), "refs/heads/"+hold.Ref+" is in the way") {
		t.Errorf("it is held by %+v at %q, %v", held, at, err)
	}
	mine := hold.Hold{By: "one", Since: day, Until: day.Add(time.Hour)}
	if oid, err := w.mirror.PutHold(t.Context(), mine, ""); err == nil {
		t.Errorf("pushed %s", oid)
	}
	if now := w.cmd(w.remote, "rev-parse", "refs/heads/"+hold.Ref); now != w.cmd(w.remote, "rev-parse", "refs/heads/main") {
		t.Errorf("the branch is at %s", now)
	}
}

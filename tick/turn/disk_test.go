package turn

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/store"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A fault of the machine uses no attempt, not even the last one, and is told in no comment.
func TestAFaultOfTheMachineUsesNoAttempt(t *testing.T) {
	last := work.Turn{Kind: work.KindBugfixStart, Attempts: work.MaxAttempts - 1}
	for name, c := range map[string]struct {
		err  error
		want env.VerdictKind
	}{
		"our own file":    {&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, env.VerdictWait},
		"a quota":         {fmt.Errorf("restore: %w", syscall.EDQUOT), env.VerdictWait},
		"git":             {fmt.Errorf("fetch: %w", &work.MachineError{Err: errors.New("x"), Do: "y"}), env.VerdictWait},
		"during a push":   {&git.UnclearError{Err: &work.MachineError{Err: errors.New("x"), Do: "y"}}, env.VerdictWait},
		"the database":    {&store.DiskError{Err: errors.New("full")}, env.VerdictWait},
		"a read-only one": {&os.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, env.VerdictWait},
		"another of git":  {&git.CommandError{Command: "checkout", Code: 128, Stderr: "fatal: bad object"}, env.VerdictBlocked},
	} {
		got := classify(c.err, last, noon, time.Minute)
		if got.kind != c.want || got.kind == env.VerdictWait && got.why.Kind != work.WhyMachineFault {
			t.Errorf("%s: %s (%s), want %s", name, got.kind, got.why.Kind, c.want)
		}
	}
	// A turn that met a fault of the server waits for no time: the next pass has a database that answers.
	got := classify(&work.MachineError{Err: &store.ServerError{}, Do: "start it"}, last, noon, time.Minute)
	if !got.until.Equal(noon) || got.why.Kind != work.WhyMachineFault || !strings.HasPrefix(got.why.Local, "at "+work.Stamp(noon)+": ") || !strings.HasSuffix(got.why.Local, "start it") {
		t.Errorf("a fault of the server: until %s, %q", got.until, got.why.Local)
	}
}

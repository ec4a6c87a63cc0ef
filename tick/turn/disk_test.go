package turn

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/store"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A full disk uses no attempt, not even the last one.
func TestFullDiskUsesNoAttempt(t *testing.T) {
	last := work.Turn{Kind: work.KindBugfixStart, Attempts: work.MaxAttempts - 1}
	for name, c := range map[string]struct {
		err  error
		want env.VerdictKind
	}{
		"our own file":    {&os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, env.VerdictWait},
		"a quota":         {fmt.Errorf("restore: %w", syscall.EDQUOT), env.VerdictWait},
		"git":             {&git.CommandError{Command: "checkout", Code: 128, Stderr: "error: unable to write file x: No space left on device\n"}, env.VerdictWait},
		"the database":    {&store.DiskError{Err: errors.New("full")}, env.VerdictWait},
		"a read-only one": {&os.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, env.VerdictWait},
		"another of git":  {&git.CommandError{Command: "checkout", Code: 128, Stderr: "fatal: bad object"}, env.VerdictBlocked},
	} {
		if got := classify(c.err, last, noon, time.Minute); got.kind != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got.kind, got.reason, c.want)
		}
	}
}

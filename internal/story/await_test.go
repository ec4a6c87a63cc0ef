//go:build unix

package story

import (
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/rogpeppe/go-internal/testscript"
)

func cmdAwait(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await FILE")
	}
	name := ts.MkAbs(args[0])
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
	}
	ts.Fatalf("%s: not there", args[0])
}

// cmdAwaitStill waits until a file has not grown for a second: nobody writes to it any more. One
// that only rests, on a machine that is busy, passes for ended, too; one that has ended never
// fails.
func cmdAwaitStill(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-still FILE")
	}
	name, size, since := ts.MkAbs(args[0]), int64(-1), time.Now()
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(20 * time.Millisecond) {
		if now := sizeOf(ts, name); now != size {
			size, since = now, time.Now()
		}
		if time.Since(since) > time.Second {
			return
		}
	}
	ts.Fatalf("%s: somebody still writes to it", args[0])
}

// cmdAwaitMore waits until a file grows.
func cmdAwaitMore(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: await-more FILE")
	}
	name := ts.MkAbs(args[0])
	size := sizeOf(ts, name)
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(5 * time.Millisecond) {
		if sizeOf(ts, name) > size {
			return
		}
	}
	ts.Fatalf("%s: nobody wrote to it", args[0])
}

func sizeOf(ts *testscript.TestScript, name string) int64 {
	info, err := os.Stat(name)
	ts.Check(err)
	return info.Size()
}

func cmdAwaitLabel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await-label NUMBER LABEL")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(50 * time.Millisecond) {
		if slices.Contains(worldOf(ts).hub.Repo(worldOf(ts).repo()).Labels(n), args[1]) {
			return
		}
	}
	ts.Fatalf("#%d has no label %s", n, args[1])
}

func cmdAwaitDB(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await-db SQL WANT")
	}
	var rows [][]string
	var err error
	for begin := time.Now(); time.Since(begin) < testhome.Patience(); time.Sleep(20 * time.Millisecond) {
		if rows, err = query(worldOf(ts).stateDB(), args[0]); err == nil && len(rows) > 0 && rows[0][0] == args[1] {
			return
		}
	}
	ts.Fatalf("it gives %q, %v, and not %q", rows, err, args[1])
}

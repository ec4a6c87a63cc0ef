//go:build linux

package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// stubborn starts a process in its own session that ignores signals to end and writes its pid to a
// file.
func stubborn(file string) string {
	return `setsid -f /bin/sh -c 'trap "" TERM INT HUP; echo $$ >"$0"; while :; do sleep 0.1; done' "` + file + `" </dev/null >/dev/null 2>&1; until [ -s "` + file + `" ]; do sleep 0.01; done; `
}

// holds allocates megabytes in a shell.
func holds(megabytes int) string {
	return `x=$(head -c ` + strconv.Itoa(megabytes) + `000000 /dev/zero | tr '\0' x); sleep 60; :`
}

// Each limit ends a run with all its descendants and is named in the result.
func TestBoundsEndTheWholeTree(t *testing.T) {
	testhome.OnlyLong(t)
	const mib = 1 << 20
	in := t.TempDir()
	disk := func(most int64) func(*Cmd) {
		return func(c *Cmd) {
			c.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(c.Dir, "before"), make([]byte, 20*mib), 0o600); err != nil {
				t.Fatal(err)
			}
			c.Disk = Disk{Most: most, Grows: []string{c.Dir}}
		}
	}
	tests := []struct {
		name, script string
		bound        func(*Cmd)
		want         Limit
	}{
		{"one process grows", `exec tail /dev/zero`, func(c *Cmd) { c.MaxMemory = 100 * mib }, MemoryLimit},
		{"a child grows", `tail /dev/zero; echo after`, func(c *Cmd) { c.MaxMemory = 100 * mib }, MemoryLimit},
		{"a child in another session grows", `setsid -w tail /dev/zero; echo after`, func(c *Cmd) { c.MaxMemory = 100 * mib }, MemoryLimit},
		{"none is large, all are", `for i in 1 2 3 4; do (` + holds(40) + `) & done; wait`, func(c *Cmd) { c.MaxMemory = 100 * mib }, MemoryLimit},
		{"a file system in memory", `unshare -rm sh -c 'mount -t tmpfs none "$0" && head -c 150000000 /dev/zero >"$0/f" && sleep 60; :' ` + t.TempDir(), func(c *Cmd) { c.MaxMemory = 100 * mib }, MemoryLimit},
		{"too many processes", `for i in $(seq 50); do setsid sleep 60 & done; wait`, func(c *Cmd) { c.MaxProcesses = 30 }, ProcessLimit},
		{"standard error", `while :; do echo "a line that nobody reads" >&2; done`, func(c *Cmd) { c.MaxStderr = 100_000 }, StderrLimit},
		{"a file grows", `yes >grown`, disk(10 * mib), DiskLimit},
		{"many files do", `for i in 1 2 3 4 5; do mkdir -p d$i/e; head -c 5000000 /dev/zero >d$i/e/f; done; sleep 60; :`, disk(10 * mib), DiskLimit},
		{"a file without a name", `exec 5>gone; rm gone; head -c 20000000 /dev/zero >&5; sleep 60; :`, disk(10 * mib), DiskLimit},
		{"deeper than any path", `i=0; while [ $i -lt 30 ]; do n=$(printf %0200d $i); mkdir $n; cd $n; i=$((i+1)); done; head -c 20000000 /dev/zero >f; sleep 60; :`, disk(10 * mib), DiskLimit},
		{"what a folder had before", `head -c 5000000 /dev/zero >more; sleep 60; :`, func(c *Cmd) {
			before := t.TempDir()
			if err := os.WriteFile(filepath.Join(before, "f"), make([]byte, 6*mib), 0o600); err != nil {
				t.Fatal(err)
			}
			disk(10 * mib)(c)
			c.Disk.Whole = []string{before}
		}, DiskLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(in, strings.ReplaceAll(tt.name, " ", "-"))
			c := sh(stubborn(file) + tt.script)
			c.Wall, c.Mark = time.Minute, "MERGEXO_MARK="+file
			c.Env = append(c.Env, c.Mark)
			tt.bound(&c)
			began := time.Now()
			res := run(t, c)
			if res.Passed != tt.want || res.TimedOut != NoLimit {
				t.Errorf("ended at %q (%q) after %s with code %d", res.Passed, res.TimedOut, time.Since(began), res.Code)
			}
			if !dead(t, file) {
				t.Error("a process of the run lives on")
				endByFile(t, file)
			}
		})
	}
}

// Programs below their limits run to the end: shared memory counts once.
func TestBoundsSpareWhatIsBelow(t *testing.T) {
	testhome.OnlyLong(t)
	const mib = 1 << 20
	for name, script := range map[string]string{
		"little":                   `echo fine >&2; sleep 1.2`,
		"one file with many names": `head -c 4000000 /dev/zero >f; for i in 1 2 3 4; do ln f f$i; done; sleep 1.2; :`,
		"a covered file system":    `unshare -rm sh -c 'mkdir m && mount -t tmpfs none m && mount --rbind / m && sleep 1.2'`,
		"shared by forks":          `x=$(head -c 40000000 /dev/zero | tr '\0' x); for i in 1 2 3 4 5 6; do (sleep 1.2; :) & done; wait`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := sh(script)
			c.Dir = t.TempDir()
			if err := os.WriteFile(filepath.Join(c.Dir, "before"), make([]byte, 20*mib), 0o600); err != nil {
				t.Fatal(err)
			}
			c.Disk = Disk{Most: 10 * mib, Grows: []string{c.Dir}}
			c.Wall, c.MaxMemory, c.MaxStderr, c.MaxProcesses = time.Minute, 150*mib, 100, 30
			if res := run(t, c); res.Passed != NoLimit || res.Code != 0 {
				t.Errorf("ended at %q with code %d", res.Passed, res.Code)
			}
		})
	}
}

// A log gets no more standard error than the limit, until the program ends.
func TestErrorOutputInTheLogIsBounded(t *testing.T) {
	c := sh(`trap '' TERM; while :; do echo "a line that nobody reads" >&2; done`)
	var log bytes.Buffer
	c.Wall, c.MaxStderr, c.Stderr = time.Minute, 100_000, &log
	if res := run(t, c); res.Passed != StderrLimit || log.Len() != 100_000 || len(res.Stderr) != maxStderr {
		t.Errorf("ended at %q, %d bytes in the log, %d at hand", res.Passed, log.Len(), len(res.Stderr))
	}
}

// grownPart runs a program whose child leaves its family, drops its mark and grows.
func grownPart(t *testing.T, dir string) {
	file := filepath.Join(dir, "pid")
	c := leaver(file, "")
	c.Args[1] = strings.Replace(c.Args[1], "exec /bin/sleep 60", "exec tail /dev/zero", 1) + "; sleep 60; :"
	c.MaxMemory, c.Wall = 100<<20, 20*time.Second
	if res := run(t, c); res.Passed != MemoryLimit {
		t.Errorf("ended at %q (%q)", res.Passed, res.TimedOut)
	}
	if !dead(t, file) {
		t.Error("it lives on")
	}
}

// The memory of a process that left its family at once counts for its run.
func TestMemoryOfOrphansCounts(t *testing.T) {
	guarded(t, "grown", "PROC_TEST_DIR="+t.TempDir(), "PATH="+os.Getenv("PATH"))
}

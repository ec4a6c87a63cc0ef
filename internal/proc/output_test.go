//go:build unix

package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// toFile returns a script whose output goes to a file.
func toFile(t *testing.T, script string) Cmd {
	t.Helper()
	t.Setenv("TMPDIR", t.TempDir())
	c := sh(script)
	c.OutputFile = true
	return c
}

// untilSeen has a script wait until what it has said was read.
const untilSeen = `until [ -e "$SEEN" ]; do sleep 0.01; done; rm "$SEEN"; `

// linesSeen makes a file for each output that arrives.
type linesSeen struct {
	buf  bytes.Buffer
	file string
}

// sees has a command tell what arrives.
func sees(t *testing.T, c *Cmd) *linesSeen {
	t.Helper()
	l := &linesSeen{file: filepath.Join(t.TempDir(), "seen")}
	c.Env = append(c.Env, "SEEN="+l.file)
	c.Stdout = l
	return l
}

func (l *linesSeen) Write(b []byte) (int, error) {
	l.buf.Write(b)
	return len(b), os.WriteFile(l.file, nil, 0o600)
}

func TestOutputToAFileComesAsItIsWritten(t *testing.T) {
	c := toFile(t, `ls "$TMPDIR" | wc -l; `+untilSeen+`echo last; echo log >&2`)
	c.Wall, c.Env = time.Minute, append(c.Env, "TMPDIR="+os.Getenv("TMPDIR"))
	seen := sees(t, &c)
	res := run(t, c)
	if got := strings.Fields(string(res.Stdout)); len(got) != 2 || got[0] != "0" || got[1] != "last" || string(res.Stderr) != "log\n" {
		t.Errorf("said %q, logged %q", res.Stdout, res.Stderr)
	}
	if seen.buf.String() != string(res.Stdout) || res.TimedOut != NoLimit {
		t.Errorf("the copy is %q, ended by %q", seen.buf.String(), res.TimedOut)
	}
	if left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*")); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A program that truncates, reopens or seeks its output does not block or break its run, and output
// read before is kept.
func TestOutputThatIsTruncatedAgain(t *testing.T) {
	for script, want := range map[string]string{
		`echo one; ` + untilSeen + `: >/dev/stdout; echo two`:                           "one\ntwo\n",
		`echo one; ` + untilSeen + `echo two >/dev/stdout; ` + untilSeen + `echo three`: "one\ntwo\nthree\n",
		`echo one; ` + untilSeen + `echo two >>/dev/stdout`:                             "one\ntwo\n",
		`echo one; (exec 3<>/dev/stdout; cat <&3 >/dev/null); echo two`:                 "one\ntwo\n",
		`dd if=/dev/zero of=/dev/stdout bs=1 count=0 seek=9 2>/dev/null`:                strings.Repeat("\x00", 9),
		`echo only >/dev/stdout`: "only\n",
		`yes | head -c 300000 >/dev/null; echo end; (sleep 0.2; echo late) &`: "end\nlate\n",
	} {
		c := toFile(t, script)
		c.Wall = time.Minute
		sees(t, &c)
		if res := run(t, c); string(res.Stdout) != want || res.TimedOut != NoLimit || res.Code != 0 {
			t.Errorf("%s: said %q, %+v; want %q", script, res.Stdout, res, want)
		}
	}
}

// Too much output into a file ends the program as into a pipe, and does not fill the disk.
func TestFloodIntoAFileIsEnded(t *testing.T) {
	c := toFile(t, `trap '' TERM; while :; do head -c 1000000 /dev/zero; done`)
	c.MaxOutput, c.Wall, c.Grace = 100_000, time.Minute, 500*time.Millisecond
	most := make(chan int64)
	stop := make(chan struct{})
	go func() { most <- largestUnnamed(stop) }()
	res := run(t, c)
	close(stop)
	if !res.Truncated || len(res.Stdout) != 100_000 || res.TimedOut != NoLimit {
		t.Errorf("truncated %v, %d bytes, limit %q", res.Truncated, len(res.Stdout), res.TimedOut)
	}
	if n := <-most; n > 1<<30 {
		t.Errorf("the file grew to %d bytes", n)
	}
}

// largestUnnamed returns the largest size of our open files without a name.
func largestUnnamed(stop chan struct{}) (most int64) {
	for {
		select {
		case <-stop:
			return most
		case <-time.After(20 * time.Millisecond):
		}
		open, _ := filepath.Glob("/proc/self/fd/*")
		for _, fd := range open {
			if to, err := os.Readlink(fd); err != nil || !strings.HasSuffix(to, "(deleted)") {
				continue
			}
			if info, err := os.Stat(fd); err == nil {
				most = max(most, info.Size())
			}
		}
	}
}

func TestOutputFileHoldsTheLimitExactly(t *testing.T) {
	for script, cut := range map[string]bool{`printf 12345`: false, `printf 123456`: true} {
		c := toFile(t, script)
		c.MaxOutput = 5
		if res := run(t, c); res.Truncated != cut || string(res.Stdout) != "12345" {
			t.Errorf("%s: %+v", script, res)
		}
	}
}

// Without a temporary folder a program still runs.
func TestOutputWithoutATemporaryFolder(t *testing.T) {
	c := toFile(t, `echo said`)
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	if res := run(t, c); string(res.Stdout) != "said\n" || res.Code != 0 {
		t.Errorf("%+v", res)
	}
}

//go:build unix

package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/cmd"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// program is how gh-mergexo is started.
type program struct {
	path string
	env  []string
}

// role tells the test binary to be another program.
const role = "MERGEXO_BENCH_ROLE"

// The other programs that the test binary is.
const (
	rolePass  = "pass"  // gh-mergexo itself
	roleMeter = "meter" // runs its arguments and prints a reading
)

func TestMain(m *testing.M) {
	config.TimingsVariable = timingsVariable
	switch os.Getenv(role) {
	case rolePass:
		code := cmd.Main(cmd.Env{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Version: "v0.0.0-test", Now: momentOf(os.Getenv(momentVariable))})
		tellObjects(os.Getenv(objectsVariable))
		os.Exit(code)
	case roleMeter:
		os.Exit(meter(os.Args[1:]))
	}
	if os.Getenv("MERGEXO_BENCH") != "" {
		os.Exit(m.Run()) // what is measured is measured on a disk
	}
	os.Exit(testhome.RunInMemory(m))
}

// objectsVariable names the file into which gh-mergexo writes how many objects it allocated.
const objectsVariable = "MERGEXO_BENCH_OBJECTS"

func tellObjects(path string) {
	if path == "" {
		return
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if err := os.WriteFile(path, []byte(strconv.FormatUint(m.Mallocs, 10)), 0o600); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

// momentVariable tells gh-mergexo at which moment of the world's it begins.
const momentVariable = "MERGEXO_BENCH_MOMENT"

// momentOf is a clock that begins at a moment; without one it is this machine's.
func momentOf(text string) func() time.Time {
	begin, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return nil
	}
	since := time.Now()
	return func() time.Time { return begin.Add(time.Since(since)) }
}

// self is gh-mergexo as the test binary has it: nothing needs to be built.
func self(t *testing.T) program {
	t.Helper()
	path, err := os.Executable()
	must(t, err)
	return program{path, []string{role + "=" + rolePass}}
}

// tick makes a pass that has nothing to say.
func (w *world) tick(t *testing.T) {
	t.Helper()
	if out := w.work(t); len(out) > 0 {
		t.Fatalf("tick: %s", out)
	}
}

// work makes a pass. Programs that it finds, such as git, are in the environment that
// is given beside the world's.
func (w *world) work(t *testing.T, environ ...string) []byte {
	t.Helper()
	return w.workOn(t, 0, environ...)
}

// workOn is work on one of the machines.
func (w *world) workOn(t *testing.T, machine int, environ ...string) []byte {
	t.Helper()
	c := exec.CommandContext(t.Context(), w.program.path, "tick")
	c.Env = slices.Concat(w.environOf(machine), w.program.env, environ)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("tick: %v\n%s", err, out)
	}
	return out
}

// reading is what one run of a program took.
type reading struct {
	Wall time.Duration
	CPU  time.Duration // user and system
	Peak int64         // resident bytes
	Exit int           // its exit code
}

// meter runs a program. A process of its own does this because on Linux a child
// begins with its parent's peak, and that of a test with a hub in it is large.
func meter(args []string) int {
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), role+"=")
	c.Stdin, c.Stderr = os.Stdin, os.Stderr
	start := time.Now()
	err := c.Run()
	wall := time.Since(start)
	if c.ProcessState == nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	r := reading{Wall: wall, CPU: c.ProcessState.UserTime() + c.ProcessState.SystemTime(), Exit: c.ProcessState.ExitCode()}
	if usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage); ok {
		r.Peak = int64(usage.Maxrss) // kilobytes, but bytes on a Mac
		if runtime.GOOS != "darwin" {
			r.Peak <<= 10
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		return 1
	}
	return 0
}

// measure runs a program once in the world. path is its PATH.
func (w *world) measure(t *testing.T, path string, args ...string) reading {
	t.Helper()
	return w.measureWith(t, nil, path, args...)
}

// measureWith is measure of a program that reads its standard input.
func (w *world) measureWith(t *testing.T, input []byte, path string, args ...string) reading {
	t.Helper()
	r := w.meter(t, input, path, args...)
	if r.Exit != 0 {
		t.Fatalf("%v: exit code %d", args, r.Exit)
	}
	return r
}

// meter measures a program, however it ends.
func (w *world) meter(t *testing.T, input []byte, path string, args ...string) reading {
	t.Helper()
	test, err := os.Executable()
	must(t, err)
	c := exec.CommandContext(t.Context(), test, args...)
	c.Env = append(w.environ(), role+"="+roleMeter, "PATH="+path)
	c.Stdin, c.Stderr = bytes.NewReader(input), os.Stderr
	out, err := c.Output()
	must(t, err)
	var r reading
	must(t, json.Unmarshal(out, &r))
	return r
}

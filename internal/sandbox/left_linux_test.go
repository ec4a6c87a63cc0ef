//go:build linux && amd64

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// TestDetachPart runs inside. It takes the death signal off the first process of the namespace, wipes
// that one's environment, hides it from all who may not trace it, and writes on.
func TestDetachPart(t *testing.T) {
	if os.Getenv("SANDBOX_TEST_DETACH") == "" {
		t.Skip("a part of another test")
	}
	runtime.LockOSThread()
	if err := syscall.PtraceAttach(1); err != nil {
		t.Fatal(err)
	}
	if _, err := syscall.Wait4(1, nil, 0, nil); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile("/proc/1/stat")
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(stat))
	from, _ := strconv.ParseUint(fields[49], 10, 64)
	to, _ := strconv.ParseUint(fields[50], 10, 64)
	if _, err := syscall.PtracePokeData(1, uintptr(from), make([]byte, to-from)); err != nil {
		t.Fatal(err)
	}
	var was syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(1, &was); err != nil {
		t.Fatal(err)
	}
	const deathSignal, dumpable, instruction = 1, 4, 2 // of prctl(2); bytes of the instruction "syscall"
	for _, option := range []uint64{deathSignal, dumpable} {
		now := was
		now.Rip, now.Rax, now.Orig_rax, now.Rdi, now.Rsi = was.Rip-instruction, syscall.SYS_PRCTL, ^uint64(0), option, 0
		if err := syscall.PtraceSetRegs(1, &now); err != nil {
			t.Fatal(err)
		}
		if err := syscall.PtraceSingleStep(1); err != nil {
			t.Fatal(err)
		}
		if _, err := syscall.Wait4(1, nil, 0, nil); err != nil {
			t.Fatal(err)
		}
		if err := syscall.PtraceGetRegs(1, &now); err != nil || now.Rax != 0 {
			t.Fatalf("prctl %d: %d, %v", option, int64(now.Rax), err)
		}
	}
	if err := syscall.PtraceSetRegs(1, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.PtraceDetach(1); err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range open {
		if to, _ := os.Readlink("/proc/self/fd/" + fd.Name()); strings.Contains(to, "origin") {
			t.Fatalf("the record is open at %s", fd.Name())
		}
	}
	t.Fatal(syscall.Exec("/bin/sh", []string{"sh", "-c", "while :; do echo alive >>left; sleep 0.02; done"}, []string{}))
}

// TestPassPart is a pass that runs an agent.
func TestPassPart(t *testing.T) {
	line := strings.Split(os.Getenv("SANDBOX_TEST_LINE"), "\x01")
	if len(line) < 2 {
		t.Skip("a part of another test")
	}
	_, err := proc.Run(t.Context(), proc.Cmd{
		Path: line[0], Args: line[1:], Dir: os.Getenv("SANDBOX_TEST_DIR"), Env: []string{"SANDBOX_TEST_DETACH=1", testMark}, Mark: testMark,
		Stdout: os.Stdout, Stderr: os.Stdout, Wall: time.Minute, DieWithParent: true, Sandbox: true,
	})
	t.Fatal(err)
}

const testMark = "MERGEXO_MARK=detached"

// What detached itself in a sandbox survives its pass, and no mark shows it. The next pass finds it by
// the record of the run, and ends nothing of another run, another start of the system or another
// process with that pid.
func TestWhatDetachedItselfIsFound(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	w.job.Mark = testMark
	argv, _, err := tool.Wrap(w.box, []string{os.Args[0], "-test.run=^TestDetachPart$"}, w.job)
	if err != nil {
		t.Fatal(err)
	}
	pass := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPassPart$")
	pass.Env = append(os.Environ(), "SANDBOX_TEST_DIR="+w.dir, "SANDBOX_TEST_LINE="+strings.Join(argv, "\x01"))
	var said strings.Builder
	pass.Stdout, pass.Stderr = &said, &said
	if err := pass.Start(); err != nil {
		t.Fatal(err)
	}
	lives := func() bool {
		size := func() int64 {
			info, err := os.Stat(filepath.Join(w.dir, "left"))
			if err != nil {
				return 0
			}
			return info.Size()
		}
		before := size()
		for range 50 {
			time.Sleep(20 * time.Millisecond)
			if size() > before {
				return true
			}
		}
		return false
	}
	for n := 0; !lives(); n++ {
		if n == 20 {
			_ = pass.Process.Kill()
			_ = pass.Wait()
			t.Fatalf("nothing was started: %s", said.String())
		}
	}
	if err := pass.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = pass.Wait()
	parents := []string{filepath.Dir(w.dir)}
	record := recordIn(Around(w.dir))
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	defer EndLeft(t.Context(), parents, testMark)
	if _, err := proc.EndMarked(t.Context(), testMark); err != nil || !lives() {
		t.Fatalf("its mark shows it, and so this test shows nothing (%v)", err)
	}
	for old, changed := range map[string]string{
		proc.Boot(): "another", testMark: "MERGEXO_MARK=another", `"child-pid": `: `"child-pid": 1`, ") S ": ") S 1 ", ") R ": ") R 1 ",
	} {
		forged := strings.Replace(string(text), old, changed, 1)
		if forged == string(text) {
			continue
		}
		if err := os.WriteFile(record, []byte(forged), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := EndLeft(t.Context(), parents, testMark); n != 0 || !lives() {
			t.Fatalf("with %q: ended %d", changed, n)
		}
	}
	if err := os.WriteFile(record, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if n := EndLeft(t.Context(), parents, testMark); n != 1 || lives() {
		t.Errorf("ended %d with the record %s", n, text)
	}
	if n := EndLeft(t.Context(), parents, testMark); n != 0 {
		t.Errorf("and %d again", n)
	}
}

// A run that is over leaves nothing: what detached itself ends before its folders are removed.
func TestWhatDetachedItselfEndsWithItsRun(t *testing.T) {
	tool, w := tool(t), elsewhere(t)
	argv, _, err := tool.Wrap(w.box, []string{"/bin/sleep", "300"}, work.Job{Dir: w.dir, For: work.RunsAgent})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	for n := 0; ; n++ {
		if text, _ := os.ReadFile(recordIn(Around(w.dir))); strings.Contains(string(text), "child-pid") && strings.HasSuffix(strings.TrimSpace(string(text)), "}") {
			break
		}
		if n == 3000 {
			t.Fatal("no record")
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.box.Leave(work.Job{Dir: w.dir, For: work.RunsAgent})
	select {
	case err := <-ended:
		if err == nil {
			t.Error("it ended by itself")
		}
	case <-time.After(testhome.Patience()):
		_ = c.Process.Kill()
		t.Error("it runs on")
	}
}

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"unsafe"
)

// openPart prints which descriptors are open in programs started by Run and by Detach.
func openPart(t *testing.T, dir string) {
	if os.Getenv("PROC_TEST_LISTED") != "" { // as without close_range
		closeOnExecListed()
	}
	const list = `for n in 0 1 2 3 4 5 6 7 8 9; do if [ -e /proc/self/fd/$n ]; then printf '%s ' $n; fi; done; echo end`
	res := run(t, sh(list))
	fmt.Printf("run: %s\n", res.Stdout)
	log := dir + "/log"
	if err := Detach(t.Context(), "/bin/sh", []string{"-c", list}, nil, dir, appendTo(t, log)); err != nil {
		t.Fatal(err)
	}
	waitFor(t, log)
	b, err := os.ReadFile(log)
	fmt.Printf("detached: %s %v\n", b, err)
}

// A folder left open by our parent would lead past a sandbox: no program that we start inherits it,
// by either way of closing.
func TestInheritedDescriptorsReachNobody(t *testing.T) {
	folder, err := os.Open("/")
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	for _, way := range []string{"", "PROC_TEST_LISTED=1"} {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGuardedPart$")
		cmd.Env = append(os.Environ(), "PROC_TEST_PART=open", "PROC_TEST_UNGUARDED=1", "PROC_TEST_DIR="+t.TempDir(), way)
		cmd.ExtraFiles = []*os.File{folder, folder, folder, folder, folder} // 3 to 7
		out := outputOf(t, cmd)
		if !strings.Contains(out, "run: 0 1 2 end") || !strings.Contains(out, "detached: 0 1 2 end") {
			t.Errorf("%q: %s", way, out)
		}
	}
}

// From keyctl(2).
const (
	sessionKeyring = ^uintptr(2) // -3
	keyctlSearch   = 10
)

// The test's key, as C strings and as content.
var (
	keyType   = []byte("user\x00")
	keyName   = []byte("mergexo-test\x00")
	keySecret = []byte("secret")
)

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(&b[0])) }

// keyPart looks for a key as a program started by Run.
func keyPart(t *testing.T, _ string) {
	if os.Getenv("PROC_TEST_SEARCH") != "" {
		_, _, errno := syscall.Syscall6(syscall.SYS_KEYCTL, keyctlSearch, sessionKeyring, address(keyType), address(keyName), 0, 0)
		fmt.Printf("search: %v.\n", errno)
		return
	}
	for _, own := range []bool{false, true} {
		res, err := Run(t.Context(), Cmd{
			Path: os.Args[0], Args: []string{"-test.run=^TestGuardedPart$"}, OwnKeyring: own,
			Env: []string{"PROC_TEST_PART=key", "PROC_TEST_SEARCH=1", "PROC_TEST_UNGUARDED=1"},
		})
		fmt.Printf("own %v: %s%v\n", own, res.Stdout, err)
	}
}

// An agent cannot access the keys of our session.
func TestKeysOfOurSessionAreOutOfReach(t *testing.T) {
	type outcome struct {
		out string
		err error
	}
	done := make(chan outcome)
	go func() { // on its own thread, whose session keyring the part gets
		runtime.LockOSThread()
		if _, _, errno := syscall.RawSyscall(syscall.SYS_KEYCTL, keyctlJoinSessionKeyring, 0, 0); errno != 0 {
			done <- outcome{err: errno}
			return
		}
		if _, _, errno := syscall.Syscall6(syscall.SYS_ADD_KEY, address(keyType), address(keyName), address(keySecret), uintptr(len(keySecret)), sessionKeyring, 0); errno != 0 {
			done <- outcome{err: errno}
			return
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestGuardedPart$")
		cmd.Env = append(os.Environ(), "PROC_TEST_PART=key", "PROC_TEST_UNGUARDED=1")
		out, _ := cmd.CombinedOutput()
		done <- outcome{out: string(out)}
	}()
	got := <-done
	if got.err != nil {
		t.Skip("the system gives no key to tests: ", got.err)
	}
	ours, own, _ := strings.Cut(got.out, "own true: ")
	if !strings.Contains(ours, "search: errno 0.") {
		t.Fatalf("the test's own key is not found: %s", got.out)
	}
	if !strings.Contains(own, "search: required key not available.") {
		t.Errorf("with a keyring of its own: %s", own)
	}
}

//go:build linux

package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// From keyctl(2).
const (
	userKeyring    = ^uintptr(3) // -4
	processKeyring = ^uintptr(1) // -2
	keyctlGetID    = 0
	keyctlLink     = 8
	keyctlRead     = 11
	keyctlRevoke   = 3
)

func keyctl(op, a, b, c uintptr) (uintptr, syscall.Errno) {
	n, _, errno := syscall.Syscall6(syscall.SYS_KEYCTL, op, a, b, c, 0, 0)
	return n, errno
}

// TestKeysPart runs inside: it opens the user's keyring by its number and reads a key in it.
func TestKeysPart(t *testing.T) {
	ring, err := strconv.Atoi(os.Getenv("SANDBOX_TEST_RING"))
	if err != nil {
		t.Skip("a part of another test")
	}
	key, err := strconv.Atoi(os.Getenv("SANDBOX_TEST_KEY"))
	if err != nil {
		t.Fatal(err)
	}
	_, linked := keyctl(keyctlLink, uintptr(ring), processKeyring, 0)
	var b [100]byte
	n, read := keyctl(keyctlRead, uintptr(key), uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if read != 0 {
		n = 0
	}
	_, _, add := syscall.Syscall6(syscall.SYS_ADD_KEY, 0, 0, 0, 0, 0, 0)
	_, _, request := syscall.Syscall6(syscall.SYS_REQUEST_KEY, 0, 0, 0, 0, 0, 0)
	fmt.Printf("linked: %d, read %d %q, add %d, request %d.\n", linked, read, b[:n], add, request)
}

// An agent cannot access keys of the user's keyring by name or number, nor any system call for
// keys.
func TestKeysOfTheUserAreOutOfReach(t *testing.T) {
	tool, w := tool(t), newWorld(t)
	if tool.Kind != work.SandboxBwrap {
		t.Skip("no keyrings here")
	}
	kind, name, secret := []byte("user\x00"), []byte("mergexo-test\x00"), []byte("canary")
	key, _, errno := syscall.Syscall6(syscall.SYS_ADD_KEY, uintptr(unsafe.Pointer(&kind[0])), uintptr(unsafe.Pointer(&name[0])),
		uintptr(unsafe.Pointer(&secret[0])), uintptr(len(secret)), userKeyring, 0)
	if errno != 0 {
		t.Skip("the system gives no key to tests: ", errno)
	}
	defer func() { _, _ = keyctl(keyctlRevoke, key, 0, 0) }()
	ring, errno := keyctl(keyctlGetID, userKeyring, 1, 0)
	if errno != 0 {
		t.Skip("the system gives no keyring to tests: ", errno)
	}
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(w.dir, "part")
	if err := os.WriteFile(program, self, 0o700); err != nil {
		t.Fatal(err)
	}
	w.env = []string{fmt.Sprintf("SANDBOX_TEST_RING=%d", int32(ring)), fmt.Sprintf("SANDBOX_TEST_KEY=%d", int32(key))}
	out := w.exec(tool, program, "-test.run=^TestKeysPart$")
	const absent = int(syscall.ENOSYS)
	if want := fmt.Sprintf("linked: %d, read %d %q, add %d, request %d.", absent, absent, "", absent, absent); !strings.Contains(out, want) {
		t.Errorf("got %s, want %s", out, want)
	}
	if out := w.exec(tool, "/bin/sh", "-c", "ls -l /proc/self/fd | grep -v ' [012] -> \\|/proc/'; echo; echo done"); strings.Contains(out, "->") {
		t.Errorf("a descriptor is open: %s", out)
	}
}

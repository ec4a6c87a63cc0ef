//go:build unix

package story

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestRealGh runs the stories in testdata/realgh, in which the real gh installs
// a checkout as an extension and talks to the hub. script/real-gh calls it; CI
// does. Beside the other commands its stories have
//
//	checkout DIR   a clone of this repository with what is not committed yet
func TestRealGh(t *testing.T) {
	if os.Getenv("MERGEXO_REAL_GH") == "" {
		t.Skip("needs gh, and builds the program: script/real-gh runs it")
	}
	if _, err := exec.LookPath("gh"); err != nil {
		t.Fatal(err)
	}
	compileOnce(t)
	cmds := commands()
	cmds["checkout"] = cmdCheckout
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "..", "testdata", "realgh"),
		Setup: func(e *testscript.Env) error {
			if err := setUp(e, t); err != nil {
				return err
			}
			e.Values[worldKey{}].(*world).clock.run() // so does the binary's
			e.Setenv("PLATFORM", runtime.GOOS+"-"+runtime.GOARCH)
			return passGo(e)
		},
		Cmds:                cmds,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

// sameAnywhere has go build forget in which folder it compiles, as a release's does. Otherwise each
// story's checkout would be compiled again from its first package to the last.
const sameAnywhere = "-trimpath"

// compileOnce compiles the program as the stories do, before they all do it side by side.
func compileOnce(t *testing.T) {
	t.Helper()
	build := exec.Command("go", "build", sameAnywhere, "-o", os.DevNull, "../../cmd/gh-mergexo", "../../cmd/gh-mergexo-demo")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// passGo lets go build find its caches although HOME is another, and the checkout too.
func passGo(e *testscript.Env) error {
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOFLAGS", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		return fmt.Errorf("ask go for its caches: %w", err)
	}
	values := strings.Split(string(out), "\n")
	for i, name := range names {
		e.Setenv(name, values[i])
	}
	e.Setenv("GOFLAGS", strings.TrimSpace(e.Getenv("GOFLAGS")+" "+sameAnywhere))
	return nil
}

func cmdCheckout(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: checkout DIR")
	}
	source, err := filepath.Abs(filepath.Join("..", ".."))
	ts.Check(err)
	ts.Check(checkout(source, ts.MkAbs(args[0])))
}

// checkout clones a repository and lays over it what is not committed yet.
func checkout(source, dir string) error {
	clone := exec.Command("git", "clone", "--quiet", "--no-hardlinks", "--", source, dir)
	if out, err := clone.CombinedOutput(); err != nil {
		return fmt.Errorf("git clone: %w: %s", err, out)
	}
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = source
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range bytes.SplitSeq(bytes.TrimSuffix(out, []byte{0}), []byte{0}) {
		if err := copyFile(filepath.Join(source, string(name)), filepath.Join(dir, string(name))); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if errors.Is(err, fs.ErrNotExist) { // deleted, and that not committed
		return os.RemoveAll(to)
	}
	if err != nil {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, b, info.Mode().Perm())
}

//go:build unix

package story

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
)

// condition knows [race] and [sandbox]. CI on Linux may lack the program, but one that is
// there must work: the stories about it are not to be skipped unseen.
func condition(name string) (bool, error) {
	switch name {
	case "race":
		return raceDetector, nil
	case "sandbox":
	default:
		return false, fmt.Errorf("unknown condition %q", name)
	}
	path := os.Getenv("PATH")
	_, err := sandbox.Find(context.Background(), path)
	if _, missing := proc.LookPath("bwrap", path); err != nil && missing == nil && runtime.GOOS == "linux" && os.Getenv("CI") == "true" {
		return false, fmt.Errorf("the sandbox of this CI: %w", err)
	}
	return err == nil, nil
}

// Below a temporary folder, where the other stories play, a sandbox sees nothing
// of a home anyway; so this one plays again where homes are.
func TestL48SandboxOutsideTemporaryFolders(t *testing.T) {
	root := ""
	for _, parent := range []string{"/var/lib", "/opt", os.Getenv("HOME")} {
		dir, err := os.MkdirTemp(parent, "mx")
		if err == nil && !strings.HasPrefix(dir, "/tmp") {
			root = dir
			break
		}
	}
	if root == "" {
		t.Skip("no folder outside the temporary ones may be written")
	}
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	p := params(t)
	p.Files = []string{filepath.Join("..", "..", "testdata", "script", "L48_sandbox.txtar")}
	p.WorkdirRoot = root
	testscript.Run(t, p)
}

//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestChoose(t *testing.T) {
	bwrap, none := Tool{Kind: work.SandboxBwrap}, errors.New("bwrap is not installed")
	for _, c := range []struct {
		asked   work.Sandbox
		own     Own
		missing error
		want    work.Sandbox // empty: blocked
	}{
		{work.SandboxAuto, NoneOfItsOwn, nil, work.SandboxBwrap},
		{work.SandboxAuto, HasItsOwn, nil, work.SandboxBwrap},
		{work.SandboxAuto, HasItsOwn, none, work.SandboxAgent},
		{work.SandboxAuto, NoneOfItsOwn, none, work.SandboxNone},
		{work.SandboxAuto, NeedsOne, nil, work.SandboxBwrap},
		{work.SandboxAuto, NeedsOne, none, ""},
		{work.SandboxNone, NeedsOne, none, work.SandboxNone},
		{work.SandboxAgent, NeedsOne, none, ""},
		{work.SandboxBwrap, HasItsOwn, nil, work.SandboxBwrap},
		{work.SandboxBwrap, HasItsOwn, none, ""},
		{work.SandboxMac, NoneOfItsOwn, nil, ""},
		{work.SandboxAgent, HasItsOwn, nil, work.SandboxAgent},
		{work.SandboxAgent, NoneOfItsOwn, nil, ""},
		{work.SandboxNone, HasItsOwn, nil, work.SandboxNone},
		{work.SandboxRequired, HasItsOwn, nil, work.SandboxBwrap},
		{work.SandboxRequired, NoneOfItsOwn, none, ""},
		{work.SandboxRequired, HasItsOwn, none, ""}, // its own hides no file
	} {
		got, err := Choose(c.asked, c.own, bwrap, c.missing)
		_, blocked := errors.AsType[*work.BlockedError](err)
		if got.Kind != c.want || blocked != (c.want == "") {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

func TestFindSaysWhatIsMissing(t *testing.T) {
	if _, err := Find(t.Context(), "/nowhere"); err == nil || !strings.Contains(err.Error(), "is not installed") {
		t.Errorf("err = %v", err)
	}
	if runtime.GOOS != "linux" {
		return
	}
	dir := t.TempDir()
	script := "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, "bwrap"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(t.Context(), dir+":"+os.Getenv("PATH")); err == nil || !strings.Contains(err.Error(), "does not work: bwrap: No permissions") {
		t.Errorf("err = %v", err)
	}
}

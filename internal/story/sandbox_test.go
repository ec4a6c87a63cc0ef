//go:build unix

package story

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/internal/testpg"
)

// condition knows [race], [mounts] and [sandbox]. CI on Linux may lack the program, but one that is
// there must work: the stories about it are not to be skipped unseen.
func condition(name string) (bool, error) {
	switch name {
	case "race":
		return raceDetector, nil
	case "mounts":
		return canMount(), nil
	case "postgres":
		return testpg.Set(), nil
	case "cron":
		return canCron(), nil
	case "bash-completion":
		_, err := os.Stat("/usr/share/bash-completion/bash_completion")
		return err == nil, nil
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

//go:build unix

package story

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"howett.net/plist"
)

// cmdExtension makes a gh that has this program as its extension, and a login that needs
// no variable.
func cmdExtension(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: extension")
	}
	w := worldOf(ts)
	dir := filepath.Join(w.work, "gh-bin")
	self, err := program("gh-mergexo")
	ts.Check(err)
	script := fmt.Sprintf(`#!/bin/sh
case "$1 $2" in
"auth token") echo %s ;;
"--version ") echo 'gh version 2.60.0 (2024-10-31)' ;;
"mergexo "*) shift && %s=%s %s=%s GH_TOKEN=%s exec %s "$@" ;;
*) exit 1 ;;
esac
`, w.token, clockVariable, w.clock.path, timingsVariable, w.config.timed(), w.token, self)
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(os.WriteFile(filepath.Join(dir, "gh"), []byte(script), 0o755))
	ts.Setenv("PATH", strings.Join([]string{dir, filepath.Dir(self), "/usr/local/bin", "/usr/bin", "/bin"}, ":"))
	ts.Setenv("GH_TOKEN", "")
	ts.Setenv("XDG_RUNTIME_DIR", w.work) // where the folder systemd is the session's
}

// cmdFire does what launchd does when the interval of a job is over: nothing while the
// job runs; and when the job has ended, what is left of its process group is killed,
// unless the property list says otherwise.
func cmdFire(ts *testscript.TestScript, neg bool, args []string) {
	w := worldOf(ts)
	lists, err := filepath.Glob(filepath.Join(w.home(), "Library/LaunchAgents/*.plist"))
	if neg || len(args) > 0 || err != nil || len(lists) != 1 {
		ts.Fatalf("usage: fire, with one property list there: %q, %v", lists, err)
	}
	if w.job != nil {
		select {
		case <-w.job:
		default:
			fmt.Fprintln(ts.Stdout(), "skipped")
			return
		}
	}
	var job struct {
		ProgramArguments     []string
		EnvironmentVariables map[string]string
		AbandonProcessGroup  bool
	}
	text, err := os.ReadFile(lists[0])
	ts.Check(err)
	_, err = plist.Unmarshal(text, &job)
	ts.Check(err)
	c := exec.Command(job.ProgramArguments[0], job.ProgramArguments[1:]...)
	c.Dir, c.SysProcAttr = "/", &syscall.SysProcAttr{Setpgid: true}
	for name, value := range job.EnvironmentVariables {
		c.Env = append(c.Env, name+"="+value)
	}
	ts.Check(c.Start())
	ended := make(chan struct{})
	w.job = ended
	go func() {
		defer close(ended)
		_ = c.Wait()
		if !job.AbandonProcessGroup {
			_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		}
	}()
	select {
	case <-ended: // long before the next firing
	case <-time.After(jobTime):
	}
	fmt.Fprintln(ts.Stdout(), "started")
}

// jobTime is how long a job takes at most that lets go of its pass.
const jobTime = 5 * time.Second

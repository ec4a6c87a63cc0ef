//go:build unix

package story

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cmdGitCalls counts the git processes that the program starts, from the first time on: it puts a
// git first on PATH that notes its arguments and becomes the real one. What agents start, and git
// itself, does not count. It prints what was started since the last time, a line each; with MOST it
// fails when that is more, or nothing at all.
func cmdGitCalls(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: git-calls [MOST]")
	}
	w := worldOf(ts)
	dir := filepath.Join(w.work, "git-bin")
	log := filepath.Join(w.work, "git.log")
	if path := ts.Getenv("PATH"); !strings.HasPrefix(path, dir+":") {
		ts.Check(putCountingGit(dir, log))
		ts.Setenv("PATH", dir+":"+path)
	}
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		ts.Check(err)
	}
	ts.Check(os.RemoveAll(log))
	var calls []string
	for line := range strings.Lines(string(text)) {
		if call, ours := ourCall(strings.TrimSuffix(line, "\n")); ours {
			calls = append(calls, call)
		}
	}
	list := strings.Join(calls, "\n") + "\n"
	fmt.Fprint(ts.Stdout(), list)
	if len(args) == 0 {
		return
	}
	most, err := strconv.Atoi(args[0])
	ts.Check(err)
	if len(calls) > most || len(calls) == 0 {
		ts.Fatalf("%d git processes were started, at most %d are allowed, and at least one:\n%s", len(calls), most, list)
	}
}

func putCountingGit(dir, log string) error {
	real, err := exec.LookPath("git")
	if err != nil {
		return err
	}
	script := fmt.Sprintf("#!/bin/sh\nprintf '%%s\\037' \"$@\" | tr '\\n' ' ' >>%q\necho >>%[1]q\nexec %q \"$@\"\n", log, real)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "git"), []byte(script), 0o755)
}

// ourCall is what a noted call does, without the options in front of it; the program's own begin
// with a setting.
func ourCall(line string) (call string, ours bool) {
	args := strings.Split(strings.TrimSuffix(line, "\037"), "\037")
	if len(args) < 2 || args[0] != "-c" || !strings.HasPrefix(args[1], "core.hooksPath=") {
		return "", false
	}
	for len(args) > 1 && args[0] == "-c" {
		args = args[2:]
	}
	return strings.Join(args, " "), true
}

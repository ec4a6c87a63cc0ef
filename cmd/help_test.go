package cmd

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/text"
	"github.com/spf13/cobra"
)

func TestHelpFitsATerminal(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		path := strings.Fields(c.CommandPath())[2:] // of "gh mergexo"
		code, stdout, stderr := run(t, append(path, "--help")...)
		if code != 0 || stderr != "" {
			t.Errorf("%q: code %d, %q", path, code, stderr)
		}
		for line := range strings.Lines(stdout) {
			if n := text.DisplayWidth(strings.TrimSuffix(line, "\n")); n > helpWidth {
				t.Errorf("%q: a line of %d: %s", path, n, line)
			}
		}
		for _, sub := range c.Commands() {
			if sub.IsAvailableCommand() {
				walk(sub)
			}
		}
	}
	a := &app{env: Env{}, now: time.Now}
	walk(newRootCmd(a))
}

func TestCompletionSaysWhatItCompletes(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		_, stdout, _ := run(t, "completion", shell, "--help")
		for _, part := range []string{"gh mergexo completion " + shell, "gh-mergexo", "gh completes its own commands only"} {
			if !strings.Contains(stdout, part) {
				t.Errorf("%s: no %q in:\n%s", shell, part, stdout)
			}
		}
		if strings.Contains(stdout, "gh-mergexo completion") {
			t.Errorf("%s: a command that is not there:\n%s", shell, stdout)
		}
	}
}

func TestMissingConfigNamesTheNextCommand(t *testing.T) {
	dir := t.TempDir()
	_, _, stderr := run(t, "status", "--config", filepath.Join(dir, "config.toml"))
	if strings.Contains(stderr, "mkdir") || !strings.Contains(stderr, "gh mergexo config --example >") {
		t.Errorf("the folder is there: %q", stderr)
	}
	_, _, stderr = run(t, "status", "--config", filepath.Join(dir, "new", "config.toml"))
	if !strings.Contains(stderr, `mkdir -p "`+filepath.Join(dir, "new")+`" && gh mergexo config --example >`) {
		t.Errorf("the folder is not there: %q", stderr)
	}
}

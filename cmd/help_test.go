package cmd

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/text"
	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/demo"
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
	a := &app{&cli.App{Now: time.Now}}
	walk(newRootCmd(a))
}

// What commands do begins in one column, however long a name is.
func TestHelpHasOneColumn(t *testing.T) {
	_, stdout, _ := run(t, "--help")
	short, long := "Run one pass and exit", "Print a script that completes commands for a shell"
	if at := columnOf(stdout, short); at < 0 || at != columnOf(stdout, long) {
		t.Errorf("%q begins at %d, %q at %d", short, at, long, columnOf(stdout, long))
	}
}

// The first page of the help fits a screen: who opens it looks for a name.
func TestHelpFitsAScreen(t *testing.T) {
	_, stdout, _ := run(t, "--help")
	if n := strings.Count(stdout, "\n"); n > 50 {
		t.Errorf("%d lines", n)
	}
	besideVerbs := 0
	for _, c := range Tree(demo.Commands).Commands() {
		if c.IsAvailableCommand() && c.GroupID != groupItem {
			besideVerbs++
		}
	}
	if besideVerbs > 16 {
		t.Errorf("%d commands beside those for one item", besideVerbs)
	}
}

func columnOf(help, part string) int {
	for line := range strings.Lines(help) {
		if at := strings.Index(line, part); at >= 0 {
			return at
		}
	}
	return -1
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
	missing := filepath.Join(t.TempDir(), "config.toml")
	_, _, stderr := run(t, "status", "--config", missing)
	if !strings.Contains(stderr, "gh mergexo --config "+missing+" init") {
		t.Errorf("%q", stderr)
	}
}

// A command that is named is made alone, and is the same as among the others.
func TestACommandIsMadeAlone(t *testing.T) {
	for _, m := range commands(&app{&cli.App{Now: time.Now}}) {
		if made := m.make(); made.Name() != m.name {
			t.Errorf("what is called %q makes %q", m.name, made.Name())
		}
		alone := newRootCmd(&app{&cli.App{Now: time.Now, Env: Env{Demo: demo.Commands, Args: []string{m.name}}}})
		if n := len(alone.Commands()); n > 2 { // cobra adds help
			t.Errorf("for %q there are %d commands", m.name, n)
		}
		_, lone, _ := run(t, m.name, "--help")
		var among bytes.Buffer
		whole := newRootCmd(&app{&cli.App{Now: time.Now, Env: Env{Demo: demo.Commands, Stdout: &among, Stderr: &among}}})
		whole.SetArgs([]string{m.name, "--help"})
		if err := whole.Execute(); err != nil || lone != among.String() || lone == "" {
			t.Errorf("the help of %s differs from that among the others: %v\n%s\n%s", m.name, err, lone, among.String())
		}
	}
}

// An extension has no demo: it says how to get one, with what was typed.
func TestTheDemoIsInAClone(t *testing.T) {
	for typed, want := range map[string]string{"demo": "./gh-mergexo demo", "demo --serve --addr localhost:8080": "./gh-mergexo demo --serve --addr localhost:8080"} {
		var problems bytes.Buffer
		if code := Main(Env{Args: strings.Fields(typed), Stdout: io.Discard, Stderr: &problems}); code != 1 ||
			problems.String() != "gh mergexo: the demo is in a clone, which builds it with Go:\n  "+cloneFirst+"\n  "+want+"\n" {
			t.Errorf("%s: code %d\n%s", typed, code, &problems)
		}
	}
}

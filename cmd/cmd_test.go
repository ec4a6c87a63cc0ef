package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, problems bytes.Buffer
	code = Main(Env{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems, Version: "v1.2.3", Demo: demo.Commands})
	return code, out.String(), problems.String()
}

func TestHelpAndVersion(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"USAGE\n  gh mergexo <command> [flags]", "LOOK\n", "  status:", "EXAMPLES\n"}},
		{[]string{"--help"}, []string{"LOOK"}},
		{[]string{"help", "status"}, []string{"gh mergexo status [flags]", "INHERITED FLAGS\n", "--config file", "JSON fields: day, items, outages, passes, paused, repositories."}},
		{[]string{"status", "--help"}, []string{"FLAGS\n", "--json fields"}},
		{[]string{"version"}, []string{"gh mergexo v1.2.3 ("}},
		{[]string{"--version"}, []string{"gh mergexo v1.2.3 ("}},
		{[]string{"completion", "bash"}, []string{"complete", "gh-mergexo"}},
	} {
		code, stdout, stderr := run(t, c.args...)
		if code != 0 || stderr != "" {
			t.Errorf("%q: code %d, stderr %q", c.args, code, stderr)
		}
		for _, part := range c.want {
			if !strings.Contains(stdout, part) {
				t.Errorf("%q: no %q in:\n%s", c.args, part, stdout)
			}
		}
	}
}

func TestWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"stauts"}, []string{`gh mergexo: there is no command "stauts"; did you mean status?`, "see gh mergexo --help\n"}},
		{[]string{"status", "--nope"}, []string{"gh mergexo: unknown flag: --nope\nsee gh mergexo status --help\n"}},
		{[]string{"status", "--jsn", "items"}, []string{"unknown flag: --jsn; did you mean --json?"}},
		{[]string{"tick", "--dryrun"}, []string{"unknown flag: --dryrun; did you mean --dry-run?"}},
		{[]string{"version", "--confg", "x"}, []string{"unknown flag: --confg; did you mean --config?"}},
		{[]string{"status", "extra"}, []string{"gh mergexo: status is about all work items; about one: gh mergexo show extra\nsee gh mergexo status --help\n"}},
		{[]string{"config", "print"}, []string{`gh mergexo: config takes no "print"; as in: gh mergexo config` + "\n"}},
		{[]string{"show"}, []string{"gh mergexo: say which one; as in: gh mergexo show octo/repo#12. A shell takes #12 for a comment: type 12\nsee gh mergexo show --help\n"}},
		{[]string{"completion", "tcsh"}, []string{`gh mergexo: completion has no command "tcsh"; it has bash, fish, powershell, zsh` + "\nsee gh mergexo completion --help\n"}},
		{[]string{"completion", "bsh"}, []string{"did you mean bash?"}},
		{[]string{"uninstall"}, []string{"did you mean schedule remove?"}},
		{[]string{"cost"}, []string{"did you mean report cost?"}},
		{[]string{"sandbox"}, []string{"did you mean doctor --sandbox?"}},
		{[]string{"stauts", "--json", "items"}, []string{`there is no command \"stauts\"; did you mean status?`}},
		{[]string{"prompts", "lst"}, []string{`gh mergexo: prompts has no command "lst"; it has list, show; did you mean list?`, "see gh mergexo prompts --help\n"}},
		{[]string{"help", "prompts", "shwo"}, []string{`prompts has no command "shwo"; it has list, show; did you mean show?`}},
		{[]string{"unhold", "octo/app#1"}, []string{"did you mean resume?"}},
		{[]string{"run"}, []string{"did you mean tick?"}},
		{[]string{"frobnicate"}, []string{"gh mergexo: there is no command \"frobnicate\"\n"}},
		{[]string{"help", "stauts"}, []string{`gh mergexo: there is no command "stauts"; did you mean status?`, "see gh mergexo help --help\n"}},
		{[]string{"show", "octo/repo#12", "13"}, []string{`gh mergexo: show takes no "13" after "octo/repo#12"; as in: gh mergexo show octo/repo#12` + "\n"}},
		{[]string{"pause"}, []string{"gh mergexo: say which one, or --all; as in: gh mergexo pause octo/repo#12. A shell takes #12 for a comment: type 12\n"}},
		{[]string{"resume"}, []string{"gh mergexo: say which one, or --all; as in: gh mergexo resume octo/repo#12. A shell takes #12 for a comment: type 12\n"}},
		{[]string{"replan", "1"}, []string{`gh mergexo: replan needs <why> after "1"; as in: gh mergexo replan octo/repo#12 the parser has to come first` + "\n"}},
		{[]string{"followup", "1"}, []string{`gh mergexo: followup needs <n> after "1"; as in: gh mergexo followup octo/repo#12 1` + "\n"}},
		{[]string{"cancel"}, []string{"gh mergexo: say which one; as in: gh mergexo cancel octo/repo#12. A shell takes #12 for a comment: type 12\n"}},
		{[]string{"prompts", "show"}, []string{"gh mergexo: say which one; as in: gh mergexo prompts show bugfix_start octo/repo#12\n"}},
		{[]string{"status", "--json"}, []string{`specify one or more comma-separated fields for ` + "`--json`" + `:\n  day\n  items\n  outages\n`}},
	} {
		code, stdout, stderr := run(t, c.args...)
		if code != 1 || stdout != "" {
			t.Errorf("%q: code %d, stdout %q", c.args, code, stdout)
		}
		for _, part := range c.want {
			if !strings.Contains(stderr, part) {
				t.Errorf("%q: no %q in:\n%s", c.args, part, stderr)
			}
		}
		if strings.Contains(stderr, "Flags:") {
			t.Errorf("%q: what is wrong stands above a list of flags:\n%s", c.args, stderr)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("broken"), 1},
		{fmt.Errorf("tick: %w", context.Canceled), 2},
		{context.DeadlineExceeded, 1},
		{fmt.Errorf("tick: %w", &transport.NotLoggedInError{Host: "github.com"}), 4},
	} {
		if got := exitCode(c.err); got != c.want {
			t.Errorf("%v: %d, want %d", c.err, got, c.want)
		}
	}
}

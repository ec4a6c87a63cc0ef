package cmd

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/demo"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// One rule for all that is printed: an error as well.
func TestErrorsAreLegible(t *testing.T) {
	code, stdout, stderr := run(t, "red\x1b[31m\u009b31m \u202e\x07\b\r")
	if code != exitError || strings.ContainsAny(stdout+stderr, "\x1b\u009b\u202e\x07\b\r") || !strings.Contains(stderr, "red") {
		t.Errorf("%d: %q, %q", code, stdout, stderr)
	}
}

type person struct {
	Name string `json:"name"`
	Age  int    `json:"age"`
}

// jsonCommand is a command with the JSON fields "name" and "age".
func jsonCommand(out terminal.Output) *cobra.Command {
	a := &cli.App{}
	c := a.WithJSON(person{}, &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true})
	c.RunE = func(*cobra.Command, []string) error {
		return a.JSON.Write(out, person{"<octo>", 7})
	}
	return c
}

func TestJSONFlags(t *testing.T) {
	for _, c := range []struct {
		args, want string
		err        string
	}{
		{args: "--json name", want: `{"name":"<octo>"}` + "\n"},
		{args: "--json name,age", want: `{"age":7,"name":"<octo>"}` + "\n"},
		{args: "--json name --jq .name", want: "<octo>\n"},
		{args: "--json", err: "specify one or more comma-separated fields for `--json`:\n  age\n  name"},
		{args: "--json=", err: "specify one or more comma-separated fields for `--json`:\n  age\n  name"},
		{args: "--json nam", err: "unknown JSON field: \"nam\"\navailable fields:\n  age\n  name"},
		{args: "--jq .name", err: "cannot use `--jq` without specifying `--json`"},
	} {
		t.Run(c.args, func(t *testing.T) {
			var b bytes.Buffer
			command := jsonCommand(terminal.Output{Bare: &b})
			command.SetArgs(strings.Fields(c.args))
			err := command.ExecuteContext(t.Context())
			if b.String() != c.want || (err == nil) != (c.err == "") || (err != nil && err.Error() != c.err) {
				t.Errorf("got %q, %v; want %q, %q", b.String(), err, c.want, c.err)
			}
		})
	}
}

// every calls do with each command of the program that can be run, and its arguments.
func every(t *testing.T, do func(c *cobra.Command, args []string)) {
	t.Helper()
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Runnable() && c.Name() != "help" && c.Name() != "__complete" && c.Name() != "__completeNoDesc" {
			do(c, strings.Fields(c.CommandPath())[2:])
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(Tree(demo.Commands))
}

// TestWrongFlagsAreToldInOurWords: of each flag of each command, what is wrong is said with what to
// type, not in the words of the libraries that parse flags.
func TestWrongFlagsAreToldInOurWords(t *testing.T) {
	tried := 0
	every(t, func(c *cobra.Command, args []string) {
		c.Flags().VisitAll(func(f *pflag.Flag) {
			for name := range f.Annotations {
				if strings.Contains(name, "cobra") {
					t.Errorf("%s: --%s has %s, which cobra reports in its own words", c.CommandPath(), f.Name, name)
				}
			}
			const unknown = "--no-such-flag" // behind what may be right, so that nothing runs
			wrong := [][]string{{"--" + f.Name + "=no such thing", unknown}, {"--" + f.Name + "x", unknown}, {"--=" + f.Name, unknown}, {"-" + f.Name[:1] + "-", unknown}}
			if f.NoOptDefVal == "" { // it takes a value
				wrong = append(wrong, []string{"--" + f.Name})
			}
			for _, typed := range wrong {
				_, _, stderr := run(t, append(slices.Clip(args), typed...)...)
				for _, theirs := range []string{"flag needs an argument", "invalid argument", "bad flag syntax", "shorthand", "parse error", "strconv", "if any flags", "required flag"} {
					if strings.Contains(stderr, theirs) {
						t.Errorf("%s %q: %s", c.CommandPath(), typed, stderr)
					}
				}
				tried++
			}
		})
	})
	if tried < 100 {
		t.Errorf("only %d flags were tried", tried)
	}
}

// TestAnErrorIsPrintedOnce: with --json as one line of JSON, without as text.
func TestAnErrorIsPrintedOnce(t *testing.T) {
	tried := 0
	every(t, func(c *cobra.Command, args []string) {
		fields := cli.JSONFields(c)
		if len(fields) == 0 {
			return
		}
		with := [][]string{{"--json"}, {"--json", "nothing"}, {"--json", fields[0], "--no-such-flag"}}
		for _, typed := range with {
			code, _, stderr := run(t, append(slices.Clip(args), typed...)...)
			if code != 0 && (strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, `{"error":{"code":`)) {
				t.Errorf("%s %q: %q", c.CommandPath(), typed, stderr)
			}
			tried++
		}
		if code, _, stderr := run(t, append(slices.Clip(args), "--no-such-flag")...); code == 0 || strings.Contains(stderr, "{") || !strings.HasPrefix(stderr, "gh mergexo: ") {
			t.Errorf("%s: %d, %q", c.CommandPath(), code, stderr)
		}
	})
	if tried < 50 {
		t.Errorf("only %d command lines were tried", tried)
	}
}

// TestAFlagTypedAsACommandIsFound: a word that is the name of one command's flag points there.
func TestAFlagTypedAsACommandIsFound(t *testing.T) {
	for word, want := range map[string]string{"watch": "did you mean status --watch?", "dry-run": "did you mean tick --dry-run?", "serve": "did you mean demo --serve?"} {
		if _, _, stderr := run(t, word); !strings.Contains(stderr, want) {
			t.Errorf("%s: %q, want %q", word, stderr, want)
		}
	}
}

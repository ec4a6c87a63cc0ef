package cmd

import (
	"bytes"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/cmd/cli"

	"github.com/spf13/cobra"

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
		{args: "--json age -t {{.age}}!", want: "7!"},
		{args: "--json", err: "specify one or more comma-separated fields for `--json`:\n  age\n  name"},
		{args: "--json=", err: "specify one or more comma-separated fields for `--json`:\n  age\n  name"},
		{args: "--json nam", err: "unknown JSON field: \"nam\"\navailable fields:\n  age\n  name"},
		{args: "--jq .name", err: "cannot use `--jq` without specifying `--json`"},
		{args: "-t x", err: "cannot use `--template` without specifying `--json`"},
		{args: "--json age --jq . -t x", err: "specify only one of `--jq` and `--template`"},
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

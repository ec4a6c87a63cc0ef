package cmd

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
)

func TestWhenIsExactForPrograms(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	then := now.Add(-2 * time.Hour)
	for _, c := range []struct {
		tty  bool
		at   time.Time
		want string
	}{
		{false, then, "2026-11-21T10:00:00Z"},
		{true, then, "about 2 hours ago"},
		{true, time.Time{}, ""},
		{false, time.Time{}, ""},
	} {
		if got := (output{tty: c.tty}).when(c.at, now); got != c.want {
			t.Errorf("tty %v, %v: %q, want %q", c.tty, c.at, got, c.want)
		}
	}
}

func TestTableIsTSVWhenPiped(t *testing.T) {
	rows := [][]string{{"octo/app#1", "a title\twith\nbreaks\x1b[31m"}}
	var piped, shown bytes.Buffer
	if err := (output{w: &piped}).table([]string{"ITEM", "TITLE"}, rows); err != nil {
		t.Fatal(err)
	}
	if want := "octo/app#1\ta title with breaks\\u001b[31m\n"; piped.String() != want {
		t.Errorf("piped: %q, want %q", piped.String(), want)
	}
	if err := (output{w: &shown, tty: true, width: 80}).table([]string{"ITEM", "TITLE"}, rows); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(shown.String(), "ITEM") || strings.Contains(shown.String(), "\t") {
		t.Errorf("shown: %q, want headings and no tabs", shown.String())
	}
}

// jsonCommand is a command with the JSON fields "name" and "age".
func jsonCommand(out output) *cobra.Command {
	c := &cobra.Command{Use: "x", SilenceErrors: true, SilenceUsage: true}
	j := addJSONFlags(c, "name", "age")
	c.RunE = func(*cobra.Command, []string) error {
		return j.write(out, map[string]any{"name": "<octo>", "age": 7})
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
			command := jsonCommand(output{bare: &b})
			command.SetArgs(strings.Fields(c.args))
			err := command.ExecuteContext(t.Context())
			if b.String() != c.want || (err == nil) != (c.err == "") || (err != nil && err.Error() != c.err) {
				t.Errorf("got %q, %v; want %q, %q", b.String(), err, c.want, c.err)
			}
		})
	}
}

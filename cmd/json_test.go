package cmd

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/demo"
	"github.com/mergexo/gh-mergexo/internal/work/news"
)

// withoutJSON are the commands that print no data, and what they print instead.
var withoutJSON = map[string]string{
	"gh mergexo init":             "what it asks and does, for a person",
	"gh mergexo schedule install": "what it did, for people; schedule status has it as data",
	"gh mergexo schedule remove":  "what it did, for people; schedule status has it as data",
	"gh mergexo schedule print":   "the files that install writes",
	"gh mergexo config agents":    "a table, or a table of the config",
	"gh mergexo database move":    "what to write into the config, for a person",
	"gh mergexo demo":             "what it plays, for a person; --env writes a file for a shell",
	"gh mergexo machines forget":  "what it did, for people; machines has it as data",
	"gh mergexo prompts list":     "a table of three columns",
	"gh mergexo prompts show":     "the prompt",
	"gh mergexo version":          "one line",
	"gh mergexo help":             "help",
	"gh mergexo mcp":              "the messages of an MCP server, which are JSON of their own",
	"gh mergexo answer-tool":      "the messages of an MCP server, which are JSON of their own",
	"gh mergexo demo-agent":       "an agent's answer, which is JSON of its own",
}

// Every command that prints data prints it as JSON, too, with gh's three flags.
func TestEveryCommandThatPrintsDataHasJSON(t *testing.T) {
	left := map[string]bool{}
	for path := range withoutJSON {
		left[path] = true
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			walk(sub)
		}
		if c.HasSubCommands() || c.Parent().Name() == "completion" { // a script for a shell
			return
		}
		has := true
		for _, flag := range []string{"json", "jq"} {
			has = has && c.Flags().Lookup(flag) != nil
		}
		if why := withoutJSON[c.CommandPath()]; has == (why != "") {
			t.Errorf("%s: --json and --jq are there: %v; it prints %q", c.CommandPath(), has, why)
		}
		delete(left, c.CommandPath())
	}
	walk(Tree(demo.Commands))
	for path := range left {
		t.Errorf("%s: there is no such command", path)
	}
}

// Every key of JSON that people and programs read is in camel case: of what commands print,
// and of the messages that notify sends.
func TestKeysAreCamelCase(t *testing.T) {
	camel := regexp.MustCompile(`^[a-z]+([A-Z]+[a-z0-9]*)*$`)
	seen := map[reflect.Type]bool{}
	var walk func(reflect.Type)
	walk = func(v reflect.Type) {
		switch v.Kind() { //nolint:exhaustive // only these hold others
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(v.Elem())
		case reflect.Struct:
			if seen[v] || v == reflect.TypeFor[time.Time]() {
				return
			}
			seen[v] = true
			for f := range v.Fields() {
				key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
				if key == "-" || !f.IsExported() {
					continue
				}
				if !f.Anonymous && !camel.MatchString(key) {
					t.Errorf("%s.%s: the key is %q", v, f.Name, key)
				}
				walk(f.Type)
			}
		}
	}
	var commands func(*cobra.Command)
	commands = func(c *cobra.Command) {
		if view := cli.JSONView(c); view != nil {
			walk(view)
		}
		for _, sub := range c.Commands() {
			commands(sub)
		}
	}
	commands(Tree(demo.Commands))
	walk(reflect.TypeFor[news.Message]())
	if len(seen) < 50 {
		t.Errorf("%d structs were looked at, which cannot be all", len(seen))
	}
}

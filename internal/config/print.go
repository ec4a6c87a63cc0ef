package config

import (
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/BurntSushi/toml"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Print writes the config in effect, defaults included. Parsing it gives the same config.
func Print(w io.Writer, cfg *Config) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s, with the defaults\n", cfg.Path)
	printBelow(&b, "", reflect.ValueOf(*cfg))
	_, err := io.WriteString(w, b.String())
	return err
}

// printBelow prints the tables below one.
func printBelow(b *strings.Builder, path string, in reflect.Value) {
	for _, k := range keysOf(in.Type()) {
		if k.inner == nil {
			continue
		}
		at, field := join(path, k.name), in.FieldByIndex(k.index)
		switch {
		case k.below == "[]":
			for i := range field.Len() {
				printTable(b, at+k.below, field.Index(i))
			}
		case field.Kind() == reflect.Map:
			for _, name := range slices.Sorted(maps.Keys(field.Interface().(map[string]Agent))) {
				printTable(b, join(at, name), field.MapIndex(reflect.ValueOf(name)))
			}
		case field.Kind() == reflect.Struct:
			printTable(b, at, field)
		case !field.IsNil():
			printTable(b, at, field.Elem())
		}
	}
}

func printTable(b *strings.Builder, path string, t reflect.Value) {
	switch x := t.Interface().(type) {
	case Runtime:
		if !files.IsFolder(x.PromptsDir) { // a config may not name another folder that does not exist
			x.PromptsDir = usualPrompts
		}
		t = reflect.ValueOf(x)
	case Agent:
		if len(x.Command) == 0 {
			x.Command = []string{x.Adapter}
		}
		t = reflect.ValueOf(x)
	case Reviewer:
		t = reflect.ValueOf(x.asWritten())
	}
	fmt.Fprintf(b, "\n%s\n", tableName(path))
	for _, k := range keysOf(t.Type()) {
		if k.inner == nil {
			b.WriteString(k.name + " = " + tomlText(k.print(t.FieldByIndex(k.index))) + "\n")
		}
	}
	printBelow(b, path, t)
}

// tomlText is a plain value as TOML.
func tomlText(v any) string {
	var b strings.Builder
	if err := toml.NewEncoder(&b).Encode(map[string]any{"x": v}); err != nil {
		panic(err) // plain values
	}
	return strings.TrimSpace(strings.TrimPrefix(b.String(), "x = "))
}

// exampleHead begins the example.
const exampleHead = "#:schema " + URL + `
# gh mergexo reads this from --config, MERGEXO_CONFIG, or
# $XDG_CONFIG_HOME/mergexo/config.toml (~/.config/mergexo/config.toml).
# An unknown key is an error. A commented line shows the default.
`

// exampleAgents are the tables of the example for agents that are not codex.
const exampleAgents = `
[agents.claude]                       # has the same keys
# env_pass = ["ANTHROPIC_API_KEY"]

[agents.mine]                         # any program
adapter = "command"                   # %s
command = ["/usr/local/bin/my-agent"]
`

// Example returns a commented config that loads as it is, with every key.
var Example = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString(exampleHead)
	line := func(text, words string) { fmt.Fprintf(&b, "%-37s # %s\n", text, words) }
	adapter := ""
	for _, t := range tables() {
		if _, prices, below := strings.Cut(t.path, everyAgent+"."); below { // which are a line of their agent
			field, _ := reflect.TypeFor[Agent]().FieldByName("Prices")
			line("# "+prices+" = "+field.Tag.Get("show"), t.words)
			fmt.Fprintf(&b, exampleAgents, adapter)
			continue
		}
		hidden := "" // nobody is notified unless a person writes it
		if t.path == "notify[]" {
			hidden = "# "
		}
		b.WriteString("\n")
		line(hidden+strings.Replace(tableName(t.path), "NAME", AdapterCodex, 1), t.words)
		for _, k := range t.keys {
			words := k.tag.Get("words")
			if k.name == "adapter" { // of an agent that needs a table
				adapter = words
				continue
			}
			shown := "# "
			if hidden == "" && (k.tag.Get("required") != "" || t.path+"."+k.name == "runtime.agent") {
				shown = ""
			}
			line(shown+k.name+" = "+k.example(), words)
		}
	}
	return b.String()
})

// example returns the value of a key in the example.
func (k key) example() string {
	show := k.tag.Get("show")
	switch {
	case show == "":
		return strings.TrimSuffix(tomlText(k.printedDefault()), ".0")
	case k.typ.Kind() == reflect.Slice:
		return show
	}
	return strconv.Quote(show)
}

// Document is the config as JSON. Below its fields, the keys are those of the file.
type Document struct {
	Path    string                    `toml:"-"       json:"path"`         // the file that it was read from
	Runtime map[string]any            `toml:"runtime" json:"runtime"`      // `[runtime]`, with the [keys of the file](config.md)
	Agents  map[string]map[string]any `toml:"agents"  json:"agents"`       // `[agents.NAME]`
	Repos   []map[string]any          `toml:"repo"    json:"repositories"` // each `[[repo]]`
}

// Object returns the config in effect as JSON, with the keys of the file.
func Object(cfg *Config) (Document, error) {
	var text strings.Builder
	if err := Print(&text, cfg); err != nil {
		return Document{}, err
	}
	doc := Document{Path: cfg.Path}
	if _, err := toml.Decode(text.String(), &doc); err != nil {
		return doc, fmt.Errorf("read the printed config: %w", err)
	}
	return doc, nil
}

// Without returns the config to use while there is no valid one: the state folder and the database, as
// far as they are known, and the agents that need no table.
func Without(env environ.Env) *Config {
	c := &Config{Agents: map[string]Agent{}, Runtime: Runtime{StateDir: env.DataDir}}
	if known, err := Places(env); err == nil {
		c.Runtime = known
	}
	c.Runtime.Sandbox, c.Runtime.Agent, c.Runtime.Timings = work.SandboxAuto, AdapterCodex, defaultTimings()
	for _, name := range builtIn {
		c.Agents[name] = Agent{Name: name, Adapter: name}
	}
	return c
}

package config

import (
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// uncommented matches keys and tables that the example has commented out.
var uncommented = lazy.Regexp(`(?m)^# (\[\[|[a-z_]+ = )`)

// keys returns the keys that the parser requests, with their kinds. To get all of them, it parses
// the example with everything uncommented.
func keys() ([]Key, error) {
	whole, asked, err := openRecorded("example", uncommented().ReplaceAllString(Example, "$1"), anyAgent)
	if err != nil {
		return nil, err
	}
	p := parser{
		Table: whole, env: environ.Of([]string{"HOME=/home/you"}), host: "github.com", config: &Config{Path: "/home/you/config.toml", Agents: map[string]Agent{}},
	}
	p.parse()
	return asked(), nil
}

// everyAgent replaces the name of an agent in a path.
const everyAgent = "*"

// anyAgent replaces the name of an agent in a path by everyAgent.
func anyAgent(path string) string {
	parts := strings.Split(path, ".")
	if parts[0] == "agents" && len(parts) > 1 {
		parts[1] = everyAgent
	}
	return strings.Join(parts, ".")
}

// belongs returns, in words, the places of all keys and tables of a name.
func belongs(name string) (places []string) {
	all, err := keys()
	if err != nil {
		return nil // the example is ours, and tests read it
	}
	var owners []string
	for _, k := range all {
		dot := strings.LastIndex(k.Path, ".")
		if k.Path[dot+1:] != name {
			continue
		}
		switch table := k.Path[:max(dot, 0)]; {
		case k.Kind == kindTable:
			places = append(places, "did you mean "+tableName(k.Path)+below(table)+"?")
		case k.Kind == kindTables:
			places = append(places, "did you mean "+tableName(k.Path+"[]")+below(table)+"?")
		case !slices.Contains(owners, tableName(table)) && (k.Kind != kindAny || several[k.Path] != nil): // others are only looked for
			owners = append(owners, tableName(table))
		}
	}
	if len(owners) > 0 {
		places = append(places, "it belongs to "+strings.Join(owners, " or "))
	}
	return places
}

// tableName is how people write the table at a path of keys.
func tableName(path string) string {
	name, last := strings.ReplaceAll(path, "[]", ""), strings.HasSuffix(path, "[]")
	switch {
	case strings.HasSuffix(path, "."+everyAgent+".usd_per_million"):
		return "usd_per_million of [agents.NAME]"
	case last:
		return "[[" + name + "]]"
	}
	return "[" + strings.Replace(name, everyAgent, "NAME", 1) + "]"
}

// below says for a table of a repository that it stands below one.
func below(table string) string {
	if table == "repo[]" {
		return ", below its [[repo]]"
	}
	return ""
}

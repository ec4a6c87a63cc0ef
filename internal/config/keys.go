package config

import (
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

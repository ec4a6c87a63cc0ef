package config

import (
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config/document"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// uncommented takes the mark from a key or a table that the example has as a comment.
var uncommented = lazy.Regexp(`(?m)^# (\[\[|[a-z_]+ = )`)

// Keys are the keys that the parser asks for, with what each takes: it reads the example
// with everything in it that the example only mentions.
func Keys() ([]document.Key, error) {
	whole, asked, err := document.Recorded("example", uncommented().ReplaceAllString(Example, "$1"), AnyAgent)
	if err != nil {
		return nil, err
	}
	p := parser{
		Table: whole, env: environ.Of([]string{"HOME=/home/you"}), host: "github.com", config: &Config{Path: "/home/you/config.toml", Agents: map[string]Agent{}},
	}
	p.parse()
	return asked(), nil
}

// EveryAgent stands for the name of an agent in a path.
const EveryAgent = "*"

// AnyAgent is a path in which no agent is named.
func AnyAgent(path string) string {
	parts := strings.Split(path, ".")
	if parts[0] == "agents" && len(parts) > 1 {
		parts[1] = EveryAgent
	}
	return strings.Join(parts, ".")
}

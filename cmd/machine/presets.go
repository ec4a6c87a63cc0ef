package machine

import (
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/acp"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// Preset is a known program that speaks the Agent Client Protocol.
type Preset struct {
	acp.Program
	Installed bool // it is on PATH
}

// Presets returns the presets, by name.
func Presets(env environ.Env) []Preset {
	return terminal.Each(acp.Programs(), func(p acp.Program) Preset {
		v := Preset{Program: p}
		v.Installed = agent.Missing(programOf(env, v.Agent())) == nil
		return v
	})
}

// Agent is the agent that the preset's table makes.
func (p Preset) Agent() config.Agent {
	return config.Agent{Name: p.Name, Adapter: config.AdapterACP, Command: p.Command}
}

// Table is the preset as a table of the config.
func (p Preset) Table() string {
	words := terminal.Each(p.Command, func(word string) string { return fmt.Sprintf("%q", word) })
	return fmt.Sprintf("[agents.%s]\nadapter = %q # the Agent Client Protocol: docs/agents.md\ncommand = [%s]\n", p.Name, config.AdapterACP, strings.Join(words, ", "))
}

// tells returns what an agent's program tells of a turn's usage; "" if that needs no words.
func tells(a config.Agent) string {
	if a.Adapter != config.AdapterACP {
		return ""
	}
	if p, known := acp.Find(a.Command); known {
		return p.Usage
	}
	return "unknown"
}

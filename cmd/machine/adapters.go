package machine

import (
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/claude"
	"github.com/mergexo/gh-mergexo/internal/agent/codex"
	"github.com/mergexo/gh-mergexo/internal/agent/command"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/config/environ"
)

// adapters are the kinds of agent, by their names in the config.
var adapters = map[string]agent.Adapter{
	config.AdapterCodex:   codex.Adapter,
	config.AdapterClaude:  claude.Adapter,
	config.AdapterCommand: command.Adapter,
}

// ofAgent returns the part of our environment that an agent sees.
func ofAgent(env environ.Env, a config.Agent) []string {
	return env.Agent(append(adapters[a.Adapter].Variables(), a.EnvPass...))
}

// homes returns the folders in which an agent's program keeps its login and sessions.
func homes(env environ.Env, a config.Agent) []string {
	return adapters[a.Adapter].Homes(ofAgent(env, a))
}

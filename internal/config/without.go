package config

import (
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Without returns the config to use while there is no valid one: the state folder, as far as it is
// known, and the agents that need no table.
func Without(env environ.Env) *Config {
	c := &Config{Agents: map[string]Agent{}, Runtime: Runtime{StateDir: env.DataDir, Sandbox: work.SandboxAuto, Agent: AdapterCodex}}
	if dir, err := StateDir(env); err == nil {
		c.Runtime.StateDir = dir
	}
	for _, name := range builtIn {
		c.Agents[name] = Agent{Name: name, Adapter: name, Session: SessionResume}
	}
	return c
}

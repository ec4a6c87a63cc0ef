package agent_test

import (
	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/claude"
	"github.com/mergexo/gh-mergexo/internal/agent/codex"
	"github.com/mergexo/gh-mergexo/internal/agent/command"
)

const (
	codexName   = "codex"
	claudeName  = "claude"
	commandName = "command"
)

// adapters are the kinds of agent, by name.
var adapters = map[string]agent.Adapter{codexName: codex.Adapter, claudeName: claude.Adapter, commandName: command.Adapter}

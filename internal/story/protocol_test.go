//go:build unix

package story

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// TestAgentsOfTheProtocol has each real program that speaks the Agent Client Protocol play the
// whole way of an issue. It takes minutes, so only script/agent-tests asks for it; everywhere else
// the adapter's own tests have each program make two turns.
func TestAgentsOfTheProtocol(t *testing.T) {
	if _, asked := os.LookupEnv("MERGEXO_AGENT_PLAYS"); !asked {
		t.Skip("script/agent-tests plays it")
	}
	for program, command := range map[string][]string{
		"claude-agent-acp": {"claude-agent-acp"}, "codex-acp": {"codex-acp"}, "copilot": {"copilot", "--acp"}, "opencode": {"opencode", "acp"},
	} {
		t.Run(program, func(t *testing.T) {
			p := agentParams(t)
			p.Files = []string{filepath.Join(agentStories, "acp", "play.txtar")}
			p.WorkdirRoot = testhome.New(t)
			setup := p.Setup
			p.Setup = func(e *testscript.Env) error {
				if err := setup(e); err != nil {
					return err
				}
				return setUpProtocol(e, program, command)
			}
			testscript.Run(t, p)
		})
	}
}

// setUpProtocol adds the agent "mine" to a world with real agents.
func setUpProtocol(e *testscript.Env, program string, command []string) error {
	w := e.Values[worldKey{}].(*world)
	variables, files := e.Values[modelKey{}].(*modelsim.Server).ACP(program)
	e.Setenv("PROGRAM", program)
	var pass []string
	for _, v := range variables {
		e.Setenv(v[0], v[1])
		pass = append(pass, v[0])
	}
	for name, text := range files {
		path := filepath.Join(w.home(), name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return err
		}
	}
	w.config.set("agents.mine", "adapter", `acp`)
	w.config.set("agents.mine", "command", tomlList(command))
	w.config.set("agents.mine", "env_pass", tomlList(pass))
	w.config.set("runtime", "turn_timeout", "10m")
	return w.config.write()
}

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

// TestAgentsPlayTheWholeWay has each real program play the whole way of an issue. With those that
// speak the Agent Client Protocol it takes minutes, so only script/agent-tests asks for them;
// everywhere else the adapter's own tests have each make two turns.
func TestAgentsPlayTheWholeWay(t *testing.T) {
	for program, command := range map[string][]string{
		"codex": nil, "claude": nil,
		"claude-agent-acp": {"claude-agent-acp"}, "codex-acp": {"codex-acp"}, "copilot": {"copilot", "--acp"}, "opencode": {"opencode", "acp"},
	} {
		t.Run(program, func(t *testing.T) {
			if _, asked := os.LookupEnv("MERGEXO_AGENT_PLAYS"); command != nil && !asked {
				t.Skip("script/agent-tests plays it")
			}
			p := agentParams(t)
			p.Files = []string{filepath.Join(agentStories, "play", "play.txtar")}
			p.WorkdirRoot = testhome.New(t)
			setup := p.Setup
			p.Setup = func(e *testscript.Env) error {
				if err := setup(e); err != nil {
					return err
				}
				e.Setenv("PROGRAM", program)
				e.Setenv("NAME", program)
				if command == nil {
					return nil
				}
				e.Setenv("NAME", "mine")
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

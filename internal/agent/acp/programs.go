package acp

import (
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/agent"
)

// Program is a preset: what is known of a program that speaks the protocol.
type Program struct {
	Name    string   // of the preset, and of the agent that init writes
	Package string   // of npm
	Command []string // starts it
	Login   string   // tells a person how to log in
	Keys    []string // variables that hold a key instead of a login, for env_pass
	Usage   string   // what it tells of a turn's usage

	env      []string // added to the environment that every agent sees
	variable string   // as those of agent.Adapter
	inHome   []string
	settings []string
	meta     func(agent.Request) map[string]any // of a session, in the program's own terms; nil: none
	noServer func(agent.Request) bool           // it takes no MCP servers in such a turn; nil: it always does
	option   string                             // of the command line, by which it takes MCP servers; "": as the protocol has it
	cost     bool                               // it tells the cost
	lastOnly bool                               // the tokens it tells are of the turn's last request to its provider alone
}

// What programs tell of a turn's usage. Of those that were only started it is unknown.
const (
	tellsTokens  = "tokens"
	tellsLast    = "tokens of the last request only, so the turn's usage is unknown"
	tellsCost    = "tokens and cost"
	tellsNothing = "nothing"
	tellsUnknown = "not tried"
)

// Variables and folders of programs that several presets start.
var (
	// As the adapter of claude, without claude's own instructions about commits and pull requests.
	quietClaude = []string{
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
	}
	claudeHome = []string{".claude", ".claude.json"}

	// A checkout's opencode.json may start programs and name another provider, as claude's settings
	// may.
	quietOpencode = []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_PROJECT_CONFIG=1", "OPENCODE_DISABLE_CLAUDE_CODE=1", "OPENCODE_DISABLE_SHARE=1"}
)

// claudeOptions loads no settings of the checkout, and for a reviewer nothing that the author's
// agent may have left in claude's home, as the adapter of claude does.
func claudeOptions(r agent.Request) map[string]any {
	options := map[string]any{"settingSources": []string{"user"}}
	if claudeSafe(r) {
		options["extraArgs"] = map[string]any{"safe-mode": nil}
	}
	return map[string]any{"claudeCode": map[string]any{"options": options}}
}

// claudeSafe reports whether claude runs in its safe mode, which takes no MCP servers.
func claudeSafe(r agent.Request) bool { return r.Role != "" }

// Programs returns the presets, by name.
func Programs() []Program {
	return []Program{
		{
			Name: "auggie", Package: "@augmentcode/auggie", Command: []string{"auggie", "--acp"},
			Login: "run `auggie login`", Usage: tellsUnknown, inHome: []string{".augment"},
		},
		{
			Name: "claude-agent-acp", Package: "@agentclientprotocol/claude-agent-acp", Command: []string{"claude-agent-acp"},
			Login: "run `claude` and log in there; or env_pass = [\"ANTHROPIC_API_KEY\"]", Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
			Usage: tellsCost, cost: true, env: quietClaude, variable: "CLAUDE_CONFIG_DIR", inHome: claudeHome, meta: claudeOptions, noServer: claudeSafe,
		},
		{
			Name: "claude-code-acp", Package: "@zed-industries/claude-code-acp", Command: []string{"claude-code-acp"},
			Login: "run `claude` and log in there; or env_pass = [\"ANTHROPIC_API_KEY\"]", Keys: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"},
			Usage: tellsUnknown, env: quietClaude, variable: "CLAUDE_CONFIG_DIR", inHome: claudeHome,
		},
		{
			Name: "codex-acp", Package: "@agentclientprotocol/codex-acp", Command: []string{"codex-acp"},
			Login: "run `codex login`; or env_pass = [\"CODEX_API_KEY\"]", Keys: []string{"CODEX_API_KEY"},
			Usage: tellsTokens, variable: "CODEX_HOME", inHome: []string{".codex"},
		},
		{
			Name: "codex-acp-zed", Package: "@zed-industries/codex-acp", Command: []string{"codex-acp"},
			Login: "run `codex login`; or env_pass = [\"CODEX_API_KEY\"]", Keys: []string{"CODEX_API_KEY", "OPENAI_API_KEY"},
			Usage: tellsNothing, variable: "CODEX_HOME", inHome: []string{".codex"},
		},
		{
			Name: "copilot", Package: "@github/copilot", Command: []string{"copilot", "--acp"},
			Login: "run `copilot login`; or env_pass = [\"COPILOT_PROVIDER_TYPE\", \"COPILOT_PROVIDER_BASE_URL\", \"COPILOT_PROVIDER_API_KEY\", \"COPILOT_MODEL\"]", Keys: []string{"COPILOT_PROVIDER_API_KEY"},
			Usage: tellsTokens, env: []string{"COPILOT_AUTO_UPDATE=false"}, inHome: []string{".copilot"},
			option: "--additional-mcp-config", // of a session's servers, it takes only those with an address
		},
		{
			Name: "gemini", Package: "@google/gemini-cli", Command: []string{"gemini", "--acp"},
			Login: "run `gemini` and log in there; or env_pass = [\"GEMINI_API_KEY\"]", Keys: []string{"GEMINI_API_KEY"},
			Usage: tellsUnknown, inHome: []string{".gemini"},
		},
		{
			Name: "kilo", Package: "@kilocode/cli", Command: []string{"kilo", "acp"},
			Login: "run `kilo auth login`", Usage: tellsUnknown, lastOnly: true, // as opencode, from which it comes
			inHome: []string{".local/share/kilo"}, settings: []string{".config/kilo/kilo.json", ".config/kilo/kilo.jsonc"},
		},
		{
			Name: "opencode", Package: "opencode-ai", Command: []string{"opencode", "acp"},
			Login: "run `opencode auth login`", Usage: tellsLast, lastOnly: true, env: quietOpencode, inHome: []string{".local/share/opencode"}, settings: []string{".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"},
		},
		{
			Name: "qwen", Package: "@qwen-code/qwen-code", Command: []string{"qwen", "--acp"},
			Login: "run `qwen` and log in there; or env_pass = [\"OPENAI_API_KEY\", \"OPENAI_BASE_URL\", \"OPENAI_MODEL\"]", Keys: []string{"OPENAI_API_KEY"},
			Usage: tellsUnknown, inHome: []string{".qwen"},
		},
	}
}

// Find returns the preset of a command line: one word of it is the program, alone or with a folder,
// or its package, as behind npx.
func Find(command []string) (Program, bool) {
	for _, p := range Programs() {
		for _, word := range command {
			if filepath.Base(word) == p.Command[0] && !strings.HasPrefix(word, "@") || unversioned(word) == p.Package {
				return p, true
			}
		}
	}
	return Program{}, false
}

// unversioned takes the version off the name of a package.
func unversioned(name string) string {
	if at := strings.LastIndexByte(name, '@'); at > 0 {
		return name[:at]
	}
	return name
}

// Install returns the command that installs the program; "" if it is unknown.
func (p Program) Install() string {
	if p.Package == "" {
		return ""
	}
	return "npm install -g " + p.Package
}

// loginOf tells what is known about the login without a request: its key, or how to log in.
func (p Program) loginOf(s agent.Spec) agent.Login {
	if p.Name == "" {
		return agent.Login{Says: "a program of your own: gh mergexo cannot tell; its turns say how it logs in"}
	}
	if name := agent.FirstSet(s.Environ, p.Keys...); name != "" {
		return agent.Login{Known: true, In: true, Says: "by " + name}
	}
	return agent.Login{Says: "whether it is logged in shows when it is used; to log in, " + p.Login, Do: p.Login}
}

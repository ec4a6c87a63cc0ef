package demo

import (
	"fmt"
	"os"
)

// storyConfig is the config of the passes that are played.
func (d grounds) storyConfig() string {
	return fmt.Sprintf(`# The demo's. "gh mergexo config" shows what else there is.
[runtime]
workers = 3
state_dir = %q
sandbox = "none" # the demo's agent is this program, and writes a log beside its checkout

[agents.scripted]
adapter = "command"
command = [%q, "demo-agent", %q]

[[repo]]
name = %q
remote_url = %q
`, d.at.state, d.self, d.path("agent.log"), host+"/"+repoName, d.repo.GitDir())
}

// serveConfig is what a person finds who tries commands. Without a repository it is as
// it is before gh mergexo init.
func (d grounds) serveConfig(unconfigured bool) string {
	text := fmt.Sprintf(`# The demo's. "gh mergexo config" shows what else there is.
[runtime]
agent = "scripted"
state_dir = %q
sandbox = "none" # the demo's agent is this program, and writes a log beside its checkout

# A program that answers always the same, and costs nothing.
[agents.scripted]
adapter = "command"
command = [%q, "demo-agent", %q, "--improvise"]
`, d.at.state, d.self, d.path("agent.log"))
	if unconfigured {
		return text
	}
	return text + fmt.Sprintf("\n[[repo]]\nname = %q\n", repoName)
}

func (d grounds) writeConfig(text string) error {
	if err := os.WriteFile(d.at.config, []byte(text), 0o644); err != nil {
		return fmt.Errorf("write the config: %w", err)
	}
	return nil
}

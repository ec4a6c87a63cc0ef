package agent

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

func (s Spec) gitConfigPath() string { return filepath.Join(s.Home, s.Name+".gitconfig") }

// writeGitConfig writes the agent's git configuration before every run: agents run as the same user
// and may have changed it.
func (s Spec) writeGitConfig() error {
	id := s.Identity
	if id.Name == "" {
		id.Name = "gh mergexo agent"
	}
	if id.Email == "" {
		id.Email = "agent@mergexo.invalid"
	}
	text := fmt.Sprintf(`# Written by gh mergexo before every run of this agent.
[user]
	name = %s
	email = %s
	useConfigOnly = true
[credential]
	helper =
[commit]
	gpgSign = false
[tag]
	gpgSign = false
[gc]
	auto = 0
[maintenance]
	auto = false
`, gitQuote(id.Name), gitQuote(id.Email))
	if err := files.Replace(s.gitConfigPath(), text); err != nil {
		return fmt.Errorf("write the git configuration of agent %q: %w", s.Name, err)
	}
	return nil
}

func gitQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func (s Spec) gitConfigPath() string { return filepath.Join(s.Home, s.Name+".gitconfig") }

// writeGitConfig writes the agent's git configuration, before every run: an
// agent runs as the same user and may have changed it.
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
	if err := replaceFile(s.gitConfigPath(), text); err != nil {
		return fmt.Errorf("write the git configuration of agent %q: %w", s.Name, err)
	}
	return nil
}

func gitQuote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", " ", "\r", " ").Replace(s) + `"`
}

// replaceFile writes a file whole: agents of other turns may be reading it.
func replaceFile(path, text string) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

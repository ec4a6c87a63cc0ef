package mcp

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

//go:embed SKILL.md
var skill string

// WriteSkill writes the skill into a folder of an agent's skills, and returns its path. A file that is not ours is
// left alone.
func WriteSkill(dir string) (path string, err error) {
	path = filepath.Join(dir, "mergexo", "SKILL.md")
	before, err := os.ReadFile(path)
	head, _, _ := strings.Cut(skill, "description:")
	switch {
	case err == nil && !strings.HasPrefix(string(before), head):
		return path, fmt.Errorf("%s is not a skill of gh mergexo, and nothing was written; name another folder", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as any other file of that folder
		return path, err
	}
	return path, os.WriteFile(path, []byte(skill), 0o644) //nolint:gosec // as any other file of that folder
}

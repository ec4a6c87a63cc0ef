package mcp

import (
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

//go:embed SKILL.md
var skill string

// WriteSkill writes the skill into a folder of an agent's skills, and returns its path. A file that is there is replaced
// only if it is as some version of gh mergexo wrote it.
func WriteSkill(dir string) (path string, err error) {
	path = filepath.Join(dir, "mergexo", "SKILL.md")
	before, err := os.ReadFile(path)
	text, _, _ := strings.Cut(string(before), sealBegins)
	switch {
	case err == nil && string(before) != sealed(text):
		return path, fmt.Errorf("somebody else wrote or changed %s, and nothing was written; move it away to get the skill there, or name another folder", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return path, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // as any other file of that folder
		return path, err
	}
	return path, files.Publish(path, sealed(skill))
}

const sealBegins = "\n<!-- written by gh mergexo, which replaces this file only while it is unchanged: "

// sealed ends a text with its hash, by which later versions know that nobody changed the file.
func sealed(text string) string {
	return fmt.Sprintf("%s%s%x -->\n", text, sealBegins, sha256.Sum256([]byte(text)))
}

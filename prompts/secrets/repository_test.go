package secrets

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// No scanner of secrets takes a file of this repository for a leak: tests put their tokens together.
func TestNoFileOfTheRepositoryHasAToken(t *testing.T) {
	seen := 0
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(d.Name(), ".") && strings.Trim(d.Name(), ".") != "" && d.Name() != ".github":
			return fs.SkipDir
		case !slices.Contains([]string{".go", ".txtar", ".md", ".yml", ".yaml", ".toml", ".json", ".sql", ".tmpl", ".txt", ".graphql"}, filepath.Ext(path)):
			return nil
		}
		text, err := os.ReadFile(path)
		for _, what := range (*Redactor)(nil).Find(string(text)) {
			t.Errorf("%s contains what looks like %s", path, what)
		}
		seen++
		return err
	})
	if err != nil || seen < 1000 {
		t.Errorf("%d files were read: %v", seen, err)
	}
}

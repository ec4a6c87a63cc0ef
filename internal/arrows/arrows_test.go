// Package arrows checks rules about the source that no linter knows.
package arrows

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mergexo/gh-mergexo/"

// TestThePlanIsPure: the plan and the nouns import nothing that could reach anything. The plan
// makes changes, and has no transaction to apply them in.
func TestThePlanIsPure(t *testing.T) {
	for from, imported := range imports(t, filepath.Join("..", "..")) {
		work := from == "internal/work" || strings.HasPrefix(from, "internal/work/")
		if !work && from != "tick/plan" && from != "tick/known" {
			continue
		}
		for to := range imported {
			allowed := to == "internal/lazy" || to == "internal/work" || strings.HasPrefix(to, "internal/work/")
			if !allowed && (from != "tick/plan" || to != "tick/known" && to != "tick/change") {
				t.Errorf("%s imports %s", from, to)
			}
		}
	}
}

// imports reads, of each package, which of the project's own it imports outside
// tests, on any system.
func imports(t *testing.T, root string) map[string]map[string]bool {
	t.Helper()
	seen := map[string]map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go"):
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		from := filepath.ToSlash(rel)
		if seen[from] == nil {
			seen[from] = map[string]bool{}
		}
		if strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			to, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ours := strings.CutPrefix(to, module); ours {
				seen[from][own] = true
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return seen
}

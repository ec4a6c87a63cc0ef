package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestNothingIsCompiledAtTheStart: a pass begins each minute and needs few of the program's
// regular expressions. What a package has is compiled when it is used for the first time.
func TestNothingIsCompiledAtTheStart(t *testing.T) {
	root, seen := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		seen++
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.VAR {
				for _, pos := range compilesNow(d) {
					t.Errorf("%s: a regular expression is compiled before main: put it into lazy.Regexp or sync.OnceValue", files.Position(pos))
				}
			}
		}
		return nil
	})
	if err != nil || seen == 0 {
		t.Fatal(seen, err)
	}
}

// compilesNow finds what a declaration compiles outside of functions.
func compilesNow(d *ast.GenDecl) (at []token.Pos) {
	ast.Inspect(d, func(n ast.Node) bool {
		if _, later := n.(*ast.FuncLit); later {
			return false
		}
		if call, ok := n.(*ast.SelectorExpr); ok && call.Sel.Name == "MustCompile" {
			at = append(at, call.Pos())
		}
		return true
	})
	return at
}

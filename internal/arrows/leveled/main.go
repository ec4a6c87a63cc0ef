// Command leveled prints the tests that MERGEXO_TEST changes, a folder and a name a line: those that ask
// internal/testhome for the level, themselves or in what they mention. All others play the same at each level.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	err := filepath.WalkDir(".", func(dir string, d fs.DirEntry, err error) error {
		switch {
		case err != nil || !d.IsDir():
			return err
		case dir != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata":
			return filepath.SkipDir
		}
		tests, err := leveled(dir)
		for _, name := range tests {
			fmt.Fprintf(os.Stdout, "./%s %s\n", filepath.ToSlash(dir), name)
		}
		return err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "list the tests that ask for the level:", err)
		os.Exit(1)
	}
}

// levels are the functions of testhome that ask for the level.
var levels = []string{"OnlyLong", "NotRest", "Long", "Rest", "All"}

// leveled returns the tests of a folder that ask for the level. It compares names and knows no types, so two
// functions of one name count as one: it may return a test too many.
func leveled(dir string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return nil, err
	}
	mentions, asking := map[string][]string{}, map[string]bool{}
	declare := func(name string, as ast.Node) {
		ast.Inspect(as, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				mentions[name] = append(mentions[name], n.Name)
			case *ast.SelectorExpr:
				of, ok := n.X.(*ast.Ident)
				asking[name] = asking[name] || ok && of.Name == "testhome" && slices.Contains(levels, n.Sel.Name)
			}
			return true
		})
	}
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				declare(f.Name.Name, f)
				continue
			}
			for _, s := range d.(*ast.GenDecl).Specs {
				if v, ok := s.(*ast.ValueSpec); ok {
					for _, name := range v.Names {
						declare(name.Name, v)
					}
				}
			}
		}
	}
	for more := true; more; {
		more = false
		for name, of := range mentions {
			if !asking[name] && slices.ContainsFunc(of, func(n string) bool { return asking[n] }) {
				asking[name], more = true, true
			}
		}
	}
	return slices.Sorted(func(yield func(string) bool) {
		for name, asks := range asking {
			if asks && name != "TestMain" && strings.HasPrefix(name, "Test") && !yield(name) {
				return
			}
		}
	}), nil
}

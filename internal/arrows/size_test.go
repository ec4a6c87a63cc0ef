package arrows

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	mostLines   = 2500 // of a package, outside tests
	mostMethods = 40   // of a type
	mostOnePass = 170  // lines of tick/tick.go: one screen for the pass, and what it is made of
)

// A package, a type and the pass stay small enough to be read. The simulator of
// GitHub is as large as what it simulates.
func TestPackagesAndTypesStaySmall(t *testing.T) {
	root := filepath.Join("..", "..")
	lines, methods := map[string]int{}, map[string]int{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "githubsim"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
		if err != nil {
			return err
		}
		folder := filepath.ToSlash(filepath.Dir(path))
		lines[folder] += bytes.Count(text, []byte("\n"))
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok && f.Recv != nil {
				methods[folder+"."+receiver(f)]++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for folder, n := range lines {
		if n > mostLines {
			t.Errorf("%s has %d lines outside tests, want at most %d", folder, n, mostLines)
		}
	}
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods, want at most %d", name, n, mostMethods)
		}
	}
	pass, err := os.ReadFile(filepath.Join(root, "tick", "tick.go"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(pass, []byte("\n")); n > mostOnePass {
		t.Errorf("tick/tick.go has %d lines, want at most %d", n, mostOnePass)
	}
}

// receiver is the name of a method's type.
func receiver(f *ast.FuncDecl) string {
	of := f.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if generic, ok := of.(*ast.IndexExpr); ok {
		of = generic.X
	}
	if id, ok := of.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

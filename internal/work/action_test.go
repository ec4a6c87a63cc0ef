package work

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"strings"
	"testing"
)

// Each kind of action has words for people, and they are no code.
func TestEachActionHasWords(t *testing.T) {
	file, err := parser.ParseFile(gotoken.NewFileSet(), "action.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		of, is := spec.Type.(*ast.Ident)
		if !is || of.Name != "ActionKind" {
			return true
		}
		kinds++
		kind := ActionKind(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`))
		if words := kind.Words(); words == "" || strings.Contains(words, "_") {
			t.Errorf("%s: %q", kind, words)
		}
		return true
	})
	if kinds == 0 || kinds != len(actionWords) {
		t.Errorf("%d kinds, and words for %d", kinds, len(actionWords))
	}
}

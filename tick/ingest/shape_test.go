package ingest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestTheShapeOfAReading: what a read of a repository collects lies in parts of at most fifteen fields each, and at most
// two files write a field. A field that any file writes cannot be followed.
func TestTheShapeOfAReading(t *testing.T) {
	files := token.NewFileSet()
	all, err := parser.ParseDir(files, ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, 0) //nolint:staticcheck // one package without build tags
	if err != nil {
		t.Fatal(err)
	}
	writers, fields := map[string]map[string]bool{}, map[string][]string{}
	for name, file := range all["ingest"].Files {
		wrote := func(e ast.Expr) {
			if field, ok := fieldOfReading(e); ok {
				if writers[field] == nil {
					writers[field] = map[string]bool{}
				}
				writers[field][name] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for _, e := range n.Lhs {
					wrote(e)
				}
			case *ast.IncDecStmt:
				wrote(n.X)
			case *ast.TypeSpec:
				if s, ok := n.Type.(*ast.StructType); ok {
					for _, f := range s.Fields.List {
						for _, id := range f.Names {
							fields[n.Name.Name] = append(fields[n.Name.Name], id.Name)
						}
					}
				}
			}
			return true
		})
	}
	written := map[string]bool{}
	for field, by := range writers {
		for name := range strings.SplitSeq(field, ".") {
			written[name] = true
		}
		if len(by) > 2 {
			t.Errorf("%s is written by %s", field, slices.Sorted(maps.Keys(by)))
		}
	}
	for _, part := range []string{"reading", "backlog", "slice", "adoption", "due", "report"} {
		changed := slices.DeleteFunc(fields[part], func(field string) bool { return !written[field] })
		if len(changed) == 0 || len(changed) > 15 {
			t.Errorf("%d fields of %s change: %s", len(changed), part, changed)
		}
	}
}

// fieldOfReading returns the field of a reading, in the code always h, and of the parts in it, to which a statement assigns.
func fieldOfReading(e ast.Expr) (string, bool) {
	var path []string
	for {
		switch x := e.(type) {
		case *ast.IndexExpr:
			e = x.X
		case *ast.SelectorExpr:
			path, e = append(path, x.Sel.Name), x.X
		case *ast.Ident:
			slices.Reverse(path)
			return strings.Join(path, "."), x.Name == "h" && len(path) > 0
		default:
			return "", false
		}
	}
}

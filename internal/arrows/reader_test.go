package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// turnRooms are the rooms in which a turn is made.
var turnRooms = []string{"tick/agentrun", "tick/brief", "tick/compose", "tick/recheck", "tick/restore", "tick/turn"}

// TestATurnKnowsTheReaderAlone: of all that package ingest has, the rooms of a turn name
// its Reader, and nothing else. What a turn reads once more is judged by the same rules
// then, and nobody makes half an ingest by hand.
func TestATurnKnowsTheReaderAlone(t *testing.T) {
	readers := 0
	for _, room := range turnRooms {
		dir := filepath.Join("..", "..", filepath.FromSlash(room))
		paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v, %v", room, paths, err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for pos, used := range ofIngest(file) {
				if used == "tick/ingest.Reader" {
					readers++
					continue
				}
				t.Errorf("%s names %s: a turn knows ingest.Reader alone", files.Position(pos), used)
			}
		}
	}
	if readers == 0 {
		t.Error("no room of a turn names ingest.Reader: this test looks at the wrong files")
	}
}

// ofIngest are what a file names of package ingest and its rooms, under whatever name it
// imports them, and where. One that it imports by a dot, or for its effects, it names whole.
func ofIngest(file *ast.File) map[token.Pos]string {
	all, paths := map[token.Pos]string{}, map[string]string{}
	for _, spec := range file.Imports {
		path := strings.TrimPrefix(strings.Trim(spec.Path.Value, `"`), module)
		if path != "tick/ingest" && !strings.HasPrefix(path, "tick/ingest/") {
			continue
		}
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if name == "." || name == "_" {
			all[spec.Pos()] = "all of " + path
		}
		paths[name] = path
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && paths[x.Name] != "" {
				all[sel.Pos()] = paths[x.Name] + "." + sel.Sel.Name
			}
		}
		return true
	})
	return all
}

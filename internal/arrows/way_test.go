package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// mostFiles is how many files a comment may pass on its way to the reply.
const mostFiles = 30

var (
	wayLine = regexp.MustCompile("^\\| .* \\| `([a-z/_]+\\.go)` \\| (`.*`) \\|$")
	quoted  = regexp.MustCompile("`([^`]+)`")
)

// The way of a comment in docs/design.md names what is there, and is short.
func TestTheWayOfAComment(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, way, found := strings.Cut(string(text), "## The way of a comment")
	if !found {
		t.Fatal("docs/design.md does not tell the way of a comment")
	}
	way, _, _ = strings.Cut(way, "\n## ")
	files, left := map[string]bool{}, false
	for line := range strings.Lines(way) {
		m := wayLine.FindStringSubmatch(strings.TrimSpace(line))
		if m == nil {
			continue
		}
		files[m[1]] = true
		inside := strings.HasPrefix(m[1], "tick/ingest/")
		left = left || m[1] == "tick/route.go"
		if left && inside && m[1] != "tick/ingest/reader.go" {
			t.Errorf("%s: the way goes back into ingest", m[1])
		}
		there := functions(t, filepath.Join(root, m[1]))
		for _, name := range quoted.FindAllStringSubmatch(m[2], -1) {
			if !there[name[1]] {
				t.Errorf("%s has no %s", m[1], name[1])
			}
		}
	}
	if len(files) == 0 || len(files) > mostFiles {
		t.Errorf("the way of a comment passes %d files, want at most %d", len(files), mostFiles)
	}
}

// functions are the functions of a file, methods as Type.method.
func functions(t *testing.T, path string) map[string]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil {
			name = receiver(f) + "." + name
		}
		there[name] = true
	}
	return there
}

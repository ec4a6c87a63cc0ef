package arrows

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// camel is a word that only a program has.
	camel = regexp.MustCompile(`\b(?:[a-z][a-z0-9]*|[A-Z][a-z0-9]+)[A-Z][A-Za-z0-9]*\b`)
	// qualified is a name with its package.
	qualified = regexp.MustCompile(`\b[a-z]+\.([A-Z][a-z][A-Za-z0-9]*)\b`)
	// pointer sends the reader to a name: "(see honest)", "…; see pkg.Name."
	pointer = regexp.MustCompile(`[;:,(] ?see ([A-Za-z]+\.)?([A-Za-z][A-Za-z0-9]*)(?:[.,;:)]|$)`)
)

// elsewhere are names in comments that are GitHub's, or of the world.
var elsewhere = []string{
	"CommonMark", "JavaScript", "NixOS", "OpenAPI",
	"IssueFilters", "PullRequestReviewThread", "RepositoryOwner", "StatusState", "mergeStateStatus",
	"above", "below",
}

// TestCommentsNameWhatIsThere: a word of a comment that looks like a name of the code, and
// one to which a comment sends its reader by "see", is there; what a function, a type or a
// value is said to be, is said under its own name.
func TestCommentsNameWhatIsThere(t *testing.T) {
	c := readCode(t, filepath.Join("..", ".."))
	for pos, text := range c.comments {
		for _, word := range camel.FindAllString(text, -1) {
			if !c.names[word] && !slices.Contains(elsewhere, word) && !strings.Contains(c.texts, word) {
				t.Errorf("%s: there is no %s", pos, word)
			}
		}
		for _, m := range qualified.FindAllStringSubmatch(text, -1) {
			if !c.names[m[1]] && !strings.Contains(c.texts, m[0]) {
				t.Errorf("%s: there is no %s", pos, m[0])
			}
		}
		for _, m := range pointer.FindAllStringSubmatch(text, -1) {
			if !c.declared[m[2]] && !slices.Contains(elsewhere, m[2]) {
				t.Errorf("%s: %q sends the reader to what is not declared", pos, m[0])
			}
		}
	}
	for pos, names := range c.misnamed {
		t.Errorf("%s: this is %s, and its comment begins with another name", pos, names)
	}
	if len(c.comments) < 5000 || len(c.declared) < 3000 {
		t.Errorf("%d comments, %d declarations: this test reads the wrong files", len(c.comments), len(c.declared))
	}
}

// inCode is a name between backticks: with its type or package, or with capitals inside.
var inCode = regexp.MustCompile("`([A-Za-z]+\\.[A-Za-z.]+|[a-z]+[A-Z][A-Za-z]*)`")

// fileEnding is that of a file's name, which looks like a name with its package.
var fileEnding = regexp.MustCompile(`\.(go|md|json|yml|lock|told|db)$`)

// Every function and type that a guide for contributors names exists.
func TestGuidesNameWhatIsThere(t *testing.T) {
	root := filepath.Join("..", "..")
	c, named := readCode(t, root), 0
	for _, page := range []string{"AGENTS.md", "tick/AGENTS.md", "docs/design.md"} {
		text, err := os.ReadFile(filepath.Join(root, page))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range inCode.FindAllStringSubmatch(string(text), -1) {
			if fileEnding.MatchString(m[1]) {
				continue
			}
			named++
			if parts := strings.Split(m[1], "."); !c.names[parts[len(parts)-1]] || !c.names[parts[0]] {
				t.Errorf("%s: there is no %s", page, m[1])
			}
		}
	}
	if named < 30 {
		t.Errorf("%d names were looked for, which cannot be all", named)
	}
}

// code is all Go code of the project, as far as comments may speak of it.
type code struct {
	names    map[string]bool   // every identifier
	declared map[string]bool   // functions, methods, types, values and fields
	texts    string            // string literals, and files that are not Go
	comments map[string]string // a line each, by where it stands
	misnamed map[string]string // declarations whose comment begins with another name, by where that stands
}

func readCode(t *testing.T, root string) *code {
	t.Helper()
	c := &code{names: map[string]bool{}, declared: map[string]bool{}, comments: map[string]string{}, misnamed: map[string]string{}}
	var texts strings.Builder
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && strings.HasPrefix(d.Name(), "."):
			return filepath.SkipDir
		case d.IsDir():
			return nil
		case slices.Contains([]string{".sql", ".tmpl", ".toml", ".json", ".graphql"}, filepath.Ext(path)):
			b, err := os.ReadFile(path)
			texts.Write(b)
			return err
		case filepath.Ext(path) != ".go":
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		c.read(files, file, &texts)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	c.texts = texts.String()
	return c
}

func (c *code) read(files *token.FileSet, file *ast.File, texts *strings.Builder) {
	for _, group := range file.Comments {
		for _, line := range group.List {
			c.comments[files.Position(line.Pos()).String()] = line.Text
		}
	}
	said := func(doc *ast.CommentGroup, names ...*ast.Ident) {
		for _, name := range names {
			c.declared[name.Name] = true
		}
		first := strings.TrimSuffix(strings.Trim(firstWord(doc.Text()), ",:;."), "'s")
		lower := first != "" && first[0] >= 'a' && first[0] <= 'z'
		if lower && !slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == first }) {
			c.misnamed[files.Position(doc.Pos()).String()] = names[0].Name
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			c.names[n.Name] = true
		case *ast.BasicLit:
			texts.WriteString(n.Value + "\n")
		case *ast.FuncDecl:
			if strings.HasPrefix(n.Name.Name, "Test") {
				said(nil, n.Name) // it tells a story
			} else {
				said(n.Doc, n.Name)
			}
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				of := n.Doc // of what stands alone; otherwise of the group
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if n.Lparen != token.NoPos {
						of = s.Doc
					}
					said(of, s.Name)
				case *ast.ValueSpec:
					if n.Lparen != token.NoPos {
						of = nil
					}
					said(of, s.Names...)
				}
			}
		case *ast.Field:
			said(nil, n.Names...)
		}
		return true
	})
}

func firstWord(text string) string {
	word, _, _ := strings.Cut(text, " ")
	word, _, _ = strings.Cut(word, "\n")
	return word
}

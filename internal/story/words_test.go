//go:build unix

package story

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// words are those that no text for people uses, and what it says instead: the
// words of GitHub and git.
var words = []struct {
	say    string
	unsaid *regexp.Regexp
}{
	{"again", phrase(`anew|afresh`)},
	{"blocked", phrase(`(stand|stands|standing|stood) still`)},
	{"pause", phrase(`(take|takes|taking|took|taken)( it| this| that| them)? over`)},
	{"resume, or hand back", phrase(`(give|gives|giving|gave|given)( it| this| that| them)? back`)},
	{"visible", phrase(`to be seen`)},
	{"appears", phrase(`(come|comes|coming|came) to light`)},
	{"resumes, or continues", phrase(`(go|goes|going|went|gone) on`)},
	{"next step", phrase(`ways? on`)},
	{"cancelled", phrase(`(call|calls|calling|called)( it| this| the work)? off`)},
	{"who has to", phrase(`before people have to`)},
}

func phrase(p string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)\b(` + strings.ReplaceAll(p, " ", `\s+`) + `)\b`)
}

// What people read is in words that they know: documents, the config's example,
// prompts, the list of changes, and every string of the program, which becomes
// help, an error, a log line or a comment on GitHub.
func TestTextsUseTheFieldsWords(t *testing.T) {
	texts := 0
	check := func(path string, line int, text string) {
		texts++
		for _, w := range words {
			for _, at := range w.unsaid.FindAllStringIndex(text, -1) {
				t.Errorf("%s:%d: %q: say %q", path, line+strings.Count(text[:at[0]], "\n"), text[at[0]:at[1]], w.say)
			}
		}
	}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := filepath.ToSlash(strings.TrimPrefix(path, "../../"))
		switch {
		case d.IsDir() && (name == ".git" || name == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir(), strings.HasSuffix(name, "_test.go"), name == "docs/decisions.md": // a log of what was said
			return nil
		case strings.HasSuffix(name, ".go"):
			return literals(path, func(line int, text string) { check(name, line, text) })
		case strings.HasSuffix(name, ".md"), strings.HasSuffix(name, ".tmpl"), strings.HasSuffix(name, ".toml"), strings.HasPrefix(name, "prompts/schemas/"):
			text, err := os.ReadFile(path)
			check(name, 1, string(text))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if texts < 1000 {
		t.Errorf("%d texts were read, which cannot be all", texts)
	}
}

// literals gives every string of a file of Go, with its line.
func literals(path string, each func(line int, text string)) error {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				each(files.Position(l.Pos()).Line, text)
			}
		}
		return true
	})
	return nil
}

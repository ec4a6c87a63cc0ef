package githubsim

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"
)

// gh asks for a field of an issue or of a pull request under one name although its types differ (state). GitHub
// answers; the library, and the specification, refuse. So such fields get names of their own on the way in and lose
// them on the way out.

// overlapMark stands between the type and the name of a renamed field.
const overlapMark = "__of__"

// separate renames the conflicting fields of a parsed document and returns its text; ok is false when there are none.
func (g *gqlHandler) separate(doc *ast.QueryDocument) (text string, ok bool) {
	for _, op := range doc.Operations {
		ok = g.separateIn(op.SelectionSet) || ok
	}
	for _, f := range doc.Fragments {
		ok = g.separateIn(f.SelectionSet) || ok
	}
	if !ok {
		return "", false
	}
	var b bytes.Buffer
	formatter.NewFormatter(&b).FormatQueryDocument(doc)
	return b.String(), true
}

// separateIn renames in one selection set and all below it.
func (g *gqlHandler) separateIn(set ast.SelectionSet) (renamed bool) {
	types := map[string]string{} // of each name, in the first fragment that has it
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			renamed = g.separateIn(s.SelectionSet) || renamed
		case *ast.InlineFragment:
			renamed = g.separateIn(s.SelectionSet) || renamed
			for _, inner := range s.SelectionSet {
				f, isField := inner.(*ast.Field)
				if !isField {
					continue
				}
				kind := g.typeOf(s.TypeCondition, f.Name)
				if first, seen := types[f.Alias]; !seen {
					types[f.Alias] = kind
				} else if first != kind {
					f.Alias = s.TypeCondition + overlapMark + f.Alias
					renamed = true
				}
			}
		}
	}
	return renamed
}

// typeOf is the type of a field, "" when the schema has none of that name.
func (g *gqlHandler) typeOf(object, field string) string {
	for _, o := range g.schema.AST().Objects {
		if o.Name != object {
			continue
		}
		if f := o.Fields.Get(field); f != nil {
			return f.Type.String()
		}
	}
	return ""
}

// renamedKey is a renamed field in an answer. In a string its quotes would stand behind backslashes.
var renamedKey = regexp.MustCompile(`([{,])"\w+` + overlapMark + `(\w+)":`)

// rejoin gives the renamed fields of an answer their names back.
func rejoin(data []byte) []byte { return renamedKey.ReplaceAll(data, []byte(`$1"$2":`)) }

// rejoinPath does the same for the path of an error.
func rejoinPath(path []any) []any {
	for i, p := range path {
		if s, ok := p.(string); ok {
			if _, name, cut := strings.Cut(s, overlapMark); cut {
				path[i] = name
			}
		}
	}
	return path
}

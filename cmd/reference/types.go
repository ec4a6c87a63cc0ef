package reference

import (
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// module is the import path prefix of our own packages.
const module = "github.com/mergexo/gh-mergexo/"

// member is one field of a struct that is printed as JSON.
type member struct {
	name    string
	of      reflect.Type
	comment string // the comment of the field in its source
	maybe   bool   // omitted if empty
}

// sources reads the comments of struct fields from the repository's Go files.
type sources struct {
	root     string
	packages map[string]map[string]string // import path → "Type.Field" → comment
}

// members returns the JSON fields of a struct in their order; an embedded struct has no name.
func (s *sources) members(t reflect.Type) ([]member, error) {
	comments, err := s.comments(t.PkgPath())
	if err != nil {
		return nil, err
	}
	var all []member
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			all = append(all, member{of: f.Type})
		case name != "" && name != "-":
			all = append(all, member{name, f.Type, comments[t.Name()+"."+f.Name], options == "omitempty"})
		}
	}
	return all, nil
}

// comments returns the end-of-line comments of a package's struct fields.
func (s *sources) comments(pkg string) (map[string]string, error) {
	if known := s.packages[pkg]; known != nil {
		return known, nil
	}
	paths, err := filepath.Glob(filepath.Join(s.root, filepath.FromSlash(strings.TrimPrefix(pkg, module)), "*.go"))
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			t, _ := n.(*ast.TypeSpec)
			if t == nil {
				return true
			}
			if object, ok := t.Type.(*ast.StructType); ok {
				for _, f := range object.Fields.List {
					for _, name := range f.Names {
						all[t.Name.Name+"."+name.Name] = strings.TrimSpace(f.Comment.Text())
					}
				}
			}
			return true
		})
	}
	s.packages[pkg] = all
	return all, nil
}

// kind returns the JSON type of a Go type, "" for a text; link returns the name of a struct.
func kind(t reflect.Type, link func(reflect.Type) string) string {
	switch t {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[terminal.Time]():
		return "time"
	case reflect.TypeFor[json.RawMessage]():
		return "any"
	}
	switch t.Kind() { //nolint:exhaustive // no view has others
	case reflect.String:
		return ""
	case reflect.Bool:
		return "boolean"
	case reflect.Int, reflect.Int64, reflect.Float64:
		return "number"
	case reflect.Pointer:
		return kind(t.Elem(), link)
	case reflect.Slice:
		return "list of " + cmp.Or(kind(t.Elem(), link), "texts")
	case reflect.Map:
		return "object by name of " + cmp.Or(kind(t.Elem(), link), "texts")
	case reflect.Interface:
		return "any"
	case reflect.Struct:
		return link(t)
	}
	panic(fmt.Sprintf("JSON has no word for a %s", t))
}

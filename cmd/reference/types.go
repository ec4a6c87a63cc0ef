package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
)

// module is how our own packages are imported.
const module = "github.com/mergexo/gh-mergexo/"

// sources reads types from the repository's Go files.
type sources struct {
	root     string
	packages map[string]map[string]typeSpec
}

// typeSpec is a type, with the file that it stands in.
type typeSpec struct {
	expr ast.Expr
	file *ast.File
}

// member is one field of an object that is printed as JSON.
type member struct {
	name, kind string
	below      string // the type of objects in it: package.Type; empty: there are none
	comment    string // what the source says of it
}

// members are the JSON fields of a struct, which is named as in cmd/status.itemView.
func (s *sources) members(name string) ([]member, error) {
	spec, pkg, err := s.find(name)
	if err != nil {
		return nil, err
	}
	object, ok := spec.expr.(*ast.StructType)
	if !ok {
		return nil, fmt.Errorf("%s is no struct", name)
	}
	var all []member
	for _, f := range object.Fields.List {
		if f.Tag == nil && len(f.Names) == 0 { // what is embedded prints its fields as its own
			_, below := s.kind(f.Type, pkg, spec.file)
			inner, err := s.members(below)
			if err != nil {
				return nil, err
			}
			all = append(all, inner...)
		}
		if f.Tag == nil {
			continue
		}
		tag, err := strconv.Unquote(f.Tag.Value)
		if err != nil {
			return nil, err
		}
		key, options, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		if key == "" || key == "-" {
			continue
		}
		m := member{name: key, comment: strings.TrimSpace(f.Comment.Text())}
		m.kind, m.below = s.kind(f.Type, pkg, spec.file)
		if strings.Contains(options, "omitempty") {
			m.kind += ", may be left out"
		}
		all = append(all, m)
	}
	return all, nil
}

// find reads the package of a type.
func (s *sources) find(name string) (typeSpec, string, error) {
	dot := strings.LastIndex(name, ".")
	pkg, id := name[:dot], name[dot+1:]
	if s.packages[pkg] == nil {
		types, err := typesOf(filepath.Join(s.root, filepath.FromSlash(pkg)))
		if err != nil {
			return typeSpec{}, "", err
		}
		s.packages[pkg] = types
	}
	spec, ok := s.packages[pkg][id]
	if !ok {
		return spec, "", fmt.Errorf("there is no type %s", name)
	}
	return spec, pkg, nil
}

func typesOf(dir string) (map[string]typeSpec, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	types := map[string]typeSpec{}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if t, ok := n.(*ast.TypeSpec); ok {
				types[t.Name.Name] = typeSpec{t.Type, file}
			}
			return true
		})
	}
	return types, nil
}

// kind says what JSON has for a Go type, and which type describes objects in it.
func (s *sources) kind(expr ast.Expr, pkg string, file *ast.File) (kind, below string) {
	switch t := expr.(type) {
	case *ast.StarExpr:
		kind, below = s.kind(t.X, pkg, file)
		return kind + " or null", below
	case *ast.ArrayType:
		kind, below = s.kind(t.Elt, pkg, file)
		return "list: " + kind, below
	case *ast.MapType:
		kind, below = s.kind(t.Value, pkg, file)
		return "object by name: " + kind, below
	case *ast.SelectorExpr:
		return s.selected(t, file)
	case *ast.Ident:
		return s.named(t.Name, pkg)
	}
	return "any", ""
}

func (s *sources) named(name, pkg string) (kind, below string) {
	switch name {
	case "string":
		return "text", ""
	case "bool":
		return "true or false", ""
	case "int", "int64", "float64":
		return "number", ""
	}
	spec, _, err := s.find(pkg + "." + name)
	if err != nil {
		return "any", ""
	}
	if _, is := spec.expr.(*ast.StructType); is {
		return "object", pkg + "." + name
	}
	return s.kind(spec.expr, pkg, spec.file)
}

// selected is a type of another package.
func (s *sources) selected(t *ast.SelectorExpr, file *ast.File) (kind, below string) {
	local, ok := t.X.(*ast.Ident)
	if !ok {
		return "any", ""
	}
	switch local.Name + "." + t.Sel.Name {
	case "time.Time":
		return "time", ""
	case "json.RawMessage":
		return "any", ""
	}
	for _, imported := range file.Imports {
		path, err := strconv.Unquote(imported.Path.Value)
		if err == nil && strings.HasPrefix(path, module) && strings.HasSuffix(path, "/"+local.Name) {
			return s.named(t.Sel.Name, strings.TrimPrefix(path, module))
		}
	}
	return "any", ""
}

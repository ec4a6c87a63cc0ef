package githubsim

import (
	"fmt"
	"maps"
	"math"
	"slices"

	gqlerrors "github.com/graph-gophers/graphql-go/errors"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// gqlCost is what GitHub would charge for a query.
type gqlCost struct {
	points int // of the hourly budget
	nodes  int // that the query may return at most
}

const (
	maxConnection = 100     // the most that first and last may ask for
	maxNodes      = 500_000 // the most that a query may ask for
)

// gqlDocument is a parsed document, kept for the next time.
type gqlDocument struct{ *ast.QueryDocument }

// document parses a query, or remembers it.
func (g *gqlHandler) document(text string) (*gqlDocument, *gqlItem) {
	if doc := g.costs[text]; doc != nil {
		return doc, nil
	}
	parsed, err := parser.ParseQuery(&ast.Source{Input: text})
	if err != nil {
		return nil, &gqlItem{Message: "Parse error: " + err.Error()}
	}
	doc := &gqlDocument{parsed}
	g.costs[text] = doc
	return doc, nil
}

// undefined refuses the fields of a document that the schema lacks.
func (g *gqlHandler) undefined(doc *gqlDocument) (items []gqlItem) {
	var walk func(set ast.SelectionSet)
	walk = func(set ast.SelectionSet) {
		for _, s := range set {
			switch s := s.(type) {
			case *ast.Field:
				if object, lacks := g.lacks[s.Name]; lacks {
					items = append(items, gqlItem{
						Message:    fmt.Sprintf("Field '%s' doesn't exist on type '%s'", s.Name, object),
						Locations:  []gqlerrors.Location{{Line: s.Position.Line, Column: s.Position.Column}},
						Extensions: map[string]any{"code": "undefinedField", "typeName": object, "fieldName": s.Name},
					})
				}
				walk(s.SelectionSet)
			case *ast.InlineFragment:
				walk(s.SelectionSet)
			}
		}
	}
	for _, op := range doc.Operations {
		walk(op.SelectionSet)
	}
	for _, f := range doc.Fragments {
		walk(f.SelectionSet)
	}
	return items
}

// gqlWalk counts the requests that a query stands for: one for each connection, once for each
// parent, when every connection is filled to its first or last.
type gqlWalk struct {
	doc       *ast.QueryDocument
	variables map[string]any
	requests  float64
	nodes     float64
	items     []gqlItem
}

// cost is GitHub's published formula: requests divided by a hundred, rounded, at least one.
func (d *gqlDocument) cost(operation string, variables map[string]any) (gqlCost, []gqlItem) {
	op := d.Operations.ForName(operation)
	if op == nil {
		return gqlCost{points: 1}, nil // the executor says so
	}
	vars := map[string]any{}
	for _, v := range op.VariableDefinitions {
		if v.DefaultValue != nil {
			if value, err := v.DefaultValue.Value(nil); err == nil {
				vars[v.Variable] = value
			}
		}
	}
	maps.Copy(vars, variables)
	w := &gqlWalk{doc: d.QueryDocument, variables: vars}
	w.selections(op.SelectionSet, 1, []any{string(op.Operation)})
	if w.nodes > maxNodes {
		w.items = append(w.items, gqlItem{
			Type:    "MAX_NODE_LIMIT_EXCEEDED",
			Message: fmt.Sprintf("This query requests up to %.0f possible nodes which exceeds the maximum limit of 500,000.", w.nodes),
		})
	}
	return gqlCost{points: max(1, int(math.Round(w.requests/100))), nodes: int(w.nodes)}, w.items
}

func (w *gqlWalk) selections(set ast.SelectionSet, parents float64, path []any) {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			w.field(s, parents, append(slices.Clip(path), s.Alias))
		case *ast.InlineFragment:
			w.selections(s.SelectionSet, parents, path)
		case *ast.FragmentSpread:
			if f := w.doc.Fragments.ForName(s.Name); f != nil {
				w.selections(f.SelectionSet, parents, path)
			}
		}
	}
}

func (w *gqlWalk) field(f *ast.Field, parents float64, path []any) {
	size, bounded := w.bound(f, path)
	switch {
	case bounded:
		w.requests += parents
		w.nodes += parents * size
		parents *= size
	case w.lists(f.SelectionSet):
		w.items = append(w.items, gqlItem{
			Type: "MISSING_PAGINATION_BOUNDARIES", Path: path,
			Message: fmt.Sprintf("You must provide a `first` or `last` value to properly paginate the `%s` connection.", f.Name),
		})
	case f.Name == "nodes" && f.Arguments.ForName("ids") != nil:
		if ids, ok := w.value(f, "ids").([]any); ok {
			parents *= float64(len(ids))
			w.nodes += float64(len(ids))
		}
	}
	w.selections(f.SelectionSet, parents, path)
}

// lists tells whether a selection asks for the elements of a connection.
func (w *gqlWalk) lists(set ast.SelectionSet) bool {
	for _, s := range set {
		switch s := s.(type) {
		case *ast.Field:
			if s.Name == "nodes" || s.Name == "edges" {
				return true
			}
		case *ast.InlineFragment:
			if w.lists(s.SelectionSet) {
				return true
			}
		case *ast.FragmentSpread:
			if f := w.doc.Fragments.ForName(s.Name); f != nil && w.lists(f.SelectionSet) {
				return true
			}
		}
	}
	return false
}

// bound is a connection's first or last.
func (w *gqlWalk) bound(f *ast.Field, path []any) (float64, bool) {
	for _, name := range []string{"first", "last"} {
		var n float64
		switch v := w.value(f, name).(type) {
		case nil:
			continue
		case int64:
			n = float64(v)
		case float64:
			n = v
		}
		if n > maxConnection || n < 1 {
			w.items = append(w.items, gqlItem{
				Type: "EXCESSIVE_PAGINATION", Path: path,
				Message: fmt.Sprintf("Requesting %.0f records on the `%s` connection exceeds the `%s` limit of 100 records.", n, f.Name, name),
			})
		}
		return n, true
	}
	return 0, false
}

// value is an argument as the query or its variables give it, nil when they do not.
func (w *gqlWalk) value(f *ast.Field, name string) any {
	arg := f.Arguments.ForName(name)
	if arg == nil {
		return nil
	}
	v, err := arg.Value.Value(w.variables)
	if err != nil {
		return nil
	}
	return v
}

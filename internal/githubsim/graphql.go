package githubsim

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/graph-gophers/graphql-go"
	gqlerrors "github.com/graph-gophers/graphql-go/errors"
)

//go:embed schema.graphql
var schemaText string

// gqlHandler answers /graphql. The dispatcher holds Hub.mu during the call.
type gqlHandler struct {
	h      *Hub
	schema *graphql.Schema
	costs  map[string]*gqlDocument // by the document's text
	blind  map[*user]bool          // whose tokens may not see checks
	lacks  map[string]string       // fields that the schema does not have, each with its type
}

// newGraphQL makes the handler of /graphql.
func newGraphQL(h *Hub) (http.Handler, error) {
	// One resolver at a time: the model is read under one lock, and some answers change it.
	schema, err := graphql.ParseSchema(schemaText, &gqlRoot{}, graphql.UseFieldResolvers(), graphql.MaxParallelism(1), graphql.DisableFieldSelections())
	if err != nil {
		return nil, fmt.Errorf("parse schema: %w", err)
	}
	return &gqlHandler{h: h, schema: schema, costs: map[string]*gqlDocument{}, blind: map[*user]bool{}, lacks: map[string]string{}}, nil
}

// ForbidChecks makes a user's token one that may not see checks, as fine-grained tokens are; forbid
// false ends it.
func (h *Hub) ForbidChecks(login string, forbid bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	if g, ok := h.graphqlHandler.(*gqlHandler); ok {
		g.blind[u] = forbid
	}
	return nil
}

// LackField makes the server an older one, whose schema does not have a field yet.
func (h *Hub) LackField(object, field string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if g, ok := h.graphqlHandler.(*gqlHandler); ok {
		g.lacks[field] = object
	}
}

// blind tells whether a user's token may not see checks.
func (h *Hub) blind(u *user) bool {
	g, ok := h.graphqlHandler.(*gqlHandler)
	return ok && g.blind[u]
}

// gql is one GraphQL request on its way through the resolvers.
type gql struct {
	*call
	handler *gqlHandler
	cost    gqlCost
	budget  bucket
	errs    []gqlItem // of list elements, for which the library has no errors

	mergeable map[*pull]mergeability // as far as it was asked for
}

type gqlKey struct{}

// gqlFrom is the request that a resolver's context belongs to.
func gqlFrom(ctx context.Context) *gql {
	x, _ := ctx.Value(gqlKey{}).(*gql)
	return x
}

// gqlItem is an entry of "errors" as GitHub writes it: the type stands at its top.
type gqlItem struct {
	Type       string               `json:"type,omitempty"`
	Path       []any                `json:"path,omitempty"`
	Locations  []gqlerrors.Location `json:"locations,omitempty"`
	Message    string               `json:"message"`
	Extensions map[string]any       `json:"extensions,omitempty"`
}

// gqlError is a refusal with GitHub's word for its kind.
type gqlError struct{ kind, message string }

func (e *gqlError) Error() string { return e.message }

// refuse gives a deed's refusal the form that GraphQL has for it; nil stays nil.
func refuse(e *apiError) error {
	if e == nil {
		return nil
	}
	kind := "UNPROCESSABLE"
	switch e.status {
	case http.StatusNotFound:
		kind = "NOT_FOUND"
	case http.StatusForbidden:
		kind = "FORBIDDEN"
	}
	text := e.message
	if len(e.texts) > 0 {
		text = strings.Join(e.texts, ", ")
	} else if len(e.items) > 0 && e.items[0].Message != "" {
		text = e.items[0].Message
	}
	return &gqlError{kind, text}
}

// noNode is the refusal of a global id that names nothing that the viewer may see.
func noNode(id string) *gqlError {
	return &gqlError{"NOT_FOUND", fmt.Sprintf("Could not resolve to a node with the global id of '%s'", id)}
}

type gqlRequest struct {
	Query     string         `json:"query"`
	Operation string         `json:"operationName"`
	Variables map[string]any `json:"variables"`
}

type gqlResponse struct {
	Data   json.RawMessage `json:"data,omitempty"`
	Errors []gqlItem       `json:"errors,omitempty"`
}

// ServeHTTP charges for the query, runs it, and writes its errors as GitHub does.
func (g *gqlHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c, a := callFrom(r.Context()), w.(*answer)
	var in gqlRequest
	if err := json.Unmarshal(c.body, &in); err != nil || in.Query == "" {
		a.write(refusal(http.StatusBadRequest, "Problems parsing JSON").reply())
		return
	}
	doc, item := g.document(in.Query)
	if item != nil {
		a.write(ok(gqlResponse{Errors: []gqlItem{*item}}))
		return
	}
	if items := g.undefined(doc); len(items) > 0 {
		a.write(ok(gqlResponse{Errors: items}))
		return
	}
	cost, items := doc.cost(in.Operation, in.Variables)
	if len(items) > 0 {
		a.write(ok(gqlResponse{Errors: items}))
		return
	}
	x := &gql{call: c, handler: g, cost: cost, budget: c.charge(cost.points), mergeable: map[*pull]mergeability{}}
	out := g.schema.Exec(context.WithValue(r.Context(), gqlKey{}, x), in.Query, in.Operation, in.Variables)
	a.write(ok(gqlResponse{Data: out.Data, Errors: append(x.errs, gqlItems(out.Errors)...)}))
}

// gqlItems moves the types of errors to where GitHub has them.
func gqlItems(errs []*gqlerrors.QueryError) []gqlItem {
	var out []gqlItem
	for _, e := range errs {
		item := gqlItem{Path: e.Path, Locations: e.Locations, Message: e.Message, Extensions: e.Extensions}
		switch resolver := e.ResolverError.(type) { //nolint:errorlint // resolvers return it unwrapped
		case *gqlError:
			item.Type = resolver.kind
		case nil:
			if e.Rule != "" {
				item.Extensions = map[string]any{"code": e.Rule}
			}
		}
		out = append(out, item)
	}
	return out
}

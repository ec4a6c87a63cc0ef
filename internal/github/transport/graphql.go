package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// GraphAnswer is a GraphQL answer: data, errors, or some of both. Its JSON is read once,
// into what was asked for.
type GraphAnswer[T any] struct {
	Data *T `json:"data"` // nil: none
	GraphErrors
}

// GraphErrors are the errors of a GraphQL answer.
type GraphErrors struct {
	Errors []GraphError `json:"errors"`
	URL    string       `json:"-"` // that answered
}

// GraphError is one of the errors of a GraphQL answer.
type GraphError struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// GraphQL's error types that mean something to us. GitHub has used two names
// for the limit.
const (
	TypeNotFound  = "NOT_FOUND"
	TypeForbidden = "FORBIDDEN"
)

func (e GraphError) isLimit() bool {
	switch e.Type {
	case "RATE_LIMITED", "RATE_LIMIT":
		return true
	case "":
		return limitWords(e.Message)
	case "UNPROCESSABLE":
		return strings.Contains(e.Message, "was submitted too quickly")
	}
	return false
}

// Refusal gives an error the HTTP status that its type stands for.
func (e GraphError) Refusal(url string) *Error {
	out := &Error{Status: http.StatusInternalServerError, Type: e.Type, Message: e.Message, URL: url}
	switch {
	case e.Type == TypeNotFound:
		out.Status = http.StatusNotFound
	case e.Type == TypeForbidden, e.Type == "INSUFFICIENT_SCOPES":
		out.Status = http.StatusForbidden
	case e.Type == "UNPROCESSABLE":
		out.Status = http.StatusUnprocessableEntity
	case e.Extensions.Code != "": // GitHub refused the document itself
		out.Status = http.StatusBadRequest
	}
	return out
}

// GraphQL sends one document. Errors beside data are the caller's to judge;
// limits, and errors without data, are errors here.
func GraphQL[T any](ctx context.Context, c *Client, what Effect, document string, vars map[string]any) (*GraphAnswer[T], error) {
	a, err := AskGraphQL(ctx, c, what, document, vars)
	if err != nil {
		return nil, err
	}
	return ReadGraphQL[T](c, what, a)
}

// ReadGraphQL decodes an answer.
func ReadGraphQL[T any](c *Client, what Effect, a *Answer) (*GraphAnswer[T], error) {
	g := &GraphAnswer[T]{GraphErrors: GraphErrors{URL: a.URL}}
	err := json.Unmarshal(a.Body, g)
	if i := slices.IndexFunc(g.Errors, GraphError.isLimit); i >= 0 {
		return nil, c.limited(a, g.Errors[i].Refusal(a.URL))
	}
	if err != nil {
		return nil, misread(what, &BodyError{URL: a.URL, Err: err})
	}
	if g.Data != nil {
		return g, nil
	}
	if len(g.Errors) == 0 {
		return nil, misread(what, &BodyError{URL: a.URL, Err: errors.New("neither data nor errors")})
	}
	return nil, g.first(what)
}

// GraphQLStrict is GraphQL for answers in which every error counts.
func GraphQLStrict[T any](ctx context.Context, c *Client, what Effect, document string, vars map[string]any) (data *T, url string, err error) {
	g, err := GraphQL[T](ctx, c, what, document, vars)
	if err != nil {
		return nil, "", err
	}
	if len(g.Errors) > 0 {
		return nil, "", g.first(what)
	}
	return g.Data, g.URL, nil
}

// AskGraphQL sends one document, and leaves its answer to the caller, or to ReadGraphQL.
func AskGraphQL(ctx context.Context, c *Client, what Effect, document string, vars map[string]any) (*Answer, error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": vars})
	if err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	return c.Send(ctx, Call{Method: http.MethodPost, URL: c.graph, Body: body, Effect: what, Resource: resourceGraphQL})
}

// first makes the first error of an answer the error of the request.
func (g GraphErrors) first(what Effect) error {
	err := g.Errors[0].Refusal(g.URL)
	if err.Status >= http.StatusInternalServerError {
		return misread(what, err)
	}
	return err
}

// misread is what an answer that says nothing means: for a write, that it may
// have been applied.
func misread(what Effect, err error) error {
	if what == Writes {
		return &UnclearError{Err: err}
	}
	return err
}

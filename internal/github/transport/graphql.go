package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// GraphAnswer is a GraphQL answer: data, errors or both. Its JSON is decoded directly into T.
type GraphAnswer[T any] struct {
	Data *T `json:"data"` // nil: none
	GraphErrors
}

// GraphErrors has the errors of a GraphQL answer.
type GraphErrors struct {
	Errors []GraphError `json:"errors"`
	URL    string       `json:"-"` // that answered
	sso    string       // see Error
}

// GraphError is one error of a GraphQL answer.
type GraphError struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Path       []any  `json:"path"`
	Extensions struct {
		Code      string `json:"code"`
		FieldName string `json:"fieldName"`
	} `json:"extensions"`
}

// GraphQL error types that we handle. GitHub has used two names for the rate limit.
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

// Refusal converts an error to the HTTP status that matches its type.
func (e GraphError) Refusal(url string) *Error {
	out := &Error{Status: http.StatusInternalServerError, Type: e.Type, Message: e.Message, URL: url}
	switch {
	case e.Type == TypeNotFound:
		out.Status = http.StatusNotFound
	case e.Type == TypeForbidden, e.Type == "INSUFFICIENT_SCOPES":
		out.Status = http.StatusForbidden
	case e.Type == "UNPROCESSABLE":
		out.Status = http.StatusUnprocessableEntity
	case e.Extensions.Code != "": // GitHub rejected the document itself
		out.Status, out.Type = http.StatusBadRequest, e.Extensions.Code
	}
	return out
}

// GraphQL sends one document. Errors beside data are left to the caller; limits, and errors without
// data, are returned as errors.
func GraphQL[T any](ctx context.Context, c *Client, what Effect, document string, vars map[string]any) (*GraphAnswer[T], error) {
	a, err := AskGraphQL(ctx, c, what, document, vars)
	if err != nil {
		return nil, err
	}
	return ReadGraphQL[T](c, what, a)
}

// ReadGraphQL decodes an answer of AskGraphQL, as GraphQL does.
func ReadGraphQL[T any](c *Client, what Effect, a *Answer) (*GraphAnswer[T], error) {
	g := &GraphAnswer[T]{GraphErrors: GraphErrors{URL: a.URL, sso: missingSSO(a.Header)}}
	err := json.Unmarshal(a.Body, g)
	if i := slices.IndexFunc(g.Errors, GraphError.isLimit); i >= 0 {
		return nil, c.blockLimited(a, g.Errors[i].Refusal(a.URL))
	}
	if err != nil {
		return nil, unusableAnswer(what, &BodyError{URL: a.URL, Err: err})
	}
	if g.Data != nil {
		return g, nil
	}
	if len(g.Errors) == 0 {
		return nil, unusableAnswer(what, &BodyError{URL: a.URL, Err: errors.New("neither data nor errors")})
	}
	return nil, g.first(what)
}

// GraphQLStrict is GraphQL, but any error in the answer is an error.
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

// AskGraphQL sends one document and returns the raw answer, for ReadGraphQL. Optional fields that
// the server lacks are left out. A document that it refuses for other fields is sent once.
func AskGraphQL(ctx context.Context, c *Client, what Effect, document string, vars map[string]any) (*Answer, error) {
	for {
		send, refused := c.documents.known(document)
		if refused != nil {
			return refused, nil
		}
		a, err := c.ask(ctx, what, send, vars)
		if err != nil || !c.documents.learn(document, send, a) {
			return a, err
		}
	}
}

func (c *Client) ask(ctx context.Context, what Effect, document string, vars map[string]any) (*Answer, error) {
	body, err := json.Marshal(map[string]any{"query": document, "variables": vars})
	if err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	return c.Send(ctx, Call{Method: http.MethodPost, URL: c.graph, Body: body, Effect: what, Resource: resourceGraphQL, Query: Operation(document)})
}

// Operation returns the kind and the name of a document, such as "query Details".
func Operation(document string) string {
	for line := range strings.Lines(document) {
		if named, _, _ := strings.Cut(line, "("); strings.HasPrefix(line, "query ") || strings.HasPrefix(line, "mutation ") {
			return strings.TrimSpace(named)
		}
	}
	return ""
}

// first converts the first error of an answer to the request's error.
func (g GraphErrors) first(what Effect) error {
	err := g.Errors[0].Refusal(g.URL)
	err.SSO = g.sso
	if err.Status >= http.StatusInternalServerError {
		return unusableAnswer(what, err)
	}
	return err
}

// unusableAnswer converts an unusable answer: a write may have been applied.
func unusableAnswer(what Effect, err error) error {
	if what == Writes {
		return &UnclearError{Err: err}
	}
	return err
}

// Ghost is the login of deleted accounts on GitHub.
const Ghost = "ghost"

// botSuffix ends app logins in REST; GraphQL omits it.
const botSuffix = "[bot]"

// IsBotLogin reports whether a login is an app's in REST's form.
func IsBotLogin(login string) bool { return strings.HasSuffix(login, botSuffix) }

// Actor is an account in GraphQL.
type Actor struct {
	Kind  string `json:"__typename"`
	ID    int64  `json:"databaseId"`
	Login string `json:"login"`
}

// Account converts an actor to REST's form: GraphQL omits "[bot]" and has null for deleted
// accounts.
func (a *Actor) Account() work.Account {
	if a == nil {
		return work.Account{Login: Ghost}
	}
	acc := work.Account{ID: a.ID, Login: a.Login, Bot: a.Kind == "Bot" || IsBotLogin(a.Login)}
	if acc.Bot && !IsBotLogin(acc.Login) {
		acc.Login += botSuffix
	}
	return acc
}

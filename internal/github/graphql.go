package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// graphAnswer is a GraphQL answer: data, errors, or some of both.
type graphAnswer struct {
	Data   json.RawMessage `json:"data"`
	Errors []graphError    `json:"errors"`

	answer *answer
}

type graphError struct {
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
	typeNotFound  = "NOT_FOUND"
	typeForbidden = "FORBIDDEN"
)

func (e graphError) isLimit() bool {
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

// err gives an error the HTTP status that its type stands for.
func (e graphError) err(a *answer) *Error {
	out := &Error{Status: http.StatusInternalServerError, Type: e.Type, Message: e.Message, URL: a.url}
	switch {
	case e.Type == typeNotFound:
		out.Status = http.StatusNotFound
	case e.Type == typeForbidden, e.Type == "INSUFFICIENT_SCOPES":
		out.Status = http.StatusForbidden
	case e.Type == "UNPROCESSABLE":
		out.Status = http.StatusUnprocessableEntity
	case e.Extensions.Code != "": // GitHub refused the document itself
		out.Status = http.StatusBadRequest
	}
	return out
}

// graphql sends one document. Errors beside data are the caller's to judge;
// limits, and errors without data, are errors here.
func (c *Client) graphql(ctx context.Context, what effect, doc document, vars map[string]any) (*graphAnswer, error) {
	body, err := json.Marshal(map[string]any{"query": doc(), "variables": vars})
	if err != nil {
		return nil, fmt.Errorf("encode query: %w", err)
	}
	a, err := c.send(ctx, call{method: http.MethodPost, url: c.graph, body: body, effect: what, resource: resourceGraphQL})
	if err != nil {
		return nil, err
	}
	g := &graphAnswer{answer: a}
	if err := json.Unmarshal(a.body, g); err != nil {
		return nil, misread(what, &BodyError{URL: a.url, Err: err})
	}
	if i := slices.IndexFunc(g.Errors, graphError.isLimit); i >= 0 {
		return nil, c.limited(a, g.Errors[i].err(a))
	}
	if len(g.Data) > 0 && string(g.Data) != "null" {
		return g, nil
	}
	if len(g.Errors) == 0 {
		return nil, misread(what, &BodyError{URL: a.url, Err: errors.New("neither data nor errors")})
	}
	return nil, g.first(what)
}

// first makes the first error of an answer the error of the request.
func (g *graphAnswer) first(what effect) error {
	err := g.Errors[0].err(g.answer)
	if err.Status >= http.StatusInternalServerError {
		return misread(what, err)
	}
	return err
}

// misread is what an answer that says nothing means: for a write, that it may
// have been applied.
func misread(what effect, err error) error {
	if what == writes {
		return &UnclearError{Err: err}
	}
	return err
}

// strict decodes an answer in which every error counts.
func (g *graphAnswer) strict(what effect, into any) error {
	if len(g.Errors) > 0 {
		return g.first(what)
	}
	if err := json.Unmarshal(g.Data, into); err != nil {
		return misread(what, &BodyError{URL: g.answer.url, Err: err})
	}
	return nil
}

// nodes sorts an answer to nodes(ids:): which nodes there are, by their place,
// and which ids name nothing. A token that may not see checks or statuses is
// refused these alone, which then are empty. Any other error spoils the batch:
// the caller asks in smaller ones.
func (g *graphAnswer) nodes(nodes []json.RawMessage, ids []string) (present map[int]json.RawMessage, missing []string, err error) {
	gone := map[int]bool{}
	for _, e := range g.Errors {
		place, isNode := e.node()
		switch {
		case e.Type == typeForbidden && (slices.Contains(e.Path, any("statusCheckRollup")) || slices.Contains(e.Path, any("status"))):
		case e.Type == typeNotFound && isNode:
			gone[place] = true
		default:
			return nil, nil, e.err(g.answer)
		}
	}
	if len(nodes) != len(ids) {
		return nil, nil, &BodyError{URL: g.answer.url, Err: fmt.Errorf("%d nodes for %d ids", len(nodes), len(ids))}
	}
	present = map[int]json.RawMessage{}
	for i, raw := range nodes {
		var head struct {
			Kind string `json:"__typename"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			return nil, nil, &BodyError{URL: g.answer.url, Err: err}
		}
		switch {
		case gone[i], head.Kind != "" && head.Kind != "PullRequest":
			missing = append(missing, ids[i])
		case head.Kind == "":
			return nil, nil, &BodyError{URL: g.answer.url, Err: fmt.Errorf("nothing about %s", ids[i])}
		default:
			present[i] = raw
		}
	}
	return present, missing, nil
}

// node is the place in nodes(ids:) when the error is about a node as such.
func (e graphError) node() (int, bool) {
	if len(e.Path) != 2 || e.Path[0] != any("nodes") {
		return 0, false
	}
	n, ok := e.Path[1].(float64)
	return int(n), ok
}

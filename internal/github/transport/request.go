package transport

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// MaxBody limits the size of an answer. GitHub accepts 65,536 characters per body, JSON takes up to
// six bytes for one (\u0001), and a page has a hundred bodies: 40 MB. Any commenter can produce
// such a page, so it must be readable.
const MaxBody = 64 << 20

// Effect is whether a request changes anything; it decides what a lost answer means.
type Effect int

const (
	Reads Effect = iota
	Writes
)

// Call is one request.
type Call struct {
	Method   string
	URL      string // relative to the API root, or absolute
	ETag     string // If-None-Match
	Body     []byte
	Effect   Effect
	Resource string // empty: core
	Query    string // the name of a GraphQL document; errors say it
}

// Answer is an answer with its whole body.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	URL    string

	resource string
	limits   limits
}

// Send makes one request. It returns an answer for 2xx and 304 only.
func (c *Client) Send(ctx context.Context, k Call) (*Answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.refuse != nil {
		return nil, c.refuse
	}
	if c.readOnly && k.Effect == Writes {
		return nil, ErrReadOnly
	}
	if k.Resource == "" {
		k.Resource = resourceCore
	}
	if err := c.gate.pass(k.Resource, c.Now()); err != nil {
		return nil, err
	}
	req, err := c.newRequest(ctx, k)
	if err != nil {
		return nil, err
	}
	a, err := c.exchange(req, k)
	if err != nil {
		return nil, unansweredError(ctx, c.host, k, err)
	}
	if a.limits.remaining == 0 && a.limits.reset.After(c.Now()) {
		c.gate.close(a.resource, a.limits.reset, c.Now(), "GitHub's rate limit")
	}
	return a, c.refused(a, k)
}

func (c *Client) newRequest(ctx context.Context, k Call) (*http.Request, error) {
	address := k.URL
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		address = c.rest + address
	}
	var body io.Reader
	if k.Body != nil {
		body = bytes.NewReader(k.Body)
	}
	req, err := http.NewRequestWithContext(ctx, k.Method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if err := c.checkOrigin(req.URL); err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if k.ETag != "" {
		req.Header.Set("If-None-Match", k.ETag)
	}
	return req, nil
}

// exchange sends a request and reads the whole answer.
func (c *Client) exchange(req *http.Request, k Call) (*Answer, error) {
	start := c.now()
	seen := Request{Method: k.Method, URL: req.URL.String(), Resource: k.Resource, Remaining: -1, GraphQL: k.Resource == resourceGraphQL}
	defer func() {
		seen.Took = c.now().Sub(start)
		c.log.Debug("request", "method", seen.Method, "url", seen.URL, "status", seen.Status, "took", seen.Took)
		if c.count != nil {
			c.count(seen)
		}
	}()
	req, plain := wantPlain(req)
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	seen.Status = resp.StatusCode
	a := &Answer{Status: resp.StatusCode, Header: resp.Header, URL: seen.URL, resource: k.Resource}
	if k.Query != "" {
		a.URL += ", " + k.Query
	}
	c.clock.observe(resp.Header, start, c.now())
	noteDate(req.Context(), resp.Header)
	a.limits = readLimits(resp.Header, c.Now())
	if a.limits.resource != "" {
		a.resource = a.limits.resource
	}
	seen.Resource, seen.Remaining, seen.Most, seen.Reset, seen.At = a.resource, a.limits.remaining, a.limits.most, a.limits.reset, c.Now()
	if a.Body = plain.text; !plain.is {
		a.Body, err = io.ReadAll(io.LimitReader(resp.Body, MaxBody+1))
	}
	if err != nil {
		return nil, fmt.Errorf("read answer from %s: %w", seen.URL, err)
	}
	if len(a.Body) > MaxBody {
		return nil, &BodyError{URL: seen.URL, Err: fmt.Errorf("more than %d bytes", MaxBody)}
	}
	return a, nil
}

// unansweredError converts the error of a request without a whole answer.
func unansweredError(ctx context.Context, host string, k Call, err error) error {
	var body *BodyError
	switch {
	case k.Effect == Writes:
		return &UnclearError{Err: err}
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s: %w", k.Method, k.URL, ctx.Err())
	case errors.As(err, &body):
		return err
	default:
		return &UnreachableError{Host: host, Err: err}
	}
}

// refused returns an error for every answer except 2xx and 304.
func (c *Client) refused(a *Answer, k Call) error {
	switch {
	case a.Status >= 200 && a.Status < 300, a.Status == http.StatusNotModified && k.Effect == Reads:
		return nil
	case a.Status >= 300 && a.Status < 400:
		return &MovedError{URL: a.URL, Location: a.Header.Get("Location")}
	}
	e, docs, readable := parseError(a)
	switch {
	case !readable && (a.Status == http.StatusNotFound || a.Status == http.StatusGone): // nothing is absent because a proxy says so
		return unusableAnswer(k.Effect, &BodyError{URL: a.URL, Err: fmt.Errorf("status %d without GitHub's message", a.Status)})
	case isLimit(a, e, docs):
		return c.blockLimited(a, e)
	case a.Status >= 500 && a.limits.retryAfter > 0:
		return c.blockBusy(a, e, k.Effect)
	case k.Effect == Writes && (a.Status >= 500 || a.Status == http.StatusRequestTimeout):
		return &UnclearError{Err: e}
	}
	return e
}

// missingSSO returns the address of an answer's X-GitHub-SSO header; empty: no organization wants the login
// to be authorized. Lists of several organizations leave out some with another form of the header.
func missingSSO(h http.Header) string {
	form, address, _ := strings.Cut(h.Get("X-GitHub-SSO"), ";")
	address, found := strings.CutPrefix(strings.TrimSpace(address), "url=")
	if u, err := url.Parse(address); form != "required" || !found || err != nil || u.Scheme != "https" {
		return ""
	}
	return address
}

// parseError reads GitHub's error document and returns its documentation URL. It is not readable if
// something else answered in GitHub's place.
func parseError(a *Answer) (e *Error, docs string, readable bool) {
	e = &Error{Status: a.Status, URL: a.URL, SSO: missingSSO(a.Header)}
	var doc struct {
		Message string            `json:"message"`
		Docs    string            `json:"documentation_url"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(a.Body, &doc) != nil {
		e.Message = http.StatusText(a.Status)
		return e, "", false
	}
	e.Message = doc.Message
	for _, raw := range doc.Errors {
		var item ErrorItem // encoding/json ignores the case of field names
		if json.Unmarshal(raw, &item) != nil && json.Unmarshal(raw, &item.Message) != nil {
			item.Message = string(raw)
		}
		e.Items = append(e.Items, item)
	}
	return e, doc.Docs, doc.Message != ""
}

// maxRedirects limits the redirects of one request: a repository may have moved several times.
const maxRedirects = 5

// Follow sends a GET and follows redirects.
func (c *Client) Follow(ctx context.Context, address string) (*Answer, error) {
	for range maxRedirects {
		a, err := c.Send(ctx, Call{Method: http.MethodGet, URL: address})
		var moved *MovedError
		if !errors.As(err, &moved) {
			return a, err
		}
		if moved.Location == "" {
			return nil, &BodyError{URL: moved.URL, Err: errors.New("a redirect to nowhere")}
		}
		if address, err = c.resolveLink(moved.URL, moved.Location); err != nil {
			return nil, fmt.Errorf("follow the redirect: %w", err)
		}
	}
	return nil, &BodyError{URL: address, Err: fmt.Errorf("more than %d redirects", maxRedirects)}
}

// Plausible is a wire struct that can check itself: JSON that decodes proves nothing, because every
// field may be absent.
type Plausible interface{ Check() error }

// Decode decodes an answer's JSON document and checks it.
func (a *Answer) Decode(into Plausible) error {
	if err := json.Unmarshal(a.Body, into); err != nil {
		return &BodyError{URL: a.URL, Err: err}
	}
	if err := into.Check(); err != nil {
		return &BodyError{URL: a.URL, Err: err}
	}
	return nil
}

// Get reads and decodes one document.
func (c *Client) Get(ctx context.Context, address string, into Plausible) error {
	a, err := c.Send(ctx, Call{Method: http.MethodGet, URL: address})
	if err != nil {
		return err
	}
	return a.Decode(into)
}

// Write sends one change. If into is not nil, it decodes the answer; an unreadable answer is an
// *UnclearError.
func (c *Client) Write(ctx context.Context, method, address string, body any, into Plausible) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	a, err := c.Send(ctx, Call{Method: method, URL: address, Body: data, Effect: Writes})
	if err != nil {
		return err
	}
	if into == nil {
		return nil
	}
	if err := a.Decode(into); err != nil {
		return &UnclearError{Err: err}
	}
	return nil
}

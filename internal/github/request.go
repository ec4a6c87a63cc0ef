package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxBody bounds what is read of one answer; a hundred issues with the longest
// bodies are about 7 MB.
const maxBody = 32 << 20

// effect says whether a request changes anything, and so what a lost answer
// means.
type effect int

const (
	reads effect = iota
	writes
)

// call is one request.
type call struct {
	method   string
	url      string // relative to the API root, or absolute
	etag     string // If-None-Match
	body     []byte
	effect   effect
	resource string // empty: core
}

// answer is a whole answer.
type answer struct {
	status   int
	header   http.Header
	body     []byte
	url      string
	resource string
	limits   limits
}

// send makes one request. It returns an answer for 2xx and 304 only.
func (c *Client) send(ctx context.Context, k call) (*answer, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if c.refuse != nil {
		return nil, c.refuse
	}
	if k.resource == "" {
		k.resource = resourceCore
	}
	if err := c.gate.pass(k.resource, c.Now()); err != nil {
		return nil, err
	}
	req, err := c.newRequest(ctx, k)
	if err != nil {
		return nil, err
	}
	a, err := c.exchange(req, k)
	if err != nil {
		return nil, lost(ctx, c.host, k, err)
	}
	if a.limits.remaining == 0 && a.limits.reset.After(c.Now()) {
		c.gate.close(a.resource, a.limits.reset, c.Now(), "GitHub's rate limit")
	}
	return a, c.refused(a, k)
}

func (c *Client) newRequest(ctx context.Context, k call) (*http.Request, error) {
	address := k.url
	if !strings.HasPrefix(address, "https://") && !strings.HasPrefix(address, "http://") {
		address = c.rest + address
	}
	var body io.Reader
	if k.body != nil {
		body = bytes.NewReader(k.body)
	}
	req, err := http.NewRequestWithContext(ctx, k.method, address, body)
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if err := c.ours(req.URL); err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	if k.etag != "" {
		req.Header.Set("If-None-Match", k.etag)
	}
	return req, nil
}

// exchange sends a request and reads the whole answer.
func (c *Client) exchange(req *http.Request, k call) (*answer, error) {
	start := c.now()
	seen := Request{Method: k.method, URL: req.URL.String(), Resource: k.resource, Remaining: -1}
	defer func() {
		seen.Took = c.now().Sub(start)
		c.log.Debug("request", "method", seen.Method, "url", seen.URL, "status", seen.Status, "took", seen.Took)
		if c.count != nil {
			c.count(seen)
		}
	}()
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	seen.Status = resp.StatusCode
	a := &answer{status: resp.StatusCode, header: resp.Header, url: seen.URL, resource: k.resource}
	c.clock.tell(resp.Header, start, c.now())
	a.limits = readLimits(resp.Header, c.Now())
	if a.limits.resource != "" {
		a.resource = a.limits.resource
	}
	seen.Resource, seen.Remaining = a.resource, a.limits.remaining
	a.body, err = io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	if err != nil {
		return nil, fmt.Errorf("read answer from %s: %w", seen.URL, err)
	}
	if len(a.body) > maxBody {
		return nil, &BodyError{URL: seen.URL, Err: fmt.Errorf("more than %d bytes", maxBody)}
	}
	return a, nil
}

// lost says what it means that no whole answer came.
func lost(ctx context.Context, host string, k call, err error) error {
	var body *BodyError
	switch {
	case k.effect == writes:
		return &UnclearError{Err: err}
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s: %w", k.method, k.url, ctx.Err())
	case errors.As(err, &body):
		return err
	default:
		return &UnreachableError{Host: host, Err: err}
	}
}

// refused makes an error of every answer but 2xx and 304.
func (c *Client) refused(a *answer, k call) error {
	switch {
	case a.status >= 200 && a.status < 300, a.status == http.StatusNotModified && k.effect == reads:
		return nil
	case a.status >= 300 && a.status < 400:
		return &MovedError{URL: a.url, Location: a.header.Get("Location")}
	}
	e, docs := parseError(a)
	switch {
	case isLimit(a, e, docs):
		return c.limited(a, e)
	case a.status >= 500 && a.limits.retryAfter > 0:
		return c.busy(a, e, k.effect)
	case k.effect == writes && (a.status >= 500 || a.status == http.StatusRequestTimeout):
		return &UnclearError{Err: e}
	}
	return e
}

// parseError reads GitHub's error document and the page that it refers to.
func parseError(a *answer) (*Error, string) {
	e := &Error{Status: a.status, URL: a.url}
	var doc struct {
		Message string            `json:"message"`
		Docs    string            `json:"documentation_url"`
		Errors  []json.RawMessage `json:"errors"`
	}
	if json.Unmarshal(a.body, &doc) != nil {
		e.Message = http.StatusText(a.status)
		return e, ""
	}
	e.Message = doc.Message
	for _, raw := range doc.Errors {
		var item ErrorItem // field names are matched without regard to case
		if json.Unmarshal(raw, &item) != nil && json.Unmarshal(raw, &item.Message) != nil {
			item.Message = string(raw)
		}
		e.Items = append(e.Items, item)
	}
	return e, doc.Docs
}

// maxRedirects is how many addresses a moved repository may have had.
const maxRedirects = 5

// follow is a GET that follows redirects.
func (c *Client) follow(ctx context.Context, address string) (*answer, error) {
	for range maxRedirects {
		a, err := c.send(ctx, call{method: http.MethodGet, url: address})
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

// plausible is a wire struct that knows whether GitHub can have meant it: JSON
// that decodes is no proof, since every field may be absent.
type plausible interface{ check() error }

// decode reads one JSON document of an answer.
func decode(a *answer, into plausible) error {
	if err := json.Unmarshal(a.body, into); err != nil {
		return &BodyError{URL: a.url, Err: err}
	}
	if err := into.check(); err != nil {
		return &BodyError{URL: a.url, Err: err}
	}
	return nil
}

// get reads one document.
func (c *Client) get(ctx context.Context, address string, into plausible) error {
	a, err := c.send(ctx, call{method: http.MethodGet, url: address})
	if err != nil {
		return err
	}
	return decode(a, into)
}

// write sends one change and reads the object that it made, when there is one.
func (c *Client) write(ctx context.Context, method, address string, body any, into plausible) error {
	var data []byte
	if body != nil {
		var err error
		if data, err = json.Marshal(body); err != nil {
			return fmt.Errorf("encode request: %w", err)
		}
	}
	a, err := c.send(ctx, call{method: method, url: address, body: data, effect: writes})
	if err != nil {
		return err
	}
	if into == nil {
		return nil
	}
	if err := decode(a, into); err != nil {
		return &UnclearError{Err: err}
	}
	return nil
}

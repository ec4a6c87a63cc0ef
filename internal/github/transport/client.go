// Package transport sends requests to GitHub and reads whole answers, over go-gh with gh's token,
// socket and proxy. It does not wait for limits and retries nothing; it reports which limit holds
// until when, and tracks the host's clock.
package transport

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
)

// defaultTimeout limits one request including its body.
const defaultTimeout = 30 * time.Second

// Options configures New.
type Options struct {
	Host      string           // required
	Token     string           // required
	Socket    string           // unix socket for all requests; empty: gh's http_unix_socket, if any
	Timeout   time.Duration    // of one request; 0: 30 seconds
	UserAgent string           // empty: go-gh's
	Now       func() time.Time // required
	Log       *slog.Logger     // nil: no log
	Count     func(Request)    // called after every request in the caller's goroutine; may be nil
	ReadOnly  bool             // every write fails with ErrReadOnly, and nothing is sent
}

// Request describes one request for Options.Count.
type Request struct {
	Method    string
	URL       string
	Status    int           // 0 if no answer came
	Resource  string        // the rate limit it counts against: core, graphql, …
	Remaining int           // requests left in that limit; -1 if GitHub did not report it
	Most      int           // size of that limit; 0 if not reported
	Reset     time.Time     // when that limit resets; zero if not reported
	At        time.Time     // when the answer came, by the host's clock
	GraphQL   bool          // sent to the GraphQL API
	Took      time.Duration // until the body was read
}

// Client talks to one GitHub host as one account. It is safe for concurrent
// use.
type Client struct {
	host  string
	rest  string // base URL of the REST API, with a trailing slash
	graph string // URL of the GraphQL API
	http  *http.Client
	now   func() time.Time
	log   *slog.Logger
	count func(Request)
	gate  gate
	clock hostClock

	documents documents

	refuse   error // if set, every request fails with it and nothing is sent
	readOnly bool
}

// ErrReadOnly is the error of a write by a client that may only read.
var ErrReadOnly = errors.New("nothing is written to GitHub here")

// Refusing returns a client that fails every request with why and sends nothing.
func Refusing(host string, now func() time.Time, why error) *Client {
	rest, graph := endpoints(host, "")
	return &Client{host: strings.ToLower(host), rest: rest, graph: graph, now: now, log: slog.New(slog.DiscardHandler), refuse: why}
}

// New makes a client. It sends no request.
func New(o Options) (*Client, error) {
	if o.Now == nil {
		return nil, errors.New("github client: Options.Now is required")
	}
	if o.Timeout == 0 {
		o.Timeout = defaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	headers := map[string]string{"Accept": "application/vnd.github+json"}
	if o.UserAgent != "" {
		headers["User-Agent"] = o.UserAgent
	}
	client, err := api.NewHTTPClient(api.ClientOptions{
		Host:             o.Host,
		AuthToken:        o.Token,
		UnixDomainSocket: o.Socket,
		Transport:        roundTripper(o),
		Headers:          headers,
		Timeout:          o.Timeout,
		// Redirects are returned as answers and followed where that is safe. Go would turn a POST
		// into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", o.Host, err)
	}
	rest, graph := endpoints(o.Host, configuredAPIHost(o.Host))
	return &Client{
		host: strings.ToLower(o.Host), rest: rest, graph: graph, http: client,
		now: o.Now, log: o.Log, count: o.Count, readOnly: o.ReadOnly,
	}, nil
}

// Host returns the client's host in lower case.
func (c *Client) Host() string { return c.host }

// configuredAPIHost returns api_host of a host in hosts.yml. go-gh's HTTP client sends the token
// there, too, but leaves the URLs to its user.
func configuredAPIHost(host string) string {
	cfg, err := config.Read(nil)
	if err != nil {
		return ""
	}
	name, err := cfg.Get([]string{"hosts", auth.NormalizeHostname(host), "api_host"})
	if err != nil {
		return ""
	}
	return name
}

// endpoints returns the base URLs of a host's REST and GraphQL APIs, equal to those of go-gh's own
// clients (a test compares them).
func endpoints(host, apiHost string) (rest, graph string) {
	name := auth.NormalizeHostname(host)
	scheme, restPath, graphPath := "https", "/", "/graphql"
	switch {
	case strings.EqualFold(host, "garage.github.com"):
		name, restPath, graphPath = host, "/api/v3/", "/api/graphql"
	case auth.IsEnterprise(name):
		restPath, graphPath = "/api/v3/", "/api/graphql"
	case name == "github.localhost":
		scheme, name = "http", "api."+name
	default:
		name = "api." + name
	}
	if apiHost != "" {
		name = apiHost
	}
	return scheme + "://" + name + restPath, scheme + "://" + name + graphPath
}

// resolveLink resolves a URL from an answer: a next page or a redirect. Another host, port or
// scheme is an error, because someone who controls an answer's headers must not receive the token.
func (c *Client) resolveLink(from, link string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	to, err := base.Parse(link)
	if err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	if err := c.checkOrigin(to); err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	return to.String(), nil
}

// checkOrigin refuses URLs outside the client's API.
func (c *Client) checkOrigin(u *url.URL) error {
	for _, own := range []string{c.rest, c.graph} {
		if base, err := url.Parse(own); err == nil && origin(u) == origin(base) && u.User == nil {
			return nil
		}
	}
	return fmt.Errorf("%s://%s is not %s, so the token is not sent there", u.Scheme, u.Host, c.host)
}

// origin returns scheme, host and port, as browsers compare them.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + port)
}

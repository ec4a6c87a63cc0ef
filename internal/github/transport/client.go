// Package transport sends requests to GitHub and reads whole answers: over go-gh,
// with gh's token, socket and proxy. It waits for no limit and tries nothing again,
// but says which limit holds and until when, and keeps the host's time.
package transport

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/auth"
	"github.com/cli/go-gh/v2/pkg/config"
)

// defaultTimeout bounds one request, its body included.
const defaultTimeout = 30 * time.Second

// Options configure a client.
type Options struct {
	Host      string           // required
	Token     string           // required
	Socket    string           // unix socket to send every request to; empty: gh's http_unix_socket, if any
	Timeout   time.Duration    // of one request; 0: 30 seconds
	UserAgent string           // empty: go-gh's
	Now       func() time.Time // required
	Log       *slog.Logger     // nil: none
	Count     func(Request)    // called after every request, from the caller's goroutine; nil: not
}

// Request is what Options.Count is told of one request.
type Request struct {
	Method    string
	URL       string
	Status    int           // 0 when no answer came
	Resource  string        // the rate limit that it counts against: core, graphql, …
	Remaining int           // what is left of that limit; -1 when GitHub did not say
	Most      int           // of that limit; 0 likewise
	Reset     time.Time     // when it begins again; zero likewise
	At        time.Time     // when the answer came, by the host's clock
	GraphQL   bool          // asked of that API
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

	refuse error // why nothing is asked; nil: it is
}

// Refusing is a client that sends nothing, and answers every request with an error.
func Refusing(host string, now func() time.Time, why error) *Client {
	rest, graph := endpoints(host, "")
	return &Client{host: strings.ToLower(host), rest: rest, graph: graph, now: now, log: slog.New(slog.DiscardHandler), refuse: why}
}

// New makes a client. It sends nothing.
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
		// A redirect is an answer: followed by hand where that is safe. Go would
		// turn a POST into a GET.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	})
	if err != nil {
		return nil, fmt.Errorf("client for %s: %w", o.Host, err)
	}
	rest, graph := endpoints(o.Host, configuredAPIHost(o.Host))
	return &Client{
		host: strings.ToLower(o.Host), rest: rest, graph: graph, http: client,
		now: o.Now, log: o.Log, count: o.Count,
	}, nil
}

// Host is the host that the client talks to, in lower case.
func (c *Client) Host() string { return c.host }

// configuredAPIHost is hosts.yml's api_host for a host; go-gh's HTTP client
// sends the token there too, but leaves the addressing to its user.
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

// endpoints are the addresses of a host's two APIs, as go-gh's own REST and
// GraphQL clients have them (a test compares).
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

// Package github is the one door to GitHub's API: typed reads and writes, complete
// listings, conditional requests. Package transport sends the requests, and reads limits
// and the time from the answers.
//
// Host, token, socket and proxy are gh's own (go-gh resolves them), so that
// whatever works for gh works here. Nothing is retried: a read that failed is
// asked again by a later pass, and a write whose fate is unknown comes back as
// a [transport.UnclearError], to be looked for before it is sent again.
package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/auth"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Client talks to one GitHub host as one account. It is safe for concurrent use.
type Client struct{ api *transport.Client }

// New makes a client. Host and token are those of gh, where none are given. It sends
// nothing.
func New(o transport.Options) (*Client, error) {
	if o.Host == "" {
		o.Host = DefaultHost()
	}
	if o.Token == "" {
		if o.Token = Token(o.Host); o.Token == "" {
			return nil, &transport.NotLoggedInError{Host: o.Host}
		}
	}
	c, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	return &Client{c}, nil
}

// LoggedOut is the client of a host that gh has no login for: whatever it is asked,
// it says that, and sends nothing.
func LoggedOut(host string, now func() time.Time) *Client {
	return &Client{transport.Refusing(host, now, &transport.NotLoggedInError{Host: host})}
}

// Host is the host that the client talks to, in lower case.
func (c *Client) Host() string { return c.api.Host() }

// Now is GitHub's time, as far as its answers told it.
func (c *Client) Now() time.Time { return c.api.Now() }

// Ahead is how far this machine's clock is ahead of GitHub's.
func (c *Client) Ahead() (ahead time.Duration, known bool) { return c.api.Ahead() }

// Assume takes over what an earlier pass knew of the clock, until an answer comes.
func (c *Client) Assume(ahead time.Duration) { c.api.Assume(ahead) }

// KeepLimits has a function called with each rate limit that an answer reports.
func (c *Client) KeepLimits(keep func(transport.Limit)) { c.api.KeepLimits(keep) }

// Hold keeps to a rate limit that an earlier pass was told of.
func (c *Client) Hold(l transport.Limit) { c.api.Hold(l) }

// DefaultHost is the host that gh would talk to: GH_HOST, else the only one of
// hosts.yml, else github.com.
func DefaultHost() string {
	host, _ := auth.DefaultHost()
	return strings.ToLower(host)
}

// Token is the token that gh uses for a host, empty when it knows none.
// Environment and hosts.yml come first; gh itself is asked only for a token that
// lies in a keyring.
func Token(host string) string {
	token, _ := auth.TokenForHost(host)
	return token
}

// StoredToken is Token without a look into the keyring.
func StoredToken(host string) string {
	token, _ := auth.TokenFromEnvOrConfig(host)
	return token
}

// find reads a document that may be gone.
func find(ctx context.Context, api *transport.Client, address string, into transport.Plausible) (bool, error) {
	err := api.Get(ctx, address, into)
	if IsStatus(err, http.StatusNotFound, http.StatusGone) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", address, err)
	}
	return true, nil
}

// Package github is the only access to GitHub's API: typed reads and writes, complete listings,
// conditional requests. Package transport sends the requests and reads limits and the time from the
// answers.
//
// Host, token, socket and proxy are gh's own, resolved by go-gh, so that an environment in which gh
// works is enough. Nothing is retried. A later pass repeats a failed read. A write with an unknown
// outcome is a [transport.UnclearError]: look for its effect before sending it again.
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

// New makes a client. An empty host or token is taken from gh. It sends no request.
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

// Refusing returns the client of a host without a login: every request fails with why and nothing is sent.
func Refusing(host string, now func() time.Time, why error) *Client {
	return &Client{transport.Refusing(host, now, why)}
}

// Now returns GitHub's time, estimated from its answers.
func (c *Client) Now() time.Time { return c.api.Now() }

// Ahead returns how far this machine's clock is ahead of GitHub's.
func (c *Client) Ahead() (ahead time.Duration, known bool) { return c.api.Ahead() }

// Assume sets the clock difference from an earlier pass; the first answer replaces it.
func (c *Client) Assume(ahead time.Duration) { c.api.Assume(ahead) }

// KeepLimits sets a function that is called with each rate limit in an answer.
func (c *Client) KeepLimits(keep func(transport.Limit)) { c.api.KeepLimits(keep) }

// Hold applies a rate limit that an earlier pass received.
func (c *Client) Hold(l transport.Limit) { c.api.Hold(l) }

// DefaultHost returns the host that gh uses: GH_HOST, else the only one of hosts.yml, else
// github.com.
func DefaultHost() string {
	host, _ := auth.DefaultHost()
	return strings.ToLower(host)
}

// Token returns the token that gh uses for a host, "" if there is none. Environment and hosts.yml
// come first; gh is run only for a token in a keyring.
func Token(host string) string {
	token, _ := auth.TokenForHost(host)
	return token
}

// StoredToken is Token without the keyring.
func StoredToken(host string) string {
	token, _ := auth.TokenFromEnvOrConfig(host)
	return token
}

// find reads a document; false if it is gone.
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

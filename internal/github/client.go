// Package github is the one door to GitHub's API: typed reads and writes, complete
// listings, conditional requests. How a request is sent, and what its answer tells of
// limits and of the time, is its room transport; nobody else imports that.
//
// Host, token, socket and proxy are gh's own (go-gh resolves them), so that
// whatever works for gh works here. Nothing is retried: a read that failed is
// asked again by a later pass, and a write whose fate is unknown comes back as
// an [UnclearError], to be looked for before it is sent again.
package github

import (
	"strings"
	"time"

	"github.com/cli/go-gh/v2/pkg/auth"

	"github.com/mergexo/gh-mergexo/internal/github/merges"
	"github.com/mergexo/gh-mergexo/internal/github/pulse"
	"github.com/mergexo/gh-mergexo/internal/github/runs"
	"github.com/mergexo/gh-mergexo/internal/github/sweep"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
)

// Client talks to one GitHub host as one account. It is safe for concurrent use.
type Client struct {
	*transport.Client
	Issues
	Pulls
	Sweeps
	Checks
	Merges
	Repositories
	Pulses
}

// Tally counts requests, and keeps what answers say of limits.
type Tally = transport.Tally

// Issues are the requests about issues, and about the side of a pull request that is
// one: its conversation, its labels.
type Issues struct{ api *transport.Client }

// Pulls are the requests about pull requests, their reviews and comments on diffs.
type Pulls struct{ api *transport.Client }

// Repositories are the requests about repositories and accounts.
type Repositories struct{ api *transport.Client }

func newClient(c *transport.Client) *Client {
	return &Client{Client: c, Issues: Issues{c}, Pulls: Pulls{c}, Sweeps: sweep.New(c), Checks: runs.New(c), Merges: merges.New(c), Repositories: Repositories{c}, Pulses: pulse.New(c)}
}

// New makes a client. Host and token are those of gh, where none are given. It sends
// nothing.
func New(o Options) (*Client, error) {
	if o.Host == "" {
		o.Host = DefaultHost()
	}
	if o.Token == "" {
		if o.Token = Token(o.Host); o.Token == "" {
			return nil, &NotLoggedInError{Host: o.Host}
		}
	}
	c, err := transport.New(o)
	if err != nil {
		return nil, err
	}
	return newClient(c), nil
}

// LoggedOut is the client of a host that gh has no login for: whatever it is asked,
// it says that, and sends nothing.
func LoggedOut(host string, now func() time.Time) *Client {
	return newClient(transport.Refusing(host, now, &NotLoggedInError{Host: host}))
}

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

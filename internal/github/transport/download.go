package transport

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
)

// mostRedirects is how many addresses lead to a file, its own included.
const mostRedirects = 4

// Download reads a file that the host shows to people, such as an image of a comment: most bytes of it at most. The
// host answers with the address of a storage of its own, which is read without the token, because go-gh's client
// sends that only to its host. Every other address is refused.
func (c *Client) Download(ctx context.Context, address string, most int64) ([]byte, error) {
	if c.refuse != nil {
		return nil, c.refuse
	}
	for range mostRedirects {
		u, err := url.Parse(address)
		if err != nil || !c.stores(u) {
			return nil, &NotStoredError{"it lies on a host that is not GitHub's"}
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return nil, fmt.Errorf("make request: %w", err)
		}
		req.Header.Set("Accept", "*/*")
		content, next, err := c.download(req, most)
		if err != nil || next == "" {
			return content, err
		}
		to, err := u.Parse(next)
		if err != nil {
			return nil, &NotStoredError{"GitHub names no address for it"}
		}
		address = to.String()
	}
	return nil, &NotStoredError{"GitHub leads from one address to the next"}
}

// NotStoredError is why a file cannot be had; to ask again is of no use.
type NotStoredError struct{ Why string }

func (e *NotStoredError) Error() string { return e.Why }

// UnreadError means that GitHub did not give a file now.
type UnreadError struct{ Status int }

func (e *UnreadError) Error() string { return fmt.Sprintf("GitHub answers HTTP %d", e.Status) }

// download makes one request. next is where the answer leads; empty: it has the file.
func (c *Client) download(req *http.Request, most int64) (content []byte, next string, err error) {
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, "", unansweredError(req.Context(), c.host, Call{Method: http.MethodGet, URL: "an attachment"}, err)
	}
	defer resp.Body.Close()
	switch to := resp.Header.Get("Location"); {
	case resp.StatusCode >= 300 && resp.StatusCode < 400 && to != "":
		return nil, to, nil
	case resp.StatusCode == http.StatusNotFound, resp.StatusCode == http.StatusGone, resp.StatusCode == http.StatusForbidden, resp.StatusCode == http.StatusUnavailableForLegalReasons:
		return nil, "", &NotStoredError{fmt.Sprintf("GitHub does not show it to this account (HTTP %d)", resp.StatusCode)}
	case resp.StatusCode != http.StatusOK:
		return nil, "", &UnreadError{resp.StatusCode}
	}
	if content, err = io.ReadAll(io.LimitReader(resp.Body, most+1)); err != nil {
		return nil, "", unansweredError(req.Context(), c.host, Call{Method: http.MethodGet, URL: "an attachment"}, err)
	}
	if int64(len(content)) > most {
		return nil, "", &NotStoredError{fmt.Sprintf("it has more than %d MB", most>>20)}
	}
	return content, "", nil
}

// stores reports whether an address is the host's or that of a storage of GitHub's.
func (c *Client) stores(u *url.URL) bool {
	scheme, _, _ := strings.Cut(c.rest, ":")
	name := strings.ToLower(u.Host)
	switch {
	case u.Scheme != scheme || u.User != nil:
		return false
	case name == c.host || strings.HasSuffix(name, "."+c.host):
		return true
	}
	return c.host == "github.com" && (strings.HasSuffix(name, ".githubusercontent.com") || bucket().MatchString(name))
}

// bucket matches GitHub's own storage of uploads.
var bucket = lazy.Regexp(`^github-production-[a-z0-9-]+\.s3\.amazonaws\.com$`)

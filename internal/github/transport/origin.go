package transport

import (
	"fmt"
	"net/url"
	"strings"
)

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

package transport

import (
	"fmt"
	"net/url"
	"strings"
)

// resolveLink makes an address of ours out of what an answer names: a next page,
// a redirect. Where it leads to another host, port or scheme it is an error: who
// can write an answer's headers must not be sent the token.
func (c *Client) resolveLink(from, link string) (string, error) {
	base, err := url.Parse(from)
	if err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	to, err := base.Parse(link)
	if err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	if err := c.ours(to); err != nil {
		return "", &BodyError{URL: from, Err: err}
	}
	return to.String(), nil
}

// ours refuses addresses that are not of the API which the client was made for.
func (c *Client) ours(u *url.URL) error {
	for _, own := range []string{c.rest, c.graph} {
		if base, err := url.Parse(own); err == nil && origin(u) == origin(base) && u.User == nil {
			return nil
		}
	}
	return fmt.Errorf("%s://%s is another host than %s, and the token is not sent there", u.Scheme, u.Host, c.host)
}

// origin is what a web browser compares: scheme, host and port.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + port)
}

package transport

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The rate limits that requests count against, named as in x-ratelimit-resource. A secondary limit
// applies to everything: it blocks all requests.
const (
	resourceCore    = "core"
	resourceGraphQL = "graphql"
	everything      = "*"
)

// minWait is the pause after a limited answer that names no time.
const minWait = time.Minute

// maxWait is the longest pause, even if GitHub names a longer one; then one request is tried, and
// GitHub may name it again. Its own limits reset each hour.
const maxWait = time.Hour

// Limit is a limit of the host that was reached: no request that counts against it is sent before
// Until.
type Limit struct {
	Resource string // as in x-ratelimit-resource; * is everything
	Until    time.Time
	Reason   string // to show to people
}

// gate remembers limits from answers, so that later requests fail without being sent: a client that
// keeps sending while limited can be banned.
type gate struct {
	mu   sync.Mutex
	shut map[string]closing
	keep func(Limit) // may be nil
}

type closing struct {
	until  time.Time
	reason string
}

// pass returns a *work.WaitError while the resource is limited.
func (g *gate) pass(resource string, now time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, r := range []string{everything, resource} {
		if c, ok := g.shut[r]; ok && now.Before(c.until) {
			return &work.WaitError{Until: c.until, Reason: limited(c.reason)}
		}
	}
	return nil
}

// close blocks a resource until a time, maxWait at most, and returns the end.
func (g *gate) close(resource string, until, now time.Time, reason string) time.Time {
	if most := now.Add(maxWait); until.After(most) {
		until = most
	}
	g.mu.Lock()
	later := until.After(g.shut[resource].until)
	if g.shut == nil {
		g.shut = map[string]closing{}
	}
	if later {
		g.shut[resource] = closing{until, reason}
	}
	keep := g.keep
	g.mu.Unlock()
	if later && keep != nil {
		keep(Limit{resource, until, reason})
	}
	return until
}

// KeepLimits sets a function that is called with each limit in an answer, before the request
// returns.
func (c *Client) KeepLimits(keep func(Limit)) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.gate.keep = keep
}

// Hold applies a limit that another process received.
func (c *Client) Hold(l Limit) { c.gate.close(l.Resource, l.Until, c.Now(), l.Reason) }

// limits has the rate limit headers of one answer.
type limits struct {
	resource   string
	remaining  int           // -1: not reported
	most       int           // 0: not reported
	reset      time.Time     // zero: not reported
	retryAfter time.Duration // 0: not reported
}

func readLimits(h http.Header, now time.Time) limits {
	l := limits{resource: h.Get("X-Ratelimit-Resource"), remaining: -1}
	if n, err := strconv.Atoi(h.Get("X-Ratelimit-Remaining")); err == nil {
		l.remaining = n
	}
	if n, err := strconv.Atoi(h.Get("X-Ratelimit-Limit")); err == nil {
		l.most = n
	}
	if n, err := strconv.ParseInt(h.Get("X-Ratelimit-Reset"), 10, 64); err == nil && n > 0 {
		l.reset = time.Unix(n, 0)
	}
	after := h.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil {
		l.retryAfter = max(time.Duration(n)*time.Second, time.Second)
	} else if at, err := http.ParseTime(after); err == nil {
		l.retryAfter = max(at.Sub(now), time.Second)
	}
	return l
}

// until returns the blocked resource, the time of the next request and the reason after a limited
// answer, in GitHub's order of preference.
func (l limits) until(resource string, now time.Time) (string, time.Time, string) {
	switch {
	case l.retryAfter > 0:
		return everything, now.Add(l.retryAfter), "GitHub's secondary rate limit"
	case l.remaining == 0 && l.reset.After(now):
		return resource, l.reset, "GitHub's rate limit"
	default:
		return everything, now.Add(minWait), "GitHub's secondary rate limit"
	}
}

// blockLimited blocks the resource after an answer that refused for a limit.
func (c *Client) blockLimited(a *Answer, err error) error {
	now := c.Now()
	held, until, reason := a.limits.until(a.resource, now)
	until = c.gate.close(held, until, now, reason)
	c.log.Warn("rate limited", "host", c.host, "resource", a.resource, "until", until)
	return &work.WaitError{Until: until, Reason: limited(reason), Err: err}
}

// blockBusy blocks all requests after an answer by which GitHub is overloaded or in maintenance and
// names a time. The outcome of a write is still unclear.
func (c *Client) blockBusy(a *Answer, err error, what Effect) error {
	now, reason := c.Now(), "GitHub is not available and asks to wait"
	until := c.gate.close(everything, now.Add(a.limits.retryAfter), now, reason)
	if what == Writes {
		return &UnclearError{Err: err}
	}
	return &work.WaitError{Until: until, Reason: limited(reason), Err: err}
}

// isLimit distinguishes a limit's 403 or 429 from a missing permission: by headers, then by the
// documentation URL, and by the text only if neither is there.
func isLimit(a *Answer, e *Error, docs string) bool {
	switch a.Status {
	case http.StatusTooManyRequests:
		return true
	case http.StatusForbidden, http.StatusUnprocessableEntity:
	default:
		return false
	}
	if a.Status == http.StatusForbidden && (a.limits.retryAfter > 0 || a.limits.remaining == 0) {
		return true
	}
	if strings.Contains(docs, "rate-limit") {
		return true
	}
	return limitWords(e.Message) || slices.ContainsFunc(e.Items, func(i ErrorItem) bool { return limitWords(i.Message) })
}

// limitWords recognizes a limit by GitHub's text.
func limitWords(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "secondary rate limit") || strings.Contains(message, "api rate limit exceeded") ||
		strings.Contains(message, "was submitted too quickly")
}

// limited returns the reason for a reached limit.
func limited(words string) work.Reason { return work.Reason{Kind: work.WhyGitHubLimit, Text: words} }

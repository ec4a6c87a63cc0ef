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

// The rate limits that requests count against, as x-ratelimit-resource names
// them; everything is what a secondary limit holds.
const (
	resourceCore    = "core"
	resourceGraphQL = "graphql"
	everything      = "*"
)

// minWait is how long to keep still when GitHub names no time.
const minWait = time.Minute

// maxWait is the longest that is waited, whatever GitHub named: then it is tried
// once, and GitHub may say so again. Its own limits begin again each hour.
const maxWait = time.Hour

// Limit is one of the host's limits that is reached: until when nothing that counts
// against it is asked.
type Limit struct {
	Resource string // as x-ratelimit-resource names it; * is everything
	Until    time.Time
	Reason   string // for people
}

// gate remembers the limits that answers told of, so that whoever asks next
// waits without asking: a client that asks on while limited can be banned.
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

// close shuts a resource until then, at most for maxWait, and says until when.
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

// KeepLimits has a function called with each limit that an answer tells of, before
// the request returns.
func (c *Client) KeepLimits(keep func(Limit)) {
	c.gate.mu.Lock()
	defer c.gate.mu.Unlock()
	c.gate.keep = keep
}

// Hold keeps to a limit that another process was told of.
func (c *Client) Hold(l Limit) { c.gate.close(l.Resource, l.Until, c.Now(), l.Reason) }

// limits is what the headers of one answer say.
type limits struct {
	resource   string
	remaining  int           // -1: not said
	most       int           // 0: not said
	reset      time.Time     // zero: not said
	retryAfter time.Duration // 0: not said
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

// until is when to ask again after a limited answer, in GitHub's order of
// preference, and what the limit holds.
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

// limited shuts the gate after an answer that refused for a limit.
func (c *Client) limited(a *Answer, err error) error {
	now := c.Now()
	held, until, reason := a.limits.until(a.resource, now)
	until = c.gate.close(held, until, now, reason)
	c.log.Warn("rate limited", "host", c.host, "resource", a.resource, "until", until)
	return &work.WaitError{Until: until, Reason: limited(reason), Err: err}
}

// busy shuts the gate after an answer by which GitHub is overloaded or in
// maintenance and says for how long. What a write came to is unclear all the same.
func (c *Client) busy(a *Answer, err error, what Effect) error {
	now, reason := c.Now(), "GitHub is not available and asks to wait"
	until := c.gate.close(everything, now.Add(a.limits.retryAfter), now, reason)
	if what == Writes {
		return &UnclearError{Err: err}
	}
	return &work.WaitError{Until: until, Reason: limited(reason), Err: err}
}

// isLimit tells a limit's 403 or 429 from a missing permission's: by headers,
// then by the page that GitHub refers to, and by its words only where it sent
// neither.
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

// limitWords tells a limit by what GitHub says of it.
func limitWords(message string) bool {
	message = strings.ToLower(message)
	return strings.Contains(message, "secondary rate limit") || strings.Contains(message, "api rate limit exceeded") ||
		strings.Contains(message, "was submitted too quickly")
}

// limited is that GitHub takes no more requests for now.
func limited(words string) work.Reason { return work.Reason{Kind: work.WhyGitHubLimit, Text: words} }

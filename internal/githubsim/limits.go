package githubsim

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// bucket counts one user's use of one rate-limited resource.
type bucket struct {
	limit int
	used  int
	reset time.Time
}

// limitWindow is how long a bucket lasts.
const limitWindow = time.Hour

// bucket finds the user's bucket, made new when its time is over. Requests without a token share
// one.
func (h *Hub) bucket(u *user, resource string) *bucket {
	limits, limit := h.anonymous, 60
	if u != nil {
		limits, limit = u.limits, 5000
	}
	if resource == "search" {
		limit = 30
	}
	b := limits[resource]
	if b == nil {
		b = &bucket{limit: limit}
		limits[resource] = b
	}
	if now := h.now(); !now.Before(b.reset) {
		b.used, b.reset = 0, now.Add(limitWindow)
	}
	return b
}

func (b *bucket) remaining() int { return max(0, b.limit-b.used) }

func (b *bucket) spent() bool { return b.used >= b.limit }

func (b *bucket) refund() { b.used-- }

func (b *bucket) write(h http.Header, resource string) {
	h.Set("X-Ratelimit-Limit", strconv.Itoa(b.limit))
	h.Set("X-Ratelimit-Remaining", strconv.Itoa(b.remaining()))
	h.Set("X-Ratelimit-Used", strconv.Itoa(b.used))
	h.Set("X-Ratelimit-Reset", strconv.FormatInt(b.reset.Unix(), 10))
	h.Set("X-Ratelimit-Resource", resource)
}

// charge takes points off the viewer's GraphQL budget and tells what is left.
func (c *call) charge(points int) bucket {
	b := c.h.bucket(c.viewer, "graphql")
	b.used += points
	return *b
}

// limitReached is the primary limit's answer: REST says 403, GraphQL 200 with errors.
func (h *Hub) limitReached(c *call, resource string) reply {
	message := "API rate limit exceeded for 127.0.0.1. (But here's the good news: Authenticated requests get a higher rate limit.)"
	if c.viewer != nil {
		message = fmt.Sprintf("API rate limit exceeded for user ID %d.", c.viewer.id)
	}
	if resource == "graphql" {
		return ok(map[string]any{"errors": []map[string]string{{"type": "RATE_LIMITED", "message": message}}})
	}
	return forbidden(message).reply()
}

// SetRemaining leaves that much of a user's hourly budget; resource is core, graphql or search.
func (h *Hub) SetRemaining(login, resource string, remaining int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	b := h.bucket(u, resource)
	b.used = b.limit - remaining
	return nil
}

// SetLimit sets the size of a user's hourly budget.
func (h *Hub) SetLimit(login, resource string, limit int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return unknownUser(login)
	}
	h.bucket(u, resource).limit = limit
	return nil
}

// Used tells how much of a user's hourly budget is spent.
func (h *Hub) Used(login, resource string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	u := h.user(login)
	if u == nil {
		return 0
	}
	return h.bucket(u, resource).used
}

func unknownUser(login string) error { return fmt.Errorf("there is no user %q", login) }

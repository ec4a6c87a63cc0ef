package transport

import (
	"context"
	"net/http"
	"sync"
	"time"
)

// clockSlack is how far this machine's clock may differ from GitHub's without correction: Date has
// a resolution of seconds, and an answer takes time.
const clockSlack = 2 * time.Second

// hostClock tracks how far this machine's clock is ahead of the host's, by the Date of its answers.
type hostClock struct {
	mu    sync.Mutex
	ahead time.Duration
	known bool
}

// observe compares an answer's Date with the times of request and answer. Cached answers (with Age)
// are ignored, because their Date is old.
func (h *hostClock) observe(header http.Header, sent, got time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" {
		return
	}
	// The answer was stamped in between, and Date truncates to seconds.
	least, most := sent.Sub(date)-time.Second-clockSlack, got.Sub(date)+clockSlack
	agrees := func(ahead time.Duration) bool { return least <= ahead && ahead <= most }
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = true
	switch {
	case agrees(h.ahead): // keep the known value, so that the time does not jump by a second between passes
	case agrees(0):
		h.ahead = 0
	case got.Before(date):
		h.ahead = got.Sub(date).Truncate(time.Second)
	default:
		h.ahead = sent.Sub(date).Truncate(time.Second)
	}
}

// Assume sets the difference that an earlier process measured, until the host answers.
func (c *Client) Assume(ahead time.Duration) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if !c.clock.known {
		c.clock.ahead = ahead
	}
}

// Ahead returns how far this machine's clock is ahead of the host's; negative if it is behind, 0 if
// they agree. known is false before the first answer.
func (c *Client) Ahead() (ahead time.Duration, known bool) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	return c.clock.ahead, c.clock.known
}

// Now returns the host's time: this machine's, corrected by Ahead.
func (c *Client) Now() time.Time {
	ahead, _ := c.Ahead()
	return c.now().Add(-ahead)
}

type dateKey struct{}

// WithDate returns a context that keeps the Date of the first answer to a request made with it.
func WithDate(ctx context.Context) (_ context.Context, first *time.Time) {
	first = new(time.Time)
	return context.WithValue(ctx, dateKey{}, first), first
}

func noteDate(ctx context.Context, header http.Header) {
	first, kept := ctx.Value(dateKey{}).(*time.Time)
	date, err := http.ParseTime(header.Get("Date"))
	if kept && first.IsZero() && err == nil {
		*first = date
	}
}

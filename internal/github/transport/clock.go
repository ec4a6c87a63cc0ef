package transport

import (
	"net/http"
	"sync"
	"time"
)

// clockSlack is how far this machine's clock may be from GitHub's without being
// corrected: Date has no more than seconds, and an answer takes its time.
const clockSlack = 2 * time.Second

// hostClock knows how far this machine's clock is ahead of the host's, as the
// Date of its answers tells.
type hostClock struct {
	mu    sync.Mutex
	ahead time.Duration
	known bool
}

// tell compares the Date of an answer with the time between request and answer. An
// answer out of a cache has the Date of long ago.
func (h *hostClock) tell(header http.Header, sent, got time.Time) {
	date, err := http.ParseTime(header.Get("Date"))
	if err != nil || header.Get("Age") != "" {
		return
	}
	// The answer was stamped between the two, and Date cuts off less than a second.
	least, most := sent.Sub(date)-time.Second-clockSlack, got.Sub(date)+clockSlack
	agrees := func(ahead time.Duration) bool { return least <= ahead && ahead <= most }
	h.mu.Lock()
	defer h.mu.Unlock()
	h.known = true
	switch {
	case agrees(h.ahead): // what is known stays as it is, from pass to pass: nothing jumps by a second
	case agrees(0):
		h.ahead = 0
	case got.Before(date):
		h.ahead = got.Sub(date).Truncate(time.Second)
	default:
		h.ahead = sent.Sub(date).Truncate(time.Second)
	}
}

// Assume goes by what an earlier process was told, until the host answers.
func (c *Client) Assume(ahead time.Duration) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	if !c.clock.known {
		c.clock.ahead = ahead
	}
}

// Ahead is how far this machine's clock is ahead of the host's; negative when it
// is behind, 0 while they agree. known is false before the first answer.
func (c *Client) Ahead() (ahead time.Duration, known bool) {
	c.clock.mu.Lock()
	defer c.clock.mu.Unlock()
	return c.clock.ahead, c.clock.known
}

// Now is the host's time: this machine's, corrected by what its answers told.
func (c *Client) Now() time.Time {
	ahead, _ := c.Ahead()
	return c.now().Add(-ahead)
}

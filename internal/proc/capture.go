package proc

import (
	"io"
	"sync"
)

// keep selects the part of a too long output that is kept.
type keep int

const (
	keepHead keep = iota
	keepTail
)

// capture holds an output up to a limit. It may still be written to after its reader has left.
type capture struct {
	full chan struct{} // closed on overflow: over limit for keepHead, over most for keepTail

	mu     sync.Mutex
	keep   keep
	limit  int64
	most   int64 // bytes the sink may get; 0: no limit
	passed int64 // bytes it got
	buf    []byte
	over   bool
	closed bool
	sink   io.Writer
}

func newCapture(k keep, limit int64, sink io.Writer) *capture {
	return &capture{full: make(chan struct{}), keep: k, limit: limit, sink: sink}
}

func (c *capture) add(b []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	c.pass(b)
	if c.keep == keepTail {
		c.buf = append(c.buf, b...)
		if extra := int64(len(c.buf)) - c.limit; extra > c.limit {
			c.buf = append([]byte{}, c.buf[extra:]...)
		}
		return
	}
	room := c.limit - int64(len(c.buf))
	if int64(len(b)) > room {
		b = b[:room]
		c.overflow()
	}
	c.buf = append(c.buf, b...)
}

// pass writes to the sink up to its limit.
func (c *capture) pass(b []byte) {
	if room := c.most - c.passed; c.most > 0 && int64(len(b)) > room {
		b = b[:room]
		c.overflow()
	}
	c.passed += int64(len(b))
	if c.sink != nil && len(b) > 0 {
		_, _ = c.sink.Write(b) // a log that cannot be written does not fail the run
	}
}

func (c *capture) overflow() {
	if !c.over {
		c.over = true
		close(c.full)
	}
}

// close makes the capture drop all later output.
func (c *capture) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

func (c *capture) bytes() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	if extra := int64(len(c.buf)) - c.limit; extra > 0 {
		return c.buf[extra:]
	}
	return c.buf
}

func (c *capture) exceeded() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.over
}

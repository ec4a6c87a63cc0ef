package githubsim

import (
	"time"
)

// lagOrder says how long new objects of one kind stay out of lists: for so many reads of a list
// that would show them, or for a time by the hub's clock.
type lagOrder struct {
	reads int
	wait  time.Duration
	count int // so many objects still to come lag; -1 for all
}

// lag is one object's remaining absence from lists.
type lag struct {
	reads int
	until time.Time
}

// newLag is the lag of an object made now: of kind issues, pulls, comments, review-comments or
// reviews, or timeline for what timelines tell.
func (h *Hub) newLag(kind string) lag {
	o := h.lags[kind]
	if o == nil || o.count == 0 {
		return lag{}
	}
	if o.count > 0 {
		o.count--
	}
	l := lag{reads: o.reads}
	if o.wait > 0 {
		l.until = h.now().Add(o.wait)
	}
	return l
}

// listed tells whether a list shows the object yet; asking counts as one read.
func (h *Hub) listed(l *lag) bool {
	if l.reads > 0 {
		l.reads--
		return false
	}
	return !h.now().Before(l.until)
}

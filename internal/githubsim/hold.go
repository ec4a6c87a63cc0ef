package githubsim

import (
	"errors"
	"fmt"
	"time"
)

// hold stops one request before it takes effect. The request is in the log, unanswered, until
// somebody releases it, whatever becomes of the client in the meantime.
type hold struct {
	what    string
	arrived chan struct{} // closed once the request is there
	let     chan struct{} // closed once it may continue
	over    chan struct{} // closed once it is answered, or its connection is cut
	lost    bool          // it is to be cut; written before let is closed
}

// Hold stops the request that a fault's matchers choose, until ReleaseHeld or LoseHeld.
func (h *Hub) Hold(f Fault) {
	f.held = &hold{
		what:    fmt.Sprintf("%s %s", f.Method, f.Path),
		arrived: make(chan struct{}), let: make(chan struct{}), over: make(chan struct{}),
	}
	h.traffic.mu.Lock()
	h.held = append(h.held, f.held)
	h.traffic.mu.Unlock()
	h.AddFault(f)
}

// AwaitHeld returns once every request to be held is there; an error when one is not after that
// long.
func (h *Hub) AwaitHeld(most time.Duration) error {
	h.traffic.mu.Lock()
	held := append([]*hold(nil), h.held...)
	h.traffic.mu.Unlock()
	if len(held) == 0 {
		return errors.New("wait for a request to be held: none was ordered to be")
	}
	late := time.NewTimer(most)
	defer late.Stop()
	for _, d := range held {
		select {
		case <-d.arrived:
		case <-late.C:
			return fmt.Errorf("wait for %s, which is to be held: it has not come after %s", d.what, most)
		}
	}
	return nil
}

// ReleaseHeld lets the held requests take effect, and returns once they have.
func (h *Hub) ReleaseHeld() error {
	held, err := h.takeHeld()
	for _, d := range held {
		close(d.let)
		<-d.over
	}
	return err
}

// LoseHeld cuts the connections of the held requests: they never take effect.
func (h *Hub) LoseHeld() error {
	held, err := h.takeHeld()
	for _, d := range held {
		d.lost = true
		close(d.let)
		<-d.over
	}
	return err
}

// takeHeld gives away what is held, so that it is released once. It is an error when there is
// nothing, or something has not come yet: then nothing is released.
func (h *Hub) takeHeld() ([]*hold, error) {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	if len(h.held) == 0 {
		return nil, errors.New("release a request: none is held")
	}
	for _, d := range h.held {
		select {
		case <-d.arrived:
		default:
			return nil, fmt.Errorf("release %s: it has not come yet", d.what)
		}
	}
	held := h.held
	h.held = nil
	return held, nil
}

// dropHeld lets the hub be closed while something is held, or still to be.
func (h *Hub) dropHeld() {
	h.traffic.mu.Lock()
	defer h.traffic.mu.Unlock()
	for _, d := range h.held {
		d.lost = true
		close(d.let)
	}
	h.held = nil
}

// stop holds a request up; false when it is to be lost.
func (d *hold) stop() bool {
	close(d.arrived)
	<-d.let
	return !d.lost
}

package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Used is the usage of a run, and the provider's thread it belongs to.
type Used struct {
	Session string
	Usage   work.Usage // of the run
	Known   work.Known // which parts of Usage are complete
	Counted work.Usage // of the whole thread, if the provider counts per thread; else zero
}

// How often a run's usage is read. More often until it names its session: without that, its record
// cannot be found if our process dies.
const (
	usedEvery   = time.Second
	usedAtFirst = 100 * time.Millisecond
)

// follow calls r.Used repeatedly and cancels the context if it returns an error. over ends the loop
// and returns that error.
func (r Request) follow(ctx context.Context, m Meter) (running context.Context, over func() error) {
	if r.Used == nil || m == nil {
		return ctx, func() error { return nil }
	}
	running, end := context.WithCancelCause(ctx)
	followed := make(chan struct{})
	var tooMuch error
	go func() {
		defer close(followed)
		every := time.NewTicker(usedAtFirst)
		defer every.Stop()
		for tooMuch == nil {
			select {
			case <-running.Done():
				return
			case <-every.C:
				used := m.Used()
				if tooMuch = r.Used(used); used.Session != "" {
					every.Reset(usedEvery)
				}
			}
		}
		end(tooMuch)
	}()
	return running, func() error {
		end(nil)
		<-followed
		return tooMuch
	}
}

// Recorded returns the usage of a run whose end nobody saw, from its program's own record of the
// session. began is its start by this machine's clock; r holds the session and its counts before.
// False if there is no such record.
func Recorded(s Spec, r Request, began time.Time) (Used, bool) {
	if s.Adapter.Recorded == nil || s.SessionFile(r.Session) == "" {
		return Used{}, false
	}
	return s.Adapter.Recorded(s, r, began), true
}

// maxReads bounds how many parts of a record are read: the agent can write to it.
const maxReads = 16

// Whole reads a record to its end and returns the meter's usage.
func Whole(m Meter, record *Journal) Used {
	used := m.Used()
	for range maxReads {
		read := record.read
		if used = m.Used(); record.read == read {
			break
		}
	}
	return used
}

// Written is the time of a line of a record, as the line states it.
type Written struct {
	At json.RawMessage `json:"timestamp"`
}

// Before reports whether a line belongs to an earlier run.
func (w Written) Before(began time.Time) bool {
	var at time.Time
	return !began.IsZero() && json.Unmarshal(w.At, &at) == nil && at.Before(began)
}

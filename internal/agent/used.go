package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Used is what a run has used, and in which of the provider's threads.
type Used struct {
	Session string
	Usage   work.Usage // of the run
	Counted work.Usage // of the whole thread, where the provider counts so; else zero
}

// usedEvery is how often a run is asked what it has used so far; sooner until it
// names its session, without which nobody finds its record when we die.
const (
	usedEvery   = time.Second
	usedAtFirst = 100 * time.Millisecond
)

// follow tells again and again what a run has used, and ends its context where
// that is too much. over ends it, and says why it was.
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

// Recorded is what a run has used of which nobody saw the end, as its program's
// own record of the session tells: began is when it did, by this machine's clock,
// and r names the session and what was counted of it before. False where there is
// no such record.
func Recorded(s Spec, r Request, began time.Time) (Used, bool) {
	if s.Adapter.Recorded == nil || s.SessionFile(r.Session) == "" {
		return Used{}, false
	}
	return s.Adapter.Recorded(s, r, began), true
}

// maxReads is how many parts of a record are read: it is the agent's to write.
const maxReads = 16

// Whole is what a meter makes of a record to its end.
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

// Written is when a line of a record was, as far as it says.
type Written struct {
	At json.RawMessage `json:"timestamp"`
}

// Before reports whether a line is of an earlier run.
func (w Written) Before(began time.Time) bool {
	var at time.Time
	return !began.IsZero() && json.Unmarshal(w.At, &at) == nil && at.Before(began)
}

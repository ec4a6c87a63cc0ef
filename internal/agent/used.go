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
func (r Request) follow(ctx context.Context, m meter) (running context.Context, over func() error) {
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
				used := m.used()
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
	if s.sessionFile(r.Session) == "" {
		return Used{}, false
	}
	switch s.Adapter {
	case AdapterCodex:
		m := (&codex{s}).meter(r)
		m.record, m.since = journal{path: m.record.path}, began
		return whole(m, &m.record), true
	case AdapterClaude:
		m := (&claude{s}).meter(r.Session)
		m.record, m.since, m.all = journal{path: m.record.path}, began, true
		return whole(m, &m.record), true
	}
	return Used{}, false
}

// maxReads is how many parts of a record are read: it is the agent's to write.
const maxReads = 16

// whole is what a meter makes of a record to its end.
func whole(m meter, record *journal) Used {
	used := m.used()
	for range maxReads {
		read := record.read
		if used = m.used(); record.read == read {
			break
		}
	}
	return used
}

// written is when a line of a record was, as far as it says.
type written struct {
	At json.RawMessage `json:"timestamp"`
}

// before reports whether a line is of an earlier run.
func (w written) before(began time.Time) bool {
	var at time.Time
	return !began.IsZero() && json.Unmarshal(w.At, &at) == nil && at.Before(began)
}

package agent

import (
	"context"
	"os"
	"sync"
)

// liveness watches a run that prints JSON lines: whether it makes progress, and whether it is alive
// while it prints nothing. It is silent for long while a command runs, or while its model writes
// one long answer.
type liveness struct {
	step func(line []byte) Step
	path func(session string) string // returns the session's file; "" if it is missing

	mu      sync.Mutex
	session string
	file    string
	looks   int // searches for that file, one per line
	size    int64
	running map[string]bool // commands that have begun and not ended
	stuck   bool            // the last line reported trouble
}

// Step is the meaning of one line of an agent's output.
type Step struct {
	Trouble bool     // the line only reports a failure and a retry
	Aside   bool     // the line reports an end; it does not clear the Trouble of an earlier line
	Session string   // the session that the line names
	Begun   []string // ids of commands that begin
	Ended   []string // ids of commands that end
	Cleared bool     // all commands have ended
}

// life returns the watcher of a run; nil if the program prints nothing until it ends.
func (s Spec) life(r Request) *liveness {
	if s.Adapter.Step == nil {
		return nil
	}
	l := &liveness{step: s.Adapter.Step, path: s.SessionFile, session: r.Session, running: map[string]bool{}}
	l.grew()
	return l
}

// counts reports whether a line of output is progress. Repeated reports that the provider cannot be
// reached are not.
func (l *liveness) counts(line []byte) bool {
	s := l.step(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck = s.Trouble || s.Aside && l.stuck
	if l.session == "" {
		l.session = s.Session
	}
	if s.Cleared {
		clear(l.running)
	}
	for _, id := range s.Begun {
		l.running[id] = true
	}
	for _, id := range s.Ended {
		delete(l.running, id)
	}
	if l.file == "" {
		l.looks++ // there may be thousands of lines in a second
	}
	if !s.Trouble && l.looks <= maxLooks {
		l.grew()
	}
	return !s.Trouble
}

// alive reports, after a long silence, whether the session's file grows or a command runs. A
// command may hang, but agents limit their commands, and the turn has a limit.
func (l *liveness) alive(context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grew() || !l.stuck && len(l.running) > 0
}

// failing reports whether the last line reported trouble.
func (l *liveness) failing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stuck
}

// maxLooks is how many lines trigger a search for a missing session file.
const maxLooks = 100

// grew reports whether the session's file has grown since the last call.
func (l *liveness) grew() bool {
	if l.file == "" {
		l.file = l.path(l.session)
	}
	info, err := os.Lstat(l.file)
	if l.file == "" || err != nil || info.Size() <= l.size {
		return false
	}
	l.size = info.Size()
	return true
}

package agent

import (
	"context"
	"os"
	"sync"
)

// life watches a run of an agent that tells what it does, a JSON object a line:
// whether it gets on, and whether it is alive when it says nothing. It is silent
// for long when a command runs, or while its model writes one long answer.
type life struct {
	step func(line []byte) Step
	path func(session string) string // of the session's file; empty when it is not there

	mu      sync.Mutex
	session string
	file    string
	looks   int // for the file, when a line came
	size    int64
	running map[string]bool // commands that have begun and not ended
	stuck   bool            // the last line told of trouble
}

// Step is what one line of an agent's output means for its life.
type Step struct {
	Trouble bool     // it only says that something failed, and that it tries again
	Aside   bool     // it tells of an end: what was the matter before still is
	Session string   // that it names
	Begun   []string // commands that begin, by their ids
	Ended   []string // and that end
}

// life is how an adapter's program is watched; nil where it tells nothing until
// its end.
func (s Spec) life(r Request) *life {
	if s.Adapter.Step == nil {
		return nil
	}
	l := &life{step: s.Adapter.Step, path: s.SessionFile, session: r.Session, running: map[string]bool{}}
	l.grew()
	return l
}

// counts reports whether a line of output is progress. That the provider cannot
// be reached is told again and again, and is none.
func (l *life) counts(line []byte) bool {
	s := l.step(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck = s.Trouble || s.Aside && l.stuck
	if l.session == "" {
		l.session = s.Session
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

// alive is asked when nothing was said for long: whether the session's file
// grows, or a command runs. That may hang; the agents have limits of their own
// for commands, and the turn has one.
func (l *life) alive(context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.grew() || !l.stuck && len(l.running) > 0
}

// failing reports whether the last thing that was said is of trouble.
func (l *life) failing() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stuck
}

// maxLooks is at how many lines a session's file that is not there is looked for.
const maxLooks = 100

// grew reports whether the session's file is larger than the last time.
func (l *life) grew() bool {
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

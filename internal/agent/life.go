package agent

import (
	"context"
	"encoding/json"
	"os"
	"sync"
)

// life watches a run of an agent that tells what it does, a JSON object a line:
// whether it gets on, and whether it is alive when it says nothing. It is silent
// for long when a command runs, or while its model writes one long answer.
type life struct {
	step func(line []byte) step
	path func(session string) string // of the session's file; empty when it is not there

	mu      sync.Mutex
	session string
	file    string
	looks   int // for the file, when a line came
	size    int64
	running map[string]bool // commands that have begun and not ended
	stuck   bool            // the last line told of trouble
}

// step is what one line of an agent's output means for its life.
type step struct {
	trouble bool     // it only says that something failed, and that it tries again
	aside   bool     // it tells of an end: what was the matter before still is
	session string   // that it names
	begun   []string // commands that begin, by their ids
	ended   []string // and that end
}

// life is how an adapter's program is watched; nil where it tells nothing until
// its end.
func (s Spec) life(r Request) *life {
	l := &life{path: s.sessionFile, session: r.Session, running: map[string]bool{}}
	switch s.Adapter {
	case AdapterCodex:
		l.step = codexStep
	case AdapterClaude:
		l.step = claudeStep
	default:
		return nil
	}
	l.grew()
	return l
}

// counts reports whether a line of output is progress. That the provider cannot
// be reached is told again and again, and is none.
func (l *life) counts(line []byte) bool {
	s := l.step(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stuck = s.trouble || s.aside && l.stuck
	if l.session == "" {
		l.session = s.session
	}
	for _, id := range s.begun {
		l.running[id] = true
	}
	for _, id := range s.ended {
		delete(l.running, id)
	}
	if l.file == "" {
		l.looks++ // there may be thousands of lines in a second
	}
	if !s.trouble && l.looks <= maxLooks {
		l.grew()
	}
	return !s.trouble
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

func codexStep(line []byte) step {
	var e struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Item   struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"item"`
	}
	if json.Unmarshal(line, &e) != nil {
		return step{}
	}
	s := step{trouble: e.Type == "error", session: e.Thread}
	switch {
	case e.Item.Type != "command_execution":
	case e.Type == "item.started":
		s.begun = []string{e.Item.ID}
	case e.Type == "item.completed":
		s.ended = []string{e.Item.ID}
	}
	return s
}

func claudeStep(line []byte) step {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &e) != nil {
		return step{}
	}
	s := step{trouble: e.Type == "system" && e.Subtype == "api_retry", aside: e.Type == "result", session: e.Session}
	var blocks []struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		Result string `json:"tool_use_id"`
	}
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		return s
	}
	for _, b := range blocks {
		switch {
		case e.Type == "user" && b.Type == "text": // "[Request interrupted by user]"
			s.aside = true
		case b.Type == "tool_use" && b.Name == "Bash":
			s.begun = append(s.begun, b.ID)
		case b.Type == "tool_result":
			s.ended = append(s.ended, b.Result)
		}
	}
	return s
}

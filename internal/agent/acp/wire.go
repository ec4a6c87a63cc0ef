package acp

import (
	"bytes"
	"encoding/json"
	"io"
	"sync"
)

// Bounds of the protocol, in bytes.
const (
	maxMessage = 8 << 20  // a message of the agent
	maxQueued  = 16 << 20 // messages that the agent has not read yet
	maxID      = 1 << 10  // the id of the agent's request, which the response repeats
)

// message is a request, a notification or a response of JSON-RPC.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// request reports whether the agent waits for a response to the message.
func (m message) request() bool {
	return m.Method != "" && len(m.ID) > 0 && string(m.ID) != "null" && len(m.ID) <= maxID
}

// readMessage reads a line. Programs also print other text there: then false.
func readMessage(line []byte) (m message, ok bool) {
	return m, json.Unmarshal(line, &m) == nil && (m.Method != "" || len(m.ID) > 0)
}

// queue holds the lines for the agent's standard input. Adding never waits for the agent: it might
// wait itself until its output is read.
type queue struct {
	mu      sync.Mutex
	changed sync.Cond
	lines   []byte
	closed  bool
}

func newQueue() *queue {
	q := &queue{}
	q.changed.L = &q.mu
	return q
}

// add reports whether there was room for the line.
func (q *queue) add(line []byte) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return true
	}
	if len(q.lines) > 0 && len(q.lines)+len(line) > maxQueued {
		return false
	}
	q.lines = append(append(q.lines, line...), '\n')
	q.changed.Signal()
	return true
}

// close ends the agent's standard input after the queued lines.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Signal()
}

func (q *queue) Read(b []byte) (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.lines) == 0 {
		if q.closed {
			return 0, io.EOF
		}
		q.changed.Wait()
	}
	n := copy(b, q.lines)
	q.lines = q.lines[n:]
	return n, nil
}

// splitter splits the agent's output into lines of at most maxMessage bytes.
type splitter struct{ part []byte }

// add calls take for each line that ends. It returns false, and takes no more, at a line over the
// bound.
func (s *splitter) add(b []byte, take func(line []byte)) bool {
	for len(b) > 0 {
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		if len(s.part)+len(line) > maxMessage {
			return false
		}
		s.part = append(s.part, line...)
		if !ended {
			break
		}
		take(s.part)
		s.part, b = s.part[:0], rest
	}
	return true
}

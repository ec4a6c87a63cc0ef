package agent

import (
	"bytes"
	"io"
	"strings"
	"sync"
)

// Redacted returns a log that writes lines of the adapter without secrets.
func (s Spec) Redacted(to io.Writer) io.Writer { return &redactor{to: to, redact: s.Redact} }

// maxHeld is how much of an unfinished line is held back, in bytes.
const maxHeld = 64 << 10

// redactor passes on whole lines without secrets, so that a token split between two writes is
// found. A private key, which spans lines, is held until its end.
type redactor struct {
	to     io.Writer
	redact func(string) string

	mu   sync.Mutex
	held []byte
}

func (r *redactor) Write(b []byte) (int, error) {
	if r.to == nil {
		return len(b), nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.held = append(r.held, b...)
	if !bytes.ContainsRune(b, '\n') && len(r.held) <= maxHeld {
		return len(b), nil
	}
	for len(r.held) > 0 {
		n := r.ready()
		if n == 0 {
			break
		}
		r.pass(r.held[:n])
		r.held = r.held[n:]
	}
	return len(b), nil
}

const (
	keyBegins = "-----BEGIN "
	keyEnds   = "-----END "
)

// ready returns how many of the held bytes may be passed on.
func (r *redactor) ready() int {
	n := bytes.LastIndexByte(r.held, '\n') + 1
	begins := bytes.LastIndex(r.held, []byte(keyBegins))
	if begins >= 0 && !bytes.Contains(r.held[begins:], []byte(keyEnds)) && begins < n {
		n = bytes.LastIndexByte(r.held[:begins], '\n') + 1
	}
	if n == 0 && len(r.held) > maxHeld {
		return len(r.held)
	}
	return n
}

func (r *redactor) pass(b []byte) {
	_, _ = io.WriteString(r.to, r.redact(strings.ToValidUTF8(string(b), "\uFFFD"))) // a log that cannot be written fails no run
}

// flush passes on the held rest at the end.
func (r *redactor) flush() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.to != nil && len(r.held) > 0 {
		r.pass(r.held)
	}
	r.held = nil
}

// Package notify sends one message to one target: to a program of the operator's on its
// standard input, or to an address by POST. It decides nothing and remembers nothing; what
// is sent, and that it is sent once, is the business of whoever calls.
package notify

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"
)

// Target is where a message goes: a program, or an address.
type Target struct {
	Timeout time.Duration // 0: 5 seconds

	Command []string // the program as it was found, and its arguments; empty: URL is meant
	Env     []string // the program's whole environment
	Dir     string   // where it runs

	URL    string
	Secret string // signs what is posted; empty: nothing is signed
	Redact func(string) string
}

// Message is what is sent.
type Message struct {
	ID    string
	Event string
	Body  string // JSON
	At    time.Time
}

// Fate is what became of a message.
type Fate string

// The fates. Whoever repeats what was not Unreached sends it twice.
const (
	Taken     Fate = "taken"
	Refused   Fate = "refused"   // or nobody knows: it went out, and what came back is no yes
	Unreached Fate = "unreached" // nothing of it went out
)

// Answer is what came back.
type Answer struct {
	Fate Fate
	Says string // in one line: a status, an exit code, what was printed
}

// usualTimeout is less than a pass waits for messages at its end.
const usualTimeout = 5 * time.Second

// Send sends a message, once.
func Send(ctx context.Context, t Target, m Message) Answer {
	t.Timeout = cmp.Or(t.Timeout, usualTimeout)
	within, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	answer := Answer{Unreached, "the target has neither a command nor an address"}
	switch {
	case len(t.Command) > 0:
		answer = run(within, t, m)
	case t.URL != "":
		answer = post(within, t, m)
	}
	if ctx.Err() != nil && answer.Fate != Taken { // whoever sends had less time than the target
		answer.Says = "there was no time left to wait for an answer"
	}
	if t.Redact != nil {
		answer.Says = t.Redact(answer.Says)
	}
	if len(answer.Says) > mostTold { // a status, too, is what the other side wrote
		answer.Says = strings.ToValidUTF8(answer.Says[:mostTold], "") + "…"
	}
	return answer
}

// mostSaid bounds what is told of an answer, in bytes.
const mostSaid = 300

// mostTold bounds what is kept of an answer with the words around it, in bytes.
const mostTold = 2 * mostSaid

// said is what came back, in one line.
func said(what string, rest ...[]byte) string {
	for _, b := range rest {
		if line := strings.Join(strings.Fields(strings.ToValidUTF8(string(b[:min(len(b), mostSaid)]), "")), " "); line != "" {
			return what + ": " + line
		}
	}
	return what
}

func unreached(format string, args ...any) Answer {
	return Answer{Unreached, fmt.Sprintf(format, args...)}
}

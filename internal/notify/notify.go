// Package notify sends one message to the standard input of an operator's program. It decides nothing
// and remembers nothing: the caller chooses messages and sends each once.
package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Target is the program that gets a message.
type Target struct {
	Timeout time.Duration // 0: 5 seconds
	Command []string      // absolute path and arguments
	Env     []string      // the program's whole environment
	Dir     string        // the program's working folder
	Redact  func(string) string
}

// Message is one notification.
type Message struct {
	ID    string
	Event string
	Body  string // JSON
	At    time.Time
}

// Fate is the result of sending a message.
type Fate string

// The fates. Only Unreached may be retried: otherwise the message might arrive twice.
const (
	Taken     Fate = "taken"
	Refused   Fate = "refused"   // or unclear: it was sent, and the answer was no success
	Unreached Fate = "unreached" // nothing was sent
)

// Answer is the target's answer.
type Answer struct {
	Fate Fate
	Says string // one line: an exit code, output
}

// usualTimeout is shorter than a pass waits for messages at its end.
const usualTimeout = 5 * time.Second

// Send sends a message once.
func Send(ctx context.Context, t Target, m Message) Answer {
	t.Timeout = cmp.Or(t.Timeout, usualTimeout)
	within, cancel := context.WithTimeout(ctx, t.Timeout)
	defer cancel()
	answer := run(within, t, m)
	if ctx.Err() != nil && answer.Fate != Taken { // the caller had less time than the target
		answer.Says = "there was no time left to wait for an answer"
	}
	if t.Redact != nil {
		answer.Says = t.Redact(answer.Says)
	}
	if len(answer.Says) > mostTold { // the other side also writes the status
		answer.Says = strings.ToValidUTF8(answer.Says[:mostTold], "") + "…"
	}
	return answer
}

// mostSaid bounds the quoted part of an answer, in bytes.
const mostSaid = 300

// mostTold bounds the stored text about an answer, in bytes.
const mostTold = 2 * mostSaid

// said quotes the answer in one line.
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

// mostOutput bounds a program's output, in bytes.
const mostOutput = 64 << 10

// run starts the program without a shell. On a timeout, the program and all its processes are
// killed; none of them outlives us.
func run(ctx context.Context, t Target, m Message) Answer {
	res, err := proc.Run(ctx, proc.Cmd{
		Path: t.Command[0], Args: t.Command[1:], Dir: t.Dir, Env: t.Env, Stdin: []byte(m.Body + "\n"),
		Grace: time.Second, MaxOutput: mostOutput, MaxStderr: mostOutput, DieWithParent: true,
	})
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return Answer{Refused, said(fmt.Sprintf("it did not end within %s", t.Timeout), res.Stderr, res.Stdout)}
	case err != nil && ctx.Err() != nil: // see Send
		return Answer{Fate: Refused}
	case err != nil:
		return unreached("%v", err)
	case res.Truncated || res.Passed != proc.NoLimit:
		return Answer{Refused, "it printed more than may be, and was ended"}
	case res.Code != 0:
		return Answer{Refused, said(fmt.Sprintf("it ended with exit code %d", res.Code), res.Stderr, res.Stdout)}
	}
	return Answer{Taken, said("it ended with exit code 0", res.Stdout, res.Stderr)}
}

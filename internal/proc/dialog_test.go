//go:build unix

package proc

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

// dialog writes words to a program, and a farewell when it is to end.
type dialog struct {
	io.Reader
	in   *io.PipeWriter
	over chan struct{}
}

func newDialog() *dialog {
	out, in := io.Pipe()
	return &dialog{Reader: out, in: in, over: make(chan struct{})}
}

func (d *dialog) Stop() { go func() { _, _ = io.WriteString(d.in, "stop\n") }() }

func (d *dialog) Over() <-chan struct{} { return d.over }

// reacts calls a function for each piece of output.
type reacts func(string)

func (r reacts) Write(b []byte) (int, error) {
	r(string(b))
	return len(b), nil
}

// A program is answered while it runs. When the dialog is over, its input ends, and then the program
// is ended; when we end it, the dialog stops first.
func TestDialog(t *testing.T) {
	t.Parallel()
	const echo = `echo ready; while read line; do echo "got $line"; [ "$line" != stop ] || exit 5; done; echo end`
	for _, c := range []struct {
		name, script string
		say          string
		over         bool
		wall, grace  time.Duration
		code         int
		said         string
		limit        Limit
	}{
		{name: "its input ends", script: echo, say: "one\n", said: "ready\ngot one\nend\n"},
		{name: "it stays after the dialog", script: "trap 'exit 7' TERM; echo ready; while :; do sleep 0.1; done", over: true, code: 7, said: "ready\n"},
		{name: "it is told to stop", script: echo, say: "one\n", wall: time.Second, code: 5, said: "ready\ngot one\ngot stop\n", limit: WallLimit},
		{name: "it hears nothing", script: "echo ready; while :; do sleep 0.1; done", wall: time.Second, grace: time.Second, code: 143, said: "ready\n", limit: WallLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			patiently(t, func(slow time.Duration) (problem string) {
				d := newDialog()
				var out bytes.Buffer
				answer := reacts(func(s string) {
					if out.WriteString(s); !strings.HasPrefix(s, "ready") {
						return
					}
					go func() {
						_, _ = io.WriteString(d.in, c.say)
						switch {
						case c.over:
							close(d.over)
						case c.wall == 0:
							_ = d.in.Close()
						}
					}()
				})
				res, err := Run(t.Context(), Cmd{
					Path: "/bin/sh", Args: []string{"-c", c.script}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Dialog: d, Stdout: answer, Wall: slow * c.wall, Grace: cmp.Or(c.grace, 30*time.Second),
				})
				_ = d.in.Close()
				if err != nil || res.Code != c.code || string(res.Stdout) != c.said || res.TimedOut != c.limit {
					return fmt.Sprintf("code %d, said %q, limit %q, %v", res.Code, res.Stdout, res.TimedOut, err)
				}
				return ""
			})
		})
	}
	t.Run("an interruption stops it, too", func(t *testing.T) {
		t.Parallel()
		d := newDialog()
		ctx, cancel := context.WithCancel(t.Context())
		res, err := Run(ctx, Cmd{Path: "/bin/sh", Args: []string{"-c", echo}, Dir: "/", Env: []string{"PATH=/usr/bin:/bin"}, Dialog: d, Stdout: reacts(func(string) { cancel() }), Grace: 30 * time.Second})
		_ = d.in.Close()
		if err == nil || res.Code != 5 {
			t.Errorf("code %d, %v", res.Code, err)
		}
	})
}

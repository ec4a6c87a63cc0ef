//go:build unix

package proc

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"
)

// Attach passes the streams through, sets no time limit and returns the exit code.
func TestAttach(t *testing.T) {
	var out, err bytes.Buffer
	c := Cmd{Path: "/bin/sh", Args: []string{"-c", `cat; echo "$X"; echo bad >&2; exit 7`}, Dir: "/", Env: []string{"X=y"}}
	code, problem := Attach(t.Context(), c, Streams{In: strings.NewReader("in\n"), Out: &out, Err: &err})
	if problem != nil || code != 7 || out.String() != "in\ny\n" || err.String() != "bad\n" {
		t.Errorf("%d, %v, %q, %q", code, problem, &out, &err)
	}
	c.Path = "/no/such/program"
	if _, problem := Attach(t.Context(), c, Streams{}); problem == nil || !strings.Contains(problem.Error(), "/no/such/program") {
		t.Errorf("got %v", problem)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, problem := Attach(ctx, Cmd{Path: "/bin/sleep", Args: []string{"60"}}, Streams{}); problem == nil {
		t.Error("it outlived its context")
	}
}

//go:build unix

package agent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

// plainly is a sandbox that lets everything in.
func plainly(argv []string, _ work.Job) ([]string, []string, error) { return argv, nil, nil }

// What ends because a program is not there inside would end so again: a stop,
// with the line to write. Without a sandbox it is a failure like others.
func TestAProgramThatIsMissingInsideIsAStop(t *testing.T) {
	for _, end := range []string{"env: 'node': No such file or directory' >&2; exit 127 #'", "x: Permission denied' >&2; exit 126 #'", "bwrap: execvp /x: No such file or directory' >&2; exit 1 #'"} {
		s := spec(t, program(t, "cat >/dev/null; echo '"+end))
		_, err := run(t, s, request(t))
		if _, failed := errors.AsType[*agent.FailedError](err); !failed {
			t.Errorf("without a sandbox: %v", err)
		}
		s.Wrap = plainly
		_, err = run(t, s, request(t))
		blocked, ok := errors.AsType[*work.BlockedError](err)
		if !ok || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "readable of [runtime]") || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "gh mergexo doctor --sandbox mine") || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), `cannot be started in the sandbox of agent "mine"`) {
			t.Errorf("%s: %v", end, err)
		}
	}
}

// The tests' environment and the sandbox know that they are the tests.
func TestTheTestsRunAsTests(t *testing.T) {
	s := spec(t, "/bin/true")
	a, err := agent.New(s)
	if err != nil {
		t.Fatal(err)
	}
	r := request(t)
	r.Wall = time.Minute
	if res, err := a.Test(t.Context(), r, []string{"sh", "-c", "exit 127"}); err != nil || res.Failure != "ended with exit code 127" {
		t.Errorf("without a sandbox: %+v, %v", res, err)
	}
	var got work.Job
	s.Wrap = func(argv []string, j work.Job) ([]string, []string, error) {
		got = j
		return argv, nil, nil
	}
	if a, err = agent.New(s); err != nil {
		t.Fatal(err)
	}
	res, err := a.Test(t.Context(), r, []string{"sh", "-c", "exit 127"})
	if err != nil || !strings.Contains(res.Failure, "exit code 127: a program was not found") || !strings.Contains(res.Failure, "readable of [runtime]") {
		t.Errorf("%+v, %v", res, err)
	}
	if want := (work.Job{Dir: r.Dir, For: work.RunsTests, Mark: r.Mark}); got != want {
		t.Errorf("job %+v, want %+v", got, want)
	}
	if _, err := a.Test(t.Context(), r, []string{"sh", "-c", "echo 'bwrap: execvp /x: No such file' >&2; exit 1"}); err == nil || !strings.Contains(err.Error(), "outside sandbox: mine; sh; the required tests need it") {
		t.Errorf("got %v", err)
	}
	s.Wrap = func([]string, work.Job) ([]string, []string, error) {
		return nil, nil, &work.BlockedError{Reason: work.Reason{Kind: work.WhyShutOut, Text: "not visible"}}
	}
	if a, err = agent.New(s); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Test(t.Context(), r, []string{"sh"}); err == nil || !strings.Contains(err.Error(), "not visible") {
		t.Errorf("got %v", err)
	}
}

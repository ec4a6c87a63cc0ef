package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/env"
)

func TestErrorsHaveAKind(t *testing.T) {
	for _, c := range []struct {
		err  error
		code ErrorCode
	}{
		{&UsageError{Err: errors.New("x")}, CodeUsage},
		{fmt.Errorf("read it: %w", Coded(CodeUnknownItem, errors.New("x"))), CodeUnknownItem},
		{ErrNothingYet, CodeNoState},
		{&transport.NotLoggedInError{Host: "github.com"}, CodeNoLogin},
		{&transport.Error{Status: 401}, CodeNoLogin},
		{&transport.Error{Status: 403}, CodeRefused},
		{&transport.Error{Status: 404}, CodeRefused},
		{&transport.Error{Status: 502}, CodeNetwork},
		{&work.WaitError{Reason: work.Reason{Kind: work.WhyGitHubLimit}}, CodeRateLimited},
		{&fs.PathError{Op: "open", Path: "/state/x", Err: syscall.ENOSPC}, CodeDisk},
		{fmt.Errorf("wait: %w", context.Canceled), CodeCancelled},
		{errors.New("x"), CodeFailed},
	} {
		if code, _ := codeOf(c.err, "/state"); code != c.code {
			t.Errorf("%v: %s, want %s", c.err, code, c.code)
		}
	}
	for trouble, want := range map[string]ErrorCode{
		github.TroubleUnreachable: CodeNetwork, env.CauseLimit: CodeRateLimited, env.CauseBlocked: CodeRefused, env.CauseSlow: CodeNetwork, env.CauseOther: CodeFailed,
	} {
		if got := OfTrouble(trouble); got != want {
			t.Errorf("%s: %s, want %s", trouble, got, want)
		}
	}
}

func TestErrorAsJSON(t *testing.T) {
	for _, k := range ErrorKinds() {
		v := ViewError(Coded(k.Code, errors.New("it is \"so\"\nand so")), "", "gh mergexo status")
		var read map[string]map[string]string
		if err := json.Unmarshal([]byte(v.Line()), &read); err != nil {
			t.Fatal(err)
		}
		got := read["error"]
		if len(got) != 3 || got["code"] != string(k.Code) || got["message"] != "it is \"so\"\nand so" {
			t.Errorf("%s: %v", k.Code, got)
		}
		if got["do"] == "" && k.Code != CodeFailed {
			t.Errorf("%s: nothing says what to do", k.Code)
		}
	}
	if do := ViewError(&UsageError{Err: errors.New("x")}, "", "gh mergexo status").Do; do != "gh mergexo status --help" {
		t.Errorf("usage: %q", do)
	}
}

func TestWhoAsksForJSON(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"status", "--json", "items"}, true},
		{[]string{"status", "--json=items", "--nope"}, true},
		{[]string{"status", "--jq", "."}, false},
		{[]string{"doctor", "--sandbox", "codex", "--", "x", "--json"}, false},
	} {
		if got := WantsJSON(c.args); got != c.want {
			t.Errorf("%q: %v", c.args, got)
		}
	}
}

package codex

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const someThread = "01a1fb3c-9a69-7cf1-91d2-d2e904c204ce"

// recordOf is a codex whose record of a thread has these lines.
func recordOf(t *testing.T, lines ...string) *codex {
	t.Helper()
	home := t.TempDir()
	dir := filepath.Join(home, "sessions", "2026", "11", "21")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "rollout-2026-11-21T04-24-19-"+someThread+".jsonl"), []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	return &codex{spec: agent.Spec{Name: "x", Adapter: Adapter, Environ: []string{"CODEX_HOME=" + home}, Now: time.Now, Redact: func(s string) string { return s }}}
}

func TestCodexsRecordDecides(t *testing.T) {
	const began = 1000
	ended := func(info string) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"task_complete","error":{"message":"words","codex_error_info":%s},"completed_at":%d}}`, info, began)
	}
	resets := time.Now().Add(time.Hour).Truncate(time.Second)
	window := func(used int) string {
		return fmt.Sprintf(`{"type":"event_msg","payload":{"type":"token_count","rate_limits":{"primary":{"used_percent":%d,"resets_at":%d},"secondary":null}}}`, used, resets.Unix())
	}
	tests := []struct {
		name    string
		session string
		lines   []string
		want    string
	}{
		{"limit", "", []string{window(100), ended(`"usage_limit_exceeded"`)}, "*work.WaitError " + resets.Format(time.TimeOnly)},
		{"limit without a time", "", []string{window(40), ended(`"usage_limit_exceeded"`)}, "*work.WaitError"},
		{"429", "", []string{ended(`{"response_too_many_failed_attempts":{"http_status_code":429}}`)}, "*work.WaitError"},
		{"503", "", []string{ended(`{"http_connection_failed":{"http_status_code":503}}`)}, "*work.WaitError"},
		{"no network", "", []string{ended(`{"http_connection_failed":{"http_status_code":null}}`)}, "*work.WaitError"},
		{"overloaded", "", []string{ended(`"server_overloaded"`)}, "*work.WaitError"},
		{"401", "", []string{ended(`{"http_connection_failed":{"http_status_code":401}}`)}, "*work.BlockedError"},
		{"refusal", "", []string{ended(`"cyber_policy"`)}, "*work.BlockedError"},
		{"refusal in an old session", someThread, []string{ended(`"cyber_policy"`)}, "*agent.SessionError"},
		{"full", someThread, []string{ended(`"context_window_exceeded"`)}, "*agent.SessionError"},
		{"full at once", "", []string{ended(`"context_window_exceeded"`)}, "*work.BlockedError"},
		{"rate limit in the stream", "", []string{ended(`"rate_limit_exceeded"`)}, "*work.WaitError"},
		{"no such model", "", []string{ended(`"model_not_found"`)}, "*work.BlockedError"},
		{"no such model for a session", someThread, []string{ended(`"model_not_found"`)}, "*work.BlockedError"},
		{"404", "", []string{ended(`{"http_connection_failed":{"http_status_code":404}}`)}, "*work.BlockedError"},
		{"402", "", []string{ended(`{"http_connection_failed":{"http_status_code":402}}`)}, "*work.BlockedError"},
		{"no credit", "", []string{strings.Replace(window(100), `"secondary":null`, `"secondary":null,"rate_limit_reached_type":"workspace_owner_credits_depleted"`, 1), ended(`"usage_limit_exceeded"`)}, "*work.BlockedError"},
		{"bad request", "", []string{ended(`"bad_request"`)}, "*work.BlockedError"},
		{"invalid prompt", "", []string{ended(`"invalid_prompt"`)}, "*work.BlockedError"},
		{"an unknown code", "", []string{ended(`"some_new_code"`)}, "*work.BlockedError"},
		{"422", "", []string{ended(`{"http_connection_failed":{"http_status_code":422}}`)}, "*work.BlockedError"},
		{"413", "", []string{ended(`{"http_connection_failed":{"http_status_code":413}}`)}, "*work.BlockedError"},
		{"409", "", []string{ended(`{"http_connection_failed":{"http_status_code":409}}`)}, "*work.WaitError"},
		{"codex's own sandbox", "", []string{ended(`"sandbox_error"`)}, "*agent.FailedError"},
		{"nothing known", "", nil, "*agent.FailedError"},
		{"nonsense", "", []string{"{", `{"payload":7}`, ended(`[1]`), strings.Repeat("x", 100)}, "*agent.FailedError"},
		{"of an earlier turn", "", []string{strings.Replace(ended(`"usage_limit_exceeded"`), "1000", "999", 1)}, "*agent.FailedError"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := recordOf(t, tt.lines...)
			run := outcome{thread: someThread, problem: "words: 429, usage limit"}
			err := c.failure(agent.Request{Session: tt.session}, proc.Result{Code: 1}, run, began)
			got := fmt.Sprintf("%T", err)
			if wait, ok := err.(*work.WaitError); ok && strings.Contains(tt.want, " ") { //nolint:errorlint // the kind itself is tested
				got += " " + wait.Until.Format(time.TimeOnly)
			}
			if got != tt.want {
				t.Errorf("got %s (%v), want %s", got, err, tt.want)
			}
		})
	}
}

func TestCodexsSentencesDecideWhereItsKindsDoNot(t *testing.T) {
	const began = 1000
	for _, tt := range []struct{ kind, words, want string }{
		{"other", "stream disconnected before completion: stream closed before response.completed", "*work.WaitError"},
		{"other", "stream disconnected before completion: An error occurred while processing your request. You can retry your request, or contact us", "*work.WaitError"},
		{"other", "stream disconnected before completion: idle timeout waiting for SSE", "*work.WaitError"},
		{"other", "stream disconnected before completion: failed to lookup address information: Name does not resolve", "*work.WaitError"},
		{"other", "stream disconnected before completion: this model does not take pictures", "*work.BlockedError"},
		{"other", "Incomplete response returned, reason: content_filter", "*work.BlockedError"},
		{"other", `{"error": {"message": "Unsupported parameter", "type": "invalid_request_error"}}`, "*work.BlockedError"},
		{"usage_limit_exceeded", "Quota exceeded. Check your plan and billing details.", "*work.BlockedError"},
		{"usage_limit_exceeded", "To use Codex with your ChatGPT plan, upgrade to Plus: https://chatgpt.com/explore/plus.", "*work.BlockedError"},
		{"usage_limit_exceeded", "You’ve hit your usage limit. To get more access now, send a request to your admin or try again later.", "*work.WaitError"},
		{"other", `{"detail": "The 'gpt-nope' model is not supported when using Codex with a ChatGPT account."}`, "*work.BlockedError"},
		{"bad_request", "Invalid model name passed in model=gpt-nope", "*work.BlockedError"},
		{"bad_request", "the answer says that the model gpt-4 is better", "*work.BlockedError"},
		{"other", "Incomplete response returned, reason: max_output_tokens", "*agent.FailedError"},
		{"other", "the model said: stream disconnected before completion", "*agent.FailedError"},
	} {
		c := recordOf(t, fmt.Sprintf(`{"payload":{"type":"task_complete","error":{"codex_error_info":%q},"completed_at":%d}}`, tt.kind, began))
		c.spec.Model = "gpt-nope"
		err := c.failure(agent.Request{}, proc.Result{Code: 1}, outcome{thread: someThread, problem: tt.words}, began)
		if got := fmt.Sprintf("%T", err); got != tt.want {
			t.Errorf("%s, %q: got %s, want %s", tt.kind, tt.words, got, tt.want)
		}
		if strings.Contains(err.Error(), "{") {
			t.Errorf("a person reads %q", err)
		}
	}
}

func TestCodexReadsNoRecordThatIsNoFile(t *testing.T) {
	c := recordOf(t)
	for _, name := range []string{"", "../../../etc/passwd", "*"} {
		if b := c.recordTail(name); b != nil {
			t.Errorf("%q: read %q", name, b)
		}
	}
}

func TestCodexsLimitsStandBeforeResume(t *testing.T) {
	c := &codex{spec: agent.Spec{Name: "x", Adapter: Adapter, Model: "m", Effort: `hi"gh`, Args: []string{"-c", "a=1"}, Environ: []string{"HOME=/home/op"}, Home: "/home/op/state"}}
	for _, mode := range []work.Mode{work.ModeRead, work.ModeWrite} {
		r := agent.Request{Turn: "t", Dir: "/home/op/checkout", Mode: mode}
		fresh := c.arguments(r, "/s.json", nil)
		r.Session = someThread
		resumed := c.arguments(r, "/s.json", nil)
		if want := slices.Concat(fresh[:len(fresh)-1], []string{"resume", someThread, "-"}); !slices.Equal(resumed, want) {
			t.Errorf("fresh   %q\nresumed %q", fresh, resumed)
		}
		sandbox := map[work.Mode]string{work.ModeRead: "read-only", work.ModeWrite: "workspace-write"}[mode]
		for _, want := range []string{"-s " + sandbox, "-m m", "-C /home/op/checkout", "--output-schema /s.json", `model_reasoning_effort="hi\"gh"`, `approval_policy="never"`} {
			if !strings.Contains(strings.Join(fresh, " "), want) {
				t.Errorf("%s: no %s in %q", mode, want, fresh)
			}
		}
	}
}

func TestTheTemporaryFolderIsGuardedWhereOursAreInIt(t *testing.T) {
	const rule = "exclude_slash_tmp"
	for _, tt := range []struct {
		environ []string
		dir     string
		want    bool
	}{
		{[]string{"HOME=/home/op"}, "/home/op/checkout", false}, // its tests may need the temporary folder
		{[]string{"HOME=/home/op"}, "/tmp/checkout", true},
		{[]string{"HOME=/home/op", "CODEX_HOME=/tmp/codex"}, "/home/op/checkout", true},
		{[]string{"HOME=/home/op"}, "/tmpfiles/checkout", false},
	} {
		c := &codex{spec: agent.Spec{Adapter: Adapter, Environ: tt.environ, Home: "/home/op/state"}}
		if got := strings.Contains(strings.Join(c.settings(agent.Request{Dir: tt.dir}, nil), " "), rule); got != tt.want {
			t.Errorf("%v %s: %v", tt.environ, tt.dir, got)
		}
	}
}

func TestOnlyEmptyLeftoversOfCodexAreRemoved(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{".codex", ".agents/skills", "target"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("target", filepath.Join(dir, ".aws")); err != nil {
		t.Fatal(err)
	}
	tidy(dir)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if !slices.Equal(left, []string{".agents", ".aws", "target"}) {
		t.Errorf("left %q", left)
	}
}

func FuzzStreams(f *testing.F) {
	for _, s := range []string{
		`{"type":"thread.started","thread_id":"x"}` + "\n" + `{"type":"turn.completed","usage":{"input_tokens":-5}}`,
		"null\n[]\n7\n\xff", `{"type":"item.completed","item":7}`,
	} {
		f.Add([]byte(s))
	}
	x := &codex{spec: agent.Spec{Name: "x", Now: time.Now, Redact: func(s string) string { return s }}}
	f.Fuzz(func(t *testing.T, stream []byte) {
		res, err := x.judge(agent.Request{}, proc.Result{Stdout: stream}, 0, nil)
		if err == nil && len(res.Answer) == 0 {
			t.Errorf("no answer, no error: %q", stream)
		}
		m := x.meter(agent.Request{})
		_, _ = m.Write(stream)
		if u := m.Used().Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 {
			t.Errorf("usage %+v", u)
		}
	})
}

// Of a 429 to a key, codex's output and record tell no time: its log has the provider's headers, and
// these lines, which may hold cookies, are in no log of ours.
func TestAKeysRateLimitLastsAsItsHeadersSay(t *testing.T) {
	noon := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	line := func(status, headers string) string {
		return `2026-11-27T12:00:00Z DEBUG run_turn{model=m}: codex_http_client::client: Request completed method=POST url=http://x/v1/responses status=` + status + ` headers={"set-cookie": "s3cret", ` + headers + `} version=HTTP/1.1` + "\n"
	}
	for log, want := range map[string]time.Duration{
		line("429 Too Many Requests", `"retry-after": "1234"`):                          1234 * time.Second,
		line("429 Too Many Requests", `"retry-after": "Fri, 27 Nov 2026 12:07:00 GMT"`): 7 * time.Minute,
		line("429 Too Many Requests", `"retry-after-ms": "90500", "retry-after": "91"`): 91 * time.Second,
		line("429 Too Many Requests", `"retry-after": "soon"`):                          0,
		line("429 Too Many Requests", `"retry-after": "-5"`):                            0,
		line("200 OK", `"retry-after": "1234"`):                                         0,
		line("429 Too Many Requests", `"retry-after": "9"`) + line("200 OK", "") + line("429 Too Many Requests", `"retry-after": "1234"`) + "codex ended\n": 1234 * time.Second,
		`the model said: status=429 "retry-after": "1234"`: 0,
	} {
		c := recordOf(t)
		c.spec.Now = func() time.Time { return noon }
		got := c.resets(record{}, "exceeded retry limit, last status: 429 Too Many Requests", []byte(log))
		if want == 0 && !got.IsZero() && got.After(noon) || want != 0 && !got.Equal(noon.Add(want)) {
			t.Errorf("%s: %s, want in %s", log, got, want)
		}
		var kept strings.Builder
		if n, err := (answerFilter{&kept}).Write([]byte("before\n" + log)); err != nil || n != len("before\n"+log) || strings.Contains(kept.String(), "s3cret") || !strings.HasPrefix(kept.String(), "before\n") {
			t.Errorf("logged %q, %v", kept.String(), err)
		}
	}
	if c := (&codex{spec: agent.Spec{Environ: []string{"RUST_LOG=trace"}}}); c.environ() != nil {
		t.Error("it replaces the operator's RUST_LOG")
	}
}

// A codex whose own config keeps its commands from temporary folders fails the check before a turn: a
// person reads which setting it is. Another failure is another reason.
func TestTheSettingThatShutsTheTemporaryFolderIsNamed(t *testing.T) {
	const shut = "/bin/sh: 1: cannot create /tmp/.mergexo-check-x: Read-only file system"
	for _, tt := range []struct{ settings, detail, want string }{
		{"[sandbox_workspace_write]\nexclude_slash_tmp = true\n", shut, "exclude_slash_tmp"},
		{"sandbox_workspace_write.exclude_tmpdir_env_var=true", shut, "exclude_tmpdir_env_var"},
		{"[sandbox_workspace_write]\nexclude_slash_tmp = false\n", shut, ""},
		{"[sandbox_workspace_write]\nexclude_slash_tmp = true\n", "bwrap: no permission", ""},
		{"", shut, ""},
	} {
		c := recordOf(t)
		c.spec.Environ = append(c.spec.Environ, "TMPDIR=/tmp")
		c.spec.Home = "/home/op/state"
		c.spec.Environ[0] = "CODEX_HOME=" + t.TempDir()
		if err := os.WriteFile(filepath.Join(c.spec.Adapter.Homes(c.spec.Environ)[0], "config.toml"), []byte(tt.settings), 0o600); err != nil {
			t.Fatal(err)
		}
		c.spec.Environ = append(c.spec.Environ, "HOME=/home/op")
		home := c.spec.Adapter.Homes(c.spec.Environ)[0]
		if strings.HasPrefix(home, "/tmp/") { // codex's home in the temporary folder is guarded: there, nothing is tried
			c.spec.Environ = append(c.spec.Environ, "TMPDIR=/other")
			tt.detail = strings.ReplaceAll(tt.detail, "/tmp/", "/other/")
		}
		err := c.shutTemp(agent.Request{Dir: "/home/op/checkout"}, &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentUnable, Local: tt.detail}})
		var blocked *work.BlockedError
		if !errors.As(err, &blocked) || blocked.Reason.Name != tt.want || (blocked.Reason.Kind == work.WhyAgentNoTemp) != (tt.want != "") {
			t.Errorf("%q, %q: %+v", tt.settings, tt.detail, blocked.Reason)
		}
	}
}

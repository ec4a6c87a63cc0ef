package claude

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func FuzzStreams(f *testing.F) {
	for _, s := range []string{
		`{"type":"result","session_id":7}`, `{"type":"result","is_error":true,"permission_denials":[{}]}`, "null\n[]\n7\n\xff", `{"type":"assistant","error":{}}`,
	} {
		f.Add([]byte(s))
	}
	c := &claude{spec: agent.Spec{Name: "x", Now: time.Now, Redact: func(s string) string { return s }}}
	f.Fuzz(func(t *testing.T, stream []byte) {
		run := read(stream)
		res, err := c.judge(agent.Request{}, proc.Result{Stdout: stream}, run, nil)
		if err == nil && len(res.Answer) == 0 {
			t.Errorf("no answer, no error: %q", stream)
		}
		m := c.meter("")
		_, _ = m.Write(stream)
		if u := m.Used().Usage; u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 {
			t.Errorf("usage %+v", u)
		}
		if u, _ := c.used(run, m); u.InputTokens < 0 || u.OutputTokens < 0 || u.CostUSD < 0 {
			t.Errorf("usage with the result's %+v", u)
		}
	})
}

// A login that the keychain of macOS keeps to itself has its own words; a model's words about one decide
// nothing.
func TestKeychain(t *testing.T) {
	const token, login, none = "claude setup-token", "run `claude` and log in there", ""
	refused := `{"type":"assistant","error":"authentication_failed"}` + "\n"
	ended := func(words, usage string) string {
		return `{"type":"result","is_error":true,"result":"` + words + `","usage":{` + usage + `}}`
	}
	for name, test := range map[string]struct{ stdout, stderr, advice string }{
		"no item":             {"", "security: SecKeychainSearchCopyNext: The specified item could not be found in the keychain.", token},
		"no session":          {"", "Error: User interaction is not allowed.", token},
		"by its name":         {"", "OSStatus errSecInteractionNotAllowed", token},
		"by its number":       {"", "failed to read the login (-25308)", token},
		"security not found":  {"", "Error: spawn security ENOENT", token},
		"refused with words":  {refused + ended("Not logged in · Please run /login", ""), "SecKeychainItemCopyContent failed", token},
		"words of the result": {ended("could not be found in the keychain", ""), "", token},
		"refused otherwise":   {refused + ended("Not logged in · Please run /login", ""), "", login},
		"another error":       {"", "Error: security fixes are needed", none},
		"words of a model":    {ended("the keychain is locked", `"input_tokens":5,"output_tokens":3`), "", none},
	} {
		c := &claude{spec: agent.Spec{Name: "mine", Now: time.Now, Redact: func(s string) string { return s }}}
		_, err := c.judge(agent.Request{}, proc.Result{Stdout: []byte(test.stdout), Stderr: []byte(test.stderr), Code: 1}, read([]byte(test.stdout)), nil)
		blocked, is := errors.AsType[*work.BlockedError](err)
		if is != (test.advice != none) || is && (blocked.Reason.Kind != work.WhyAgentLoggedOut || !strings.Contains(blocked.Reason.Advice, test.advice)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if got := loginOn("darwin", agent.Spec{}); !got.Keychain || got.Known {
		t.Errorf("on a Mac: %+v", got)
	}
}

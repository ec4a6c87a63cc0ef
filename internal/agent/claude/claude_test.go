package claude

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
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

package agent_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// What the programs were seen to print while they run a command, or try again.
const (
	codexRetries  = `{"type":"error","message":"Reconnecting... waiting for network (Connection failed: error sending request)"}`
	codexCommand  = `{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"make","status":"in_progress"}}`
	codexDone     = `{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"make","exit_code":0,"status":"completed"}}`
	claudeRetries = `{"type":"system","subtype":"api_retry","attempt":1,"max_retries":10,"retry_delay_ms":560.9,"error_status":null,"error":"unknown","session_id":"` + thread + `"}`
	claudeCommand = `{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"Bash","input":{"command":"make"}}]},"session_id":"` + thread + `"}`
	claudeDone    = `{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"ok"}]},"session_id":"` + thread + `"}`
)

var naps = regexp.MustCompile(`sleep [0-9.]+`)

// The idle limit asks whether an agent gets on, not whether it prints.
func TestSignsOfLife(t *testing.T) {
	say := func(line string) string { return "echo '" + line + "'\n" }
	const (
		waits  = "sleep 2.5\n"
		hangs  = "exec sleep 60\n"
		grows  = "for i in 1 2 3 4 5; do echo '{}' >>\"$SESSION\"; sleep 0.5; done\n"
		logs   = "for i in 1 2 3 4 5 6 7 8; do echo 'trying again' >&2; sleep 0.5; done\n"
		lasts  = "done"
		waitfr = "wait"
	)
	again := func(line string) string { return "while :; do " + say(line) + "sleep 0.3; done\n" }
	ends := map[string]string{
		codexName:  say(codexSays(`{"a":1}`)) + say(codexEnds),
		claudeName: say(claudeResult(`,"structured_output":{"a":1}`)),
	}
	lines := map[string]struct{ begins, retries, command, done, interrupted, session string }{
		codexName:  {codexBegins, codexRetries, codexCommand, codexDone, "", "sessions/2026/11/22/rollout-2026-11-22T05-51-39-" + thread + ".jsonl"},
		claudeName: {claudeInit, claudeRetries, claudeCommand, claudeDone, claudeInterrupted, "projects/-tmp-repo/" + thread + ".jsonl"},
	}
	for adapter, l := range lines {
		for name, tt := range map[string]struct{ script, want string }{
			"a command that takes long":        {say(l.command) + waits + say(l.done), lasts},
			"a session that is written to":     {grows, lasts},
			"silence":                          {hangs, "idle"},
			"silence after a command":          {say(l.command) + say(l.done) + hangs, "idle"},
			"a log alone":                      {logs, "idle"},
			"a provider that is not reached":   {again(l.retries), waitfr},
			"the same, beside a command":       {say(l.command) + again(l.retries), waitfr},
			"the same, and told of when ended": {"trap \"echo '" + l.interrupted + "'; exit 1\" INT TERM\n" + again(l.retries), waitfr},
			"one that is reached again":        {say(l.retries) + "sleep 0.6\n" + say(l.begins) + "sleep 0.3\n" + say(l.retries) + "sleep 0.3\n" + say(l.command) + say(l.done) + "sleep 0.6\n", lasts},
		} {
			t.Run(adapter+"/"+name, func(t *testing.T) {
				t.Parallel()
				var err error
				for slow := time.Duration(1); slow <= 8; slow *= 2 { // on a busy machine a program is late by more than a short limit
					home := t.TempDir()
					session := filepath.Join(home, l.session)
					if err := os.MkdirAll(filepath.Dir(session), 0o700); err != nil {
						t.Fatal(err)
					}
					script := naps.ReplaceAllStringFunc(tt.script, func(nap string) string {
						seconds, _ := strconv.ParseFloat(nap[len("sleep "):], 64)
						return fmt.Sprintf("sleep %g", seconds*float64(slow))
					})
					s := spec(t, program(t, "cat >/dev/null\nSESSION='"+session+"'\n"+say(l.begins)+script+ends[adapter]))
					s.Adapter, s.Now = adapters[adapter], time.Now
					s.Environ = append(s.Environ, "CODEX_HOME="+home, "CLAUDE_CONFIG_DIR="+home)
					r := request(t)
					r.Turn, r.Mark, r.Session, r.Idle, r.Wall = "turn-life", "MERGEXO_MARK="+t.Name(), "", slow*time.Second, slow*15*time.Second
					if _, err = run(t, s, r); endOf(err) == tt.want {
						return
					}
				}
				t.Errorf("ended as %q, want %q: %v", endOf(err), tt.want, err)
			})
		}
	}
}

// claudeInterrupted is what claude says when it is ended.
const claudeInterrupted = `{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"[Request interrupted by user]\"}]}}`

// endOf sums up how a run ended.
func endOf(err error) string {
	if _, ok := errors.AsType[*work.WaitError](err); ok {
		return "wait"
	}
	if timeout, ok := errors.AsType[*agent.TimeoutError](err); ok {
		if timeout.Limit == proc.IdleLimit {
			return "idle"
		}
		return "wall"
	}
	if err != nil {
		return "another"
	}
	return "done"
}

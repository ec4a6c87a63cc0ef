package agent_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/codex"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// The programs of these tests print what the real ones were seen to print, or
// might: what a real one cannot be brought to say on a machine without network.

const thread = "01a1fb3c-9a69-7cf1-91d2-d2e904c204ce"

// saying runs an adapter on a program that prints lines and exits.
func saying(t *testing.T, adapter, session, exit string, lines ...string) (agent.Result, error) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(out, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec(t, program(t, "cat > /dev/null; cat '"+out+"'; exit "+exit))
	s.Adapter, s.Now = adapters[adapter], time.Now
	r := request(t)
	r.Session = session
	return run(t, s, r)
}

func codexSays(words string) string {
	b, _ := json.Marshal(words)
	return `{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":` + string(b) + `}}`
}

const (
	codexBegins = `{"type":"thread.started","thread_id":"` + thread + `"}`
	codexEnds   = `{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"output_tokens":10}}`
	claudeInit  = `{"type":"system","subtype":"init","session_id":"` + thread + `"}`
)

func claudeResult(more string) string {
	return `{"type":"result","subtype":"success","is_error":false,"session_id":"` + thread + `","usage":{"input_tokens":5,"cache_read_input_tokens":20,"cache_creation_input_tokens":3,"output_tokens":7},"total_cost_usd":0.25` + more + `}`
}

func TestTheAnswerCountsNotTheExitCode(t *testing.T) {
	for name, get := range map[string]func(exit string) (agent.Result, error){
		"codex": func(exit string) (agent.Result, error) {
			return saying(t, codexName, "", exit, codexBegins, codexSays(`{"a":1}`), codexEnds)
		},
		"claude": func(exit string) (agent.Result, error) {
			return saying(t, claudeName, "", exit, claudeInit, claudeResult(`,"structured_output":{"a":1}`))
		},
	} {
		for _, exit := range []string{"0", "1"} {
			if res, err := get(exit); err != nil || string(res.Answer) != `{"a":1}` || res.Session != thread || res.Usage.InputTokens == 0 {
				t.Errorf("%s, exit %s: %+v, %v", name, exit, res, err)
			}
		}
	}
	for name, get := range map[string]func() (agent.Result, error){
		"codex":  func() (agent.Result, error) { return saying(t, codexName, "", "0", codexBegins) },
		"claude": func() (agent.Result, error) { return saying(t, claudeName, "", "0", claudeInit) },
	} {
		if _, err := get(); err == nil {
			t.Errorf("%s: exit 0 without a result was taken for one", name)
		} else if _, ok := errors.AsType[*agent.FailedError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAnotherSessionThatAnswersIsNoResult(t *testing.T) {
	const asked = "11111111-2222-4333-8444-555555555555"
	for name, get := range map[string]func() (agent.Result, error){
		"codex": func() (agent.Result, error) {
			return saying(t, codexName, asked, "0", codexBegins, codexSays(`{"a":1}`), codexEnds)
		},
		"claude": func() (agent.Result, error) {
			return saying(t, claudeName, asked, "0", claudeInit, claudeResult(`,"structured_output":{"a":1}`))
		},
	} {
		res, err := get()
		if _, ok := errors.AsType[*agent.SessionError](err); !ok || res.Usage.InputTokens == 0 {
			t.Errorf("%s: %+v, %v", name, res, err)
		}
	}
}

func TestLastWordsThatAreNoAnswer(t *testing.T) {
	for _, words := range []string{"", "done", "```json\n{}\n```", `{"a":1} and more`, `{"a":1}{"a":2}`, `{"a":`} {
		_, err := saying(t, codexName, "", "0", codexBegins, codexSays(words), codexEnds)
		if _, ok := errors.AsType[*agent.AnswerError](err); !ok {
			t.Errorf("%q: %v", words, err)
		}
	}
	for _, more := range []string{"", `,"structured_output":null`} {
		_, err := saying(t, claudeName, "", "0", claudeInit, claudeResult(more))
		if _, ok := errors.AsType[*agent.AnswerError](err); !ok {
			t.Errorf("%q: %v", more, err)
		}
	}
}

// TestClaudesAnswerAsTextIsTaken: a model that writes the answer down instead of
// calling its tool gave it all the same, if it wrote nothing else.
func TestClaudesAnswerAsTextIsTaken(t *testing.T) {
	written := func(words string) string {
		b, _ := json.Marshal(words)
		return `,"result":` + string(b)
	}
	for _, words := range []string{`{"a":1}`, " \n{\"a\": 1}\n"} {
		res, err := saying(t, claudeName, "", "0", claudeInit, claudeResult(written(words)))
		if err != nil || strings.ReplaceAll(string(res.Answer), " ", "") != `{"a":1}` || res.Usage.InputTokens == 0 || res.Session != thread {
			t.Errorf("%q: %+v, %v", words, res, err)
		}
	}
	for _, words := range []string{"done", "7", `"done"`, "null", `[{"a":1}]`, "```json\n{}\n```", `Here it is: {"a":1}`, `{"a":1} and more`, `{"a":1}{"a":2}`, `{"a":`} {
		_, err := saying(t, claudeName, "", "0", claudeInit, claudeResult(written(words)))
		bad, ok := errors.AsType[*agent.AnswerError](err)
		if !ok || !strings.Contains(bad.Violations[0], "StructuredOutput") {
			t.Errorf("%q: %v", words, err)
		}
	}
	res, err := saying(t, claudeName, "", "0", claudeInit, claudeResult(`,"structured_output":{"a":1},"result":"{\"a\":2}"`))
	if err != nil || string(res.Answer) != `{"a":1}` {
		t.Errorf("what the tool was given comes first: %+v, %v", res, err)
	}
}

// TestClaudesFieldsDecide goes through the ends that its samples show.
func TestClaudesFieldsDecide(t *testing.T) {
	failed := func(more string) string {
		return strings.Replace(claudeResult(more), `"is_error":false`, `"is_error":true`, 1)
	}
	resets := time.Now().Add(50 * time.Minute).Truncate(time.Second)
	stamp, _ := json.Marshal(resets.Unix())
	limit := `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` + string(stamp) + `,"rateLimitType":"five_hour"}}`
	tests := []struct {
		name  string
		lines []string
		want  string
	}{
		{"limit", []string{limit, failed(`,"api_error_status":429`)}, "wait " + resets.UTC().Format(time.TimeOnly)},
		{"429", []string{failed(`,"api_error_status":429`)}, "wait"},
		{"529 by status", []string{failed(`,"api_error_status":529`)}, "wait"},
		{"529 by kind", []string{`{"type":"assistant","error":"server_error"}`, failed(`,"api_error_status":null`)}, "wait"},
		{"401", []string{failed(`,"api_error_status":401`)}, "blocked"},
		{"not logged in", []string{`{"type":"assistant","error":"authentication_failed"}`, failed("")}, "blocked"},
		{"credit", []string{`{"type":"assistant","error":"billing_error"}`, failed(`,"api_error_status":400`)}, "blocked"},
		{"no such model", []string{`{"type":"assistant","error":"model_not_found"}`, failed(`,"api_error_status":404`)}, "blocked"},
		{"402", []string{failed(`,"api_error_status":402`)}, "blocked"},
		{"refusal", []string{failed(`,"stop_reason":"refusal"`)}, "blocked"},
		{"budget", []string{failed(`,"subtype":"error_max_budget_usd"`)}, "blocked"},
		{"turns", []string{failed(`,"subtype":"error_max_turns","errors":["Reached maximum number of turns (2)"]`)}, "blocked"},
		{"bad answers", []string{failed(`,"subtype":"error_max_structured_output_retries"`)}, "answer"},
		{"max tokens", []string{failed(`,"result":"API Error: exceeded the 64000 output token maximum"`)}, "failed"},
		{"400", []string{failed(`,"api_error_status":400`)}, "blocked"},
		{"422", []string{failed(`,"api_error_status":422`)}, "blocked"},
		{"408", []string{failed(`,"api_error_status":408`)}, "wait"},
		{"prompt too long", []string{failed(`,"api_error_status":400,"terminal_reason":"prompt_too_long"`)}, "blocked"},
		{"invalid by kind", []string{`{"type":"assistant","error":"invalid_request"}`, failed(`,"api_error_status":null`)}, "blocked"},
		{"words alone decide nothing", []string{failed(`,"result":"429 rate limit, please wait; prompt is too long"`)}, "failed"},
		{"interrupted", []string{failed(`,"subtype":"error_during_execution","terminal_reason":"aborted_tools"`)}, "failed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := saying(t, claudeName, "", "1", append([]string{claudeInit}, tt.lines...)...)
			got := kindOf(err)
			if tt.want == "wait" { // for as long as we guess
				got, _, _ = strings.Cut(got, " ")
			}
			if got != tt.want {
				t.Errorf("got %s: %v; want %s", got, err, tt.want)
			}
			if res.Usage.InputTokens != 28 || res.Usage.OutputTokens != 7 || res.Usage.CostUSD != 0.25 {
				t.Errorf("what it used is lost: %+v", res.Usage)
			}
		})
	}
}

func kindOf(err error) string {
	if w, ok := errors.AsType[*work.WaitError](err); ok {
		return "wait " + w.Until.UTC().Format(time.TimeOnly)
	}
	if _, ok := errors.AsType[*work.BlockedError](err); ok {
		return "blocked"
	}
	if _, ok := errors.AsType[*agent.AnswerError](err); ok {
		return "answer"
	}
	if _, ok := errors.AsType[*agent.FailedError](err); ok {
		return "failed"
	}
	return "another"
}

func TestCodexUsageIsTheDifferenceAndNeverNegative(t *testing.T) {
	for _, counted := range []int64{0, 40, 100, 500} {
		out := filepath.Join(t.TempDir(), "out")
		if err := os.WriteFile(out, []byte(codexBegins+"\n"+codexSays("{}")+"\n"+codexEnds), 0o600); err != nil {
			t.Fatal(err)
		}
		s := spec(t, program(t, "cat > /dev/null; cat "+out))
		s.Adapter, s.Now = codex.Adapter, time.Now
		r := request(t)
		r.Session, r.Counted = thread, work.Usage{InputTokens: counted}
		res, err := run(t, s, r)
		if err != nil {
			t.Fatal(err)
		}
		if want := max(100-counted, 0); res.Usage.InputTokens != want || res.Counted.InputTokens != 100 {
			t.Errorf("counted %d: %+v", counted, res)
		}
	}
}

func TestASandboxStandsInFrontOfTheProgram(t *testing.T) {
	s := spec(t, program(t, `cat > /dev/null; printf '%s' '`+good+`'`), "--flag")
	wrapper := program(t, `echo "$@" > wrapped; exec "$@"`)
	r := request(t)
	r.Item, r.Role = 12, "quinn"
	var got work.Job
	s.Wrap = func(argv []string, j work.Job) ([]string, []string, error) {
		got = j
		return append([]string{wrapper}, argv...), nil, nil
	}
	if _, err := run(t, s, r); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(r.Dir, "wrapped")); string(b) != s.Command[0]+" --flag\n" {
		t.Errorf("%q, %v", b, err)
	}
	if want := (work.Job{Dir: r.Dir, Item: 12, Role: "quinn", For: work.RunsAgent, Mark: r.Mark}); got != want {
		t.Errorf("job %+v, want %+v", got, want)
	}
}

func TestHomesOfTheAdapters(t *testing.T) {
	for _, tt := range []struct {
		adapter string
		environ []string
		want    []string
	}{
		{codexName, []string{"HOME=/h"}, []string{"/h/.codex"}},
		{codexName, []string{"HOME=/h", "CODEX_HOME=/c/"}, []string{"/c"}},
		{codexName, []string{"HOME=/h", "CODEX_HOME=c"}, nil},
		{codexName, nil, nil},
		{claudeName, []string{"HOME=/h"}, []string{"/h/.claude", "/h/.claude.json"}},
		{claudeName, []string{"HOME=/h", "CLAUDE_CONFIG_DIR=/c"}, []string{"/c"}},
		{commandName, []string{"HOME=/h"}, nil},
	} {
		if got := adapters[tt.adapter].Homes(tt.environ); !slices.Equal(got, tt.want) {
			t.Errorf("%s %v: %v, want %v", tt.adapter, tt.environ, got, tt.want)
		}
	}
}

func TestAMissingAgentIsOneLineWithTheWayOn(t *testing.T) {
	for adapter, command := range map[string]string{
		codexName: "npm install -g @openai/codex", claudeName: "npm install -g @anthropic-ai/claude-code", commandName: "install it",
	} {
		s := spec(t)
		s.Adapter, s.Environ = adapters[adapter], []string{"PATH=" + t.TempDir()}
		if adapter == commandName {
			s.Command = []string{"my-agent"}
		}
		err := agent.Find(s)
		if err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), command) || !strings.Contains(err.Error(), "[agents.mine]") {
			t.Errorf("%s: %v", adapter, err)
		}
	}
}

package acp_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/acp"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// rig is a fake agent with the folder in which it keeps its sessions.
type rig struct {
	t       *testing.T
	folder  string
	spec    agent.Spec
	request agent.Request
	log     bytes.Buffer
}

func newRig(t *testing.T, traits ...string) *rig {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, folder: t.TempDir()}
	r.spec = agent.Spec{
		Name: "mine", Command: append([]string{self, fakeName, r.folder}, traits...), Now: time.Now, Home: t.TempDir(),
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()},
	}
	r.spec.Adapter = acp.Adapter(r.spec.Command)
	r.request = agent.Request{
		Turn: "turn", Mark: "MERGEXO_MARK=" + r.folder, Kind: work.KindBugfixStart, Mode: work.ModeWrite, Prompt: "Fix it.",
		Schema: []byte(`{"type":"object"}`), Dir: t.TempDir(), Wall: 30 * time.Second, Log: &r.log,
	}
	return r
}

func (r *rig) run(ctx context.Context) (agent.Result, error) {
	r.t.Helper()
	a, err := agent.New(r.spec)
	if err != nil {
		r.t.Fatal(err)
	}
	return a.Run(ctx, r.request)
}

func (r *rig) must() agent.Result {
	r.t.Helper()
	res, err := r.run(r.t.Context())
	if err != nil {
		r.t.Fatalf("%v\nlog: %s", err, r.log.String())
	}
	return res
}

// noted is what the fake agent wrote about the turn; "" if it wrote nothing.
func (r *rig) noted(name string) string {
	b, _ := os.ReadFile(filepath.Join(r.folder, name))
	return string(b)
}

func TestATurnIsASessionWithOnePrompt(t *testing.T) {
	t.Parallel()
	for _, traits := range [][]string{nil, {"noisy"}, {"stays"}} {
		t.Run(fmt.Sprint(traits), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, append(traits, "dear", `usage={"inputTokens":10,"outputTokens":4,"cachedReadTokens":3,"cachedWriteTokens":2,"totalTokens":19}`)...)
			var live []agent.Used
			r.request.Used = func(u agent.Used) error { live = append(live, u); return nil }
			got := r.must()
			if string(got.Answer) != `{"x":1}` || got.Session != "ses_1" || got.Usage != (work.Usage{InputTokens: 15, OutputTokens: 4, CostUSD: 0.25}) || got.Known != (work.Known{Tokens: true, Cost: true}) {
				t.Errorf("got %s %+v", got.Answer, got)
			}
			if p := r.noted("prompt"); !strings.HasPrefix(p, "Fix it.") || !strings.Contains(p, `{"type":"object"}`) {
				t.Errorf("prompt %q", p)
			}
			if p := r.noted("permission"); p != `{"outcome":{"optionId":"once","outcome":"selected"}}` {
				t.Errorf("permission %s", p)
			}
			if b, err := os.ReadFile(filepath.Join(r.request.Dir, "made.txt")); string(b) != "made\n" {
				t.Errorf("made.txt: %q, %v", b, err)
			}
			for _, words := range []string{"is fake 1.0", "uses a tool: write made.txt", "asks for permission: write made.txt: selected", "ended the turn: end_turn"} {
				if !strings.Contains(r.log.String(), words) {
					t.Errorf("the log lacks %q: %s", words, r.log.String())
				}
			}
			for _, u := range live {
				if u.Usage.InputTokens > 0 && !u.Known.Tokens {
					t.Errorf("usage %+v", u)
				}
			}
		})
	}
}

// A session, also one that is loaded, is given the server with the tool for the answer as its program
// takes servers; the prompt's schema then has null for an answer that the tool has. A program that
// takes none in such a turn is asked for the answer alone.
func TestASessionIsGivenTheTool(t *testing.T) {
	t.Parallel()
	const wrapped, bare = `"anyOf":[{"type":"object"},{"type":"null"}]`, "```json\n{\"type\":\"object\"}\n```"
	for _, tt := range []struct {
		name, program, role string
		bySession, byOption bool
	}{
		{"any program", "any", "", true, false},
		{"any program, a review", "any", "quinn", true, false},
		{"claude-agent-acp", "claude-agent-acp", "", true, false},
		{"claude-agent-acp in its safe mode", "claude-agent-acp", "quinn", false, false},
		{"copilot", "copilot", "", false, true},
		{"copilot, a review", "copilot", "quinn", false, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			r.spec.Adapter, r.spec.Tool, r.request.Role = acp.Adapter([]string{tt.program}), []string{"/bin/tool", "answer-tool"}, tt.role
			folder, schema := agent.AnswerFolder(r.request.Dir), bare
			if tt.bySession || tt.byOption {
				schema = wrapped
			}
			for range 2 {
				r.request.Session = r.must().Session
				servers, line := r.noted("servers"), r.noted("traits")
				if tt.bySession {
					if begins := `[{"args":["answer-tool","` + folder + `"],"command":"/bin/tool","env":[{"name":"`; !strings.HasPrefix(servers, begins) ||
						!strings.Contains(servers, `{"name":"MERGEXO_MARK","value":"`+r.folder+`"}`) || !strings.HasSuffix(servers, `"name":"mergexo"}]`) {
						t.Errorf("servers %s", servers)
					}
				} else if servers != "[]" {
					t.Errorf("servers %s", servers)
				}
				if strings.Contains(line, "--additional-mcp-config\n"+`{"mcpServers":{"mergexo":{"command":"/bin/tool","args":["answer-tool","`+folder) != tt.byOption {
					t.Errorf("arguments %s", line)
				}
				if p := r.noted("prompt"); !strings.Contains(p, schema) {
					t.Errorf("prompt %s", p)
				}
			}
		})
	}
}

func TestPermissionsAreGivenOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, "all-or-nothing")
	r.must()
	if p := r.noted("permission"); p != `{"outcome":{"outcome":"cancelled"}}` {
		t.Errorf("permission %s", p)
	}
}

// The past that a program replays while it loads a session is neither answer nor usage.
func TestAResumedTurnHearsOnlyItself(t *testing.T) {
	t.Parallel()
	r := newRig(t, "dear", `usage={"inputTokens":10,"outputTokens":4}`)
	first := r.must()
	r.request.Session, r.request.Prompt = first.Session, "And more."
	second := r.must()
	if string(second.Answer) != `{"x":1}` || second.Session != first.Session || second.Usage != (work.Usage{InputTokens: 10, OutputTokens: 4, CostUSD: 0.25}) {
		t.Errorf("got %s %+v", second.Answer, second)
	}
	if log := r.log.String(); strings.Contains(log, "uses a tool: old") {
		t.Errorf("the log has the past: %s", log)
	}
	for name, traits := range map[string][]string{"a session that is gone": {"other"}, "a program that loads none": {"forgetful"}, "a program that ends": {"refuses=session/load"}} {
		r := newRig(t, traits...)
		r.request.Session = "ses_9"
		if _, err := r.run(t.Context()); !is[*agent.SessionError](err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.request.Session = "a\nb"
	if _, err := r.run(t.Context()); !is[*agent.SessionError](err) {
		t.Errorf("a name of two lines: %v", err)
	}
}

func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// Each end of a turn has its own kind of error and its own words, and an answer given before counts for
// nothing. Usage that was told counts.
func TestEveryEndHasItsWords(t *testing.T) {
	t.Parallel()
	blocked := func(kind work.ReasonKind, words string) func(error) bool {
		return func(err error) bool {
			b, ok := errors.AsType[*work.BlockedError](err)
			return ok && b.Reason.Kind == kind && strings.Contains(b.Reason.Local+b.Reason.Advice, words)
		}
	}
	failed := func(words string) func(error) bool {
		return func(err error) bool { return is[*agent.FailedError](err) && strings.Contains(err.Error(), words) }
	}
	rejected := func(words string) func(error) bool {
		return func(err error) bool {
			b, ok := errors.AsType[*work.BlockedError](err)
			return ok && b.Reason.Kind == work.WhyAgentRejected && strings.Contains(b.Error(), words)
		}
	}
	waits := func(words string) func(error) bool {
		return func(err error) bool {
			w, ok := errors.AsType[*work.WaitError](err)
			return ok && strings.Contains(w.Reason.Text, words)
		}
	}
	limit := func(words string) func(error) bool {
		return func(err error) bool { return is[*agent.LimitError](err) && strings.Contains(err.Error(), words) }
	}
	const usage = `usage={"inputTokens":10,"outputTokens":4}`
	for _, c := range []struct {
		name   string
		traits []string
		is     func(error) bool
	}{
		{"the program exits in the middle", []string{"exits"}, failed("exit code 3: out of luck")},
		{"a method is unknown", []string{"refuses=session/new"}, blocked(work.WhyAgentUnable, "does not know session/new")},
		{"another protocol", []string{"refuses=initialize"}, blocked(work.WhyAgentUnable, "does not know initialize")},
		{"a newer protocol", []string{"newer"}, blocked(work.WhyAgentUnable, "speaks version 2 of the Agent Client Protocol, and gh mergexo speaks 1")},
		{"refusal", []string{"stops=refusal", usage}, blocked(work.WhyAgentDeclined, "")},
		{"max_tokens", []string{"stops=max_tokens", usage}, rejected("its limit of tokens")},
		{"max_turn_requests", []string{"stops=max_turn_requests", usage}, blocked(work.WhyAgentLimit, "limit of requests")},
		{"cancelled", []string{"stops=cancelled", usage}, failed("cancelled the turn, which nobody had asked for")},
		{"an unknown reason", []string{"stops=boredom", usage}, failed(`unknown reason "boredom"`)},
		{"no reason", []string{"stops= ", usage}, failed("unknown reason")},
		{"logged out", []string{"logged-out"}, blocked(work.WhyAgentLoggedOut, "Run `fake login` in the terminal")},
		{"logged out later", []string{"error=-32000"}, blocked(work.WhyAgentLoggedOut, "fake login")},
		{"401", []string{"error=401"}, blocked(work.WhyAgentLoggedOut, "fake login")},
		{"402", []string{"error=402"}, blocked(work.WhyAgentNoCredit, "said so")},
		{"429", []string{"error=429"}, waits("too many requests")},
		{"503", []string{"error=503"}, waits("does not answer")},
		{"claude's kind of error", []string{"raw", "kind=rate_limit"}, waits("too many requests")},
		{"an internal error", []string{"raw", "details=the disk is full"}, failed("Internal error: the disk is full")},
		{"a message over the bound", []string{"endless"}, limit("sent a message of more than 8 MiB")},
		{"requests without end", []string{"floods"}, limit("did not read the answers")},
		{"an answer that is none", []string{"says=Done, as you say.", usage}, func(err error) bool { return is[*agent.AnswerError](err) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, c.traits...)
			res, err := r.run(t.Context())
			if !c.is(err) {
				t.Errorf("got %v\nlog: %s", err, r.log.String())
			}
			if len(res.Answer) > 0 {
				t.Errorf("answer %s", res.Answer)
			}
			if told := strings.Contains(strings.Join(c.traits, " "), "usage="); res.Known.Tokens != told || (res.Usage.InputTokens == 10) != told {
				t.Errorf("usage %+v %+v", res.Usage, res.Known)
			}
		})
	}
}

// A refusal or a full window in a session says nothing about a new one.
func TestASessionMayBeTheReason(t *testing.T) {
	t.Parallel()
	for _, reason := range []string{"refusal", "max_tokens"} {
		r := newRig(t)
		r.request.Session = r.must().Session
		r.spec.Command = append(r.spec.Command, "stops="+reason)
		if _, err := r.run(t.Context()); !is[*agent.SessionError](err) {
			t.Errorf("%s: %v", reason, err)
		}
	}
}

// A turn that is stopped is cancelled in the program's own language first.
func TestAStoppedTurnIsCancelled(t *testing.T) {
	t.Parallel()
	for _, traits := range [][]string{{"hangs"}, {"hangs", "deaf"}, {"hangs", "stays"}} {
		t.Run(strings.Join(traits, " ")+" at the time limit", func(t *testing.T) {
			t.Parallel()
			if !testhome.Long() && len(traits) > 1 {
				t.Skip("it is killed after a while")
			}
			var r *rig
			var err error
			for wall := 2 * time.Second; wall < time.Minute && (r == nil || r.noted("prompt") == ""); wall *= 3 { // a busy machine takes longer to begin
				r = newRig(t, traits...)
				r.request.Wall = wall
				_, err = r.run(t.Context())
			}
			if timeout, ok := errors.AsType[*agent.TimeoutError](err); !ok || timeout.Limit != proc.WallLimit {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(r.folder, "cancelled")); err != nil {
				t.Error("it was not cancelled")
			}
		})
	}
	t.Run("by an interruption", func(t *testing.T) {
		t.Parallel()
		r := newRig(t, "hangs")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go func() {
			for ctx.Err() == nil && r.noted("prompt") == "" {
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		if _, err := r.run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
		if _, err := os.Stat(filepath.Join(r.folder, "cancelled")); err != nil {
			t.Error("it was not cancelled")
		}
	})
}

// A program that waits for its tool lives, and one that is silent does not: nor does a tool of the
// past that never ended keep it alive.
func TestAToolIsASignOfLife(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		traits []string
		again  bool
		limit  proc.Limit
	}{
		{"a tool runs", []string{"hangs"}, false, proc.WallLimit},
		{"silence", []string{"hangs", "silent"}, false, proc.IdleLimit},
		{"silence after a past tool", []string{"hangs", "silent"}, true, proc.IdleLimit},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var err error
			for slow := time.Duration(1); slow <= 4; slow *= 2 { // a busy machine is silent for longer
				r := newRig(t)
				if c.again {
					r.request.Session = r.must().Session
				}
				r.spec.Command = append(r.spec.Command, c.traits...)
				r.request.Idle, r.request.Wall = slow*time.Second, slow*6*time.Second
				_, err = r.run(t.Context())
				if timeout, ok := errors.AsType[*agent.TimeoutError](err); ok && timeout.Limit == c.limit {
					return
				}
			}
			t.Errorf("got %v", err)
		})
	}
}

func TestTheModelIsChosenWhereTheConfigNamesOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ trait, model, set, answers string }{
		{"options", "", "", "small"},
		{"options", "small", "", "small"},
		{"options", "big", "model-option=big", "big"},
		{"models", "", "", "small"},
		{"models", "big", "big=", "big"},
		{"none", "", "", ""},
	} {
		r := newRig(t, c.trait)
		r.spec.Model = c.model
		if got := r.must(); got.Model != c.answers || r.noted("model") != c.set {
			t.Errorf("%+v: got %q, set %q", c, got.Model, r.noted("model"))
		}
	}
	for _, traits := range [][]string{{"models"}, {"none"}, {"options", "refuses=session/set_config_option"}} {
		r := newRig(t, traits...)
		r.spec.Model = "huge"
		_, err := r.run(t.Context())
		if b, ok := errors.AsType[*work.BlockedError](err); !ok || b.Reason.Kind != work.WhyAgentNoModel {
			t.Errorf("%v: %v", traits, err)
		}
	}
}

// The counts of real programs (a stub's, in four of them): whether the cache is part of the input
// shows in the total. What is absent is unknown, not zero.
func TestUsageIsReadAsItIsMeant(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]work.Usage{
		`{"inputTokens":22,"outputTokens":84,"cachedReadTokens":6000,"cachedWriteTokens":400,"totalTokens":6506}`:   {InputTokens: 6422, OutputTokens: 84, CostUSD: 1},
		`{"inputTokens":6422,"outputTokens":84,"cachedReadTokens":6000,"cachedWriteTokens":400,"totalTokens":6506}`: {InputTokens: 6422, OutputTokens: 84, CostUSD: 1},
		`{"inputTokens":468,"outputTokens":112,"cachedReadTokens":2000,"totalTokens":2580,"thoughtTokens":14}`:      {InputTokens: 2468, OutputTokens: 112, CostUSD: 1},
		`{"inputTokens":10,"outputTokens":4}`:                       {InputTokens: 10, OutputTokens: 4, CostUSD: 1},
		`{"inputTokens":10}`:                                        {},
		`{"inputTokens":10,"outputTokens":"4"}`:                     {},
		`{"inputTokens":10,"outputTokens":4,"cachedReadTokens":-1}`: {},
		`null`: {}, `[]`: {}, `7`: {},
	} {
		r := newRig(t, "usage="+usage)
		got := r.must()
		if got.Known.Tokens != (want.CostUSD == 1) || got.Known.Cost {
			t.Errorf("%s: known %+v", usage, got.Known)
		}
		if want.CostUSD = 0; got.Known.Tokens && got.Usage != want {
			t.Errorf("%s: got %+v, want %+v", usage, got.Usage, want)
		}
	}
	r := newRig(t, `usage={"inputTokens":1000000,"outputTokens":0}`)
	r.spec.Prices = &spending.Prices{Input: 3}
	if got := r.must(); got.Usage.CostUSD != 3 || !got.Known.Cost {
		t.Errorf("got %+v %+v", got.Usage, got.Known)
	}
}

// opencode's tokens are of its last request, which are all only where it used no tool.
func TestTokensOfALastRequestAreNotATurns(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"opencode", "kilo"} {
		r := newRig(t, `usage={"inputTokens":10,"outputTokens":4}`)
		r.spec.Adapter = acp.Adapter([]string{name})
		if got := r.must(); got.Known.Tokens || got.Usage.InputTokens != 10 {
			t.Errorf("%s: %+v %+v", name, got.Usage, got.Known)
		}
	}
}

// Nothing enforces the schema, so models fence their answers.
func TestAFencedAnswerIsAnAnswer(t *testing.T) {
	t.Parallel()
	for says, good := range map[string]bool{
		"```json\n{\"x\":1}\n```": true, "```\n{\"x\":1}\n```\n": true, " {\"x\":1} ": true,
		"```python\n{\"x\":1}\n```": false, "```json\n{\"x\":1}": false, "Here:\n```json\n{\"x\":1}\n```": false, "{\"x\":1} done": false,
	} {
		r := newRig(t, "says="+says)
		if _, err := r.run(t.Context()); (err == nil) != good {
			t.Errorf("%q: %v", says, err)
		}
	}
}

// The adapter of claude loads no settings of the checkout, and for a reviewer none that the author's
// agent could have left. So does this one.
func TestClaudeIsToldWhatToLoad(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]string{"": `{"claudeCode":{"options":{"settingSources":["user"]}}}`, "quinn": `{"claudeCode":{"options":{"extraArgs":{"safe-mode":null},"settingSources":["user"]}}}`} {
		r := newRig(t)
		r.spec.Adapter, r.request.Role = acp.Adapter([]string{"claude-agent-acp"}), role
		r.must()
		if got := r.noted("meta"); got != want {
			t.Errorf("%q: %s", role, got)
		}
	}
}

func TestPresetsAreFoundByTheirCommandLines(t *testing.T) {
	t.Parallel()
	for _, p := range acp.Programs() {
		if got, ok := acp.Find(p.Command); !ok || got.Command[0] != p.Command[0] {
			t.Errorf("%s is found as %q", p.Name, got.Name)
		}
		if got, ok := acp.Find([]string{"npx", "-y", p.Package + "@1.2.3", "acp"}); !ok || got.Name != p.Name {
			t.Errorf("the package of %s is found as %q", p.Name, got.Name)
		}
		if p.Login == "" || p.Usage == "" || p.Package == "" {
			t.Errorf("%+v", p)
		}
		a := acp.Adapter(p.Command)
		if homes := a.Homes([]string{"HOME=/h"}); len(homes) == 0 || !strings.HasPrefix(homes[0], "/h/.") {
			t.Errorf("%s: homes %q", p.Name, homes)
		}
	}
	for command, name := range map[string]string{"/usr/local/bin/opencode acp": "opencode", "node /opt/gemini --acp": "gemini", "/usr/bin/mine --acp": ""} {
		if got, _ := acp.Find(strings.Fields(command)); got.Name != name {
			t.Errorf("%s is found as %q", command, got.Name)
		}
	}
}

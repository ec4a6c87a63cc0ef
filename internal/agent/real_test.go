package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/acp"
	"github.com/mergexo/gh-mergexo/internal/conformance"
	"github.com/mergexo/gh-mergexo/internal/modelsim"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/prompts"
)

// The tests in this file run the real codex and claude against a model server on loopback. They see
// nothing of the operator: their home is a folder of the test, their key a dummy.

// rig is one of the real programs, and its model.
type rig struct {
	t     *testing.T
	spec  agent.Spec
	model *modelsim.Server
	dir   string // the checkout
}

// answer is valid for the schema of a start.
func answer(title string) map[string]any {
	return map[string]any{"pr_title": title, "pr_summary": "Did it.", "commit_message": title, "followups": []any{}, "blocked_reason": nil, "decision_summary": "None."}
}

// onReal runs a test with each of the real programs.
func onReal(t *testing.T, test func(t *testing.T, r *rig)) {
	t.Helper()
	t.Parallel()
	for _, adapter := range []string{codexName, claudeName} {
		t.Run(adapter, func(t *testing.T) { test(t, newRig(t, adapter)) })
	}
}

// mainTests are those with the real programs that CI plays: turns that write, begun and resumed, without a sandbox and
// in one. The nightly workflow's script/agent-tests plays all.
var mainTests = []string{"TestAResumedTurnHasTheLimitsOfAFreshOne", "TestARealTurnWritesWithEveryKnownFolderInTheHome"}

// newRig makes a rig. Its test runs in parallel, because it mostly waits for the program or a
// limit.
func newRig(t *testing.T, adapter string) *rig {
	t.Helper()
	t.Parallel()
	testhome.OnlyLong(t)
	if name, _, _ := strings.Cut(t.Name(), "/"); !slices.Contains(mainTests, name) {
		testhome.NotRest(t)
	}
	bin, why := modelsim.Programs()
	if why != "" {
		t.Skip(why)
	}
	if _, err := os.Stat(filepath.Join(bin, adapter)); err != nil {
		if adapter != codexName && adapter != claudeName {
			t.Skipf("script/agent-clis without arguments installs it: %v", err)
		}
		t.Fatal(err)
	}
	r := &rig{t: t, dir: checkout(t)}
	var err error
	if r.model, err = modelsim.New(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Answer: answer("Done")} }); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.model.Close() })
	home := testhome.New(t) // in a temporary folder codex has no sandbox, see TestCodexWithoutASandboxIsJudgedByItsTree
	r.spec = agent.Spec{
		Name: "real", Adapter: adapters[adapter], Home: testhome.New(t), Now: time.Now,
		Environ: []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), "HOME=" + home, "LANG=C.UTF-8"},
	}
	switch adapter {
	case codexName:
		r.spec.Environ = append(r.spec.Environ, "CODEX_HOME="+home, "TEST_KEY=dummy")
		r.spec.Model, r.spec.Args = "gpt-5.5", r.model.CodexArgs("TEST_KEY")
	case claudeName:
		r.spec.Environ = append(r.spec.Environ, "CLAUDE_CONFIG_DIR="+home, "ANTHROPIC_API_KEY=dummy", "ANTHROPIC_BASE_URL="+r.model.Anthropic(), "CLAUDE_CODE_MAX_RETRIES=0")
		r.spec.Model = "claude-sonnet-4-5"
	default: // it speaks the Agent Client Protocol
		preset, _ := acp.Find([]string{adapter})
		r.spec.Adapter, r.spec.Command = acp.Adapter(preset.Command), preset.Command
		variables, files := r.model.ACP(adapter)
		for _, v := range variables {
			r.setEnv(v[0], v[1])
		}
		for name, text := range files {
			path := filepath.Join(home, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return r
}

// setEnv gives a variable another value.
func (r *rig) setEnv(name, value string) {
	r.spec.Environ = slices.DeleteFunc(slices.Clone(r.spec.Environ), func(v string) bool { return strings.HasPrefix(v, name+"=") })
	if value != "" {
		r.spec.Environ = append(r.spec.Environ, name+"="+value)
	}
}

// checkout is a repository with one commit, outside temporary folders like everything that the real
// programs see.
func checkout(t *testing.T) string {
	t.Helper()
	dir := testhome.New(t)
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"}, {"-c", "user.name=a", "-c", "user.email=a@b.invalid", "commit", "-q", "--allow-empty", "-m", "first"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return dir
}

// request is a turn that may write.
func (r *rig) request(prompt string) agent.Request {
	return agent.Request{
		Turn: turnKey, Mark: "MERGEXO_MARK=" + r.dir, Kind: work.KindBugfixStart, Mode: work.ModeWrite, Prompt: prompt,
		Schema: prompts.Schema(work.KindBugfixStart, prompts.Context{}), Dir: r.dir, Wall: 2 * time.Minute, Log: testLog{r.t},
	}
}

type testLog struct{ t *testing.T }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Logf("stderr: %s", b)
	return len(b), nil
}

func (r *rig) run(q agent.Request) (agent.Result, error) {
	r.t.Helper()
	return run(r.t, r.spec, q)
}

// must runs a turn that must succeed.
func (r *rig) must(q agent.Request) agent.Result {
	r.t.Helper()
	res, err := r.run(q)
	if err != nil {
		r.t.Fatal(err)
	}
	return res
}

func title(t *testing.T, res agent.Result) string {
	t.Helper()
	var a struct {
		Title string `json:"pr_title"`
	}
	if err := json.Unmarshal(res.Answer, &a); err != nil {
		t.Fatalf("answer %s: %v", res.Answer, err)
	}
	return a.Title
}

// edits makes the model change a file, then answer.
func edits(q modelsim.Query) modelsim.Reply {
	if len(q.Results) == 0 {
		return modelsim.Reply{Run: "echo more >> edited.txt"}
	}
	return modelsim.Reply{Answer: answer("Edited")}
}

func TestAResumedTurnHasTheLimitsOfAFreshOne(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(edits)
		q := r.request("First thing to do.")
		first := r.must(q)
		q.Prompt, q.Session, q.Counted = "Second thing to do.", first.Session, first.Counted
		second := r.must(q)
		if title(t, first) != "Edited" || title(t, second) != "Edited" || second.Session != first.Session || first.Session == "" {
			t.Errorf("answers %s, %s; sessions %q, %q", first.Answer, second.Answer, first.Session, second.Session)
		}
		if b, err := os.ReadFile(filepath.Join(r.dir, "edited.txt")); string(b) != "more\nmore\n" {
			t.Errorf("edited.txt: %q, %v", b, err)
		}
		all := r.model.Queries()
		if len(all) != 4 {
			t.Fatalf("%d queries", len(all))
		}
		fresh, resumed := all[0], all[2]
		if resumed.Earlier != 1 || !strings.Contains(resumed.Prompt, "Second thing") || fresh.Earlier != 0 || !strings.Contains(fresh.Prompt, "First thing") {
			t.Errorf("fresh %d %q, resumed %d %q", fresh.Earlier, fresh.Prompt, resumed.Earlier, resumed.Prompt)
		}
		if resumed.Model != fresh.Model || resumed.Model != r.spec.Model || string(resumed.Schema) != string(fresh.Schema) || len(fresh.Schema) == 0 ||
			strings.Join(resumed.Tools, " ") != strings.Join(fresh.Tools, " ") {
			t.Errorf("fresh: %s %s %v\nresumed: %s %s %v", fresh.Model, fresh.Schema, fresh.Tools, resumed.Model, resumed.Schema, resumed.Tools)
		}
		// Two queries a turn; codex counts from the thread's beginning.
		want := work.Usage{InputTokens: 2 * modelsim.InputTokens, OutputTokens: 2 * modelsim.OutputTokens}
		for _, u := range []work.Usage{first.Usage, second.Usage} {
			u.CostUSD = 0
			if u != want {
				t.Errorf("usage %+v, want %+v", u, want)
			}
		}
		if one, two := first.Usage.CostUSD, second.Usage.CostUSD; r.spec.Adapter.Name == claudeName && (two <= 0 || math.Abs(two-one) > 1e-9) {
			t.Errorf("two runs that used the same cost %g and %g", one, two)
		}
	})
}

func TestAResumedTurnThatReadsWritesNothing(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(edits)
		q := r.request("Write.")
		q.Session = r.must(q).Session
		q.Mode = work.ModeRead
		for _, session := range []string{q.Session, ""} {
			q.Session = session
			if res, err := r.run(q); err != nil || title(t, res) != "Edited" {
				t.Fatalf("session %q: %v", session, err)
			}
			if b, _ := os.ReadFile(filepath.Join(r.dir, "edited.txt")); string(b) != "more\n" {
				t.Errorf("session %q: a turn that only reads wrote: %q", session, b)
			}
		}
	})
}

// What a user has doctor play with an agent works with the real programs.
func TestRealProgramsDoWhatATurnNeeds(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		word := ""
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			a := answer("Read")
			switch _, line, begins := strings.Cut(q.Prompt, "with the line "); {
			case begins && len(q.Results) == 0:
				word, _, _ = strings.Cut(line, ".")
				return modelsim.Reply{Run: "echo " + word + " > conformance.txt"}
			case begins:
				a["pr_title"] = "Begin"
			case q.Earlier > 0:
				a["pr_title"] = word
			case len(q.Results) == 0:
				return modelsim.Reply{Run: "echo more >> conformance.txt"}
			default:
				a["blocked_reason"] = "The checkout is read-only."
			}
			return modelsim.Reply{Answer: a}
		})
		ag, err := agent.New(r.spec)
		if err != nil {
			t.Fatal(err)
		}
		trial := conformance.Trial{Name: "real", Agent: ag, Form: "Answer by the schema.", Dir: r.dir, Mark: "MERGEXO_MARK=" + r.dir, Wall: 2 * time.Minute, Log: testLog{t}}
		for _, o := range conformance.Play(t.Context(), &trial, func(string) {}) {
			if o.Level != conformance.Works {
				t.Errorf("%s: %s; %s", o.Step, o.Says, o.Do)
			}
		}
		if trial.Used.InputTokens == 0 {
			t.Errorf("used %+v", trial.Used)
		}
	})
}

// Codex shows its model the images of a prompt, in a new session and in one that it continues.
func TestCodexShowsImages(t *testing.T) {
	r := newRig(t, codexName)
	q := r.request("Look at it.")
	q.Images = []agent.Image{{Path: filepath.Join(".git", "1.png"), Content: modelsim.Pixels()}}
	if err := os.WriteFile(filepath.Join(r.dir, q.Images[0].Path), modelsim.Pixels(), 0o600); err != nil {
		t.Fatal(err)
	}
	q.Session = r.must(q).Session
	q.Prompt = "Look again."
	r.must(q)
	for i, query := range r.model.Queries() {
		if n := strings.Count(string(query.Body), "data:image/png;base64,"); n != i+1 {
			t.Errorf("query %d has %d images", i, n)
		}
	}
}

func TestALostSessionAsksForAFreshOne(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		for _, session := range []string{"01a1fb3c-9a69-7cf1-91d2-d2e904c204ce", "session-12", "--last"} {
			q := r.request("Go on.")
			q.Session = session
			_, err := r.run(q)
			if _, ok := errors.AsType[*agent.SessionError](err); !ok {
				t.Errorf("%q: got %v", session, err)
			}
		}
		if n := len(r.model.Queries()); n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

func TestAFullContextWindowAsksForAFreshSession(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		q := r.request("Begin.")
		session := r.must(q).Session
		r.model.Script(func(modelsim.Query) modelsim.Reply {
			if r.spec.Adapter.Name == codexName {
				return modelsim.Reply{Failed: "context_length_exceeded"}
			}
			return modelsim.Reply{Error: &modelsim.Error{Status: 400, Type: "invalid_request_error", Text: "prompt is too long: 250000 tokens > 200000 maximum"}}
		})
		q.Session = session
		_, err := r.run(q)
		var lost *agent.SessionError
		if !errors.As(err, &lost) || !strings.Contains(err.Error(), "full") {
			t.Errorf("resumed: %v", err)
		}
		q.Session = "" // the story itself is too long: a new session does not help
		_, err = r.run(q)
		if _, ok := errors.AsType[*work.BlockedError](err); !ok {
			t.Errorf("fresh: %v", err)
		}
	})
}

func TestAnAnswerThatIsNoneIsRepairedInTheSameSession(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(q modelsim.Query) modelsim.Reply {
			if strings.Contains(q.Prompt, "repaired") {
				return modelsim.Reply{Answer: answer("Repaired")}
			}
			return modelsim.Reply{Text: "All is well, I have finished."}
		})
		q := r.request("Begin.")
		res, err := r.run(q)
		var bad *agent.AnswerError
		if !errors.As(err, &bad) || res.Session == "" || res.Usage.InputTokens == 0 || !strings.Contains(strings.Join(bad.Violations, " "), "All is well") {
			t.Fatalf("got %v, %+v", err, res)
		}
		q.Prompt, q.Session, q.Counted = "This is to be repaired.", res.Session, res.Counted
		if got := title(t, r.must(q)); got != "Repaired" {
			t.Errorf("got %q", got)
		}
	})
}

func TestLimitsWait(t *testing.T) {
	until := time.Now().Add(3 * time.Hour).Truncate(time.Second)
	onReal(t, func(t *testing.T, r *rig) {
		if r.spec.Adapter.Name == claudeName { // only subscriptions have a limit that ends
			r.setEnv("ANTHROPIC_API_KEY", "")
			r.setEnv("CLAUDE_CODE_OAUTH_TOKEN", "dummy")
		}
		tests := []struct {
			name  string
			reply modelsim.Reply
			until time.Time
		}{
			{"429", modelsim.Reply{Error: &modelsim.Error{Status: 429, Type: "rate_limit_error", Text: "slow down"}}, time.Time{}},
			{"500", modelsim.Reply{Error: &modelsim.Error{Status: 500, Type: "api_error", Text: "oops"}}, time.Time{}},
			{"usage limit", modelsim.Reply{Error: modelsim.UsageLimit(until)}, until},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				r.model.Script(func(modelsim.Query) modelsim.Reply { return tt.reply })
				_, err := run(t, r.spec, r.request("Begin."))
				var wait *work.WaitError
				if !errors.As(err, &wait) || !wait.Until.After(time.Now()) {
					t.Fatalf("got %v", err)
				}
				if !tt.until.IsZero() && (!wait.Until.Before(tt.until) || !strings.Contains(explain.What(wait.Reason, explain.Place{}), tt.until.UTC().Format("15:04 UTC"))) {
					t.Errorf("until %s: %s; the limit ends %s", wait.Until, explain.What(wait.Reason, explain.Place{}), tt.until)
				}
			})
		}
	})
}

func TestAProviderThatIsDownIsWaitedFor(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		if err := r.model.Close(); err != nil {
			t.Fatal(err)
		}
		q := r.request("Begin.")
		q.Wall = 40 * time.Second // codex would wait forever; claude starts slowly on a busy machine
		_, err := r.run(q)
		if _, ok := errors.AsType[*work.WaitError](err); !ok {
			t.Errorf("got %v", err)
		}
	})
}

func TestRefusedCredentialsAreForAPerson(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(modelsim.Query) modelsim.Reply {
			return modelsim.Reply{Error: &modelsim.Error{Status: 401, Type: "authentication_error", Text: "no such key"}}
		})
		_, err := r.run(r.request("Begin."))
		var blocked *work.BlockedError
		if !errors.As(err, &blocked) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "env_pass of [agents.real]") || blocked.Reason.Local == "" || strings.Contains(explain.What(blocked.Reason, explain.Place{}), "127.0.0.1") {
			t.Errorf("got %#v", err)
		}
	})
}

func TestARefusalIsForAPersonUnlessTheSessionIsOld(t *testing.T) {
	r := newRig(t, claudeName)
	q := r.request("Begin.")
	session := r.must(q).Session
	r.model.Script(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Refuse: true} })
	_, err := r.run(q)
	var blocked *work.BlockedError
	if !errors.As(err, &blocked) || !strings.HasSuffix(explain.What(blocked.Reason, explain.Place{}), "refused the task.") || blocked.Reason.Local == "" {
		t.Errorf("fresh: %v", err)
	}
	q.Session = session
	_, err = r.run(q)
	if _, ok := errors.AsType[*agent.SessionError](err); !ok {
		t.Errorf("resumed: %v", err)
	}
}

func TestADeniedToolIsToldInTheRepair(t *testing.T) {
	r := newRig(t, claudeName)
	r.model.Script(func(q modelsim.Query) modelsim.Reply {
		if len(q.Results) == 0 {
			return modelsim.Reply{Tool: &modelsim.Call{Name: "Bash", Input: map[string]any{"command": "echo x > x", "description": "write"}}}
		}
		return modelsim.Reply{Text: "I was not allowed to."}
	})
	r.spec.Args = []string{"--disallowedTools", "Bash(echo:*)"}
	_, err := r.run(r.request("Begin."))
	var bad *agent.AnswerError
	if !errors.As(err, &bad) || !strings.Contains(strings.Join(bad.Violations, "\n"), "denied") {
		t.Errorf("got %v", err)
	}
}

func TestCodexWithoutASandboxIsJudgedByItsTree(t *testing.T) {
	r := newRig(t, codexName)
	r.setEnv("CODEX_HOME", t.TempDir())
	r.model.Script(edits)
	if got := title(t, r.must(r.request("Begin."))); got != "Edited" { // it says so, and exits 0
		t.Errorf("answer %q", got)
	}
	all := r.model.Queries()
	told := strings.Join(all[len(all)-1].Results, "\n")
	_, err := os.Stat(filepath.Join(r.dir, "edited.txt"))
	if failed := !strings.Contains(told, "exited with code 0"); failed != (err != nil) {
		t.Errorf("its command said %q, and the file: %v", told, err)
	}
	t.Logf("with its home in the temporary folder: %s", told)
}

func TestAnEndEndsAllThatItStarted(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		beat := filepath.Join(r.dir, "beat")
		go func() { // once its command runs
			for ctx.Err() == nil {
				if _, err := os.Stat(beat); err == nil {
					cancel()
				}
				time.Sleep(50 * time.Millisecond)
			}
		}()
		r.model.Script(func(modelsim.Query) modelsim.Reply {
			return modelsim.Reply{Run: "while :; do date +%s%N > beat; sleep 0.1; done"}
		})
		a, err := agent.New(r.spec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.Run(ctx, r.request("Begin.")); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
		last, err := os.ReadFile(beat)
		if err != nil {
			t.Fatalf("its command never ran: %v", err)
		}
		time.Sleep(time.Second)
		if now, _ := os.ReadFile(beat); !bytes.Equal(now, last) {
			t.Error("its command still runs")
		}
		for _, name := range []string{".codex", ".agents", ".aws", ".claude"} {
			if _, err := os.Stat(filepath.Join(r.dir, name)); err == nil {
				t.Errorf("it left %s in the checkout", name)
			}
		}
	})
}

func TestAModelThatHangsIsEndedAtTheIdleLimit(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		r.model.Script(func(modelsim.Query) modelsim.Reply { return modelsim.Reply{Hang: true} })
		q := r.request("Begin.")
		q.Idle = 12 * time.Second
		_, err := r.run(q)
		var timeout *agent.TimeoutError
		if !errors.As(err, &timeout) || timeout.Limit != proc.IdleLimit {
			t.Fatalf("got %v", err)
		}
		if len(r.model.Queries()) == 0 {
			t.Log("the machine is so slow that the model was not asked before the limit")
		}
	})
}

func TestTheCommandsOfAnAgentSeeNoKeyOfCodex(t *testing.T) {
	r := newRig(t, codexName)
	r.setEnv("GH_TOKEN", "")
	r.model.Script(func(q modelsim.Query) modelsim.Reply {
		if len(q.Results) == 0 {
			return modelsim.Reply{Run: "env"}
		}
		return modelsim.Reply{Answer: answer("Done")}
	})
	q := r.request("Begin.")
	r.must(q)
	all := r.model.Queries()
	env := strings.Join(all[len(all)-1].Results, "\n")
	if strings.Contains(env, "TEST_KEY") {
		t.Errorf("the key of the provider is there:\n%s", env)
	}
	for _, want := range []string{"MERGEXO_TURN=" + turnKey, q.Mark, "GIT_CONFIG_GLOBAL=" + r.spec.Home, "GH_CONFIG_DIR=", "GIT_TERMINAL_PROMPT=0"} {
		if !strings.Contains(env, want) {
			t.Errorf("%s is missing in\n%s", want, env)
		}
	}
}

func TestASchemaOutsideTheStrictSubsetIsRefused(t *testing.T) {
	onReal(t, func(t *testing.T, r *rig) {
		q := r.request("Begin.")
		q.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string","minLength":3}},"required":["a"],"additionalProperties":false}`)
		_, err := r.run(q)
		refused, ok := errors.AsType[*work.BlockedError](err)
		if !ok || refused.Reason.Kind != work.WhyAgentRejected || !strings.Contains(err.Error(), "minLength") {
			t.Errorf("got %v", err)
		}
	})
}

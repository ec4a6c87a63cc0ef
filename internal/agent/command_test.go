package agent_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/agent/command"
	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
)

const good = `{"session":"s2","answer":{"x":1},"usage":{"input_tokens":3,"output_tokens":4,"cost_usd":0.5}}`

// program writes a shell script and gives its path.
func program(t *testing.T, script string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "agent")
	syscall.ForkLock.RLock() // a child forked now would hold the file open, and it could not be run
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func spec(t *testing.T, command ...string) agent.Spec {
	t.Helper()
	return agent.Spec{
		Name: "mine", Adapter: adapters[commandName], Command: command,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}, Home: t.TempDir(),
	}
}

// turnKey is of this run of the tests alone: whoever carries another's mark is
// ended with it.
var turnKey = "turn-" + rand.Text()

func request(t *testing.T) agent.Request {
	t.Helper()
	return agent.Request{
		Turn: turnKey, Mark: "MERGEXO_MARK=" + t.TempDir(), Kind: work.KindBugfixStart, Mode: work.ModeWrite, Prompt: "Fix <it> & run.\n",
		Context: json.RawMessage(`{"task":{"n":12345678901234567890}}`), Schema: json.RawMessage(`{"type":"object"}`),
		Session: "s1", Dir: t.TempDir(), Wall: 20 * time.Second,
	}
}

func run(t *testing.T, s agent.Spec, r agent.Request) (agent.Result, error) {
	t.Helper()
	a, err := agent.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return a.Run(t.Context(), r)
}

func TestRequestAndAnswerFollowTheProtocol(t *testing.T) {
	s := spec(t, program(t, `cat > request.json; pwd > pwd; echo "$1" > arg; echo working >&2; printf '%s' '`+good+`'`), "--flag")
	r := request(t)
	var log bytes.Buffer
	r.Log = &log
	got, err := run(t, s, r)
	if err != nil {
		t.Fatal(err)
	}
	if string(got.Answer) != `{"x":1}` || got.Session != "s2" || got.Usage != (work.Usage{InputTokens: 3, OutputTokens: 4, CostUSD: 0.5}) {
		t.Errorf("got %+v", got)
	}
	if log.String() != "working\n" {
		t.Errorf("log %q", log.String())
	}
	if arg, _ := os.ReadFile(filepath.Join(r.Dir, "arg")); string(arg) != "--flag\n" {
		t.Errorf("argument %q", arg)
	}
	b, err := os.ReadFile(filepath.Join(r.Dir, "request.json"))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	want := map[string]string{
		"version": "1", "turn": `"` + turnKey + `"`, "kind": `"bugfix_start"`, "mode": `"write"`, "session": `"s1"`,
		"context": `{"task":{"n":12345678901234567890}}`, "schema": `{"type":"object"}`, "prompt": `"Fix \u003cit\u003e \u0026 run.\n"`,
	}
	if len(m) != len(want) {
		t.Errorf("keys %v", m)
	}
	for key, value := range want {
		if string(m[key]) != value {
			t.Errorf("%s: got %s, want %s", key, m[key], value)
		}
	}
}

func TestSessionIsNullWhenThereIsNone(t *testing.T) {
	s, r := spec(t, program(t, `cat > request.json; printf '%s' '`+good+`'`)), request(t)
	r.Session = ""
	if _, err := run(t, s, r); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(filepath.Join(r.Dir, "request.json"))
	if !strings.Contains(string(b), `"session":null`) {
		t.Errorf("got %s", b)
	}
}

func TestEnvironmentHoldsNoCredential(t *testing.T) {
	home := t.TempDir()
	environ := environ.Of([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "LC_ALL=C", "MY_KEY=mine", "GH_TOKEN=canary", "GITHUB_TOKEN=canary",
		"SSH_AUTH_SOCK=canary", "GIT_ASKPASS=canary", "SSH_ASKPASS=canary", "GIT_SSH_COMMAND=canary", "GIT_CONFIG_COUNT=1",
		"OPENAI_API_KEY=canary", "XDG_CONFIG_HOME=canary", "MERGEXO_TURN=canary",
	}).Agent([]string{"MY_KEY"})
	s := spec(t, program(t, `env > env.txt; printf '%s' '`+good+`'`))
	s.Environ = append(environ, "GIT_ASKPASS=canary", "MERGEXO_TURN=canary") // the adapter drops these on its own
	r := request(t)
	if _, err := run(t, s, r); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(r.Dir, "env.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(b), "canary") {
		t.Errorf("a credential reached the agent:\n%s", b)
	}
	got := strings.Split(string(b), "\n")
	for _, want := range []string{
		"HOME=" + home, "LC_ALL=C", "MY_KEY=mine", "MERGEXO_TURN=" + turnKey, "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0",
		"GIT_CONFIG_GLOBAL=" + filepath.Join(s.Home, "mine.gitconfig"), "GH_CONFIG_DIR=" + filepath.Join(s.Home, "no-gh"),
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing in\n%s", want, b)
		}
	}
}

func TestAgentsGitHasItsOwnConfiguration(t *testing.T) {
	s := spec(t, program(t, `git config --global --list > list.txt; git config user.name > name.txt; git config --get-all credential.helper > helper.txt; printf '%s' '`+good+`'`))
	home := ""
	for _, v := range s.Environ {
		if h, ok := strings.CutPrefix(v, "HOME="); ok {
			home = h
		}
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[credential]\n\thelper = store\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(s.Home, "mine.gitconfig")
	if err := os.WriteFile(path, []byte("[credential]\n\thelper = planted\n"), 0o600); err != nil { // by an earlier run
		t.Fatal(err)
	}
	r := request(t)
	if _, err := run(t, s, r); err != nil {
		t.Fatal(err)
	}
	list, _ := os.ReadFile(filepath.Join(r.Dir, "list.txt"))
	if !strings.Contains(string(list), "user.email=agent@mergexo.invalid") || strings.Contains(string(list), "store") || strings.Contains(string(list), "planted") {
		t.Errorf("git config:\n%s", list)
	}
	if name, _ := os.ReadFile(filepath.Join(r.Dir, "name.txt")); string(name) != "gh mergexo agent\n" {
		t.Errorf("name %q", name)
	}
	if helper, _ := os.ReadFile(filepath.Join(r.Dir, "helper.txt")); strings.TrimSpace(string(helper)) != "" {
		t.Errorf("credential helper %q", helper)
	}
}

func TestMissingProgramsAreForAPerson(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	noInterpreter := filepath.Join(dir, "noint")
	if err := os.WriteFile(noInterpreter, []byte("#!/no/such/interpreter\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"/no/such/agent", "no-such-agent-anywhere", "./agent", "bin/agent", plain, noInterpreter, dir} {
		r := request(t)
		if err := os.WriteFile(filepath.Join(r.Dir, "agent"), []byte("#!/bin/sh\ntouch ran\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, err := run(t, spec(t, command), r)
		var blocked *work.BlockedError
		if !errors.As(err, &blocked) || !strings.Contains(explain.What(blocked.Reason, explain.Place{}), command) || !strings.Contains(explain.Reason(blocked.Reason, explain.Place{}).Next(), "[agents.mine]") {
			t.Errorf("%s: %v", command, err)
		}
		if _, err := os.Stat(filepath.Join(r.Dir, "ran")); err == nil {
			t.Errorf("%s: a program of the checkout was run", command)
		}
	}
	r := request(t)
	r.Dir = filepath.Join(dir, "gone")
	_, err := run(t, spec(t, program(t, "")), r)
	var blocked *work.BlockedError
	if err == nil || errors.As(err, &blocked) || !strings.Contains(err.Error(), "checkout") {
		t.Errorf("missing checkout: %v", err)
	}
}

func TestAProgramIsFoundOnPath(t *testing.T) {
	path := program(t, `printf '%s' '`+good+`'`)
	s := spec(t, "agent")
	s.Environ[0] = "PATH=.:" + filepath.Dir(path) + ":" + os.Getenv("PATH")
	if _, err := run(t, s, request(t)); err != nil {
		t.Error(err)
	}
}

func TestBadOutputIsAnAnswerError(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"nothing, exit 0", "cat > /dev/null", "no answer on standard output"},
		{"not JSON", "echo done", "not one JSON document"},
		{"fenced", "printf '```json\n%s\n```' '" + good + "'", "not one JSON document"},
		{"trailing", "printf '%s and more' '" + good + "'", `text follows the answer document: "and more"`},
		{"two documents", "printf '%s%s' '" + good + "' '" + good + "'", "text follows"},
		{"unknown key", `echo '{"session":null,"answer":{},"usage":null,"verdict":"merge"}'`, `unknown field "verdict"`},
		{"no answer", `echo '{"session":"s2"}'`, "has no answer"},
		{"null answer", `echo '{"session":"s2","answer":null,"usage":{"input_tokens":5,"output_tokens":0,"cost_usd":0}}'`, "has no answer"},
		{"invalid UTF-8", `printf '{"answer":"\377"}'`, "not valid UTF-8"},
		{"wrong type", `echo '{"session":7,"answer":{}}'`, "session must be null or one line"},
		{"session of two lines", `printf '%s' '{"session":"a\nb","answer":{}}'`, "session must be null or one line"},
		{"key in another case", `echo '{"session":null,"answer":{},"Answer":{"x":2},"usage":null}'`, `unknown field "Answer"`},
		{"only in another case", `echo '{"session":null,"ANSWER":{},"usage":null}'`, `unknown field "ANSWER"`},
		{"key twice", `echo '{"session":null,"answer":{},"answer":{"x":2},"usage":null}'`, `field "answer" stands twice`},
		{"a list", `echo '[{"answer":{}}]'`, "it is no object"},
		{"50 MB", `head -c 50000000 /dev/zero`, "more than 8388608 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, spec(t, program(t, tt.script)), request(t))
			var bad *agent.AnswerError
			if !errors.As(err, &bad) || !strings.Contains(strings.Join(bad.Violations, "\n"), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	got, err := run(t, spec(t, program(t, `echo '{"session":"s2","answer":null,"usage":{"input_tokens":5,"output_tokens":0,"cost_usd":0}}'`)), request(t))
	var bad *agent.AnswerError
	if !errors.As(err, &bad) || got.Session != "s2" || got.Usage.InputTokens != 5 {
		t.Errorf("session and usage are lost: %v, %+v", err, got)
	}
}

func TestANonZeroExitIsAFailureEvenWithAnAnswer(t *testing.T) {
	_, err := run(t, spec(t, program(t, `printf '%s' '`+good+`'; echo "out of credit" >&2; exit 3`)), request(t))
	var failed *agent.FailedError
	if !errors.As(err, &failed) || failed.Code != 3 || !strings.Contains(failed.Stderr, "out of credit") || !strings.Contains(err.Error(), "exit code 3: out of credit") {
		t.Errorf("got %v", err)
	}
}

func TestLimitsEndTheAgent(t *testing.T) {
	tests := []struct {
		name, script string
		wall, idle   time.Duration
		want         proc.Limit
	}{
		{"silent", "sleep 60", 30 * time.Second, 300 * time.Millisecond, proc.IdleLimit},
		{"busy", "while :; do echo x >&2; sleep 0.1; done", time.Second, 30 * time.Second, proc.WallLimit},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := request(t)
			r.Wall, r.Idle = tt.wall, tt.idle
			_, err := run(t, spec(t, program(t, tt.script)), r)
			var timeout *agent.TimeoutError
			if !errors.As(err, &timeout) || timeout.Limit != tt.want {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestAnInterruptIsReportedAsSuch(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	a, err := agent.New(spec(t, program(t, "sleep 60")))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Run(ctx, request(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreRedactedInTheLog(t *testing.T) {
	token := "ghp_" + strings.Repeat("x", 36)
	key := "-----BEGIN " + "PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----"
	s := spec(t, program(t, `printf 'token ghp_xxxxxxxxxxxxxxxx' >&2; sleep 0.2; echo 'xxxxxxxxxxxxxxxxxxxx end' >&2
printf -- '-----BEGIN ''PRIVATE KEY-----\nabc\n' >&2; sleep 0.2; printf -- '-----END PRIVATE KEY-----\nlast' >&2; exit 1`))
	s.Redact = func(text string) string {
		return strings.ReplaceAll(strings.ReplaceAll(text, token, "[token]"), key, "[key]")
	}
	r := request(t)
	var log bytes.Buffer
	r.Log = &log
	_, err := run(t, s, r)
	if log.String() != "token [token] end\n[key]\nlast" {
		t.Errorf("log %q", log.String())
	}
	var failed *agent.FailedError
	if !errors.As(err, &failed) || strings.Contains(failed.Stderr, "ghp_") {
		t.Errorf("got %v", err)
	}
}

func TestNewRefusesWhatItCannotRun(t *testing.T) {
	if _, err := agent.New(agent.Spec{Name: "x", Command: []string{"a"}}); err == nil {
		t.Error("an agent without an adapter was made")
	}
	if _, err := agent.New(agent.Spec{Name: "x", Adapter: command.Adapter}); err == nil {
		t.Error("an empty command was accepted")
	}
}

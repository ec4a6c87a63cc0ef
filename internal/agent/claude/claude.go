// Package claude is the adapter of Anthropic's claude.
package claude

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/spending"
)

// Adapter runs Anthropic's claude command line: `claude -p`, which prints a JSON object for each
// event.
var Adapter = agent.Adapter{
	Name: "claude", New: func(s agent.Spec) (agent.Agent, error) { return open(s), nil },
	Install: "npm install -g @anthropic-ai/claude-code", Env: environ,
	Releases: agent.Releases{Least: "2.1.197", Worked: []string{"2.1.197", "2.1.331"}},
	Variable: "CLAUDE_CONFIG_DIR", InHome: []string{".claude", ".claude.json"},
	Sessions: agent.Sessions{Folder: "projects", Levels: []func() *regexp.Regexp{anyName}},
	Step:     step, Recorded: recorded, Login: login, Tool: takesServers,
}

// anyName matches the folders in which claude keeps its sessions.
var anyName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(``) })

func open(s agent.Spec) *claude { return &claude{Tester: s.Tester(), spec: s} }

type claude struct {
	agent.Tester
	spec agent.Spec
}

// recorded reads the usage of a run that began at that time from claude's record of the session.
func recorded(s agent.Spec, r agent.Request, began time.Time) agent.Used {
	m := open(s).meter(r.Session)
	m.record, m.since, m.all = agent.Journal{Path: m.record.Path}, began, true
	return agent.Whole(m, &m.record)
}

// environ restricts claude's network traffic to its provider, prevents an update in the middle of a
// turn, and drops claude's own instructions about commits and pull requests: we make both, and they
// ask for a signature.
var environ = []string{
	"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
	"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS=1",
}

// The tools of a run. A read-only run has no shell.
const (
	readTools  = "Read,Glob,Grep"
	writeTools = readTools + ",Bash,Edit,Write,NotebookEdit"
)

// rules is added to claude's own system prompt. The repository's settings are not loaded, because
// they may run programs and name another provider; its CLAUDE.md should still be read.
const rules = "If the working directory has a CLAUDE.md, read it before anything else: it holds the conventions of the repository."

func (c *claude) Run(ctx context.Context, r agent.Request) (agent.Result, error) {
	if r.Session != "" && !agent.IsSession(r.Session) {
		return agent.Result{}, &agent.SessionError{Agent: c.spec.Name, Reason: fmt.Sprintf("%q names no session", agent.Clip(r.Session, 60))}
	}
	m := c.meter(r.Session)
	res, err := c.spec.Launch(ctx, r, agent.Launch{
		Argv: c.argv(r), Env: environ, Stdin: []byte(r.Prompt), MaxOutput: agent.MaxStream, Meter: m,
		Signal: os.Interrupt, // at SIGTERM it leaves its running command behind
	})
	run := read(res.Stdout)
	out, err := c.judge(r, res, run, err)
	out.Usage, out.Known = c.used(run, m)
	out.Model = cmp.Or(run.model, c.spec.Model)
	return out, c.spec.WithDrift(ctx, r, err)
}

// used returns a run's usage. The result line has it too, with the cost, but a killed run may have
// no result line. The list price is the cost only if it is that of all tokens.
func (c *claude) used(run outcome, m *meter) (work.Usage, work.Known) {
	priced, cost, counted := m.counted()
	all, known := priced, work.Known{Tokens: counted, Cost: counted}
	if end := run.end; end != nil {
		all = priced.Most(end.Usage.tokens())
		said := end.cost()
		known = work.Known{Tokens: counted || end.Usage.known(), Cost: counted && all == priced || said.Known}
		if said.N > 0 {
			cost = said.Cost()
		}
	}
	return c.spec.Charge(all, cost, known)
}

// argv returns the command line. A resumed turn gets all limits again. The prompt goes to standard
// input.
func (c *claude) argv(r agent.Request) []string {
	tools := writeTools
	if r.Mode == work.ModeRead {
		tools = readTools
	}
	argv := append(append([]string{}, c.spec.CommandLine()...), "-p", "--output-format", "stream-json", "--verbose",
		"--json-schema", oneLineJSON(c.spec.FinalSchema(r)), "--append-system-prompt", rules,
		"--permission-mode", "dontAsk", "--tools", tools, "--setting-sources", "user", "--strict-mcp-config")
	if server, ok := c.spec.Server(r); ok {
		argv = append(argv, "--mcp-config", server.JSON())
		tools += ",mcp__" + server.Name + "__" + agent.ToolName
	}
	argv = append(argv, "--allowedTools", tools)
	if c.spec.Model != "" {
		argv = append(argv, "--model", c.spec.Model)
	}
	if c.spec.Effort != "" {
		argv = append(argv, "--effort", c.spec.Effort)
	}
	if !takesServers(r) {
		// The author may be another claude and can write to claude's home: a reviewer must not load
		// instructions, memories and hooks from there.
		argv = append(argv, "--safe-mode")
	}
	if r.Session != "" {
		argv = append(argv, "--resume", r.Session)
	}
	return append(argv, c.spec.Args...)
}

// takesServers reports whether a run takes MCP servers: the safe mode of reviewers takes none.
func takesServers(r agent.Request) bool { return r.Role == "" }

func oneLineJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

// event is the part of an output line that we read.
type event struct {
	Type    string `json:"type"`
	Subtype string `json:"subtype"`
	Session string `json:"session_id"`
	Model   string `json:"model"` // of the line "init"

	Error string    `json:"error"` // of an assistant's message that claude made up: its kind
	Limit rateLimit `json:"rate_limit_info"`

	RetryDelay float64 `json:"retry_delay_ms"` // of the line "api_retry"

	// The rest is only in the line "result".
	IsError    bool            `json:"is_error"`
	Status     int             `json:"api_error_status"`
	Result     string          `json:"result"`
	StopReason string          `json:"stop_reason"`
	Terminal   string          `json:"terminal_reason"`
	Errors     []string        `json:"errors"`
	CostUSD    agent.Count     `json:"total_cost_usd"`
	OfRun      json.RawMessage `json:"model_usage_since_last_result"` // by model
	Usage      counts          `json:"usage"`
	Denials    []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	Structured json.RawMessage `json:"structured_output"`
}

// cost is what the run cost. Newer versions add up the whole session in total_cost_usd, and say
// apart what came since the last result: that of the run before.
func (e *event) cost() agent.Count {
	if e.OfRun == nil {
		return e.CostUSD
	}
	var models map[string]struct {
		CostUSD agent.Count `json:"costUSD"`
	}
	sum := agent.Count{Known: json.Unmarshal(e.OfRun, &models) == nil && models != nil}
	for _, of := range models {
		sum.N += of.CostUSD.N
		sum.Known = sum.Known && of.CostUSD.Known
	}
	return sum
}

type rateLimit struct {
	Status   string `json:"status"`
	ResetsAt int64  `json:"resetsAt"`
}

// maxDelay bounds a retry delay that claude reports, in milliseconds.
const maxDelay = 24 * 60 * 60 * 1000

// maxModel bounds the model's name, in bytes.
const maxModel = 80

// outcome summarises a run's output.
type outcome struct {
	began bool
	model string
	limit rateLimit
	kind  string // of the error in claude's last message

	retrying bool          // claude is retrying the provider, and nothing came since
	retryIn  time.Duration // its last delay before a retry: what a rate-limiting provider asks for

	end *event // the result line; nil if there was none
}

func read(stream []byte) outcome {
	var run outcome
	agent.EachLine(stream, func(e event) {
		switch e.Type {
		case "system":
			if e.Subtype == "init" {
				run.began, run.model = true, agent.Clip(e.Model, maxModel)
			}
			if e.Subtype == "api_retry" {
				run.retrying, run.retryIn = true, time.Duration(agent.Sane(e.RetryDelay, maxDelay))*time.Millisecond
			}
		case "rate_limit_event":
			run.limit = e.Limit
		case "assistant":
			run.kind, run.retrying = e.Error, false
		case "result":
			run.end = &e
		}
	})
	return run
}

// judge turns a run into a result without usage. The last line decides, not the exit code,
// even if the run was stopped at a limit. ended is why it was stopped.
func (c *claude) judge(r agent.Request, res proc.Result, run outcome, ended error) (agent.Result, error) {
	switch {
	case ended != nil && !c.answered(r, run):
		return agent.Result{}, c.cutOff(run, ended)
	case r.Session != "" && !run.began:
		// It never began. If the session is not the reason, a new one will show that.
		return agent.Result{}, &agent.SessionError{Agent: c.spec.Name, Reason: "it could not be resumed: " + agent.LastLine(c.spec.Redact(string(res.Stderr)))}
	case run.end == nil:
		if ofKeychain(string(res.Stderr)) {
			return agent.Result{}, c.loggedOut(agent.LastLine(c.spec.Redact(string(res.Stderr))), "")
		}
		return agent.Result{}, c.spec.Failed(res.Code, "", res.Stderr)
	case r.Session != "" && run.end.Session != r.Session:
		return agent.Result{}, &agent.SessionError{Agent: c.spec.Name, Reason: "another one answered"}
	case run.end.IsError:
		return agent.Result{Session: run.end.Session}, c.failure(r, res, run)
	}
	return c.answer(run.end)
}

// cutOff returns the error of a stopped run. If it only retried its provider, the turn waits for
// the provider.
func (c *claude) cutOff(run outcome, ended error) error {
	if _, limit := errors.AsType[*agent.TimeoutError](ended); limit && run.retrying {
		return c.spec.Wait("its provider does not answer", time.Time{}, agent.PauseBusy)
	}
	return ended
}

// answered reports whether a stopped run had already given its complete answer.
func (c *claude) answered(r agent.Request, run outcome) bool {
	if run.end == nil || run.end.IsError || r.Session != "" && run.end.Session != r.Session {
		return false
	}
	_, err := c.answer(run.end)
	return err == nil
}

// answer takes the result's structured output; without it, the last message if that is nothing but
// the answer.
func (c *claude) answer(e *event) (agent.Result, error) {
	out := agent.Result{Session: e.Session, Answer: e.Structured}
	if len(out.Answer) > 0 && string(out.Answer) != "null" {
		return out, nil
	}
	if out.Answer = e.written(); out.Answer != nil {
		return out, nil
	}
	violations := []string{fmt.Sprintf("no answer was given by the tool StructuredOutput (the final message begins with %q)", c.spec.Quote(e.Result))}
	if tools := e.denied(); tools != "" {
		violations = append(violations, "what was denied stays denied; work without it: "+c.spec.Quote(tools))
	}
	return out, &agent.AnswerError{Agent: c.spec.Name, Violations: violations}
}

// written returns an answer that claude wrote as its last message instead of calling the tool: one
// JSON object and nothing else. The schema is checked later, as for every answer.
func (e *event) written() json.RawMessage {
	words := bytes.TrimSpace([]byte(e.Result))
	if !bytes.HasPrefix(words, []byte("{")) || !json.Valid(words) {
		return nil
	}
	return words
}

// denied lists the tools that were denied, each once.
func (e *event) denied() string {
	var tools []string
	for _, d := range e.Denials {
		if !slices.Contains(tools, d.Tool) {
			tools = append(tools, d.Tool)
		}
	}
	return strings.Join(tools, ", ")
}

// failure returns the error for an unsuccessful result.
func (c *claude) failure(r agent.Request, res proc.Result, run outcome) error {
	e, words := run.end, run.end.Result
	if words == "" {
		words = strings.Join(e.Errors, "; ")
	}
	switch {
	case e.Terminal == "prompt_too_long", e.Status == 413:
		return c.spec.Full(r, words)
	case e.StopReason == "refusal":
		return c.spec.Refused(r, words)
	case run.limit.Status == "rejected":
		return c.spec.Wait("the provider's usage limit is reached", unix(run.limit.ResetsAt), agent.PauseLimit)
	case e.Status == 401, e.Status == 403, run.kind == "authentication_failed":
		return c.loggedOut(words, string(res.Stderr))
	case e.Status == 402, run.kind == "billing_error":
		return c.spec.OutOfCredit(words)
	case e.Status == 404, run.kind == "model_not_found":
		return c.spec.WrongModel(words)
	case e.Status == 429, run.kind == "rate_limit":
		until := c.spec.ResetIn(words)
		if until.IsZero() {
			until = c.spec.After(run.retryIn)
		}
		return c.spec.Wait(agent.TooMany, until, agent.PauseBusy)
	case agent.Retryable(e.Status), run.kind == "server_error", run.kind == "overloaded":
		return c.spec.Wait("its provider does not answer", time.Time{}, agent.PauseBusy)
	case e.Subtype == "error_max_structured_output_retries":
		return &agent.AnswerError{Agent: c.spec.Name, Violations: []string{"the calls of StructuredOutput broke the schema"}}
	case e.Subtype == "error_max_turns", e.Subtype == "error_max_budget_usd":
		return c.overBudget(words)
	case e.Status >= 400, run.kind == "invalid_request":
		return c.spec.Invalid(r, run.kind, words)
	case ofKeychain(string(res.Stderr)), ofKeychain(words) && e.Usage.tokens() == (spending.Tokens{}): // no model said that
		return c.loggedOut(words, string(res.Stderr))
	}
	return c.spec.Failed(res.Code, words, res.Stderr)
}

// loggedOut is the error of a login that its provider refuses, or that the keychain of macOS keeps to itself.
func (c *claude) loggedOut(words, stderr string) error {
	if ofKeychain(words) || ofKeychain(stderr) {
		return c.spec.LoggedOut(words, TokenForJob(c.spec.Name))
	}
	return c.spec.LoggedOut(words, "run `claude` and log in there")
}

// keychain matches what macOS says where a program may not read the keychain, as below launchd without a
// session at the screen, or in a sandbox.
var keychain = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)\bSecKeychain|\berrSec[A-Z]|-25308\b|user interaction is not allowed|\bkeychain\b|(?:^|\n)security: |\bspawn (?:\S*/)?security\b`)
})

func ofKeychain(words string) bool { return keychain().MatchString(words) }

// TokenForJob says how an agent gets a login that needs no keychain.
func TokenForJob(name string) string {
	return fmt.Sprintf("run `claude setup-token`, and name a wrapper in command of [agents.%s] that sets CLAUDE_CODE_OAUTH_TOKEN to that token", name)
}

// overBudget reports a limit set by the operator: another attempt would reach it again.
func (c *claude) overBudget(words string) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyAgentLimit, Who: c.spec.Name, Local: c.spec.Cite(words)}}
}

// unix converts seconds to a time; 0 becomes the zero time.
func unix(seconds int64) time.Time {
	if seconds <= 0 {
		return time.Time{}
	}
	return time.Unix(seconds, 0)
}

// Check is part of Agent. Claude has no sandbox of its own: its program must exist, and a shell
// must be able to work in the same place.
func (c *claude) Check(ctx context.Context, r agent.Request) error {
	if err := c.spec.CheckVersion(ctx, r, environ); err != nil {
		return err
	}
	return c.spec.Checked(c.spec.CheckInside(ctx, r, nil, agent.Writes(r)))
}

// login reads claude's own files. On macOS the login itself is in the keychain, and the files name
// the account.
func login(s agent.Spec) agent.Login { return loginOn(runtime.GOOS, s) }

func loginOn(goos string, s agent.Spec) agent.Login {
	const do = "claude, and /login there; or give it a key: env_pass = [\"ANTHROPIC_API_KEY\"]"
	keys := []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"}
	if name := agent.FirstSet(s.Environ, keys...); name != "" {
		return agent.Login{Known: true, In: true, Says: "by " + name}
	}
	var stored struct {
		OAuth *struct{} `json:"claudeAiOauth"`
	}
	if json.Unmarshal([]byte(s.ReadHome(".credentials.json")), &stored) == nil && stored.OAuth != nil {
		return agent.Login{Known: true, In: true, Says: "logged in, by .credentials.json of claude"}
	}
	settings := s.ReadHome("settings.json")
	for _, key := range append(keys, "apiKeyHelper") {
		if strings.Contains(settings, key) {
			return agent.Login{Known: true, In: true, Says: "by " + key + " in settings.json of claude"}
		}
	}
	if goos == "darwin" {
		return agent.Login{Keychain: true, Says: "macOS keeps claude's login in the keychain: whether there is one shows when it is used"}
	}
	return agent.Login{Known: true, Says: "not logged in: claude has neither a login nor a key", Do: do}
}

// step interprets a line of output.
func step(line []byte) agent.Step {
	var e struct {
		Type    string `json:"type"`
		Subtype string `json:"subtype"`
		Session string `json:"session_id"`
		Message struct {
			Content json.RawMessage `json:"content"`
		} `json:"message"`
	}
	if json.Unmarshal(line, &e) != nil {
		return agent.Step{}
	}
	s := agent.Step{Trouble: e.Type == "system" && e.Subtype == "api_retry", Aside: e.Type == "result", Session: e.Session}
	var blocks []struct {
		Type   string `json:"type"`
		ID     string `json:"id"`
		Name   string `json:"name"`
		Result string `json:"tool_use_id"`
	}
	if json.Unmarshal(e.Message.Content, &blocks) != nil {
		return s
	}
	for _, b := range blocks {
		switch {
		case e.Type == "user" && b.Type == "text": // "[agent.Request interrupted by user]"
			s.Aside = true
		case b.Type == "tool_use" && b.Name == "Bash":
			s.Begun = append(s.Begun, b.ID)
		case b.Type == "tool_result":
			s.Ended = append(s.Ended, b.Result)
		}
	}
	return s
}

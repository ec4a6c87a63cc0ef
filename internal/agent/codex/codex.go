// Package codex is the adapter of OpenAI's codex.
package codex

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Adapter runs OpenAI's codex command line: `codex exec`, which prints a JSON object for each
// event.
var Adapter = agent.Adapter{
	Name: "codex", New: func(s agent.Spec) (agent.Agent, error) { return open(s), nil },
	Install:  "npm install -g @openai/codex",
	Releases: agent.Releases{Least: "0.166.0", Worked: []string{"0.166.0", "0.169.0"}},
	Variable: "CODEX_HOME", InHome: []string{".codex"},
	Sessions: agent.Sessions{Folder: "sessions", Levels: []func() *regexp.Regexp{yearName, dayName, dayName}, Begins: "rollout-"},
	Step:     step, Recorded: recorded, Login: login, Tool: func(agent.Request) bool { return true }, NoCost: true,
}

// The names of the folders in which codex keeps its sessions.
var (
	yearName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{4}$`) })
	dayName  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{2}$`) })
)

func open(s agent.Spec) *codex { return &codex{Tester: s.Tester(), spec: s} }

type codex struct {
	agent.Tester
	spec agent.Spec
}

// recorded reads the usage of a run that began at that time from codex's record of the thread.
func recorded(s agent.Spec, r agent.Request, began time.Time) agent.Used {
	m := open(s).meter(r)
	m.record, m.since = agent.Journal{Path: m.record.Path}, began
	return agent.Whole(m, &m.record)
}

func (c *codex) Run(ctx context.Context, r agent.Request) (agent.Result, error) {
	if r.Session != "" && !agent.IsSession(r.Session) {
		// Codex would take it as the name of a thread, and begin a new one.
		return agent.Result{}, &agent.SessionError{Agent: c.spec.Name, Reason: fmt.Sprintf("%q names no session", agent.Clip(r.Session, 60))}
	}
	schema, err := c.schemaFile(r)
	if err != nil {
		return agent.Result{}, err
	}
	began, m := c.spec.Now(), c.meter(r)
	logged := r
	logged.Log = answerFilter{r.Log}
	res, err := c.spec.Launch(ctx, logged, agent.Launch{Argv: c.spec.CommandLine(), Rest: c.rest(r, schema), Env: c.environ(), Stdin: []byte(r.Prompt), MaxOutput: agent.MaxStream, Meter: m})
	tidy(r.Dir)
	out, err := c.judge(r, res, began.Unix(), err)
	out.Usage, out.Known, out.Counted = m.account()
	out.Model = c.spec.Model // its output does not name it
	return out, c.spec.WithDrift(ctx, r, err)
}

// tidy removes the empty folders that codex's sandbox mounts over those of a checkout. Codex leaves
// them behind if it is killed while a command runs.
func tidy(dir string) {
	for _, name := range []string{".codex", ".agents", ".aws"} {
		path := filepath.Join(dir, name)
		if info, err := os.Lstat(path); err == nil && info.IsDir() {
			_ = os.Remove(path) // fails for a folder that is not empty, as it should
		}
	}
}

// rest returns the arguments of a turn. All limits come before the word resume, where codex applies
// them to both forms: a resumed turn inherits none.
func (c *codex) rest(r agent.Request, schema string) agent.Rest {
	return func(writable []string) []string { return c.arguments(r, schema, writable) }
}

func (c *codex) arguments(r agent.Request, schema string, writable []string) []string {
	var images []string
	for _, one := range r.Images {
		images = append(images, "-i", filepath.Join(r.Dir, one.Path))
	}
	argv := []string{"exec"}
	if r.Session == "" {
		argv = append(argv, images...)
	}
	argv = append(argv, "--json", "--color", "never", "--skip-git-repo-check", "-C", r.Dir, "--output-schema", schema)
	if c.spec.Model != "" {
		argv = append(argv, "-m", c.spec.Model)
	}
	sandbox := "workspace-write"
	if r.Mode == work.ModeRead {
		sandbox = "read-only"
	}
	argv = append(argv, "-s", sandbox)
	for _, setting := range c.settings(r, writable) {
		argv = append(argv, "-c", setting)
	}
	if server, ok := c.spec.Server(r); ok {
		argv = append(argv, "-c", mcpServer(server))
	}
	argv = append(argv, c.spec.Args...)
	argv = append(argv, "-c", untrusted(r.Dir)) // last, so that no argument of the config overrides it
	if r.Session != "" {
		argv = append(append(append(argv, "resume"), images...), r.Session)
	}
	return append(argv, "-") // the prompt is on standard input
}

// settings override codex's own configuration for one run. Its commands see the core variables and
// ours, but not the provider's key. They run in no login shell: /etc/profile would replace PATH,
// and programs installed elsewhere would not be found.
func (c *codex) settings(r agent.Request, writable []string) []string {
	all := []string{
		`approval_policy="never"`, "allow_login_shell=false", "analytics.enabled=false", "check_for_update_on_startup=false",
		`shell_environment_policy.inherit="core"`, "shell_environment_policy.set=" + tomlTable(c.spec.Ours(r)),
		// Without a network, codex would wait for it until the turn's time is over. A codex that does not
		// know this feature ignores it with a warning; --disable would be an error there.
		"features.unbounded_connection_retries=false",
	}
	if c.spec.Effort != "" {
		all = append(all, "model_reasoning_effort="+tomlString(c.spec.Effort))
	}
	if r.Role != "" {
		// Names and descriptions of skills would be in the developer's message, and the author can write
		// to codex's home. Versions without this setting ignore it.
		all = append(all, "skills.include_instructions=false")
	}
	if roots := c.roots(writable); len(roots) > 0 {
		all = append(all, "sandbox_workspace_write.writable_roots=["+strings.Join(roots, ",")+"]")
	}
	if c.guards(r, "/tmp") {
		all = append(all, "sandbox_workspace_write.exclude_slash_tmp=true")
	}
	if c.guards(r, agent.Lookup(c.spec.Environ, "TMPDIR")) {
		all = append(all, "sandbox_workspace_write.exclude_tmpdir_env_var=true")
	}
	return all
}

// roots returns the extra folders that codex's commands may write to: the writable ones, without
// those that hold its login, its settings or our git configuration. Codex fails on files.
func (c *codex) roots(writable []string) []string {
	var all []string
	for _, dir := range writable {
		holds := func(kept string) bool {
			rel, err := filepath.Rel(dir, kept)
			return err == nil && filepath.IsLocal(rel)
		}
		if info, err := os.Stat(dir); err == nil && !info.IsDir() {
			continue
		}
		if !slices.ContainsFunc(append(c.spec.Adapter.Homes(c.spec.Environ), c.spec.Home), holds) {
			all = append(all, tomlString(dir))
		}
	}
	return all
}

// guards reports whether a temporary folder holds something that an agent may not write to. By
// default, codex makes temporary folders writable.
func (c *codex) guards(r agent.Request, temp string) bool {
	for _, dir := range append(c.spec.Adapter.Homes(c.spec.Environ), r.Dir, c.spec.Home) {
		if rel, err := filepath.Rel(temp, dir); temp != "" && err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// mcpServer is the setting that offers a server. Its tools are called without asking: nobody could
// answer, and codex would cancel the call.
func mcpServer(s agent.Server) string {
	args := make([]string, len(s.Args))
	for i, a := range s.Args {
		args[i] = tomlString(a)
	}
	return "mcp_servers." + s.Name + "={command=" + tomlString(s.Command) + ",args=[" + strings.Join(args, ",") + "],env=" + tomlTable(s.Env) +
		`,default_tools_approval_mode="approve"}`
}

// tomlString writes a basic string of TOML, which has JSON's escapes.
func tomlString(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return string(b)
}

func tomlTable(environ []string) string {
	pairs := make([]string, 0, len(environ))
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		pairs = append(pairs, name+"="+tomlString(value))
	}
	return "{" + strings.Join(pairs, ",") + "}"
}

// schemaFile writes the answer's schema where codex reads it. The file is named by its content, so
// that parallel turns share it.
func (c *codex) schemaFile(r agent.Request) (string, error) {
	schema := c.spec.FinalSchema(r)
	sum := sha256.Sum256(schema)
	path := filepath.Join(c.spec.Home, "schema-"+hex.EncodeToString(sum[:8])+".json")
	if err := files.Replace(path, string(schema)); err != nil {
		return "", fmt.Errorf("write the schema for agent %q: %w", c.spec.Name, err)
	}
	return path, nil
}

// event is the part of an output line that we read.
type event struct {
	Type   string `json:"type"`
	Thread string `json:"thread_id"`
	Item   struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Usage counts `json:"usage"` // of the thread since its beginning
	Error struct {
		Message string `json:"message"`
	} `json:"error"`
}

// outcome summarises a run's output.
type outcome struct {
	thread    string
	words     string // the last message
	completed bool
	problem   string
	last      string // kind of the last event
}

func read(stream []byte) outcome {
	var run outcome
	agent.EachLine(stream, func(e event) {
		run.last = e.Type
		switch e.Type {
		case "thread.started":
			run.thread = e.Thread
		case "item.completed":
			if e.Item.Type == "agent_message" {
				run.words = e.Item.Text
			}
		case "turn.completed":
			run.completed = true
		case "turn.failed":
			run.problem = e.Error.Message
		}
	})
	return run
}

// judge turns a run into a result without usage. A completed turn counts with any exit code,
// even if the run was stopped at a limit. ended is why it was stopped. An item of type error is
// only a warning.
func (c *codex) judge(r agent.Request, res proc.Result, began int64, ended error) (agent.Result, error) {
	run := read(res.Stdout)
	out := agent.Result{Session: run.thread}
	switch {
	case ended != nil && !c.answered(r, run):
		return out, c.cutOff(run, ended)
	case r.Session != "" && run.thread == "":
		// It never began. If the session is not the reason, a new one will show that.
		return out, &agent.SessionError{Agent: c.spec.Name, Reason: "it could not be resumed: " + agent.LastLine(c.spec.Redact(string(res.Stderr)))}
	case r.Session != "" && run.thread != r.Session:
		return agent.Result{}, &agent.SessionError{Agent: c.spec.Name, Reason: "another one answered"}
	case !run.completed:
		return out, c.failure(r, res, run, began)
	}
	var violations []string
	if out.Answer, violations = c.spec.AnswerOf(run.words); len(violations) > 0 {
		return out, &agent.AnswerError{Agent: c.spec.Name, Violations: violations}
	}
	return out, nil
}

// answered reports whether a stopped run had already given its complete answer.
func (c *codex) answered(r agent.Request, run outcome) bool {
	_, violations := c.spec.AnswerOf(run.words)
	return run.completed && len(violations) == 0 && (r.Session == "" || run.thread == r.Session)
}

// cutOff returns the error of a stopped run. An older codex retries forever without a network.
func (c *codex) cutOff(run outcome, ended error) error {
	if _, limit := errors.AsType[*agent.TimeoutError](ended); limit && run.last == "error" {
		return c.spec.Wait("its provider was not reached", time.Time{}, agent.PauseBusy)
	}
	return ended
}

// failure returns the error of a turn that did not complete. Codex prints a sentence on its output
// and the kind of error in its record of the thread.
func (c *codex) failure(r agent.Request, res proc.Result, run outcome, began int64) error {
	record := c.record(run.thread, began)
	words := run.problem
	switch {
	case record.kind == "context_window_exceeded", record.status == 413:
		return c.spec.Full(r, words)
	case record.kind == "model_not_found", record.status == 404, c.namesModel(record, words):
		return c.spec.WrongModel(words)
	case record.status == 402, record.kind == "usage_limit_exceeded" && (record.depleted || noCredit(words)):
		return c.spec.OutOfCredit(words)
	case record.kind == "usage_limit_exceeded":
		return c.spec.Wait("the provider's usage limit is reached", record.resets, agent.PauseLimit)
	case record.status == 401, record.status == 403, record.kind == "unauthorized":
		return c.spec.LoggedOut(words, "run `codex login`")
	case record.kind == "rate_limit_exceeded", record.status == 429:
		return c.spec.Wait(agent.TooMany, c.resets(record, words, res.Stderr), agent.PauseBusy)
	case record.unreachable():
		return c.spec.Wait("its provider was not reached", time.Time{}, agent.PauseBusy)
	case agent.Retryable(record.status), record.kind == "server_overloaded", record.kind == "internal_server_error":
		return c.spec.Wait("its provider does not answer", record.resets, agent.PauseBusy)
	case strings.HasPrefix(words, cutStream):
		return c.cut(r, record, words)
	case strings.HasSuffix(record.kind, "_policy"), strings.HasSuffix(record.kind, "_policy_violation"), words == filtered:
		return c.spec.Refused(r, words)
	case record.status >= 400, record.kind == "other" && strings.HasPrefix(words, "{"): // of status 400, codex shows the answer itself
		return c.spec.Invalid(r, "", words)
	case record.named():
		return c.spec.Invalid(r, record.kind, words)
	}
	return c.spec.Failed(res.Code, words, withoutAnswers(res.Stderr))
}

// usageCode is codex's exit code for an unknown command line.
const usageCode = 2

// Check is part of Agent. Codex runs the check as it runs its model's commands: in its own sandbox.
func (c *codex) Check(ctx context.Context, r agent.Request) error {
	if err := c.spec.CheckVersion(ctx, r, nil); err != nil {
		return err
	}
	mode, dirs := "read-only", []string(nil)
	if r.Mode != work.ModeRead {
		mode, dirs = "workspace-write", append([]string{r.Dir}, c.temp(r)...)
	}
	rest := func(writable []string) []string {
		argv := []string{"sandbox", "-c", "sandbox_mode=" + tomlString(mode)}
		for _, setting := range append(c.settings(r, writable), overrides(c.spec.Args)...) {
			argv = append(argv, "-c", setting)
		}
		return append(argv, "-c", untrusted(r.Dir), "--")
	}
	defer tidy(r.Dir)
	res, err := c.spec.CheckBehind(ctx, r, agent.Launch{Argv: c.spec.CommandLine(), Rest: rest}, dirs)
	if err == nil && res.Code == usageCode && strings.Contains(string(res.Stderr), "Usage:") {
		return nil // this codex has no such command: the turn will show what works
	}
	return c.shutTemp(r, c.spec.Checked(res, err))
}

// excludes matches settings of codex that keep its commands from writing to temporary folders.
var excludes = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b(exclude_(?:slash_tmp|tmpdir_env_var))\s*=\s*true\b`)
})

// shutTemp names the setting of the operator's own codex for which a check failed in the temporary folder.
func (c *codex) shutTemp(r agent.Request, err error) error {
	blocked, ok := errors.AsType[*work.BlockedError](err)
	settings := c.spec.ReadHome("config.toml") + "\n" + strings.Join(c.spec.Args, "\n")
	found := excludes().FindStringSubmatch(settings)
	if !ok || found == nil || blocked.Reason.Kind != work.WhyAgentUnable ||
		!slices.ContainsFunc(c.temp(r), func(dir string) bool { return strings.Contains(blocked.Reason.Local, dir) }) {
		return err
	}
	blocked.Reason.Kind, blocked.Reason.Name = work.WhyAgentNoTemp, found[1]
	return err
}

// temp returns the temporary folder that codex's commands may write to.
func (c *codex) temp(r agent.Request) []string {
	dir := agent.Lookup(c.spec.Environ, "TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	if c.guards(r, dir) {
		return nil
	}
	return []string{dir}
}

// overrides returns the settings among codex's arguments.
func overrides(args []string) []string {
	var all []string
	for i, arg := range args {
		for _, flag := range []string{"-c", "--config"} {
			if value, joined := strings.CutPrefix(arg, flag+"="); joined {
				all = append(all, value)
			} else if arg == flag && i+1 < len(args) {
				all = append(all, args[i+1])
			}
		}
	}
	return all
}

// login reads codex's own files: `codex login status` knows no more, and would have to be started.
func login(s agent.Spec) agent.Login {
	const do = "codex login, or give it a key: env_pass = [\"CODEX_API_KEY\"]"
	if name := agent.FirstSet(s.Environ, "CODEX_API_KEY"); name != "" {
		return agent.Login{Known: true, In: true, Says: "by " + name}
	}
	var auth struct {
		Key    string          `json:"OPENAI_API_KEY"`
		Tokens json.RawMessage `json:"tokens"`
	}
	text := s.ReadHome("auth.json")
	if json.Unmarshal([]byte(text), &auth) == nil {
		switch {
		case len(auth.Tokens) > 0 && string(auth.Tokens) != "null":
			return agent.Login{Known: true, In: true, Says: "logged in, by auth.json of codex"}
		case auth.Key != "":
			return agent.Login{Known: true, In: true, Says: "by a key in auth.json of codex"}
		}
	}
	settings := s.ReadHome("config.toml") + strings.Join(s.Args, "\n")
	for _, word := range []string{"model_provider", "cli_auth_credentials_store", "oss"} {
		if strings.Contains(settings, word) {
			return agent.Login{Says: "it has a provider or a keyring of its own: whether it is logged in shows when it is used"}
		}
	}
	return agent.Login{Known: true, Says: "not logged in: codex has neither a login nor a key", Do: do}
}

// step interprets a line of output.
func step(line []byte) agent.Step {
	var e struct {
		Type   string `json:"type"`
		Thread string `json:"thread_id"`
		Item   struct {
			ID   string `json:"id"`
			Type string `json:"type"`
		} `json:"item"`
	}
	if json.Unmarshal(line, &e) != nil {
		return agent.Step{}
	}
	s := agent.Step{Trouble: e.Type == "error", Session: e.Thread}
	switch {
	case e.Item.Type != "command_execution":
	case e.Type == "item.started":
		s.Begun = []string{e.Item.ID}
	case e.Type == "item.completed":
		s.Ended = []string{e.Item.ID}
	}
	return s
}

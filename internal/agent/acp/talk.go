package acp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// protocolVersion is the version of the protocol that we speak.
const protocolVersion = 1

// linger is how long a program may take to end by itself after the turn, when its input has ended:
// it may still be saving the session.
const linger = 3 * time.Second

// talk is one turn with a program: a session is opened or loaded, and gets one prompt. It is the
// program's standard input (Read) and gets its standard output (Write).
type talk struct {
	*queue
	client  *client
	request agent.Request
	log     io.Writer
	over    chan struct{}

	mu        sync.Mutex
	split     splitter
	waits     map[string]func(message) // for responses, by id
	logins    []authMethod
	images    bool // it takes images in a prompt
	session   string
	model     string
	prompting bool // the prompt was sent: earlier updates are of the past
	stopping  bool // the turn was cancelled by us
	answered  bool
	failure   error
	words     words
	usage     usage
	ended     bool
}

func newTalk(c *client, r agent.Request) *talk {
	return &talk{queue: newQueue(), client: c, request: r, log: c.spec.Redacted(r.Log), over: make(chan struct{}), waits: map[string]func(message){}, session: r.Session}
}

// Over is part of proc.Dialog.
func (t *talk) Over() <-chan struct{} { return t.over }

// Stop is part of proc.Dialog: it cancels the prompt.
func (t *talk) Stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.ended:
	case !t.prompting: // nothing to cancel
		t.stopping = true
		t.finish(0)
	case !t.stopping:
		t.stopping = true
		t.send(map[string]any{"method": "session/cancel", "params": map[string]any{"sessionId": t.session}})
	}
}

// finish ends the turn: the program's input ends, and after a while the program is ended.
func (t *talk) finish(after time.Duration) {
	if t.ended {
		return
	}
	t.ended = true
	t.close()
	if after == 0 {
		close(t.over)
		return
	}
	time.AfterFunc(after, func() { close(t.over) })
}

// fail ends the turn without an answer. If we stopped the turn, that is the reason, not how the
// program takes it.
func (t *talk) fail(err error) {
	if t.ended {
		return
	}
	if !t.stopping {
		t.failure = err
	}
	t.finish(0)
}

// send queues a message.
func (t *talk) send(m map[string]any) {
	m["jsonrpc"] = "2.0"
	b, err := json.Marshal(m)
	if err != nil {
		t.fail(fmt.Errorf("encode a message for agent %q: %w", t.client.spec.Name, err))
		return
	}
	if !t.add(b) {
		t.fail(t.broke(errUnread))
	}
}

// call sends a request; then gets its result. An error ends the turn unless refused takes it.
func (t *talk) call(method string, params map[string]any, then func(json.RawMessage), refused func(*failure) error) {
	id := fmt.Sprint(len(t.waits) + 1)
	t.waits[id] = func(m message) {
		t.waits[id] = func(message) {} // a second response
		f := readFailure(m.Error)
		switch {
		case f == nil:
			then(m.Result)
		case refused != nil && f.Code != codeLogin:
			t.fail(refused(f))
		default:
			t.fail(t.failed(method, f))
		}
	}
	t.send(map[string]any{"id": json.RawMessage(id), "method": method, "params": params})
}

// Write is part of agent.Meter: it takes the program's output.
func (t *talk) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ended && !t.split.add(b, t.take) {
		t.fail(t.broke(errTooLong))
	}
	return len(b), nil
}

// take takes one message. What is unknown is skipped: new versions send more.
func (t *talk) take(line []byte) {
	m, ok := readMessage(line)
	switch {
	case t.ended:
	case !ok:
		if text := bytes.TrimSpace(line); len(text) > 0 {
			t.note("printed: %s", text)
		}
	case m.request():
		t.serve(m)
	case m.Method == "session/update":
		t.update(m.Params)
	case m.Method == "":
		if then, waits := t.waits[string(m.ID)]; waits {
			then(m)
		}
	}
}

// serve responds to a request of the program. It has no capability of ours to read files or run
// commands, so only permissions are left.
func (t *talk) serve(m message) {
	if m.Method != "session/request_permission" {
		t.send(map[string]any{"id": m.ID, "error": map[string]any{"code": codeUnknownMethod, "message": "Method not found: " + agent.Clip(m.Method, 60)}})
		return
	}
	var asked struct {
		Tool    toolCall `json:"toolCall"`
		Options []struct {
			ID   string `json:"optionId"`
			Kind string `json:"kind"`
		} `json:"options"`
	}
	_ = json.Unmarshal(m.Params, &asked) // an unreadable request offers nothing
	outcome := map[string]any{"outcome": "cancelled"}
	for _, o := range asked.Options {
		if o.Kind == "allow_once" && !t.stopping {
			outcome = map[string]any{"outcome": "selected", "optionId": o.ID}
			break
		}
	}
	t.note("asks for permission: %s: %s", asked.Tool.Title, outcome["outcome"])
	t.send(map[string]any{"id": m.ID, "result": map[string]any{"outcome": outcome}})
}

// start sends the first message.
func (t *talk) start() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.call("initialize", map[string]any{
		"protocolVersion": protocolVersion,
		"clientCapabilities": map[string]any{
			"fs": map[string]any{"readTextFile": false, "writeTextFile": false}, "terminal": false,
		},
		"clientInfo": map[string]any{"name": "gh-mergexo", "title": "gh mergexo", "version": "1"},
	}, t.initialized, nil)
}

type authMethod struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// initialized opens the session.
func (t *talk) initialized(result json.RawMessage) {
	var i struct {
		Version      json.RawMessage `json:"protocolVersion"`
		Logins       []authMethod    `json:"authMethods"`
		Capabilities struct {
			Load   bool `json:"loadSession"`
			Prompt struct {
				Image bool `json:"image"`
			} `json:"promptCapabilities"`
		} `json:"agentCapabilities"`
		Info struct {
			Name    string `json:"name"`
			Version string `json:"version"`
		} `json:"agentInfo"`
	}
	_ = json.Unmarshal(result, &i) // what is of another type is absent
	t.logins, t.images = i.Logins, i.Capabilities.Prompt.Image
	if string(i.Version) != fmt.Sprint(protocolVersion) {
		t.fail(t.client.spec.Unable(fmt.Sprintf("it speaks version %s of the Agent Client Protocol, and gh mergexo speaks %d", cmp.Or(agent.Clip(string(i.Version), 20), "none"), protocolVersion)))
		return
	}
	t.note("is %s %s", i.Info.Name, i.Info.Version)
	params := map[string]any{"cwd": t.request.Dir, "mcpServers": t.servers()}
	if meta := t.client.program.meta; meta != nil {
		params["_meta"] = meta(t.request)
	}
	switch {
	case t.request.Session == "":
		t.call("session/new", params, t.opened, nil)
	case i.Capabilities.Load:
		params["sessionId"] = t.request.Session
		t.call("session/load", params, t.opened, func(f *failure) error {
			_, words := f.read()
			return t.client.lost("it could not be loaded: " + t.client.spec.Cite(words))
		})
	default:
		t.fail(t.client.lost("its program cannot load sessions"))
	}
}

// servers are the MCP servers that a session is given: the one with the tool for the answer.
func (t *talk) servers() []any {
	s, ok := t.client.spec.Server(t.request)
	if !ok || t.client.program.option != "" {
		return []any{}
	}
	env := []any{}
	for _, v := range s.Env {
		name, value, _ := strings.Cut(v, "=")
		env = append(env, map[string]any{"name": name, "value": value})
	}
	return []any{map[string]any{"name": s.Name, "command": s.Command, "args": s.Args, "env": env}}
}

// maxSession bounds a session's name, in bytes.
const maxSession = 500

func isSession(name string) bool {
	return name != "" && len(name) <= maxSession && !strings.ContainsFunc(name, unicode.IsControl)
}

// choices are a session's models: the option of the category "model", or the older list.
type choices struct {
	Session string `json:"sessionId"`
	Options []struct {
		ID       string          `json:"id"`
		Category string          `json:"category"`
		Current  json.RawMessage `json:"currentValue"`
		Values   json.RawMessage `json:"options"`
	} `json:"configOptions"`
	Models struct {
		Current string `json:"currentModelId"`
		All     []struct {
			ID string `json:"modelId"`
		} `json:"availableModels"`
	} `json:"models"`
}

// opened chooses the model that the config names, then sends the prompt.
func (t *talk) opened(result json.RawMessage) {
	var c choices
	_ = json.Unmarshal(result, &c) // what is of another type is absent
	if t.request.Session == "" {
		t.session = c.Session
	}
	if !isSession(t.session) {
		t.fail(t.client.spec.Unable("it opened a session without a usable name"))
		return
	}
	want := t.client.spec.Model
	refused := func(f *failure) error {
		_, words := f.read()
		return t.client.spec.WrongModel(words)
	}
	for _, o := range c.Options {
		var current string
		if o.Category != "model" || json.Unmarshal(o.Current, &current) != nil {
			continue
		}
		if t.model = current; want == "" || want == current {
			t.prompt(nil)
			return
		}
		t.model = want
		t.call("session/set_config_option", map[string]any{"sessionId": t.session, "configId": o.ID, "value": want}, t.prompt, refused)
		return
	}
	switch t.model = c.Models.Current; {
	case want == "" || want == t.model:
		t.prompt(nil)
	case slices.ContainsFunc(c.Models.All, func(m struct {
		ID string `json:"modelId"`
	},
	) bool {
		return m.ID == want
	}):
		t.model = want
		t.call("session/set_model", map[string]any{"sessionId": t.session, "modelId": want}, t.prompt, refused)
	default:
		t.fail(t.client.spec.WrongModel("the program does not offer it; remove model, or choose one in the program's own settings"))
	}
}

// prompt sends the prompt. Nothing enforces the schema, so the model must read it.
func (t *talk) prompt(json.RawMessage) {
	t.prompting = true
	text := t.request.Prompt + "\n\n## The schema of your last message\n```json\n" + string(t.client.spec.FinalSchema(t.request)) + "\n```\n"
	t.call("session/prompt", map[string]any{"sessionId": t.session, "prompt": append([]any{map[string]any{"type": "text", "text": text}}, t.imageBlocks()...)}, t.done, nil)
}

// imageBlocks are the images of the prompt, for a program that takes some. Others read the files that the prompt
// names.
func (t *talk) imageBlocks() (blocks []any) {
	for _, one := range t.request.Images {
		if t.images {
			blocks = append(blocks, map[string]any{"type": "image", "mimeType": http.DetectContentType(one.Content), "data": base64.StdEncoding.EncodeToString(one.Content)})
		}
	}
	return blocks
}

// done takes the end of the turn.
func (t *talk) done(result json.RawMessage) {
	var r struct {
		Reason string `json:"stopReason"`
		Usage  tokens `json:"usage"`
	}
	_ = json.Unmarshal(result, &r) // what is of another type is absent
	t.usage.told, t.usage.tokens = true, r.Usage
	t.note("ended the turn: %s", r.Reason)
	if r.Reason == "end_turn" {
		t.answered = true
		t.finish(linger)
		return
	}
	if !t.stopping { // else it says why the run was stopped
		t.failure = t.stopped(r.Reason)
	}
	t.finish(linger)
}

// toolCall is what is read of a tool call, or an update of one.
type toolCall struct {
	ID     string `json:"toolCallId"`
	Title  string `json:"title"`
	Status string `json:"status"`
}

// ended reports whether the tool call is over.
func (c toolCall) ended() bool { return c.Status == "completed" || c.Status == "failed" }

// params are those of session/update.
type params struct {
	Session string `json:"sessionId"`
	Update  struct {
		toolCall

		Kind    string          `json:"sessionUpdate"`
		Message string          `json:"messageId"`
		Content json.RawMessage `json:"content"`
		Cost    money           `json:"cost"`
	} `json:"update"`
}

// update takes a report of progress. Before the prompt it is of the session's past, which the
// program replays while it loads it.
func (t *talk) update(raw json.RawMessage) {
	var p params
	if json.Unmarshal(raw, &p) != nil || p.Session != t.session {
		return
	}
	switch u := p.Update; {
	case u.Kind == "usage_update":
		t.usage.spent(u.Cost, t.prompting)
	case !t.prompting:
	case u.Kind == "agent_message_chunk":
		t.words.add(u.Message, u.Content)
	case u.Kind == "tool_call":
		t.note("uses a tool: %s", u.Title)
		t.usage.partial = t.client.program.lastOnly // another request follows
		t.words.whole = true
	case u.Kind == "user_message_chunk", u.Kind == "agent_thought_chunk":
		t.words.whole = true
	}
}

// words are the text of the program's last message, which comes in pieces.
type words struct {
	text  strings.Builder
	id    string
	whole bool // further text is of another message
}

func (w *words) add(id string, content json.RawMessage) {
	var c struct {
		Type string `json:"type"`
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &c) != nil || c.Type != "text" {
		return
	}
	another := w.whole || id != "" && w.id != "" && id != w.id
	if another && strings.TrimSpace(c.Text) == "" {
		return
	}
	if another {
		w.text.Reset()
	}
	w.whole, w.id = false, id
	w.text.WriteString(c.Text)
}

// note writes a line to the turn's log.
func (t *talk) note(format string, args ...any) {
	line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
	_, _ = fmt.Fprintln(t.log, agent.Clip("acp: the program "+line, 300)) // a log that cannot be written fails no run
}

// step reads the signs of life of a line.
func step(line []byte) agent.Step {
	m, ok := readMessage(line)
	if !ok {
		return agent.Step{}
	}
	if m.Method == "" {
		return agent.Step{Cleared: true}
	}
	var p params
	if json.Unmarshal(m.Params, &p) != nil || m.Method != "session/update" {
		return agent.Step{}
	}
	s := agent.Step{Session: p.Session}
	switch u := p.Update; {
	case u.ID == "":
	case u.ended():
		s.Ended = []string{u.ID}
	case u.Kind == "tool_call":
		s.Begun = []string{u.ID}
	}
	return s
}

// result is a run's result without its answer.
func (t *talk) result() agent.Result {
	used := t.Used()
	t.mu.Lock()
	defer t.mu.Unlock()
	return agent.Result{Session: used.Session, Model: agent.Clip(cmp.Or(t.model, t.client.spec.Model), maxModel), Usage: used.Usage, Known: used.Known}
}

// maxModel bounds the model's name, in characters.
const maxModel = 80

// Used is part of agent.Meter.
func (t *talk) Used() agent.Used {
	t.mu.Lock()
	defer t.mu.Unlock()
	used := agent.Used{}
	if isSession(t.session) {
		used.Session = t.session
	}
	used.Usage, used.Known = t.client.spec.Charge(t.usage.counted(), t.usage.cost(), work.Known{Tokens: t.usage.known(), Cost: t.usage.costKnown()})
	return used
}

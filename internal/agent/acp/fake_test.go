package acp_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// The tests start themselves as a program that speaks the protocol: strictly, and with sessions
// that it keeps in a folder. Its arguments are fakeName, that folder, and what is wrong with it.
const fakeName = "fake-acp-agent"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakeName {
		(&fake{folder: os.Args[2], traits: os.Args[3:], in: bufio.NewReader(os.Stdin)}).serve()
	}
	testhome.InShort(
		"TestPresetsAreFoundByTheirCommandLines", "TestPermissionsAreGivenOnce",
		"TestATurnIsASessionWithOnePrompt",
	)
	os.Exit(m.Run())
}

type fake struct {
	folder  string
	traits  []string
	in      *bufio.Reader
	session string
	cwd     string
	ready   bool
	asked   int
}

// said is one prompt of a session, with its answer.
type said struct{ Prompt, Answer string }

type packet struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

func (f *fake) is(trait string) bool { return slices.Contains(f.traits, trait) }

// value is what follows NAME= among the traits.
func (f *fake) value(name string) string {
	for _, t := range f.traits {
		if v, ok := strings.CutPrefix(t, name+"="); ok {
			return v
		}
	}
	return ""
}

func (*fake) die(code int, words string) {
	fmt.Fprintln(os.Stderr, words)
	os.Exit(code)
}

func (f *fake) read() packet {
	line, err := f.in.ReadBytes('\n')
	if err != nil {
		if f.is("stays") {
			time.Sleep(time.Hour)
		}
		os.Exit(0)
	}
	var p packet
	if json.Unmarshal(line, &p) != nil || p.Version != "2.0" {
		f.die(9, "the client sent no JSON-RPC: "+string(line))
	}
	return p
}

func (*fake) write(v map[string]any) {
	v["jsonrpc"] = "2.0"
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	if _, err := os.Stdout.Write(append(b, '\n')); err != nil {
		os.Exit(0)
	}
}

func (f *fake) reply(id json.RawMessage, result any) {
	f.write(map[string]any{"id": id, "result": result})
}

func (f *fake) refuse(id json.RawMessage, code int, words string, data any) {
	f.write(map[string]any{"id": id, "error": map[string]any{"code": code, "message": words, "data": data}})
}

func (f *fake) update(kind string, more map[string]any) {
	u := map[string]any{"sessionUpdate": kind}
	maps.Copy(u, more)
	f.write(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": f.session, "update": u}})
}

func (f *fake) say(kind, text string) {
	f.update(kind, map[string]any{"content": map[string]any{"type": "text", "text": text}})
}

// ask sends a request and returns its response.
func (f *fake) ask(method string, params map[string]any) packet {
	f.asked++
	id := fmt.Sprintf(`"q%d"`, f.asked)
	f.write(map[string]any{"id": json.RawMessage(id), "method": method, "params": params})
	p := f.read()
	if string(p.ID) != id {
		f.die(9, fmt.Sprintf("the client answered %s to %s", p.ID, id))
	}
	return p
}

func (f *fake) path(name string) string { return filepath.Join(f.folder, name) }

func (f *fake) note(name, text string) {
	if err := os.WriteFile(f.path(name), []byte(text), 0o600); err != nil {
		panic(err)
	}
}

func (f *fake) history() (all []said, known bool) {
	b, err := os.ReadFile(f.path(f.session + ".json"))
	return all, err == nil && json.Unmarshal(b, &all) == nil
}

func (f *fake) keep(all []said) {
	b, err := json.Marshal(all)
	if err != nil {
		panic(err)
	}
	f.note(f.session+".json", string(b))
}

func (f *fake) serve() {
	if f.is("deaf") {
		signal.Ignore(syscall.SIGTERM)
	}
	for {
		p := f.read()
		var q struct {
			Version   int              `json:"protocolVersion"`
			Session   string           `json:"sessionId"`
			Cwd       string           `json:"cwd"`
			Servers   json.RawMessage  `json:"mcpServers"`
			Model     string           `json:"modelId"`
			Option    string           `json:"configId"`
			Value     string           `json:"value"`
			Prompt    []map[string]any `json:"prompt"`
			Meta      json.RawMessage  `json:"_meta"`
			Abilities struct {
				FS       map[string]bool `json:"fs"`
				Terminal bool            `json:"terminal"`
			} `json:"clientCapabilities"`
		}
		if json.Unmarshal(p.Params, &q) != nil {
			f.die(9, "the client's parameters: "+string(p.Params))
		}
		if why := f.value("refuses"); why == p.Method {
			f.refuse(p.ID, -32601, "Method not found", nil)
			continue
		}
		switch p.Method {
		case "initialize":
			if q.Version != 1 || q.Abilities.Terminal || q.Abilities.FS["readTextFile"] || q.Abilities.FS["writeTextFile"] {
				f.die(9, "the client offers "+string(p.Params))
			}
			version := any(1)
			if f.is("newer") {
				version = 2
			}
			f.ready = true
			f.reply(p.ID, map[string]any{
				"protocolVersion": version, "agentInfo": map[string]any{"name": "fake", "version": "1.0"}, "_meta": map[string]any{"x": 1},
				"agentCapabilities": map[string]any{"loadSession": !f.is("forgetful"), "unheardOf": []int{1}},
				"authMethods":       []any{map[string]any{"id": "l", "name": "Log in", "description": "Run `fake login` in the terminal"}},
			})
		case "authenticate":
			f.die(9, "authenticate was called")
		case "session/new", "session/load":
			if !f.ready || q.Cwd == "" || !strings.HasPrefix(string(q.Servers), "[") {
				f.die(9, "too early, or without a folder: "+string(p.Params))
			}
			f.cwd = q.Cwd
			f.note("meta", string(q.Meta))
			f.note("servers", string(q.Servers))
			f.note("traits", strings.Join(f.traits, "\n"))
			f.open(p, q.Session)
		case "session/set_model", "session/set_config_option":
			f.note("model", q.Model+q.Option+"="+q.Value)
			f.reply(p.ID, map[string]any{})
		case "session/prompt":
			if q.Session != f.session || f.session == "" {
				f.die(9, "another session")
			}
			text, _ := q.Prompt[0]["text"].(string)
			f.work(p.ID, text)
		case "session/cancel":
			f.note("cancelled", "")
		default:
			f.die(9, "the client sent "+p.Method)
		}
	}
}

func (f *fake) open(p packet, session string) {
	if f.is("logged-out") {
		f.refuse(p.ID, -32000, "Authentication required", map[string]any{"authMethods": []any{}})
		return
	}
	f.session = "ses_1"
	if p.Method == "session/load" {
		f.session = session
		all, known := f.history()
		if !known {
			f.refuse(p.ID, -32002, "Resource not found", map[string]any{"details": "no session " + session})
			return
		}
		for _, s := range all {
			f.say("user_message_chunk", s.Prompt)
			f.update("tool_call", map[string]any{"toolCallId": "old", "title": "old", "status": "in_progress"})
			f.say("agent_message_chunk", s.Answer)
			f.update("usage_update", map[string]any{"used": 5, "size": 10, "cost": map[string]any{"amount": 0.25, "currency": "USD"}})
		}
	} else {
		f.keep(nil)
	}
	result := map[string]any{"sessionId": f.session}
	switch {
	case f.is("options"):
		result["configOptions"] = []any{
			map[string]any{"id": "mode", "category": "mode", "currentValue": "m"},
			map[string]any{"id": "model-option", "category": "model", "type": "select", "currentValue": "small", "options": []any{map[string]any{"value": "big"}}},
		}
	case f.is("models"):
		result["models"] = map[string]any{"currentModelId": "small", "availableModels": []any{map[string]any{"modelId": "big"}}}
	}
	f.reply(p.ID, result)
}

// work is a turn: it asks for a permission, and writes a file if it has it.
func (f *fake) work(id json.RawMessage, prompt string) {
	f.note("prompt", prompt)
	f.update("available_commands_update", map[string]any{"availableCommands": []any{}})
	f.write(map[string]any{"method": "_auth/status_update", "params": map[string]any{"ok": true}})
	switch {
	case f.is("exits"):
		f.die(3, "out of luck")
	case f.is("hangs"):
		f.hang(id)
		return
	case f.is("endless"):
		_, _ = os.Stdout.WriteString(strings.Repeat("x", 9<<20))
		time.Sleep(time.Hour)
	case f.is("floods"):
		for i := range 400000 {
			f.write(map[string]any{"id": i, "method": "session/request_permission", "params": map[string]any{}})
		}
		time.Sleep(time.Hour)
	case f.is("raw"):
		f.refuse(id, -32603, "Internal error", map[string]any{"details": f.value("details"), "errorKind": f.value("kind")})
		return
	}
	if code := f.value("error"); code != "" {
		var n int
		_, _ = fmt.Sscan(code, &n)
		f.refuse(id, n, "said so", nil)
		return
	}
	if f.is("noisy") {
		fmt.Println("Loading…")
		fmt.Println(`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"ses_1","update":7}}`)
		fmt.Println(`{"jsonrpc":"2.0","id":77,"result":{"stopReason":"refusal"}}`)
		fmt.Println(`[1]`)
		f.update("agent_message_chunk", map[string]any{"content": "text"})
		f.update("unheard_of", map[string]any{"content": 7})
		f.write(map[string]any{"method": "session/update", "params": map[string]any{"sessionId": "another", "update": map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": "of a subagent"}}}})
	}
	for _, method := range []string{"fs/read_text_file", "terminal/create", "_own/method"} {
		if p := f.ask(method, map[string]any{"sessionId": f.session, "path": "/etc/passwd"}); !strings.Contains(string(p.Error), "-32601") {
			f.die(9, "the client does not refuse "+method)
		}
	}
	f.say("agent_message_chunk", "I will write a file.")
	f.update("tool_call", map[string]any{"toolCallId": "t1", "title": "write made.txt", "kind": "edit", "status": "pending"})
	offers := []any{map[string]any{"optionId": "always", "kind": "allow_always", "name": "Always"}, map[string]any{"optionId": "no", "kind": "reject_once", "name": "No"}}
	if !f.is("all-or-nothing") {
		offers = append(offers, map[string]any{"optionId": "once", "kind": "allow_once", "name": "Once"})
	}
	p := f.ask("session/request_permission", map[string]any{"sessionId": f.session, "toolCall": map[string]any{"toolCallId": "t1", "title": "write made.txt"}, "options": offers})
	f.note("permission", string(p.Result))
	if strings.Contains(string(p.Result), `"once"`) {
		if err := os.WriteFile(filepath.Join(f.cwd, "made.txt"), []byte("made\n"), 0o600); err != nil {
			f.die(9, err.Error())
		}
	}
	f.update("tool_call_update", map[string]any{"toolCallId": "t1", "status": "completed"})
	f.say("agent_thought_chunk", "Now the answer.")
	answer := `{"x":1}`
	if v := f.value("says"); v != "" {
		answer = v
	}
	for _, part := range []string{answer[:len(answer)/2], answer[len(answer)/2:]} {
		f.say("agent_message_chunk", part)
	}
	all, _ := f.history()
	f.keep(append(all, said{prompt, answer}))
	if f.is("dear") {
		f.update("usage_update", map[string]any{"used": 5, "size": 10, "cost": map[string]any{"amount": 0.25 * float64(len(all)+1), "currency": "USD"}})
	}
	reason := f.value("stops")
	if reason == "" {
		reason = "end_turn"
	}
	result := map[string]any{"stopReason": reason}
	if u := f.value("usage"); u != "" {
		result["usage"] = json.RawMessage(u)
	}
	f.reply(id, result)
}

// hang answers only to a cancelled turn.
func (f *fake) hang(id json.RawMessage) {
	if !f.is("silent") {
		f.update("tool_call", map[string]any{"toolCallId": "t1", "title": "sleep", "status": "in_progress"})
	}
	for {
		if p := f.read(); p.Method == "session/cancel" {
			f.note("cancelled", "")
			if !f.is("deaf") {
				f.reply(id, map[string]any{"stopReason": "cancelled"})
				return
			}
		}
	}
}

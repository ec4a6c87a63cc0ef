package answer

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
)

// client speaks to a server line by line, as a program that need not keep to the protocol.
type client struct {
	t    *testing.T
	dir  string
	in   *io.PipeWriter
	out  *bufio.Reader
	done chan error
	next int
}

// connect starts the server for a turn.
func connect(t *testing.T, kind work.Kind, about prompts.Context) *client {
	t.Helper()
	dir := t.TempDir()
	raw, err := json.Marshal(about)
	if err != nil {
		t.Fatal(err)
	}
	task, err := json.Marshal(agent.Task{Kind: kind, Context: raw})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "task.json"), task, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := server(dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	c := &client{t: t, dir: dir, in: toServer, out: bufio.NewReader(fromServer), done: make(chan error, 1)}
	go func() {
		c.done <- Serve(context.WithoutCancel(t.Context()), s, in, out)
		_ = out.Close()
	}()
	t.Cleanup(func() {
		_ = toServer.Close()
		if err := <-c.done; err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	c.ask("initialize", `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// reply is a response, as far as these tests look at it.
type reply struct {
	ID     int             `json:"id"`
	Error  json.RawMessage `json:"error"`
	Result struct {
		Tools []struct {
			Name        string
			InputSchema json.RawMessage
			Annotations struct{ ReadOnlyHint bool }
		}
		IsError bool
		Content []struct{ Text string }
	} `json:"result"`
}

func (c *client) ask(method, params string) reply {
	c.t.Helper()
	c.next++
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, c.next, method, params))
	line, err := c.out.ReadString('\n')
	var r reply
	if err == nil {
		err = json.Unmarshal([]byte(line), &r)
	}
	if err != nil || r.ID != c.next {
		c.t.Fatalf("%s: %q, %v", method, line, err)
	}
	return r
}

// give calls the tool. refusal is empty if the answer was accepted.
func (c *client) give(answer string) (refusal string) {
	c.t.Helper()
	r := c.ask("tools/call", `{"name":"answer","arguments":`+answer+`}`)
	if len(r.Result.Content) != 1 {
		c.t.Fatalf("got %+v", r)
	}
	if text := r.Result.Content[0].Text; r.Result.IsError {
		return text
	}
	return ""
}

func (c *client) left() string {
	b, _ := os.ReadFile(filepath.Join(c.dir, "answer.json"))
	return string(b)
}

const start = `{"pr_title":%q,"pr_summary":"Did it.","commit_message":"Fix it","followups":[],"blocked_reason":null,"decision_summary":"None."}`

// TestTheToolRefusesWhatThePassWouldRefuse: in the same words, and nothing else.
func TestTheToolRefusesWhatThePassWouldRefuse(t *testing.T) {
	comment := prompts.Context{NewEvents: []prompts.NewEvent{{ID: "7", Kind: work.EventSource, Author: "ann", Body: "Why?"}}}
	const feedback = `{"review_replies":[],"general_comment":%s,"commit_message":null,"flaky_test":null,"followups":[],"blocked_reason":null,"decision_summary":null}`
	const verdict = `{"decision":%q,"summary":"s","body":null,"comments":[],"earlier":[],"escalate":[]}`
	const plan = `{"title":"T","goal":"G","nodes":[{"id":"one","title":"One","flow":"bugfix","needs":[%q],"issue":null,"goal":"g","scope":"s","acceptance":"a","tests":"t"}],"blocked_reason":null,"decision_summary":null}`
	tests := []struct {
		kind   work.Kind
		about  prompts.Context
		answer string
		want   string // part of the refusal; empty: accepted
	}{
		{work.KindBugfixStart, prompts.Context{}, fmt.Sprintf(start, "Fix"), ""},
		{work.KindBugfixStart, prompts.Context{}, `{}`, "pr_title is missing"},
		{work.KindBugfixStart, prompts.Context{}, fmt.Sprintf(start, "a\nb"), "more than one line"},
		{work.KindBugfixStart, prompts.Context{}, strings.Replace(fmt.Sprintf(start, "Fix"), `"pr_title"`, `"pr_title":"x","pr_title"`, 1), "stands twice"},
		{work.KindBugfixStart, prompts.Context{}, fmt.Sprintf(start, "ghp_"+strings.Repeat("a1B2", 9)), "answer.pr_title"},
		{work.KindBugfixStart, prompts.Context{}, fmt.Sprintf(start, strings.Repeat("a", prompts.MaxAnswer)), "at most"},
		{work.KindImplementationFeedback, comment, fmt.Sprintf(feedback, "null"), "has no answer: general_comment is empty"},
		{work.KindImplementationFeedback, comment, fmt.Sprintf(feedback, `"Because."`), ""},
		{work.KindRoadmapStart, prompts.Context{}, fmt.Sprintf(plan, "one"), "in a circle: one needs one"},
		{work.KindRoadmapStart, prompts.Context{}, fmt.Sprintf(plan, "two"), `node "one" needs "two", which is the id of no node`},
		{work.KindRoadmapStart, prompts.Context{Roadmap: &prompts.Roadmap{Depth: 1, SubIssues: 100}}, strings.Replace(fmt.Sprintf(plan, ""), `[""]`, "[]", 1), "100 sub-issues beside them"},
		{work.KindRoadmapStart, prompts.Context{}, strings.Replace(fmt.Sprintf(plan, ""), `[""]`, "[]", 1), ""},
		{work.KindBugfixStart, prompts.Context{}, strings.Replace(fmt.Sprintf(start, "Fix"), "{", `{"replan":"x",`, 1), `unknown key "replan"`},
		{work.KindBugfixStart, prompts.Context{Parent: &prompts.Parent{Number: 1}}, strings.Replace(fmt.Sprintf(start, "Fix"), "{", `{"replan":"x",`, 1), ""},
		{work.KindReview, prompts.Context{}, fmt.Sprintf(verdict, "request_changes"), "say what must change, or approve"},
		{work.KindReview, prompts.Context{}, fmt.Sprintf(verdict, "approve"), ""},
	}
	for _, tt := range tests {
		c := connect(t, tt.kind, tt.about)
		refusal := c.give(tt.answer)
		_, violations := prompts.Decode(tt.kind, []byte(tt.answer), prompts.AskedOf(tt.kind, tt.about))
		if len(violations) == 0 {
			violations = prompts.Leaks(nil, []byte(tt.answer))
		}
		short := tt.answer[:min(len(tt.answer), 120)]
		if tt.want == "" {
			if refusal != "" || c.left() != tt.answer || len(violations) > 0 {
				t.Errorf("%s %s: refused with %q, left %q", tt.kind, short, refusal, c.left())
			}
			continue
		}
		if !strings.Contains(refusal, tt.want) || c.left() != "" {
			t.Errorf("%s %s: %q, left %q", tt.kind, short, refusal, c.left())
		}
		for _, v := range prompts.Quotable(violations) {
			if !strings.Contains(refusal, v) {
				t.Errorf("%s %s: %q does not say %q", tt.kind, short, refusal, v)
			}
		}
	}
}

// TestTheLastAcceptedAnswerIsLeft: a refused one does not replace it.
func TestTheLastAcceptedAnswerIsLeft(t *testing.T) {
	c := connect(t, work.KindBugfixStart, prompts.Context{})
	for _, title := range []string{"First", "Second"} {
		if refusal := c.give(fmt.Sprintf(start, title)); refusal != "" {
			t.Fatal(refusal)
		}
	}
	c.give(`{}`)
	if want := fmt.Sprintf(start, "Second"); c.left() != want {
		t.Errorf("left %s", c.left())
	}
	names := []string{}
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"answer.json", "task.json"}) {
		t.Errorf("the folder has %q", names)
	}
}

// TestTheToolHasTheSchemaOfItsTurn: for every kind, as the only tool, and marked as one that changes
// nothing, so that no program asks a person.
func TestTheToolHasTheSchemaOfItsTurn(t *testing.T) {
	for _, kind := range prompts.Kinds() {
		c := connect(t, kind, prompts.Context{})
		tools := c.ask("tools/list", "{}").Result.Tools
		var got, want any
		if len(tools) != 1 || tools[0].Name != "answer" || !tools[0].Annotations.ReadOnlyHint ||
			json.Unmarshal(tools[0].InputSchema, &got) != nil || json.Unmarshal(prompts.Schema(kind, prompts.Context{}), &want) != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %+v", kind, tools)
		}
	}
}

// TestTheServerOutlivesNonsense: it answers what follows.
func TestTheServerOutlivesNonsense(t *testing.T) {
	c := connect(t, work.KindBugfixStart, prompts.Context{})
	for method, params := range map[string]string{
		"tools/call": `{"name":"shell","arguments":{"command":"id"}}`, "resources/read": `{"uri":"file:///etc/passwd"}`, "no/such": `{}`, "ping": `{}`,
	} {
		if r := c.ask(method, params); (r.Error == nil) != (method == "ping") {
			t.Errorf("%s: %+v", method, r)
		}
	}
	for _, answer := range []string{`null`, `[]`, `"x"`, `7`} {
		r := c.ask("tools/call", `{"name":"answer","arguments":`+answer+`}`)
		if r.Error == nil && !r.Result.IsError || c.left() != "" {
			t.Errorf("%s: %+v, left %q", answer, r, c.left())
		}
	}
	if refusal := c.give(fmt.Sprintf(start, "Fix")); refusal != "" {
		t.Error(refusal)
	}
}

// TestWithoutATaskThereIsNoServer: the program then works without the tool.
func TestWithoutATaskThereIsNoServer(t *testing.T) {
	dir := t.TempDir()
	for _, task := range []string{"", "{", `{"kind":"no such"}`, `{"kind":"review","context":7}`} {
		if task != "" {
			if err := os.WriteFile(filepath.Join(dir, "task.json"), []byte(task), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := server(dir, "test"); err == nil {
			t.Errorf("%q: no error", task)
		}
	}
}

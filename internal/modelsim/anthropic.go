package modelsim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// structured is the tool by which claude has the model answer by a schema.
const structured = "StructuredOutput"

// messagesRequest is what is read of a request to the Messages API.
type messagesRequest struct {
	Model    string `json:"model"`
	Stream   bool   `json:"stream"`
	Messages []turn `json:"messages"`
	Tools    []struct {
		Name   string          `json:"name"`
		Schema json.RawMessage `json:"input_schema"`
	} `json:"tools"`
}

type turn struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Content json.RawMessage `json:"content"`
}

func anthropicError(body map[string]any) any { return map[string]any{"type": "error", "error": body} }

func (s *Server) anthropic(w http.ResponseWriter, r *http.Request) {
	var req messagesRequest
	raw, ok := readBody(w, r, &req)
	if !ok {
		return
	}
	if r.Header.Get("X-Api-Key") == "" && r.Header.Get("Authorization") == "" {
		writeError(w, Error{Status: http.StatusUnauthorized, Type: "authentication_error", Text: "no key"}, anthropicError)
		return
	}
	if len(req.Tools) == 0 { // a title for the session, or a trial of the connection
		answerAnthropic(w, req, req.query(raw), Reply{Text: "A title"})
		return
	}
	q := req.query(raw)
	if q.Schema == nil {
		q.Schema = schemaIn(q.Prompt)
	} else {
		if err := CheckSchema(withoutMeta(q.Schema)); err != nil {
			writeError(w, Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Text: "input_schema: " + err.Error()}, anthropicError)
			return
		}
	}
	reply := s.ask(q)
	switch {
	case reply.Error != nil:
		writeError(w, *reply.Error, anthropicError)
	case reply.Hang:
		s.hang(r)
	default:
		answerAnthropic(w, req, q, reply.fitting(q))
	}
}

func answerAnthropic(w http.ResponseWriter, req messagesRequest, q Query, reply Reply) {
	if req.Stream {
		w.Header().Set("Request-Id", "req_1")
		sendMessage(startStream(w), req.Model, q, reply)
		return
	}
	if reply.Cut { // claude asks again without a stream after one that was cut
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(wholeMessage(req.Model, q, reply))
}

// fitting uses the tools that are offered: programs other than claude have no tool for the final
// answer, and another name for the shell.
func (r Reply) fitting(q Query) Reply {
	if r.Run != "" && slices.Contains(q.Tools, "bash") {
		r.Tool, r.Run = &Call{Name: "bash", Input: map[string]any{"command": r.Run, "description": "as the script says"}}, ""
	}
	if r.Answer != nil && !slices.Contains(q.Tools, structured) {
		r.Text, r.Answer = text(inFinal(q.Schema, r.Answer)), nil
	}
	return r
}

// schemaIn finds the schema that a prompt shows where no tool has it.
func schemaIn(prompt string) json.RawMessage {
	const heading = "## The schema of your last message\n```json\n"
	_, after, found := strings.Cut(prompt, heading)
	schema, _, ended := strings.Cut(after, "\n```")
	if !found || !ended || !json.Valid([]byte(schema)) {
		return nil
	}
	return json.RawMessage(schema)
}

// withoutMeta drops the dialect's name, which claude may add.
func withoutMeta(schema json.RawMessage) json.RawMessage {
	var s map[string]json.RawMessage
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	delete(s, "$schema")
	return json.RawMessage(text(s))
}

func (r messagesRequest) query(raw json.RawMessage) Query {
	q := Query{API: Anthropic, Model: r.Model, Body: raw}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, t.Name)
		if t.Name == structured {
			q.Schema = t.Schema
		}
	}
	prompts := 0
	for _, m := range r.Messages {
		if m.Role != "user" {
			continue
		}
		said, results := m.blocks()
		if len(results) > 0 {
			q.Results = append(q.Results, results...)
			if said == "" {
				continue // else the next prompt came with what the last tool said
			}
		}
		q.Prompt, q.Results = said, nil
		prompts++
	}
	q.Earlier = max(prompts-1, 0)
	return q
}

// What claude itself says beside what tools said: the one begins so, the other is all
// of it, where a session is resumed whose last word was a tool's.
const (
	reminder = "<system-reminder>"
	resuming = "Continue from where you left off."
)

// blocks are what a message of the user says and what tools said.
func (t turn) blocks() (said string, results []string) {
	var list []block
	if json.Unmarshal(t.Content, &list) != nil {
		return contentText(t.Content), nil
	}
	var b strings.Builder
	for _, block := range list {
		switch block.Type {
		case "text":
			b.WriteString(block.Text + "\n")
		case "tool_result":
			results = append(results, contentText(block.Content))
		}
	}
	said = b.String()
	if len(results) > 0 && (strings.HasPrefix(said, reminder) || strings.TrimSpace(said) == resuming) {
		said = ""
	}
	return said, results
}

// calls numbers tool uses: claude refuses an id that it has seen.
var calls atomic.Int64

// sendMessage streams a message.
func sendMessage(out stream, model string, q Query, reply Reply) {
	content, stop := messageContent(q, reply)
	out.send("message_start", map[string]any{"message": emptyMessage(model, 1)})
	if reply.Cut {
		return
	}
	if content != nil {
		sendBlock(out, content)
	}
	out.send("message_delta", map[string]any{"delta": map[string]any{"stop_reason": stop, "stop_sequence": nil}, "usage": map[string]any{"output_tokens": OutputTokens}})
	out.send("message_stop", map[string]any{})
}

func emptyMessage(model string, output int) map[string]any {
	return map[string]any{
		"id": "msg_" + strconv.FormatInt(calls.Add(1), 10), "type": "message", "role": "assistant", "model": model, "content": []any{},
		"stop_reason": nil, "stop_sequence": nil, "usage": map[string]any{
			"input_tokens": InputTokens - CachedTokens, "cache_read_input_tokens": CachedTokens, "cache_creation_input_tokens": 0, "output_tokens": output,
		},
	}
}

// wholeMessage is a message that is not streamed.
func wholeMessage(model string, q Query, reply Reply) map[string]any {
	m := emptyMessage(model, OutputTokens)
	content, stop := messageContent(q, reply)
	m["stop_reason"] = stop
	if content != nil {
		m["content"] = []any{content}
	}
	return m
}

func messageContent(q Query, reply Reply) (content map[string]any, stop string) {
	call := reply.Tool
	switch {
	case reply.Run != "":
		call = &Call{Name: "Bash", Input: map[string]any{"command": reply.Run, "description": "as the script says"}}
	case reply.Give != nil:
		var input map[string]any
		if json.Unmarshal([]byte(text(reply.Give)), &input) == nil {
			call = &Call{Name: q.giveName(), Input: input}
		}
	case reply.Answer != nil:
		var input map[string]any
		if json.Unmarshal([]byte(text(inFinal(q.Schema, reply.Answer))), &input) == nil {
			call = &Call{Name: structured, Input: input}
		}
	case reply.Refuse:
		return nil, "refusal"
	}
	if call == nil {
		return map[string]any{"type": "text", "text": reply.Text}, "end_turn"
	}
	return map[string]any{"type": "tool_use", "id": "toolu_" + strconv.FormatInt(calls.Add(1), 10), "name": call.Name, "input": call.Input}, "tool_use"
}

// giveName is the program's own name for the tool for the answer, such as mergexo_answer.
func (q Query) giveName() string {
	for _, name := range q.Tools {
		if strings.Contains(name, "mergexo") && strings.HasSuffix(name, giveTool) {
			return name
		}
	}
	return giveServer + "__" + giveTool
}

func sendBlock(out stream, content map[string]any) {
	begin, delta := maps.Clone(content), map[string]any{}
	switch content["type"] {
	case "tool_use":
		begin["input"] = map[string]any{}
		delta["type"], delta["partial_json"] = "input_json_delta", text(content["input"])
	default:
		begin["text"] = ""
		delta["type"], delta["text"] = "text_delta", content["text"]
	}
	out.send("content_block_start", map[string]any{"index": 0, "content_block": begin})
	out.send("content_block_delta", map[string]any{"index": 0, "delta": delta})
	out.send("content_block_stop", map[string]any{"index": 0})
}

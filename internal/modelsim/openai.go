package modelsim

import (
	"cmp"
	"encoding/json"
	"net/http"
	"strings"
)

// responsesRequest is what is read of a request to the Responses API.
type responsesRequest struct {
	Model string `json:"model"`
	Input []struct {
		Type    string          `json:"type"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
		Output  json.RawMessage `json:"output"`
	} `json:"input"`
	Tools []struct {
		Type string `json:"type"`
		Name string `json:"name"`
	} `json:"tools"`
	Text struct {
		Format struct {
			Type   string          `json:"type"`
			Strict bool            `json:"strict"`
			Schema json.RawMessage `json:"schema"`
		} `json:"format"`
	} `json:"text"`
}

func openAIError(body map[string]any) any { return map[string]any{"error": body} }

func (s *Server) openAI(w http.ResponseWriter, r *http.Request) {
	var req responsesRequest
	raw, ok := readBody(w, r, &req)
	if !ok {
		return
	}
	if !strings.HasPrefix(r.Header.Get("Authorization"), "Bearer ") {
		writeError(w, Error{Status: http.StatusUnauthorized, Type: "authentication_error", Text: "no key"}, openAIError)
		return
	}
	q := req.query(raw)
	if q.Schema != nil {
		if err := CheckSchema(q.Schema); err != nil || !req.Text.Format.Strict {
			writeError(w, Error{Status: http.StatusBadRequest, Type: "invalid_request_error", Text: "Invalid schema for response_format: " + describe(err)}, openAIError)
			return
		}
	} else {
		q.Schema = schemaIn(q.Prompt)
	}
	reply := s.ask(q)
	switch {
	case reply.Error != nil:
		writeError(w, *reply.Error, openAIError)
	case reply.Hang:
		s.hang(r)
	default:
		respond(startStream(w), req.Model, q, reply)
	}
}

func describe(err error) string {
	if err == nil {
		return "strict must be true"
	}
	return err.Error()
}

// query tells the prompt from what codex sends along: its context is the first
// of two messages of the user in a new thread.
func (r responsesRequest) query(raw json.RawMessage) Query {
	q := Query{API: OpenAI, Model: r.Model, Body: raw}
	if r.Text.Format.Type == "json_schema" {
		q.Schema = r.Text.Format.Schema
	}
	for _, t := range r.Tools {
		q.Tools = append(q.Tools, t.Name)
	}
	q.Tools = append(q.Tools, toolsWithin(raw)...)
	prompts := 0
	for _, in := range r.Input {
		switch {
		case in.Role == "user" && !strings.Contains(string(in.Content), "<environment_context>"):
			q.Prompt, q.Results = contentText(in.Content), nil
			prompts++
		case in.Type == "tool_search_output":
			q.found = true
		case strings.HasSuffix(in.Type, "_call_output"):
			q.Results = append(q.Results, contentText(in.Output))
		}
	}
	q.Earlier = max(prompts-1, 0)
	return q
}

// contentText is the text of a content that is a string or a list of blocks.
func contentText(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(raw, &blocks) // anything else has no text
	var b strings.Builder
	for _, block := range blocks {
		b.WriteString(block.Text)
	}
	return b.String()
}

// respond streams a response.
func respond(out stream, model string, q Query, reply Reply) {
	response := map[string]any{"id": "resp_1", "object": "response", "model": model, "status": "in_progress", "output": []any{}}
	out.send("response.created", map[string]any{"response": response})
	switch {
	case reply.Cut:
		return
	case reply.Failed != "":
		response["status"], response["error"] = "failed", map[string]any{"code": reply.Failed, "message": cmp.Or(reply.Text, "the model failed: "+reply.Failed)}
		out.send("response.failed", map[string]any{"response": response})
		return
	}
	item := outputItem(q, reply)
	out.send("response.output_item.done", map[string]any{"output_index": 0, "item": item})
	response["status"], response["output"] = "completed", []any{item}
	response["usage"] = map[string]any{
		"input_tokens": InputTokens, "input_tokens_details": map[string]any{"cached_tokens": CachedTokens},
		"output_tokens": OutputTokens, "output_tokens_details": map[string]any{"reasoning_tokens": 0},
		"total_tokens": InputTokens + OutputTokens,
	}
	out.send("response.completed", map[string]any{"response": response})
}

func outputItem(q Query, reply Reply) map[string]any {
	if item, ok := freeItem(q, reply); ok {
		return item
	}
	if reply.Give != nil {
		return givenAnswer(q, reply.Give)
	}
	call := reply.Tool
	if reply.Run != "" {
		call = &Call{Name: "exec_command", Input: map[string]any{"cmd": reply.Run, "yield_time_ms": 10000}}
		for _, name := range q.Tools {
			if name == "shell_command" {
				call = &Call{Name: name, Input: map[string]any{"command": reply.Run}}
			}
		}
	}
	if call != nil {
		return map[string]any{"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": call.Name, "arguments": text(call.Input), "status": "completed"}
	}
	say := reply.Text
	switch {
	case reply.Refuse:
		return message(map[string]any{"type": "refusal", "refusal": "I cannot help with that."})
	case reply.Answer != nil:
		say = text(inFinal(q.Schema, reply.Answer))
	}
	return message(map[string]any{"type": "output_text", "text": say, "annotations": []any{}})
}

// givenAnswer is the call of the tool for the answer. codex shows no MCP tool before the
// model has searched for it.
func givenAnswer(q Query, answer any) map[string]any {
	if !q.found {
		return map[string]any{
			"type": "tool_search_call", "id": "ts_1", "call_id": "call_1", "status": "completed", "execution": "client",
			"arguments": map[string]any{"query": giveTool},
		}
	}
	return map[string]any{
		"type": "function_call", "id": "fc_1", "call_id": "call_1", "namespace": giveServer, "name": giveTool, "arguments": text(answer), "status": "completed",
	}
}

func message(content map[string]any) map[string]any {
	return map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": []any{content}}
}

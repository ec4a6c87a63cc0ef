package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// packet is a message of JSON-RPC, in the Agent Client Protocol and in that of the tool's server.
type packet struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  any             `json:"params,omitempty"`
	Result  any             `json:"result,omitempty"`
}

// server is the one that has the tool, as a session is given it.
type server struct {
	Command string   `json:"command"`
	Args    []string `json:"args"`
}

// speak is an agent of the Agent Client Protocol. What it does is up to the rig, which is told the
// task that the tool has: the prompt is words.
func speak(m message, said *json.Encoder, heard *json.Decoder) error {
	in, out := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	const session = "session"
	var tool server
	for {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Servers []server `json:"mcpServers"`
			} `json:"params"`
		}
		if err := in.Decode(&asked); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		var result any
		switch asked.Method {
		case "initialize":
			result = map[string]any{"protocolVersion": 1}
		case "session/new":
			if len(asked.Params.Servers) != 1 {
				return fmt.Errorf("it is given %d servers", len(asked.Params.Servers))
			}
			tool, result = asked.Params.Servers[0], map[string]any{"sessionId": session}
		case "session/prompt":
			final, err := work(m, tool, said, heard)
			if err != nil || final == "" {
				return err
			}
			update := map[string]any{"sessionUpdate": "agent_message_chunk", "content": map[string]any{"type": "text", "text": final}}
			if err := out.Encode(packet{Version: "2.0", Method: "session/update", Params: map[string]any{"sessionId": session, "update": update}}); err != nil {
				return err
			}
			result = map[string]any{"stopReason": "end_turn", "usage": map[string]any{"inputTokens": 100, "outputTokens": 10}}
		default:
			continue
		}
		if err := out.Encode(packet{Version: "2.0", ID: asked.ID, Result: result}); err != nil {
			return err
		}
	}
}

// work has the rig do the work, and answers as it says; final is the last message.
func work(m message, tool server, said *json.Encoder, heard *json.Decoder) (final string, err error) {
	raw, err := os.ReadFile(filepath.Join(tool.Args[len(tool.Args)-1], "task.json"))
	if err != nil {
		return "", err
	}
	task := map[string]any{}
	if err := json.Unmarshal(raw, &task); err != nil {
		return "", err
	}
	task["turn"], task["mode"] = os.Getenv("MERGEXO_TURN"), "write"
	if m.Input, err = json.Marshal(task); err != nil {
		return "", err
	}
	if err := said.Encode(m); err != nil {
		return "", err
	}
	var order message
	if err := heard.Decode(&order); err != nil {
		return "", err
	}
	var worded struct {
		Answer json.RawMessage `json:"answer"`
	}
	if err := json.Unmarshal([]byte(order.Output), &worded); err != nil {
		return "", err
	}
	if order.Do != "answer" {
		return `{"answer":` + string(worded.Answer) + `}`, nil
	}
	if err := give(tool, worded.Answer); err != nil {
		return "", err
	}
	if err := said.Encode(message{}); err != nil { // the rig may kill us here
		return "", err
	}
	return `{"answer":null}`, heard.Decode(&order)
}

// give calls the tool.
func give(tool server, answer json.RawMessage) error {
	c := exec.Command(tool.Command, tool.Args...)
	c.Stderr = os.Stderr
	stdin, err := c.StdinPipe()
	if err != nil {
		return err
	}
	stdout, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return err
	}
	to, from := json.NewEncoder(stdin), json.NewDecoder(stdout)
	for _, p := range []packet{
		{ID: json.RawMessage("1"), Method: "initialize", Params: map[string]any{"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "helper", "version": "1"}}},
		{Method: "notifications/initialized"},
		{ID: json.RawMessage("2"), Method: "tools/call", Params: map[string]any{"name": "answer", "arguments": answer}},
	} {
		p.Version = "2.0"
		if err := to.Encode(p); err != nil {
			return err
		}
		if p.ID == nil {
			continue
		}
		var said struct {
			Error  json.RawMessage `json:"error"`
			Result struct {
				Refused bool            `json:"isError"`
				Content json.RawMessage `json:"content"`
			} `json:"result"`
		}
		if err := from.Decode(&said); err != nil {
			return err
		}
		if said.Error != nil || said.Result.Refused {
			return fmt.Errorf("the tool refuses: %s%s", said.Error, said.Result.Content)
		}
	}
	if err := stdin.Close(); err != nil {
		return err
	}
	return c.Wait()
}

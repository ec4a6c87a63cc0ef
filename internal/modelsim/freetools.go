package modelsim

import (
	"encoding/json"
	"slices"
)

// codex's tools that take free text: one that changes files, and one of newer
// models that runs JavaScript, in which its other tools are functions.
const (
	applyPatch = "apply_patch"
	codeMode   = "exec"
)

func freeCall(tool, input string) map[string]any {
	return map[string]any{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": tool, "input": input, "status": "completed"}
}

// freeItem is the call of such a tool, where the reply needs one.
func freeItem(q Query, reply Reply) (map[string]any, bool) {
	inCode := slices.Contains(q.Tools, codeMode)
	switch {
	case reply.Patch != "" && inCode:
		return freeCall(codeMode, "text(await tools.apply_patch("+text(reply.Patch)+"));"), true
	case reply.Patch != "":
		return freeCall(applyPatch, reply.Patch), true
	case reply.Give != nil && inCode:
		return freeCall(codeMode, "text(JSON.stringify(await tools."+giveServer+"__"+giveTool+"("+text(reply.Give)+")));"), true
	case reply.Run != "" && inCode:
		return freeCall(codeMode, "text(await tools.exec_command("+text(map[string]any{"cmd": reply.Run, "yield_time_ms": 10000})+"));"), true
	}
	return nil, false
}

// toolsWithin are the names of the tools that come in the conversation, as
// newer models have them, some in groups.
func toolsWithin(raw json.RawMessage) []string {
	var req struct {
		Input []struct {
			Type  string `json:"type"`
			Tools []tool `json:"tools"`
		} `json:"input"`
	}
	_ = json.Unmarshal(raw, &req) // it was read before
	var names []string
	for _, in := range req.Input {
		if in.Type == "additional_tools" {
			names = append(names, toolNames(in.Tools)...)
		}
	}
	return names
}

type tool struct {
	Name  string `json:"name"`
	Tools []tool `json:"tools"` // of a group
}

func toolNames(list []tool) []string {
	var names []string
	for _, t := range list {
		names = append(append(names, t.Name), toolNames(t.Tools)...)
	}
	return names
}

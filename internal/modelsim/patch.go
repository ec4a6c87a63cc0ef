package modelsim

// applyPatch is codex's tool for changing files. It takes free text.
const applyPatch = "apply_patch"

// patchCall is the call of codex's tool with a patch. claude has no such tool,
// and says so.
func patchCall(patch string) map[string]any {
	return map[string]any{"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": applyPatch, "input": patch, "status": "completed"}
}

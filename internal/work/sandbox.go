package work

// Sandbox names what stands between an agent and the operator's files.
type Sandbox string

// The sandboxes. SandboxAuto is a wish only: the best that the machine has.
const (
	SandboxAuto  Sandbox = "auto"
	SandboxBwrap Sandbox = "bwrap"        // Linux: bubblewrap
	SandboxMac   Sandbox = "sandbox-exec" // macOS
	SandboxAgent Sandbox = "agent"        // the agent's own, which hides no file
	SandboxNone  Sandbox = "none"
)

// Sandboxes are the words that the config knows.
func Sandboxes() []Sandbox {
	return []Sandbox{SandboxAuto, SandboxBwrap, SandboxMac, SandboxAgent, SandboxNone}
}

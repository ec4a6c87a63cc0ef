package work

// Sandbox names what stands between an agent and the operator's files.
type Sandbox string

// The sandboxes. SandboxAuto and SandboxRequired are wishes only: the best
// that the machine has.
const (
	SandboxAuto     Sandbox = "auto"
	SandboxRequired Sandbox = "required"     // as auto, but one that hides files or nothing
	SandboxBwrap    Sandbox = "bwrap"        // Linux: bubblewrap
	SandboxMac      Sandbox = "sandbox-exec" // macOS
	SandboxAgent    Sandbox = "agent"        // the agent's own, which hides no file
	SandboxNone     Sandbox = "none"
)

// Hides reports whether the operator's files are out of the agent's sight.
func (s Sandbox) Hides() bool { return s == SandboxBwrap || s == SandboxMac }

// Sandboxes are the words that the config knows.
func Sandboxes() []Sandbox {
	return []Sandbox{SandboxAuto, SandboxRequired, SandboxBwrap, SandboxMac, SandboxAgent, SandboxNone}
}

// Purpose is what a command runs for in a sandbox.
type Purpose string

// The purposes.
const (
	RunsAgent Purpose = "agent"
	RunsTests Purpose = "tests" // the repository's required tests: code that the agent wrote
)

// Job is what a sandbox must know of a command that runs in it.
type Job struct {
	Dir  string // required; the checkout, absolute
	Item int    // number of the work item, whose home folder the agent finds again; 0: an empty one
	Role string // whose part it plays; empty: the author's. What one part leaves at home no other finds
	For  Purpose
}

package work

// Sandbox is what protects the operator's files from an agent.
type Sandbox string

// The sandboxes. SandboxAuto and SandboxRequired are only settings: the best sandbox that the
// machine has.
const (
	SandboxAuto     Sandbox = "auto"
	SandboxRequired Sandbox = "required"     // like auto, but fails without a sandbox that hides files
	SandboxBwrap    Sandbox = "bwrap"        // Linux: bubblewrap
	SandboxMac      Sandbox = "sandbox-exec" // macOS
	SandboxAgent    Sandbox = "agent"        // the agent's own sandbox, which hides no files
	SandboxNone     Sandbox = "none"
)

// Hides reports whether the sandbox hides the operator's files from the agent.
func (s Sandbox) Hides() bool { return s == SandboxBwrap || s == SandboxMac }

// Sandboxes lists the values of the config.
func Sandboxes() []Sandbox {
	return []Sandbox{SandboxAuto, SandboxRequired, SandboxBwrap, SandboxMac, SandboxAgent, SandboxNone}
}

// Purpose is what a command in a sandbox is for.
type Purpose string

// The purposes.
const (
	RunsAgent Purpose = "agent"
	RunsTests Purpose = "tests" // the repository's required tests and set-up: its own code, without the agent's login
)

// Job is what a sandbox needs to know about its command.
type Job struct {
	Dir    string // required; the checkout, absolute
	Item   int    // number of the work item, whose home folder is kept between runs; 0: an empty home folder
	Answer string // a folder beside the checkout in which the agent's tool leaves the answer; empty: none
	Role   string // the agent's role; empty: the author. Each role has its own home folder
	For    Purpose
	Mark   string // "NAME=value" in the environment of the run's processes, by which a later pass finds its sandbox

	Offline bool // the command gets no network
}

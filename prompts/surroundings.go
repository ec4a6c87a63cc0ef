package prompts

import (
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts/public"
)

// Surroundings is an agent's environment according to the config.
type Surroundings struct {
	Adapter       string   `json:"adapter"` // command, acp, codex or claude: it decides how the answer is given
	Shell         bool     `json:"shell"`   // the agent can run commands
	Network       Network  `json:"network"` // of the commands that it runs
	TurnSeconds   int      `json:"turn_timeout_seconds"`
	IdleSeconds   int      `json:"idle_timeout_seconds"`
	RequiredTests []string `json:"required_tests"` // program and arguments; none: none
	TestSeconds   int      `json:"test_timeout_seconds"`
	Setup         *Setup   `json:"setup"` // null: the repository has none, or it does not run for this kind of turn
}

// Setup is what the repository's set-up did for a checkout.
type Setup struct {
	Command []string `json:"command"`            // program and arguments
	Made    []string `json:"made"`               // what is in the checkout of it: files and folders that git ignores
	Altered []string `json:"altered_lock_files"` // lock files that the change alters, so that it had no network
	Failure string   `json:"failure"`            // why it failed; empty: it did not
	Output  string   `json:"output"`             // the end of its output, if it failed
}

// Adapters with their own way to answer. All others get the instructions of a program that reads
// the schema with the prompt.
const (
	AdapterClaude = "claude"
	AdapterCodex  = "codex"
	AdapterACP    = "acp"
)

// Network is the network access of an agent's commands.
type Network string

// The networks.
const (
	NetworkNone    Network = "none"
	NetworkOpen    Network = "open"
	NetworkUnknown Network = "unknown"
)

// Bounds of commands and of a set-up's output, in characters, and of the paths that it made.
const (
	maxCommand     = 4000
	maxSetupOutput = 4000
	maxSetupPaths  = 20
)

func prepareSurroundings(s Surroundings) Surroundings {
	tidy(&s.Adapter)
	switch s.Network {
	case NetworkNone, NetworkOpen:
	case NetworkUnknown:
	default:
		s.Network = NetworkUnknown
	}
	s.RequiredTests = slices.Clone(s.RequiredTests)
	for i, arg := range s.RequiredTests {
		s.RequiredTests[i] = public.Visible(arg)
	}
	if s.RequiredTests == nil {
		s.RequiredTests = []string{}
	}
	s.Setup = prepareSetup(s.Setup)
	return s
}

func prepareSetup(s *Setup) *Setup {
	if s == nil {
		return nil
	}
	out := Setup{
		Command: lines(s.Command, maxSentences), Made: lines(s.Made, maxSetupPaths), Altered: lines(s.Altered, maxSetupPaths), Failure: line(s.Failure),
		Output: cutHead(public.Visible(s.Output), maxSetupOutput),
	}
	return &out
}

// commandLine returns a command as typed into a shell, in a block of its own; "" if there is none.
func commandLine(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	return "```sh\n" + cut(work.CommandLine(argv), maxCommand) + "\n```"
}

// limit returns a time limit in words; "" if there is none.
func limit(seconds int) string {
	unit, n := "second", seconds
	switch {
	case seconds <= 0:
		return ""
	case seconds%3600 == 0:
		unit, n = "hour", seconds/3600
	case seconds%60 == 0:
		unit, n = "minute", seconds/60
	}
	if n != 1 {
		unit += "s"
	}
	return fmt.Sprintf("%d %s", n, unit)
}

package prompts

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
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
}

// Adapters with their own way to answer. All others get the instructions of a program that reads
// the schema with the prompt.
const (
	AdapterClaude = "claude"
	AdapterCodex  = "codex"
)

// Network is the network access of an agent's commands.
type Network string

// The networks.
const (
	NetworkNone    Network = "none"
	NetworkOpen    Network = "open"
	NetworkUnknown Network = "unknown"
)

// maxCommand bounds the required tests' command, in characters.
const maxCommand = 4000

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
	return s
}

// plainWord matches what a shell reads as one word without quotes.
var plainWord = lazy.Regexp(`^[A-Za-z0-9_@%+=:,./-]+$`)

// commandLine returns a command as typed into a shell, in a block of its own; "" if there is none.
func commandLine(argv []string) string {
	if len(argv) == 0 {
		return ""
	}
	words := make([]string, 0, len(argv))
	for _, arg := range argv {
		if !plainWord().MatchString(arg) {
			arg = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
		}
		words = append(words, arg)
	}
	return "```sh\n" + cut(strings.Join(words, " "), maxCommand) + "\n```"
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

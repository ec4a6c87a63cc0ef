//go:build linux

package agent_test

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/agent"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// Whichever agent takes more than it may is ended for that and says so: it did
// not fail, and no provider is down.
func TestAgentsThatTakeTooMuchAreEndedForThat(t *testing.T) {
	testhome.OnlyLong(t)
	const (
		memory = "used more than 100 MiB of memory"
		many   = "ran more than 60 processes at a time"
		stderr = "wrote more than 16 MiB to standard error"
		output = "wrote more than 64 MiB of output"
	)
	tests := []struct{ name, script, want string }{
		{"grows", `tail /dev/zero; exit 0`, memory},
		{"grows and ignores signals", `trap '' TERM INT; tail /dev/zero & wait`, memory},
		{"multiplies", `for i in $(seq 80); do sleep 60 & done; wait`, many},
		{"floods its log", `exec yes 'a line that is long enough to be read soon' >&2`, stderr},
		{"floods its log while its provider is down", `echo '{"type":"error","message":"Reconnecting... 1/5"}'; exec yes 'a line of the log' >&2`, stderr},
		{"floods its output", `exec yes '{"type":"item.completed","item":{"type":"reasoning","text":"and so on, for longer than anybody reads it"}}'`, output},
	}
	for _, adapter := range []string{codexName, claudeName, commandName} {
		for _, tt := range tests {
			if adapter == commandName && tt.want == output {
				continue // one document: what is wrong with it is for a repair
			}
			t.Run(adapter+" "+tt.name, func(t *testing.T) {
				s := spec(t, program(t, "cat >/dev/null; "+tt.script))
				s.Adapter, s.Now, s.MaxMemory, s.MaxProcesses = adapters[adapter], time.Now, 100<<20, 60
				r := request(t)
				r.Session, r.Wall = "", time.Minute
				_, err := run(t, s, r)
				if e, ok := errors.AsType[*agent.LimitError](err); !ok || e.Did != tt.want {
					t.Errorf("got %v", err)
				}
			})
		}
	}
}

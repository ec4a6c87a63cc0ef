package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Tool is a sandbox program that works on this machine.
type Tool struct {
	Kind work.Sandbox
	path string
	root bool // we are root

	secrets func() []string // systemSecrets, found once
	filters bool            // it can filter system calls
}

// probeTime limits a sandbox that runs nothing.
const probeTime = 10 * time.Second

// Find looks for this system's sandbox program in a list of folders and tries it. Its error is for
// people and tells what is missing.
func Find(ctx context.Context, path string) (Tool, error) {
	t := Tool{root: os.Getuid() == 0, secrets: sync.OnceValue(systemSecrets)}
	switch runtime.GOOS {
	case "linux":
		t.Kind = work.SandboxBwrap
	case "darwin":
		t.Kind = work.SandboxMac
	default:
		return Tool{}, fmt.Errorf("there is none for %s", runtime.GOOS)
	}
	var err error
	if t.path, err = proc.LookPath(string(t.Kind), path); err != nil {
		return Tool{}, fmt.Errorf("%s is not installed", t.Kind)
	}
	t.filters = t.Kind == work.SandboxBwrap
	if err = t.try(ctx, path); err != nil && t.filters { // the kernel may lack filters
		t.filters = false
		err = t.try(ctx, path)
	}
	if err != nil {
		return Tool{}, fmt.Errorf("%s does not work: %w", t.Kind, err)
	}
	return t, nil
}

// try runs true in a sandbox of the system's folders.
func (t Tool) try(ctx context.Context, path string) error {
	nothing, err := proc.LookPath("true", path)
	if err != nil {
		return err
	}
	l := newLayout(Box{Path: path}, "")
	l.systemFolders()
	l.program(nothing, "a trial", programDepth)
	var filter []byte
	argv := []string{t.path}
	if t.filters {
		filter, argv = callFilter(), append(argv, "--seccomp", "0")
	}
	argv = slices.Concat(argv, t.bwrap(l.entries(), "", work.Job{Dir: "/"}), []string{nothing})
	if t.Kind == work.SandboxMac {
		argv = []string{t.path, "-p", profile(nil, false), nothing}
	}
	res, err := proc.Run(ctx, proc.Cmd{Path: argv[0], Args: argv[1:], Dir: "/", Env: []string{"PATH=" + path}, Stdin: filter, Wall: probeTime, Sandbox: true})
	switch {
	case err != nil:
		return err
	case res.Code != 0:
		lines := strings.Split(strings.TrimSpace(string(res.Stderr)), "\n")
		return errors.New(lines[len(lines)-1])
	}
	return nil
}

// Protection is the protection in force for an agent.
type Protection struct {
	Kind work.Sandbox
	Why  string // why it is not better; empty if it is the best
}

// Hides reports whether the operator's files are hidden from the agent.
func (p Protection) Hides() bool { return p.Kind.Hides() }

// String describes the protection for people.
func (p Protection) String() string {
	switch p.Kind {
	case work.SandboxBwrap, work.SandboxMac:
		return "sandboxed by " + string(p.Kind)
	case work.SandboxAgent:
		return "only the agent's own sandbox, which hides no file" + because(p.Why)
	case work.SandboxNone, work.SandboxAuto, work.SandboxRequired:
	}
	return "no sandbox: it can read what you can read" + because(p.Why)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return " (" + why + ")"
}

// Own is whether an agent's program has its own sandbox.
type Own string

// Values of Own.
const (
	NoneOfItsOwn Own = ""
	HasItsOwn    Own = "own"
	// NeedsOne is a program without one that acts without asking, which the config only lets run
	// unprotected by name.
	NeedsOne Own = "needs"
)

// Choose selects an agent's protection. tool and missing are the results of Find. If the config
// demands what the machine lacks, the agent is blocked: it never runs with less than demanded.
func Choose(asked work.Sandbox, own Own, tool Tool, missing error) (Protection, error) {
	switch asked {
	case work.SandboxNone:
		return Protection{Kind: work.SandboxNone, Why: `sandbox = "none"`}, nil
	case work.SandboxAgent:
		if own == HasItsOwn {
			return Protection{Kind: work.SandboxAgent, Why: `sandbox = "agent"`}, nil
		}
		return Protection{}, demanded(asked, errors.New("programs of this adapter have no known sandbox"))
	case work.SandboxBwrap, work.SandboxMac:
		if missing == nil && tool.Kind != asked {
			missing = fmt.Errorf("this system has %s instead", tool.Kind)
		}
		if missing != nil {
			return Protection{}, demanded(asked, missing)
		}
		return Protection{Kind: asked}, nil
	case work.SandboxAuto, work.SandboxRequired:
	}
	switch {
	case missing == nil:
		return Protection{Kind: tool.Kind}, nil
	case asked == work.SandboxRequired:
		return Protection{}, required(missing)
	case own == NeedsOne:
		return Protection{}, demanded(asked, fmt.Errorf("%w; agents of adapter \"acp\" run only in a sandbox that hides files, or with sandbox = \"none\"", missing))
	case own == HasItsOwn:
		return Protection{Kind: work.SandboxAgent, Why: missing.Error()}, nil
	}
	return Protection{Kind: work.SandboxNone, Why: missing.Error()}, nil
}

func demanded(asked work.Sandbox, err error) error {
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhySandboxMissing, Name: string(asked), Text: err.Error()}, Err: err}
}

// required returns the error that nothing starts without a sandbox that hides files, with advice
// how to get one.
func required(err error) error {
	return &work.BlockedError{
		Reason: work.Reason{Kind: work.WhySandboxMissing, Name: string(work.SandboxRequired), Text: err.Error(), Advice: Remedy()},
		Err:    err,
	}
}

// Remedy tells how to get a sandbox that hides files.
func Remedy() string {
	if runtime.GOOS == "linux" {
		return "install the package bubblewrap and let it make user namespaces (docs/security.md)"
	}
	return "use a machine with Linux or macOS"
}

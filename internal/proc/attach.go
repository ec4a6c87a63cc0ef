package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
)

// Streams are a program's standard ones.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Attach runs a program for a person who waits: it has their streams, and ends
// when it likes or with ctx. It gives the exit code; an error is a program that
// could not be started, or ctx's.
func Attach(ctx context.Context, c Cmd, s Streams) (int, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.WaitDelay = drainDelay // of what it leaves behind nobody waits for the words
	p := &process{Cmd: c, cmd: cmd, exited: make(chan struct{})}
	if c.OwnKeyring {
		runtime.LockOSThread() // the keyring is the thread's, and nobody else's
		if err := joinNewKeyring(); err != nil {
			return 0, err
		}
	}
	if err := p.startChild(); err != nil {
		return 0, errors.Join(fmt.Errorf("start %q: %w", c.Path, err), ctx.Err())
	}
	p.await()
	if ctx.Err() != nil {
		return 0, ctx.Err()
	}
	return exitCode(cmd.ProcessState), nil
}

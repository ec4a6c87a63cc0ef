package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
)

// Streams are a program's standard streams.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Attach runs a program for a waiting person, with their streams, until it exits or ctx ends. It
// returns the exit code. An error means that the program could not be started, or is ctx's.
func Attach(ctx context.Context, c Cmd, s Streams) (int, error) {
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Dir, cmd.Env = c.Dir, append([]string{}, c.Env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.In, s.Out, s.Err
	cmd.WaitDelay = drainDelay // do not wait for output of descendants
	p := &process{Cmd: c, cmd: cmd, exited: make(chan struct{})}
	if c.OwnKeyring {
		runtime.LockOSThread() // the keyring belongs to the thread, which must run nothing else
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

package proc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// Conversation is a program that answers several queries: it reads them from standard input and
// answers on standard output until its input is closed.
type Conversation struct {
	In  io.Writer
	Out io.Reader

	process *process
	in, out io.Closer
	end     func()
}

// endDelay is how long a program may take to end after its input is closed.
const endDelay = time.Second

// Converse starts a program for several queries. It uses Path, Args, Dir, Env and DieWithParent of
// the Cmd. The caller must call End. If we are killed instead, the program's input ends.
func Converse(c Cmd) (*Conversation, error) {
	began := make(chan error)
	var talk *Conversation
	go func() {
		if c.DieWithParent { // for the kernel the parent is the thread, as in Run
			runtime.LockOSThread()
		}
		var err error
		talk, err = converse(c)
		began <- err
		if err == nil {
			talk.process.await()
		}
	}()
	if err := <-began; err != nil {
		return nil, fmt.Errorf("start %q: %w", c.Path, err)
	}
	return talk, nil
}

func converse(c Cmd) (*Conversation, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inR.Close(), inW.Close())
	}
	p := &process{Cmd: c, exited: make(chan struct{}), stderr: newCapture(keepTail, maxStderr, nil)}
	p.cmd = exec.CommandContext(context.Background(), c.Path, c.Args...) //nolint:forbidigo // the caller ends it
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = c.Dir, append([]string{}, c.Env...), attributes(c)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, tail{p.stderr}
	p.cmd.WaitDelay = drainDelay // do not wait for a descendant that holds standard error open
	err = p.startChild()
	_ = inR.Close()
	_ = outW.Close()
	if err != nil {
		return nil, errors.Join(err, inW.Close(), outR.Close())
	}
	talk := &Conversation{In: inW, Out: outR, process: p, in: inW, out: outR}
	talk.end = sync.OnceFunc(talk.close)
	return talk, nil
}

// tail writes to a capture.
type tail struct{ of *capture }

func (t tail) Write(b []byte) (int, error) {
	t.of.add(b)
	return len(b), nil
}

// End lets the program exit, or kills it after endDelay. The program is gone when End returns.
func (c *Conversation) End() { c.end() }

func (c *Conversation) close() {
	_ = c.in.Close()
	_ = c.out.Close()
	patience := time.NewTimer(endDelay)
	defer patience.Stop()
	select {
	case <-c.process.exited:
		return
	case <-patience.C:
	}
	c.Kill()
	<-c.process.exited
}

// Kill kills the program at once; a pending query gets no answer.
func (c *Conversation) Kill() { killGroup(context.Background(), c.process.cmd.Process) } //nolint:forbidigo // kills the program even if the pass's context has ended

// Stderr returns the end of the program's standard error.
func (c *Conversation) Stderr() string { return string(c.process.stderr.bytes()) }

// Code returns the program's exit code; call it only after its end.
func (c *Conversation) Code() int { return exitCode(c.process.cmd.ProcessState) }

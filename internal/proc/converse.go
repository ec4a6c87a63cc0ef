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

// Conversation is a program that lives for more than one answer: it is asked by its
// standard input, and answers on its standard output until the first is closed.
type Conversation struct {
	In  io.Writer
	Out io.Reader

	process *process
	in, out io.Closer
	end     func()
}

// endDelay is how long a program may take to end once nobody asks it any more.
const endDelay = time.Second

// Converse starts a program to talk to. Of the Cmd its path, arguments, folder and
// environment count, and DieWithParent; whoever starts it ends it. Where nobody can,
// since we were killed, its input is at its end.
func Converse(c Cmd) (*Conversation, error) {
	began := make(chan error)
	var talk *Conversation
	go func() {
		if c.DieWithParent { // the kernel's parent is the thread, see Run
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
	p.cmd = exec.CommandContext(context.Background(), c.Path, c.Args...) //nolint:forbidigo // whoever converses ends it
	p.cmd.Dir, p.cmd.Env, p.cmd.SysProcAttr = c.Dir, append([]string{}, c.Env...), attributes(c)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, tail{p.stderr}
	p.cmd.WaitDelay = drainDelay // a descendant that holds standard error open keeps nobody waiting
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

// tail keeps the end of what is written.
type tail struct{ of *capture }

func (t tail) Write(b []byte) (int, error) {
	t.of.add(b)
	return len(b), nil
}

// End lets the program end by itself, or ends it. When it returns the program is gone.
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

// Kill ends the program at once: whoever waits for an answer gets none.
func (c *Conversation) Kill() { killGroup(context.Background(), c.process.cmd.Process) } //nolint:forbidigo // also once the pass is over

// Stderr is the end of what the program wrote to standard error.
func (c *Conversation) Stderr() string { return string(c.process.stderr.bytes()) }

// Code is the program's exit code, once it has ended.
func (c *Conversation) Code() int { return exitCode(c.process.cmd.ProcessState) }

package proc

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Survivors says what becomes of descendants that are still there when the
// program itself has ended.
type Survivors string

// The treatments of survivors.
const (
	EndSurvivors   Survivors = ""      // they are killed
	LeaveSurvivors Survivors = "leave" // they stay: a credential cache, a shared ssh connection
)

// Limit names the limit at which a program was ended.
type Limit string

// The limits. NoLimit says that the program ended by itself.
const (
	NoLimit     Limit = ""
	WallLimit   Limit = "wall"
	IdleLimit   Limit = "idle"
	OutputLimit Limit = "output"
	MemoryLimit Limit = "memory"
	StderrLimit Limit = "standard error"
	DiskLimit   Limit = "disk"
)

const (
	defaultGrace     = 5 * time.Second
	defaultMaxOutput = 16 << 20
	maxStderr        = 64 << 10
	drainDelay       = time.Second // how long pipes may stay open after the program's end
	scanInterval     = time.Second // between two looks at who descends from the program
)

// Cmd is a program to run. The zero value of a limit means none, unless said
// otherwise.
type Cmd struct {
	Path string   // required; as LookPath found it
	Args []string // without the program's own name
	Dir  string
	Env  []string // the whole environment: nothing is inherited

	Stdin  []byte    // written, then closed
	Stdout io.Writer // gets a copy as it comes, if not nil
	Stderr io.Writer // gets a copy as it comes, if not nil

	Wall      time.Duration
	Idle      time.Duration // without a sign of life: output, computing, a stream that comes, Alive
	Grace     time.Duration // between EndSignal and the kill; 0 means 5 s
	EndSignal os.Signal     // nil means SIGTERM
	MaxOutput int64         // bytes of standard output, at which it is ended; 0 means 16 MiB
	MaxStderr int64         // bytes of standard error, at which it is ended; Stderr gets no more
	MaxMemory int64         // bytes that it and its descendants hold together; not on Windows
	Disk      Disk          // what it takes of the disk

	// OutputFile gives the program a file for its standard output, which is gone
	// with it, in place of a pipe: one that ends without waiting until a full
	// pipe is read loses the rest of what it says.
	OutputFile bool
	// Counts says which lines of standard output are signs of life. Nil: all that
	// is written is, to standard error too; else no more than these.
	Counts func(line []byte) bool
	// Active is told of each sign of life that was written, after the first of many at
	// once. It may be nil.
	Active func()
	// Alive is asked when Idle has passed without a sign of life; true is one. It
	// may be nil.
	Alive func(ctx context.Context) bool

	Survivors     Survivors
	Mark          string // "NAME=value" in Env: whoever carries it at the end is killed too
	DieWithParent bool   // Linux: the program is killed when we die
	Wrapper       bool   // it runs another program and dies of signals by itself: EndSignal is for what it runs
	OwnKeyring    bool   // Linux: it gets a new session keyring, and so does not hold the keys of ours
}

// Result is what a program left behind.
type Result struct {
	Stdout    []byte // at most MaxOutput bytes
	Stderr    []byte // the last 64 KiB
	Code      int    // exit code; 128 + n when signal n ended it
	TimedOut  Limit  // WallLimit or IdleLimit when it was ended for that
	Truncated bool   // it wrote more than MaxOutput to standard output, and was ended
	Passed    Limit  // MemoryLimit, DiskLimit or StderrLimit when it was ended for that
}

// Run runs the program to its end. A non-zero exit and a limit are no errors,
// Result says so; an error is a program that could not be started, or ctx's.
func Run(ctx context.Context, c Cmd) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if !c.DieWithParent && !c.OwnKeyring {
		return runHere(ctx, c)
	}
	// The kernel's parent is the thread, which must live as long as we wait; and a
	// keyring is the thread's, which nobody else may get: a goroutine that ends
	// locked takes its thread along.
	var res Result
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		res, err = runHere(ctx, c)
	}()
	<-done
	return res, err
}

// runHere runs the program from the thread that calls.
func runHere(ctx context.Context, c Cmd) (Result, error) {
	defer enterMark(c.Mark)()
	p, err := start(ctx, c)
	if err != nil {
		return Result{}, fmt.Errorf("start %q: %w", c.Path, err)
	}
	limit := p.watch(ctx)
	p.finish(ctx, limit)
	res := Result{
		Stdout: p.stdout.bytes(), Stderr: p.stderr.bytes(),
		Code: exitCode(p.cmd.ProcessState), Truncated: p.stdout.exceeded(),
	}
	switch limit {
	case WallLimit, IdleLimit:
		res.TimedOut = limit
	case MemoryLimit, DiskLimit, StderrLimit:
		res.Passed = limit
	case NoLimit, OutputLimit:
	}
	return res, ctx.Err()
}

// process is a running program.
type process struct {
	Cmd
	cmd            *exec.Cmd
	stdout, stderr *capture
	file           *outputFile   // nil: standard output is a pipe
	pipes          []io.Closer   // our ends
	active         chan struct{} // a sign of life was written
	exited         chan struct{}
	drained        chan struct{} // both pipes are at their end
	family         *family
	memory         memoryMeter
	disk           *diskMeter
}

func start(ctx context.Context, c Cmd) (*process, error) {
	if c.Grace == 0 {
		c.Grace = defaultGrace
	}
	if c.EndSignal == nil {
		c.EndSignal = defaultEndSignal
	}
	if c.MaxOutput == 0 {
		c.MaxOutput = defaultMaxOutput
	}
	p := &process{
		Cmd: c, active: make(chan struct{}, 1), exited: make(chan struct{}), drained: make(chan struct{}),
		stdout: newCapture(keepHead, c.MaxOutput, c.Stdout), stderr: newCapture(keepTail, maxStderr, c.Stderr),
	}
	p.stderr.most, p.memory.most = c.MaxStderr, c.MaxMemory
	// Its end is ours to bring about, by stages; the context must not kill it.
	p.cmd = exec.CommandContext(context.WithoutCancel(ctx), c.Path, c.Args...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = append([]string{}, c.Env...)
	if c.Survivors == LeaveSurvivors && guarding.Load() {
		p.cmd.Env = append(p.cmd.Env, kept())
	}
	p.cmd.SysProcAttr = attributes(c)
	if c.OwnKeyring {
		if err := joinNewKeyring(); err != nil {
			return nil, err
		}
	}
	p.family = newFamily(c.Mark)
	if c.Disk.Most > 0 {
		p.disk = newDiskMeter(ctx, c.Disk, &p.family.now)
	}
	if err := p.connect(); err != nil {
		return nil, err
	}
	p.family.leader = p.cmd.Process.Pid
	go p.await()
	return p, nil
}

// watch waits until the program has ended, and ends it at its limits.
func (p *process) watch(ctx context.Context) Limit {
	wall, stopWall := timer(p.Wall)
	defer stopWall()
	scan := time.NewTicker(scanInterval)
	defer scan.Stop()
	idle, stopIdle := timer(p.Idle)
	defer func() { stopIdle() }()
	memory, stopMemory := p.memory.looks()
	defer stopMemory()
	diskFull, stopLooking := p.lookBeside(ctx)
	defer stopLooking()
	var look stream
	restart := func() {
		stopIdle()
		idle, stopIdle = timer(p.Idle)
		p.family.cpu.reset()
		look = stream{}
	}
	for {
		select {
		case <-p.exited:
			return NoLimit
		case <-p.active:
			restart()
			if p.Active != nil {
				p.Active()
			}
		case <-scan.C:
			p.family.record(ctx)
		case <-ctx.Done():
			p.end(ctx)
			return NoLimit
		case <-p.stdout.full:
			p.end(ctx)
			return OutputLimit
		case <-p.stderr.full:
			p.end(ctx)
			return StderrLimit
		case <-memory:
			if p.memory.passed(ctx, p.family) {
				p.kill(ctx) // it would take more while it is asked
				return MemoryLimit
			}
		case <-diskFull:
			p.kill(ctx) // as above
			return DiskLimit
		case <-wall:
			p.end(ctx)
			return WallLimit
		case <-idle:
			if p.lives(ctx) {
				restart()
				continue
			}
			decided, flows := look.flows(p.family, p.Idle)
			switch {
			case flows:
				restart()
				continue
			case !decided:
				idle, stopIdle = timer(look.window)
				continue
			}
			p.end(ctx)
			return IdleLimit
		}
	}
}

// timer is a timer that never fires for a limit of zero.
func timer(d time.Duration) (<-chan time.Time, func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// end asks the group to end, then kills it and all that was seen of it.
func (p *process) end(ctx context.Context) {
	p.family.record(ctx)
	if !p.Wrapper || !p.family.ask(ctx, p.EndSignal) {
		askGroup(context.WithoutCancel(ctx), p.cmd.Process, p.EndSignal)
	}
	grace := time.NewTimer(p.Grace)
	defer grace.Stop()
	select {
	case <-p.exited:
	case <-grace.C:
		p.kill(ctx)
	}
}

// kill ends the program and all that was seen of it at once.
func (p *process) kill(ctx context.Context) {
	p.family.record(ctx)
	p.family.kill(ctx, p.cmd.Process)
	<-p.exited
}

// finish waits, but not for ever, for the pipes, and ends survivors.
func (p *process) finish(ctx context.Context, limit Limit) {
	delay := time.NewTimer(drainDelay)
	defer delay.Stop()
	select {
	case <-p.drained:
	case <-delay.C:
	}
	if p.Survivors == EndSurvivors || limit != NoLimit || ctx.Err() != nil {
		p.family.record(ctx)
		p.family.kill(ctx, nil)
	}
	if p.Mark != "" {
		_, _ = EndMarked(context.WithoutCancel(ctx), p.Mark) // best effort: a recovering pass looks again
		endOrphans(context.WithoutCancel(ctx), p.Mark)
	}
	if p.file != nil {
		p.file.take(p.stdout, nil) // what survivors wrote until now
	}
	p.stdout.close()
	p.stderr.close()
	p.closePipes()
}

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

// Survivors selects what happens to descendants that outlive the program.
type Survivors string

// Treatments of survivors.
const (
	EndSurvivors   Survivors = ""      // they are killed
	LeaveSurvivors Survivors = "leave" // they stay, such as a credential cache or a shared ssh connection
)

// Limit names the limit at which a program was ended.
type Limit string

// Limits. NoLimit means that the program ended by itself.
const (
	NoLimit     Limit = ""
	WallLimit   Limit = "wall"
	IdleLimit   Limit = "idle"
	OutputLimit Limit = "output"
	MemoryLimit Limit = "memory"
	StderrLimit Limit = "standard error"
	DiskLimit   Limit = "disk"

	ProcessLimit Limit = "processes"
)

const (
	defaultGrace     = 5 * time.Second
	defaultMaxOutput = 16 << 20
	maxStderr        = 64 << 10
	drainDelay       = time.Second // how long pipes may stay open after the program ends
	scanInterval     = time.Second // between two scans for descendants of the program
)

// Cmd is a program to run. The zero value of a limit means no limit, unless noted.
type Cmd struct {
	Path string   // required; as returned by LookPath
	Args []string // without the program's name
	Dir  string
	Env  []string // the whole environment; nothing is inherited

	Stdin  []byte    // written, then closed
	Pipe   []byte    // some hundred bytes that it, and programs that it starts, may read from descriptor 3
	Dialog Dialog    // writes standard input instead of Stdin; may be nil
	Stdout io.Writer // gets a copy as it arrives; may be nil
	Stderr io.Writer // gets a copy as it arrives; may be nil

	Wall         time.Duration
	Idle         time.Duration // without a sign of life: output, computing, received data, Alive
	Grace        time.Duration // between EndSignal and the kill; 0 means 5 s
	EndSignal    os.Signal     // nil means SIGTERM
	MaxOutput    int64         // limit on standard output in bytes; 0 means 16 MiB
	MaxStderr    int64         // limit on standard error in bytes; Stderr gets no more
	MaxMemory    int64         // limit on its and its descendants' memory in bytes
	MaxProcesses int           // limit on the number of its processes: itself and its descendants
	Disk         Disk          // limit on disk use

	// OutputFile replaces the pipe for standard output by a temporary file. A program that exits
	// without waiting until a full pipe is read would lose the rest of its output.
	OutputFile bool
	// Counts reports which lines of standard output are signs of life. If nil, all output is,
	// including standard error; otherwise only these lines.
	Counts func(line []byte) bool
	// Active is called for each written sign of life, once for several at the same time. It may be
	// nil.
	Active func()
	// Alive is called when Idle has passed without a sign of life; true counts as one. It may be
	// nil.
	Alive func(ctx context.Context) bool

	Survivors     Survivors
	Mark          string // "NAME=value" in Env: processes that carry it at the end are killed, too
	DieWithParent bool   // Linux: the program is killed when we die

	// Sandbox means that Path runs another program which sees no other process and no service that
	// could start one. It dies of signals itself: EndSignal goes only to that program.
	Sandbox    bool
	OwnKeyring bool // Linux: it gets a new session keyring without our keys
}

// Dialog is our side of a conversation with a program that is answered while it runs. The program's
// standard input ends when Read returns an error.
type Dialog interface {
	io.Reader
	// Stop asks the program in its own language to end. It does not wait; Grace later, EndSignal
	// follows.
	Stop()
	// Over is closed when nothing more is expected of the program, which is then ended.
	Over() <-chan struct{}
}

// Result is the outcome of a program.
type Result struct {
	Stdout    []byte // at most MaxOutput bytes
	Stderr    []byte // the last 64 KiB
	Code      int    // exit code; 128 + n if signal n ended it
	TimedOut  Limit  // WallLimit or IdleLimit if that ended it
	Truncated bool   // it was ended because it wrote more than MaxOutput
	Passed    Limit  // MemoryLimit, ProcessLimit, DiskLimit or StderrLimit if that ended it
}

// Run runs the program to its end. A non-zero exit code or a limit is in Result, not an error. An
// error means that the program could not be started, or is ctx's.
func Run(ctx context.Context, c Cmd) (Result, error) {
	if err := ctx.Err(); err != nil {
		return Result{}, err
	}
	if !c.DieWithParent && !c.OwnKeyring {
		return runHere(ctx, c)
	}
	// For the kernel the parent is the thread, which must live while we wait. A keyring belongs to
	// the thread, and no other goroutine may get it: a goroutine that ends while locked takes its
	// thread along.
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

// runHere runs the program from the calling thread.
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
	case MemoryLimit, ProcessLimit, DiskLimit, StderrLimit:
		res.Passed = limit
	case NoLimit, OutputLimit:
	}
	return res, ctx.Err()
}

// process is a running program with its pipes and meters.
type process struct {
	Cmd
	cmd            *exec.Cmd
	stdout, stderr *capture
	file           *outputFile   // nil: standard output is a pipe
	pipes          []io.Closer   // our ends
	active         chan struct{} // a sign of life was written
	exited         chan struct{}
	drained        chan struct{} // both pipes reached their end
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
	// We end it ourselves in stages; the context must not kill it.
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

// watch waits until the program exits or ends it at a limit.
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
	over := p.over()
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
			if p.MaxProcesses > 0 && len(p.family.pids()) > p.MaxProcesses {
				p.kill(ctx) // as at the limit of memory
				return ProcessLimit
			}
		case <-over:
			p.end(ctx)
			return NoLimit
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
				p.kill(ctx) // it would take more while it is asked to end
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

// timer returns a channel that never fires for a limit of zero.
func timer(d time.Duration) (<-chan time.Time, func()) {
	if d <= 0 {
		return nil, func() {}
	}
	t := time.NewTimer(d)
	return t.C, func() { t.Stop() }
}

// over returns a channel that is closed when the dialog is over; nil without a dialog.
func (p *process) over() <-chan struct{} {
	if p.Dialog == nil {
		return nil
	}
	return p.Dialog.Over()
}

// stop lets the dialog end by itself for as long as Grace.
func (p *process) stop() {
	if p.Dialog == nil {
		return
	}
	p.Dialog.Stop()
	grace := time.NewTimer(p.Grace)
	defer grace.Stop()
	select {
	case <-p.exited:
	case <-p.over():
	case <-grace.C:
	}
}

// end lets the dialog end, asks the group to end, then kills it and all recorded descendants.
func (p *process) end(ctx context.Context) {
	p.family.record(ctx)
	p.stop()
	if !p.Sandbox || !p.family.ask(ctx, p.EndSignal) {
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

// kill kills the program and all recorded descendants.
func (p *process) kill(ctx context.Context) {
	p.family.record(ctx)
	p.family.kill(ctx, p.cmd.Process)
	<-p.exited
}

// finish waits up to drainDelay for the pipes and ends survivors.
func (p *process) finish(ctx context.Context, limit Limit) {
	delay := time.NewTimer(drainDelay)
	defer delay.Stop()
	select {
	case <-p.drained:
	case <-delay.C:
	}
	p.endSurvivors(ctx, limit)
	if p.file != nil {
		p.file.take(p.stdout, nil) // output that survivors wrote so far
	}
	p.stdout.close()
	p.stderr.close()
	p.closePipes()
}

// endSurvivors ends what outlives the program. What was in a sandbox is looked for only among our
// children; of another program, somebody else's may carry the mark.
func (p *process) endSurvivors(ctx context.Context, limit Limit) {
	if p.Sandbox && adopting() {
		endOrphans(context.WithoutCancel(ctx), p.Mark)
		return
	}
	if p.Survivors == EndSurvivors || limit != NoLimit || ctx.Err() != nil {
		p.family.record(ctx)
		p.family.kill(ctx, nil)
	}
	if p.Mark != "" {
		_, _ = EndMarked(context.WithoutCancel(ctx), p.Mark) // best effort: a recovering pass tries again
		endOrphans(context.WithoutCancel(ctx), p.Mark)
	}
}

//go:build unix

package story

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// clock is the time of a story's world, GitHub's and the program's. It stands: each pass begins a
// second after what happened before it, and otherwise only the story moves the clock. So all that
// people do between two passes, or during one, gets the same time stamp from GitHub. The program is a
// process of its own, so the time is in a file that both have in memory: it is read a hundred times a
// pass.
type clock struct {
	path string
	*shared
}

// shared is what a story and its program have in memory together.
type shared struct {
	now atomic.Int64 // Unix time in nanoseconds; byMachine: the machine's clock
	costs
}

// costs are those of the program in a story, without the runs that were killed.
type costs struct {
	starts    atomic.Int64 // of the program
	processes atomic.Int64 // that it started: git, agents, sandboxes
	cpu       atomic.Int64 // nanoseconds of all these
}

// clockVariable names the clock's file to the program.
const clockVariable = "STORY_CLOCK"

// byMachine says that the story goes by the machine's clock, as other programs of it do.
const byMachine = 0

// openClock opens the clock in a file, which is made where it is missing.
func openClock(path string) (clock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return clock{}, fmt.Errorf("open the story's clock: %w", err)
	}
	defer f.Close()
	if err := f.Truncate(int64(os.Getpagesize())); err != nil {
		return clock{}, fmt.Errorf("make the story's clock: %w", err)
	}
	page, err := unix.Mmap(int(f.Fd()), 0, os.Getpagesize(), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return clock{}, fmt.Errorf("map the story's clock: %w", err)
	}
	return clock{path: path, shared: (*shared)(unsafe.Pointer(unsafe.SliceData(page)))}, nil
}

// newClock makes a clock that stands at the present second.
func newClock(path string) (clock, error) {
	c, err := openClock(path)
	if err == nil {
		c.now.Store(time.Now().Truncate(time.Second).UnixNano())
	}
	return c, err
}

// Now is the time of the world.
func (c clock) Now() time.Time {
	at := c.now.Load()
	if at == byMachine {
		return time.Now()
	}
	return time.Unix(0, at)
}

// stands reports whether the story has a clock of its own.
func (c clock) stands() bool { return c.now.Load() != byMachine }

// later moves the clock.
func (c clock) later(d time.Duration) error {
	if !c.stands() {
		return errors.New("this story goes by the machine's clock, which nobody moves")
	}
	c.now.Add(int64(d))
	return nil
}

// hour moves the clock to the next full hour. What has its turn each so often has it at a moment of
// the hour: a story that counts what a pass asks begins at the same one, whenever it runs.
func (c clock) hour() error {
	now := c.Now()
	return c.later(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
}

// run has the story go by the machine's clock.
func (c clock) run() { c.now.Store(byMachine) }

// cmdLater lets time pass, for GitHub and for the program.
func cmdLater(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: later DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	ts.Check(worldOf(ts).clock.later(d))
}

// cmdClock moves the world's clock to the next full hour.
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || args[0] != "hour" {
		ts.Fatalf("usage: clock hour")
	}
	ts.Check(worldOf(ts).clock.hour())
}

// cmdHubClock sets GitHub's clock apart from the program's.
func cmdHubClock(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hub-clock DURATION")
	}
	d, err := time.ParseDuration(args[0])
	ts.Check(err)
	worldOf(ts).skew.Store(int64(d))
}

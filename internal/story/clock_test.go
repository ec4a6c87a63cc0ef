//go:build unix

package story

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// clock is the time of a story's world, GitHub's and the program's. It stands: each pass begins a
// second after what happened before it, and otherwise only the story moves the clock. So all that
// people do between two passes, or during one, gets the same time stamp from GitHub. The time is in a
// file, since the program is a process of its own.
type clock struct{ path string }

// clockVariable names the clock's file to the program.
const clockVariable = "STORY_CLOCK"

// byMachine is what the file says if the story goes by the machine's clock, as other programs of it do.
const byMachine = "machine"

// machineNow is the clock of the program in a story, or nil outside of a story.
func machineNow() func() time.Time {
	c := clock{path: os.Getenv(clockVariable)}
	if c.path == "" {
		return nil
	}
	if len(os.Args) > 1 && os.Args[1] == "tick" && c.stands() {
		if err := c.later(time.Second); err != nil {
			panic(err)
		}
	}
	return c.Now
}

// newClock makes a clock that stands at the present second.
func newClock(path string) (clock, error) {
	c := clock{path: path}
	return c, c.set(time.Now().Truncate(time.Second))
}

// Now is the time of the world.
func (c clock) Now() time.Time {
	text, err := os.ReadFile(c.path)
	if err != nil {
		panic(err) // a story without a clock is none
	}
	if string(text) == byMachine {
		return time.Now()
	}
	at, err := strconv.ParseInt(string(text), 10, 64)
	if err != nil {
		panic(err)
	}
	return time.Unix(0, at)
}

// stands reports whether the story has a clock of its own.
func (c clock) stands() bool {
	text, err := os.ReadFile(c.path)
	return err == nil && string(text) != byMachine
}

// later moves the clock.
func (c clock) later(d time.Duration) error {
	if !c.stands() {
		return errors.New("this story goes by the machine's clock, which nobody moves")
	}
	return c.set(c.Now().Add(d))
}

// hour moves the clock to the next full hour. What has its turn each so often has it at a moment of
// the hour: a story that counts what a pass asks begins at the same one, whenever it runs.
func (c clock) hour() error {
	now := c.Now()
	return c.later(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
}

// run has the story go by the machine's clock.
func (c clock) run() error { return c.write(byMachine) }

func (c clock) set(t time.Time) error { return c.write(strconv.FormatInt(t.UnixNano(), 10)) }

// write puts the clock where the program finds it, whole at each moment.
func (c clock) write(text string) error {
	next, err := os.CreateTemp(filepath.Dir(c.path), "clock")
	if err != nil {
		return fmt.Errorf("set the story's clock: %w", err)
	}
	_, err = next.WriteString(text)
	if err := errors.Join(err, next.Close(), os.Rename(next.Name(), c.path)); err != nil {
		return fmt.Errorf("set the story's clock: %w", err)
	}
	return nil
}

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

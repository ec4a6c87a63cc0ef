//go:build unix

package story

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// clock is the time of a story's world, GitHub's and the program's: it runs as any clock does, and
// a story moves it or has it stand. The program reads it from a file, since it is a process of its
// own.
type clock struct {
	mu    sync.Mutex
	path  string
	ahead time.Duration // of this machine's clock, while it runs
	still time.Time     // the moment at which it stands; zero while it runs
	real  bool          // it is this machine's, and nobody moves it: other programs of the story go by that
}

// clockVariable names the clock's file to the program.
const clockVariable = "STORY_CLOCK"

// machineNow is the clock of the program in a story: what the file says, or nil outside of a story.
func machineNow() func() time.Time {
	path := os.Getenv(clockVariable)
	if path == "" {
		return nil
	}
	return func() time.Time {
		c := clock{path: path}
		if err := c.read(); err != nil {
			panic(err) // a story without a clock is none
		}
		return c.time()
	}
}

func newClock(path string) (*clock, error) {
	c := &clock{path: path}
	return c, c.write()
}

// Now is the time of the world.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.time()
}

func (c *clock) time() time.Time {
	if !c.still.IsZero() {
		return c.still
	}
	return time.Now().Add(c.ahead)
}

// later moves the clock.
func (c *clock) later(d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real {
		return errors.New("this story goes by the machine's clock, which nobody moves")
	}
	if !c.still.IsZero() {
		c.still = c.still.Add(d)
	} else {
		c.ahead += d
	}
	return c.write()
}

// stop has the clock stand, at the beginning of a second that nothing has happened in.
func (c *clock) stop() error {
	if err := c.nextSecond(); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.still = c.time()
	return c.write()
}

// run lets the clock run on from where it stands.
func (c *clock) run() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ahead, c.still = time.Until(c.still), time.Time{}
	return c.write()
}

// nextSecond moves a running clock to the next full second: GitHub stamps with whole seconds, and
// no two things that people do one after the other share one.
func (c *clock) nextSecond() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.real || !c.still.IsZero() {
		return nil
	}
	now := c.time()
	c.ahead += now.Truncate(time.Second).Add(time.Second).Sub(now)
	return c.write()
}

// hour moves the clock to the next full hour. What has its turn each so often has it at a moment of
// the hour: a story that counts what a pass asks begins at the same one, whenever it runs.
func (c *clock) hour() error {
	now := c.Now()
	return c.later(now.Truncate(time.Hour).Add(time.Hour).Sub(now))
}

// write puts the clock where the program finds it, whole at each moment.
func (c *clock) write() error {
	still := int64(0)
	if !c.still.IsZero() {
		still = c.still.UnixNano()
	}
	text := fmt.Sprintf("%d %d", c.ahead, still)
	if err := os.WriteFile(c.path+".new", []byte(text), 0o600); err != nil {
		return fmt.Errorf("set the story's clock: %w", err)
	}
	if err := os.Rename(c.path+".new", c.path); err != nil {
		return fmt.Errorf("set the story's clock: %w", err)
	}
	return nil
}

func (c *clock) read() error {
	text, err := os.ReadFile(c.path)
	if err != nil {
		return fmt.Errorf("read the story's clock: %w", err)
	}
	var ahead, still int64
	if _, err := fmt.Sscan(string(text), &ahead, &still); err != nil {
		return fmt.Errorf("read the story's clock from %q: %w", text, err)
	}
	c.ahead, c.still = time.Duration(ahead), time.Time{}
	if still != 0 {
		c.still = time.Unix(0, still)
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

// cmdClock has the world's clock stand or run, or moves it to the next full hour.
func cmdClock(ts *testscript.TestScript, neg bool, args []string) {
	c := worldOf(ts).clock
	switch {
	case !neg && len(args) == 1 && args[0] == "stop":
		ts.Check(c.stop())
	case !neg && len(args) == 1 && args[0] == "run":
		ts.Check(c.run())
	case !neg && len(args) == 1 && args[0] == "hour":
		ts.Check(c.hour())
	default:
		ts.Fatalf("usage: clock stop|run|hour")
	}
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

//go:build unix

package bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// many is how many pull requests a large repository has.
const many = 3000

// course is a number of passes until nothing is left to read.
type course struct {
	passes []reading
	held   time.Duration // the longest time of tick.lock; 0 where the system does not tell
	stuck  int           // passes that got no further
	done   bool          // nothing is left to read
}

func (c course) wall() (sum time.Duration) {
	for _, r := range c.passes {
		sum += r.Wall
	}
	return sum
}

func (c course) cpu() (sum time.Duration) {
	for _, r := range c.passes {
		sum += r.CPU
	}
	return sum
}

func (c course) peak() (most int64) {
	for _, r := range c.passes {
		most = max(most, r.Peak)
	}
	return most
}

// figures are those of any course, with the goal of its wall time in seconds.
func (c course) figures(wall float64) []figure {
	passes, took := count("passes", len(c.passes)), seconds("wall", c.wall())
	if !c.done {
		passes.value, took.value = never, never
	}
	if wall > 0 {
		took = took.atMost(wall)
	}
	return []figure{
		passes, took, seconds("CPU", c.cpu()),
		megabytes("peak memory", c.peak()).atMost(60),
		seconds("tick.lock was held at most", c.held).atMost(15),
		count("passes that got no further", c.stuck).atMost(0),
	}
}

// givenUp is how many passes in a row that got no further end the course.
const givenUp = 3

// run makes passes until there is nothing left to read.
func (l *lab) run(t *testing.T, w *world, state func() string) course {
	t.Helper()
	before := state()
	return l.runUntil(t, w, state, func() bool {
		same := state() == before
		before = state()
		return same && w.counts().quiet()
	})
}

// runUntil makes passes until something is over.
func (l *lab) runUntil(t *testing.T, w *world, state func() string, over func() bool) course {
	t.Helper()
	var c course
	before, still := state(), 0
	for still < givenUp {
		w.hub.ResetLog()
		lock := watchLock(filepath.Join(w.state(), "locks", "tick.lock"))
		r := w.meter(t, nil, os.Getenv("PATH"), l.binary(), "tick")
		c.held = max(c.held, lock())
		c.passes = append(c.passes, r)
		after := state()
		progress("pass %d: %.1f s, %.1f s CPU, %d MB, %d requests, exit code %d: %s", len(c.passes), r.Wall.Seconds(), r.CPU.Seconds(), r.Peak>>20, len(w.hub.Requests()), r.Exit, after)
		if r.Exit == 0 && over() {
			c.done = true
			return c
		}
		still++
		if after != before {
			still = 0
		} else {
			c.stuck++
		}
		before = after
	}
	return c
}

// watchLock looks at a lock until the func that it returns is called, which says how long it
// was held at a stretch.
func watchLock(path string) func() time.Duration {
	var longest time.Duration
	var since time.Time
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-over:
				return
			case <-time.After(5 * time.Millisecond):
			}
			now := time.Now()
			switch {
			case !held(path):
				since = time.Time{}
			case since.IsZero():
				since = now
			default:
				longest = max(longest, now.Sub(since))
			}
		}
	})
	return func() time.Duration {
		close(over)
		wg.Wait()
		return longest
	}
}

// held reports whether somebody holds a flock. Linux lists them; to try the lock would be
// to hold it for a moment.
func held(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return false
	}
	locks, err := os.ReadFile("/proc/locks")
	return err == nil && bytes.Contains(locks, []byte(":"+strconv.FormatUint(stat.Ino, 10)+" "))
}

// measureFirstRead is about pull requests that are tracked and of which nothing was read.
func measureFirstRead(t *testing.T, l *lab) []figure {
	progress("%d pull requests with %d comments each are made", many, comments)
	w := newUnreadWorld(t, l.program(), shape{repos: 1, pulls: many, comments: comments})
	w.ingestTimeout = "15s"
	w.writeConfig(t, quiet)
	gh := l.yardstick(t, w)
	c := l.run(t, w, func() string {
		return fmt.Sprintf("%d of %d read, %d events", w.count(t, `SELECT COUNT(*) FROM pull_requests WHERE details_at <> 0`), many, w.count(t, `SELECT COUNT(*) FROM events`))
	})
	return append(c.figures(0),
		ratio("CPU / gh api user", c.cpu(), gh).keep(),
		count("pull requests not read", many-w.count(t, `SELECT COUNT(*) FROM pull_requests WHERE details_at <> 0`)).atMost(0),
		count("comments not read", many*comments-w.count(t, `SELECT COUNT(*) FROM events`)).atMost(0),
	)
}

// measureLost is about pull requests that only GitHub knows of: the database is gone, and
// GitHub is far away.
func measureLost(t *testing.T, l *lab) []figure {
	const pulls = 100
	w := newLostWorld(t, l.program(), shape{repos: 1, pulls: pulls, comments: 2})
	w.ingestTimeout = "15s"
	w.writeConfig(t, quiet)
	w.hub.AddFault(githubsim.Fault{Always: true, Delay: distance})
	found := func() bool {
		return w.count(t, `SELECT COUNT(*) FROM reading WHERE what = 'first look' AND key = 'adopted' AND url = 'done'`) == w.repos && w.count(t, `SELECT COUNT(*) FROM reading WHERE what = 'backlog'`) == 0
	}
	// The passes after it look at the labels of what was found, some of them each.
	c := l.runUntil(t, w, func() string {
		return fmt.Sprintf("%d of %d found, %d read, at %d", w.count(t, `SELECT COUNT(*) FROM pull_requests`), pulls,
			w.count(t, `SELECT COUNT(*) FROM pull_requests WHERE details_at <> 0`), w.count(t, `SELECT COALESCE(SUM(LENGTH(url)), 0) FROM reading WHERE what = 'first look'`))
	}, found)
	return append(c.figures(300),
		count("pull requests not found again", pulls-w.count(t, `SELECT COUNT(*) FROM pull_requests WHERE details_at <> 0`)).atMost(0),
		count("turns that began for work that exists", w.count(t, `SELECT COUNT(*) FROM turns WHERE kind LIKE '%_start'`)).atMost(0),
	)
}

// count is the answer to a query; 0 where there is no database.
func (w *world) count(t *testing.T, text string) int {
	t.Helper()
	if _, err := os.Stat(w.database()); err != nil && w.server == "" {
		return 0
	}
	db := openRead(t, w.database())
	defer func() { must(t, db.Close()) }()
	n, err := strconv.Atoi(query(t, db, text)[0])
	must(t, err)
	return n
}

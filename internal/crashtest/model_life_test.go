//go:build unix

package crashtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// life is one history as it is played.
type life struct {
	*world
	repo    *githubsim.Repo // that it is about
	storm   *storm          // it is played beside others; nil: it is not
	gate    *gate
	issues  []*tracked
	said    []*writing
	given   []given // commands
	words   int     // makes every body and every pushed file another
	upsets  int     // deaths and faults so far
	lagging bool
	notes   []string
}

// tracked is an issue that asks for work, with what people did to it and to
// its branches.
type tracked struct {
	number int
	label  string
	doubt  bool                // cancelled at some time before there was a pull request: what is owed then is a matter of order
	theirs map[string][]string // by branch, commits that people pushed and did not take away again
	dead   map[int]remains     // closed pull requests, as they were then
	noPull bool                // cancelled before there was a pull request

	pausing   bool // the last command about it was to pause
	commanded bool // there was one, or one to resume
}

// remains is what may not change of a closed pull request.
type remains struct {
	head  string
	words int
}

// undergo plays a history and looks at what it came to.
func (w *world) undergo(h chronicle) error {
	g := newGate()
	if err := w.begin(scenario{name: "model", during: func(_ *world, _ agentRun, _ int) error { return g.pass() }}); err != nil {
		return err
	}
	l := &life{world: w, repo: w.repo, gate: g}
	err := l.play(h)
	g.set(false)
	l.kill()
	err = errors.Join(err, l.end())
	if err != nil {
		err = fmt.Errorf("%w\nwhat happened:\n  %s", err, strings.Join(l.notes, "\n  "))
	}
	return err
}

func (l *life) play(h chronicle) error {
	if _, err := l.hub.AddUser("sam"); err != nil { // a stranger
		return err
	}
	for _, s := range h {
		if apart[s.verb] {
			l.later.Add(2)
		}
		l.note("%s", s)
		if err := deeds[s.verb](l, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		l.excuse()
	}
	return l.conclude()
}

func (l *life) note(format string, args ...any) {
	l.notes = append(l.notes, fmt.Sprintf(format, args...))
}

// gate holds agents in the middle of their work.
type gate struct {
	mu     sync.Mutex
	closed bool
	held   int
	way    chan struct{} // closed when those who wait may continue
	dead   bool          // those who wait continue without a pass
}

func newGate() *gate { return &gate{way: make(chan struct{})} }

func (g *gate) pass() error {
	g.mu.Lock()
	if !g.closed {
		g.mu.Unlock()
		return nil
	}
	g.held++
	way := g.way
	g.mu.Unlock()
	<-way
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held--
	if g.dead {
		return errGone
	}
	return nil
}

// set closes or opens the gate.
func (g *gate) set(closed bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed && !closed {
		g.dead = false
		close(g.way)
		g.way = make(chan struct{})
	}
	g.closed = closed
}

// bury sends those away whose passes were killed. The gate stays as it is.
func (g *gate) bury() {
	g.mu.Lock()
	g.dead = true
	close(g.way)
	g.way = make(chan struct{})
	g.mu.Unlock()
	for g.waiting() > 0 {
		time.Sleep(time.Millisecond)
	}
	g.mu.Lock()
	g.dead = false
	g.mu.Unlock()
}

func (g *gate) waiting() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.held
}

// parked is how long nothing must happen until a pass that has a held agent
// counts as waiting.
const parked = 200 * time.Millisecond

// run starts n passes, and returns when each has ended or waits.
func (l *life) run(n int) error {
	var all []<-chan struct{}
	for range n {
		done, _, err := l.startPass()
		if err != nil {
			return err
		}
		all = append(all, done)
	}
	for _, done := range all {
		l.wait(done)
	}
	if l.gate.waiting() > 0 && l.alive() == 0 {
		l.gate.bury() // killed while their agents were held
	}
	return nil
}

func (l *life) wait(done <-chan struct{}) {
	still, was := time.Now(), l.rig.counts()
	for {
		select {
		case <-done:
			return
		case <-time.After(5 * time.Millisecond):
		}
		if now := l.rig.counts(); now != was || l.gate.waiting() == 0 {
			still, was = time.Now(), now
		}
		if time.Since(still) > parked {
			return
		}
	}
}

func (l *life) alive() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.live)
}

// letGo opens the gate and waits for all passes.
func (l *life) letGo() {
	l.gate.set(false)
	for {
		l.mu.Lock()
		var all []chan struct{}
		for _, done := range l.live {
			all = append(all, done)
		}
		l.mu.Unlock()
		if len(all) == 0 {
			return
		}
		for _, done := range all {
			<-done
		}
	}
}

// die kills what runs.
func (l *life) die() {
	if l.alive() > 0 {
		l.upsets++
	}
	l.kill()
	l.gate.bury()
}

// blows are what may strike a pass, with the range of numbers that make sense.
var blows = []struct {
	act   deed
	at    place
	when  moment
	reach int
}{
	{actKill, atRequest, before, 60},
	{actKill, atWrite, after, 10},
	{actKill, atGit, before, 60},
	{actKill, atGitChange, after, 30},
	{actKill, atAgent, before, 2},
	{actKill, atAgent, after, 2},
	{actLose, atWrite, after, 10},
	{actLag, atWrite, after, 10},
	{actRefuse, atWrite, after, 10},
	{actRefuse, atRequest, before, 60},
	{actKill, atWrite, after, 5},
	{actLose, atWrite, after, 5},
}

// strike lets something happen to the next pass, or to a later one when that
// pass does not come so far.
func (l *life) strike(s step) error {
	blow := blows[s.a%len(blows)]
	p := point{act: blow.act, at: blow.at, when: blow.when, n: 1 + s.b%blow.reach}
	l.note("  %s", p)
	l.rig.reset(p)
	l.upsets++
	l.lagging = l.lagging || p.act == actLag
	return l.run(1)
}

// calm lets nothing happen any more.
func (l *life) calm() {
	l.letGo()
	l.rig.reset(point{})
	l.hub.ClearFaults()
}

// pull chooses a pull request of ours.
func (l *life) pull(a int) (githubsim.Pull, *tracked, bool) {
	var all []githubsim.Pull
	for _, p := range l.repo.Pulls() {
		if p.Author == operator {
			all = append(all, p)
		}
	}
	if len(all) == 0 {
		return githubsim.Pull{}, nil, false
	}
	p := all[len(all)-1-a%len(all)]
	at := slices.IndexFunc(l.issues, func(is *tracked) bool { return is.owns(p) })
	if at < 0 {
		return p, nil, false
	}
	return p, l.issues[at], true
}

// owns goes by the branch's name, agent/<flow>/<issue>-….
func (is *tracked) owns(p githubsim.Pull) bool {
	parts := strings.SplitN(p.Head, "/", 3)
	return len(parts) == 3 && strings.HasPrefix(parts[2], fmt.Sprintf("%d-", is.number))
}

//go:build unix

package crashtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// message is what the rig and its helper (testdata/helper) say to one another.
type message struct {
	Tool   string   `json:"tool,omitempty"` // git, agent, acp or setup
	Args   []string `json:"args,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Input  []byte   `json:"input,omitempty"`
	Do     string   `json:"do,omitempty"` // become, run, lose, fail, print, answer, die
	Path   string   `json:"path,omitempty"`
	Output string   `json:"output,omitempty"`
}

// rig numbers what a pass does to the outside, and strikes at one point of it.
type rig struct {
	w      *world
	git    string // the real one
	listen net.Listener
	served sync.WaitGroup

	striking sync.WaitGroup // while something is done to the database

	mu       sync.Mutex
	plan     point
	struck   bool
	requests int
	writes   int
	write    map[int]int  // a request's number among the writes
	query    map[int]int  // a flight's number among those since the reset
	intend   map[int]bool // connections with an intent that is not stored yet
	calls    int          // of git
	changing int          // calls of git that change something
	remotes  int          // calls of git that talk to the remote
	agents   int          // starts of the agent
	answers  int          // that the tool has accepted
	setups   int          // starts of the set-up
	queries  int          // flights to the database
	intents  int          // to send, that are stored
	asked    int          // answers that the session is alive
	runs     []agentRun   // that got to work, since the world was made; a set-up that made all is one
	removed  int          // comments that were taken away again, since the world was made
	said     []string     // what the pass did, for people
	errs     []error

	busy  int            // of what changes something, how much is under way
	found map[spot]found // at the places so far, see alike_test.go; nil: it does not look
}

// reset begins to count again, and says where to strike.
func (r *rig) reset(plan point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan, r.struck = plan, false
	r.requests, r.writes, r.calls, r.changing, r.remotes, r.agents, r.answers, r.setups, r.queries, r.intents, r.asked = 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0
	r.write, r.query, r.intend, r.said = map[int]int{}, map[int]int{}, map[int]bool{}, nil
}

// disarm has nothing strike any more: what was not reached while work was left is not reached.
func (r *rig) disarm() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.struck {
		r.plan = point{}
	}
}

func (r *rig) hasStruck() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.struck
}

// counts is how much the rig has seen since the reset.
func (r *rig) counts() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return counts{
		requests: r.requests, writes: r.writes, git: r.calls, gitChanges: r.changing, remotes: r.remotes, agents: r.agents, answers: r.answers,
		setups: r.setups, queries: r.queries, intents: r.intents, asked: r.asked, runs: len(r.runs),
	}
}

type counts struct{ requests, writes, git, gitChanges, remotes, agents, answers, setups, queries, intents, asked, runs int }

// strikes reports whether this is the planned point; it is struck once.
func (r *rig) strikes(at place, n int, when moment) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.struck || r.plan.at != at || r.plan.n != n || r.plan.when != when {
		return false
	}
	r.struck = true
	r.said = append(r.said, "*** here")
	if r.plan.act.hitsDatabase() {
		r.striking.Add(1)
	}
	return true
}

// onRequest is the hub's hook. It may hold the request: the pass is dead when
// it returns.
func (r *rig) onRequest(rq githubsim.Request) {
	if rq.Done {
		r.mu.Lock()
		n := r.write[rq.N]
		r.mu.Unlock()
		if n > 0 {
			r.ends()
		}
		if n > 0 && r.strikes(atWrite, n, after) {
			r.strike()
		}
		return
	}
	r.mu.Lock()
	r.requests++
	n, nth := r.requests, 0
	plan, line := r.plan, fmt.Sprintf("request %d: %s %s", n, rq.Method, rq.Path)
	if rq.Method == http.MethodDelete && strings.Contains(rq.Path, "/comments/") && !strings.Contains(rq.Path, "/reactions/") {
		r.removed++
	}
	if rq.Write {
		r.writes++
		nth = r.writes
		r.write[rq.N] = nth
		line += fmt.Sprintf(", write %d", nth)
	}
	r.said = append(r.said, line)
	r.mu.Unlock()
	r.w.interfere()
	r.note(atRequest, n, before)
	if rq.Write {
		r.begins()
	}
	if f, ok := r.harm(plan, n, nth); ok {
		f.Request = rq.N
		r.w.hub.AddFault(f)
	}
}

// harm is what strikes a request, the nth of all and the given one of those
// that write (0: it reads).
func (r *rig) harm(plan point, n, write int) (githubsim.Fault, bool) {
	lost := githubsim.LoseAnswer()
	switch {
	case r.strikes(atRequest, n, before):
		if plan.act == actRefuse {
			return githubsim.Fault{Status: http.StatusBadGateway}, true
		}
		r.strike()
		return githubsim.LoseRequest(), !plan.act.hitsDatabase()
	case write == 0 || plan.at != atWrite || plan.n != write || r.hasStruck() || plan.act.hitsDatabase():
		return lost, false
	case plan.act == actKill: // once it is applied
		if plan.lag {
			r.w.unlist(unlisted, 0)
		}
		return lost, true
	case plan.act == actLate:
		r.w.unlist(0, late)
		return lost, true
	case !r.strikes(atWrite, write, after):
		return lost, false
	case plan.act == actLag:
		r.w.unlist(unlisted, 0)
	case plan.act == actRefuse:
		return githubsim.Fault{Status: http.StatusBadGateway, Applied: true}, true
	}
	return lost, true
}

// strike does what the point says, to the pass or to its database.
func (r *rig) strike() {
	r.mu.Lock()
	act := r.plan.act
	r.mu.Unlock()
	switch {
	case act == actKill:
		r.w.kill()
	case act.hitsDatabase():
		defer r.striking.Done()
		if err := r.w.fleet.strike(act); err != nil {
			r.fault(err)
		}
	}
}

// fault notes what is wrong with the rig itself.
func (r *rig) fault(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.errs = append(r.errs, err)
}

// unlist keeps out of the lists what is made next.
func (w *world) unlist(reads int, wait time.Duration) {
	for _, kind := range []string{"comments", "review-comments", "pulls"} {
		w.hub.Lag(kind, 1, reads, wait)
	}
}

// serve answers the helpers until the listener is closed.
func (r *rig) serve() {
	for {
		conn, err := r.listen.Accept()
		if err != nil {
			return
		}
		r.served.Go(func() {
			defer func() { _ = conn.Close() }()
			if err := r.talk(conn); err != nil {
				r.fault(err)
			}
		})
	}
}

// errGone ends the work of an agent whose pass is dead.
var errGone = errors.New("the pass is gone")

func (r *rig) talk(conn io.ReadWriter) error {
	heard, said := json.NewDecoder(conn), json.NewEncoder(conn)
	var m message
	if err := heard.Decode(&m); err != nil {
		return nil // it was killed before it could speak
	}
	switch m.Tool {
	case "agent", "acp":
		return r.onAgent(m, heard, said)
	case "setup":
		return r.onSetup(m, said)
	}
	do, change := r.onGit(m.Args)
	if change > 0 {
		r.begins()
		defer r.ends()
	}
	_ = said.Encode(message{Do: do, Path: r.git})
	if do == "run" && heard.Decode(&m) == nil && r.strikes(atGitChange, change, after) {
		r.w.kill()
	}
	return nil
}

// onAgent numbers a run of the agent and has it work.
func (r *rig) onAgent(m message, heard *json.Decoder, said *json.Encoder) error {
	r.mu.Lock()
	r.agents++
	nth, act := r.agents, r.plan.act
	r.mu.Unlock()
	if act == actRouse && r.hasStruck() {
		if err := r.w.fleet.wake(); err != nil {
			return err
		}
	}
	r.note(atAgent, nth, before)
	r.begins()
	defer r.ends()
	if r.strikes(atAgent, nth, before) {
		if act == actKill {
			r.w.kill()
			return nil
		}
		if err := r.w.meet(); err != nil {
			return err
		}
	}
	out, err := r.w.runAgent(m.Dir, m.Input)
	if errors.Is(err, errGone) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("run the agent: %w", err)
	}
	if r.strikes(atAgent, nth, after) {
		r.strike()
		if act == actKill {
			return nil
		}
	}
	do := "print"
	if m.Tool == "acp" && r.w.firstRun() {
		do = "answer"
	}
	_ = said.Encode(message{Do: do, Output: out}) // a killed agent needs no answer
	if do == "answer" && heard.Decode(&m) == nil {
		r.mu.Lock()
		r.answers++
		nth = r.answers
		r.mu.Unlock()
		if r.strikes(atAnswer, nth, after) {
			r.w.kill()
			return nil
		}
		_ = said.Encode(message{})
	}
	return nil
}

// onSetup numbers a run of the set-up and has it make what it makes.
func (r *rig) onSetup(m message, said *json.Encoder) error {
	r.mu.Lock()
	r.setups++
	nth := r.setups
	r.mu.Unlock()
	r.note(atSetup, nth, before)
	r.begins()
	defer r.ends()
	if r.strikes(atSetup, nth, before) {
		r.w.kill()
		return nil
	}
	if err := r.w.runSetup(m.Dir); err != nil {
		return fmt.Errorf("run the set-up: %w", err)
	}
	if r.strikes(atSetup, nth, after) {
		r.w.kill()
		return nil
	}
	_ = said.Encode(message{Do: "print"})
	return nil
}

// onGit numbers a call of git and says what the helper is to do in its place,
// and which of the calls that change something it is (0: it does not).
func (r *rig) onGit(args []string) (do string, change int) {
	r.mu.Lock()
	r.calls++
	n, remote := r.calls, 0
	r.said = append(r.said, fmt.Sprintf("git %d: %s", n, strings.Join(runLine(args), " ")))
	if changes(args) {
		r.changing++
		change = r.changing
	}
	if words := runLine(args); len(words) > 0 && slices.Contains(remotes, words[0]) {
		r.remotes++
		remote = r.remotes
	}
	late := r.plan.at == atGitChange && r.plan.n == change && change > 0 && !r.struck || r.found != nil && !converses(args) // noting, it wants to know the end
	r.mu.Unlock()
	r.note(atGit, n, before)
	switch {
	case r.strikes(atGit, n, before):
		r.w.kill()
		return "die", change
	case remote > 0 && r.strikes(atRemote, remote, before):
		return "fail", change
	case remote > 0 && r.strikes(atRemote, remote, after):
		return "lose", change
	case late:
		return "run", change
	}
	return "become", change
}

// remotes are the git commands that talk to the remote.
var remotes = []string{"push", "fetch", "ls-remote"}

// reading are the git commands that change nothing: to be killed after one is
// to be killed before it.
var reading = []string{
	"version", "--version", "rev-parse", "cat-file", "ls-remote", "ls-tree", "ls-files", "merge-base", "diff", "diff-tree", "diff-index",
	"for-each-ref", "show-ref", "rev-list", "log", "var", "config", "fsck", "status", "check-ref-format", "count-objects", "check-ignore",
}

// changes reports whether a git command may change something.
func changes(args []string) bool {
	args = runLine(args)
	return len(args) > 0 && !slices.Contains(reading, args[0])
}

// converses reports whether a git command lives for as long as it is asked; it changes nothing, and
// is no work under way.
func converses(args []string) bool { return slices.Contains(args, "--batch-command") }

// runLine is a git command without the options in front of it.
func runLine(args []string) []string {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "-c", args[i] == "-C":
			i++
		case strings.HasPrefix(args[i], "-") && args[i] != "--version":
		default:
			return args[i:]
		}
	}
	return nil
}

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

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// message is what the rig and its helper (testdata/helper) say to one another.
type message struct {
	Tool   string   `json:"tool,omitempty"` // git or agent
	Args   []string `json:"args,omitempty"`
	Dir    string   `json:"dir,omitempty"`
	Input  []byte   `json:"input,omitempty"`
	Do     string   `json:"do,omitempty"` // become, run, print, die
	Path   string   `json:"path,omitempty"`
	Output string   `json:"output,omitempty"`
}

// rig numbers what a pass does to the outside, and strikes at one point of it.
type rig struct {
	w      *world
	git    string // the real one
	listen net.Listener
	served sync.WaitGroup

	mu       sync.Mutex
	plan     point
	struck   bool
	requests int
	writes   int
	write    map[int]int // a request's number among the writes
	calls    int         // of git
	changing int         // calls of git that change something
	agents   int         // starts of the agent
	runs     []agentRun  // that got to work, since the world was made
	said     []string    // what the pass did, for people
	errs     []error
}

// reset begins to count anew, and says where to strike.
func (r *rig) reset(plan point) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plan, r.struck = plan, false
	r.requests, r.writes, r.calls, r.changing, r.agents = 0, 0, 0, 0, 0
	r.write, r.said = map[int]int{}, nil
}

// counts is how much the rig has seen since the reset.
func (r *rig) counts() counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return counts{requests: r.requests, writes: r.writes, git: r.calls, gitChanges: r.changing, agents: r.agents, runs: len(r.runs)}
}

type counts struct{ requests, writes, git, gitChanges, agents, runs int }

// strikes reports whether this is the planned point; it is struck once.
func (r *rig) strikes(at place, n int, when moment) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.struck || r.plan.at != at || r.plan.n != n || r.plan.when != when {
		return false
	}
	r.struck = true
	r.said = append(r.said, "*** here")
	return true
}

// onRequest is the hub's hook. It may hold the request: the pass is dead when
// it returns.
func (r *rig) onRequest(rq githubsim.Request) {
	if rq.Done {
		r.mu.Lock()
		n := r.write[rq.N]
		r.mu.Unlock()
		if n > 0 && r.strikes(atWrite, n, after) {
			r.w.kill()
		}
		return
	}
	r.mu.Lock()
	r.requests++
	n, nth := r.requests, 0
	plan, line := r.plan, fmt.Sprintf("request %d: %s %s", n, rq.Method, rq.Path)
	if rq.Write {
		r.writes++
		nth = r.writes
		r.write[rq.N] = nth
		line += fmt.Sprintf(", write %d", nth)
	}
	r.said = append(r.said, line)
	r.mu.Unlock()
	f := githubsim.Fault{Request: rq.N}
	switch {
	case plan.act == actKill && r.strikes(atRequest, n, before):
		f.Drop = true
		r.w.hub.AddFault(f)
		r.w.kill()
	case plan.act == actKill && nth > 0 && plan.at == atWrite && plan.n == nth: // killed once it is applied
		if plan.lag {
			r.lag()
		}
		f.Drop, f.Applied = true, true
		r.w.hub.AddFault(f)
	case plan.act == actLag && nth > 0 && r.strikes(atWrite, nth, after):
		r.lag()
		f.Drop, f.Applied = true, true
		r.w.hub.AddFault(f)
	case plan.act == actLose && nth > 0 && r.strikes(atWrite, nth, after):
		f.Drop, f.Applied = true, true
		r.w.hub.AddFault(f)
	case plan.act == actRefuse && nth > 0 && r.strikes(atWrite, nth, after):
		f.Status, f.Applied = http.StatusBadGateway, true
		r.w.hub.AddFault(f)
	case plan.act == actRefuse && r.strikes(atRequest, n, before):
		f.Status = http.StatusBadGateway
		r.w.hub.AddFault(f)
	}
}

// unlisted is how often lists do not show what was made.
const unlisted = 3

// lag hides what is made next from lists.
func (r *rig) lag() {
	for _, kind := range []string{"comments", "review-comments", "pulls"} {
		r.w.hub.Lag(kind, 1, unlisted, 0)
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
				r.mu.Lock()
				r.errs = append(r.errs, err)
				r.mu.Unlock()
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
		return nil //nolint:nilerr // it was killed before it could speak
	}
	if m.Tool == "agent" {
		r.mu.Lock()
		r.agents++
		nth, act := r.agents, r.plan.act
		r.mu.Unlock()
		if r.strikes(atAgent, nth, before) {
			if act != actMeet {
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
			r.w.kill()
			return nil
		}
		_ = said.Encode(message{Do: "print", Output: out}) // a killed agent needs no answer
		return nil
	}
	r.mu.Lock()
	r.calls++
	n, nth := r.calls, 0
	r.said = append(r.said, fmt.Sprintf("git %d: %s", n, strings.Join(command(m.Args), " ")))
	if changes(m.Args) {
		r.changing++
		nth = r.changing
	}
	late := r.plan.at == atGitChange && r.plan.n == nth && nth > 0 && !r.struck
	r.mu.Unlock()
	switch {
	case r.strikes(atGit, n, before):
		r.w.kill()
		_ = said.Encode(message{Do: "die"})
	case late:
		_ = said.Encode(message{Do: "run", Path: r.git})
		if heard.Decode(&m) == nil && r.strikes(atGitChange, nth, after) {
			r.w.kill()
		}
	default:
		_ = said.Encode(message{Do: "become", Path: r.git})
	}
	return nil
}

// reading are the git commands that change nothing: to be killed after one is
// to be killed before it.
var reading = []string{
	"version", "--version", "rev-parse", "cat-file", "ls-remote", "ls-tree", "ls-files", "merge-base", "diff", "diff-tree", "diff-index",
	"for-each-ref", "show-ref", "rev-list", "log", "var", "config", "fsck", "status", "check-ref-format", "count-objects", "check-ignore",
}

// changes reports whether a git command may change something.
func changes(args []string) bool {
	args = command(args)
	return len(args) > 0 && !slices.Contains(reading, args[0])
}

// command is a git command without the options in front of it.
func command(args []string) []string {
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

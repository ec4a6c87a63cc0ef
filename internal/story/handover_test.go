//go:build unix

package story

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/story/scripted"
	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// sharedVariable makes the program's database one that several machines have.
const sharedVariable = "STORY_SHARED"

// strike is where machine A is killed once its agent has answered.
type strike struct {
	write int    // the nth write request since then; 0: none
	hook  string // or a hook of the remote, at the first push
	done  bool   // once the write request is applied
}

func (s strike) String() string {
	when := map[bool]string{false: "before", true: "after"}[s.done]
	if s.hook != "" {
		return s.hook
	}
	return fmt.Sprintf("%s write %d", when, s.write)
}

// handover is a world with two machines: A is killed, and B finishes what A began.
type handover struct {
	*world
	t    *testing.T
	repo *githubsim.Repo

	mu     sync.Mutex
	strike strike
	writes int // requests that write, since the agent has answered
	struck atomic.Bool
	before int // runs of the agent before the turn that is watched
	pass   *exec.Cmd
}

func newHandover(t *testing.T) *handover {
	t.Helper()
	w, err := newWorld(worldDir(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.close(); err != nil {
			t.Error(err)
		}
	})
	h := &handover{world: w, t: t, repo: w.hub.Repo(mainRepo)}
	w.hub.OnRequest(h.onRequest)
	return h
}

func (h *handover) check(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

func (h *handover) onRequest(rq githubsim.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !rq.Write || h.strike.write == 0 || h.struck.Load() {
		return
	}
	if rq.Done {
		if h.strike.done && h.writes == h.strike.write {
			h.kill()
		}
		return
	}
	if rows, err := query(h.stateDB(), `SELECT 1 FROM turns WHERE step NOT IN ('claimed', 'done', 'superseded', 'failed', 'cancelled')`); err != nil || len(rows) == 0 {
		return
	}
	h.writes++
	if h.writes == h.strike.write && !h.strike.done {
		h.hub.AddFault(githubsim.Fault{Drop: true, Request: rq.N})
		h.kill()
	}
}

func (h *handover) kill() {
	h.struck.Store(true)
	_ = h.pass.Process.Kill()
}

// tick makes a pass of the machine that the world is at.
func (h *handover) tick() (killed bool) {
	h.t.Helper()
	mergexo, err := program("gh-mergexo")
	h.check(err)
	c := exec.CommandContext(h.t.Context(), mergexo, "tick")
	c.Env = append(os.Environ(), sharedVariable+"=1")
	for name, value := range maps.All(h.environ()) {
		c.Env = append(c.Env, name+"="+value)
	}
	var out strings.Builder
	c.Stdout, c.Stderr = &out, &out
	h.mu.Lock()
	h.pass = c
	err = c.Start()
	if err == nil {
		err = put(filepath.Join(h.work, "pid"), fmt.Sprint(c.Process.Pid))
	}
	h.mu.Unlock()
	h.check(err)
	err = c.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.Sys().(syscall.WaitStatus).Signaled() {
		h.struck.Store(true)
		return true
	}
	if err != nil {
		h.t.Fatalf("a pass: %v\n%s", err, &out)
	}
	return false
}

// moveOn makes the world that of machine B: another state folder, with the database of both.
func (h *handover) moveOn() {
	h.t.Helper()
	locks, err := filepath.Glob(filepath.Join(h.stateDir(), "locks", "*.lock"))
	h.check(err)
	for _, path := range locks { // a child that the dead pass was about to start may still hold one
		lock := flock.New(path)
		_, err := lock.TryLockContext(h.t.Context(), time.Millisecond)
		h.check(errors.Join(err, lock.Close()))
	}
	to := filepath.Join(h.work, "state-b")
	h.check(os.Mkdir(to, 0o700))
	h.moveTo(to)
}

// moveTo takes the database to another state folder, which the config then names.
func (h *handover) moveTo(state string) {
	h.t.Helper()
	files, err := filepath.Glob(filepath.Join(h.state, "state.db*"))
	h.check(err)
	for _, path := range files {
		h.check(os.Rename(path, filepath.Join(state, filepath.Base(path))))
	}
	h.state = state
	h.config.set("runtime", "state_dir", state)
	h.check(h.config.write())
}

// outcome is what people see in the end.
func (h *handover) outcome() string {
	h.t.Helper()
	var b strings.Builder
	for _, p := range h.repo.Pulls() {
		log, err := h.repo.Log(p.Head)
		h.check(err)
		fmt.Fprintf(&b, "#%d %s of %s, %d commits, last %q\n", p.Number, p.State, p.Author, len(log), strings.SplitN(log[0].Message, "\n", 2)[0])
		for path := range strings.FieldsSeq("work/1.txt hand.txt") {
			text, _ := h.repo.File(p.Head, path)
			fmt.Fprintf(&b, "%s: %q\n", path, text)
		}
	}
	for n := range 3 {
		for _, c := range h.repo.Comments(n) {
			fmt.Fprintf(&b, "#%d %s: %s\n", n, c.Author, strings.SplitN(c.Body, "\n", 2)[0])
		}
	}
	return b.String()
}

// hookAt has the remote kill the pass at its first push.
func (h *handover) hookAt(name string) {
	if name == "" {
		return
	}
	end := map[string]string{"pre-receive": "exit 1", "post-receive": "exit 0"}[name]
	dir := filepath.Join(h.repo.GitDir(), "hooks")
	h.check(os.MkdirAll(dir, 0o755))
	path := filepath.Join(dir, name)
	h.check(os.WriteFile(path, fmt.Appendf(nil, "#!/bin/sh\nrm \"$0\"\nkill -KILL $(cat %s)\n%s\n", filepath.Join(h.work, "pid"), end), 0o755))
}

// scenes are turns whose agent answers on machine A.
var scenes = map[string]func(*handover){
	"start": func(h *handover) {
		_, err := h.repo.OpenIssue("ann", "Crash on start", "", "agent:bugfix")
		h.check(err)
	},
	"feedback": func(h *handover) {
		scenes0(h)
		_, err := h.repo.Comment(2, "bob", "And test it.")
		h.check(err)
	},
	"replay": func(h *handover) { // somebody pushes while the agent works
		scenes0(h)
		h.check(put(filepath.Join(h.agentDir(), "rules.yaml"), "- kind: implementation_feedback\n  touch: arrived\n  wait: go\n  append: {work/1.txt: more}\n"))
		_, err := h.repo.Comment(2, "bob", "And test it.")
		h.check(err)
	},
}

// scenes0 has machine A open a pull request.
func scenes0(h *handover) {
	_, err := h.repo.OpenIssue("ann", "Crash on start", "", "agent:bugfix")
	h.check(err)
	h.tick()
	h.before = 1
	h.check(h.clock.later(time.Second))
}

// play plays a scene with a strike. It returns what came of it, and how often the agent ran.
func play(t *testing.T, scene string, at strike) (outcome string, runs int, struck bool) {
	h := newHandover(t)
	scenes[scene](h)
	h.mu.Lock()
	h.strike = at
	h.mu.Unlock()
	h.hookAt(at.hook)
	over := make(chan struct{})
	var pushed sync.WaitGroup
	if scene == "replay" {
		pushed.Go(func() {
			for {
				select {
				case <-over:
					return
				case <-time.After(2 * time.Millisecond):
				}
				if _, err := os.Stat(filepath.Join(h.agentDir(), "arrived")); err == nil {
					break
				}
			}
			_, err := h.repo.PushCommit(h.repo.Pulls()[0].Head, "bob", map[string]string{"hand.txt": "by hand\n"}, "By hand")
			if err = errors.Join(err, put(filepath.Join(h.agentDir(), "go"), "")); err != nil {
				t.Error(err)
			}
		})
	}
	h.tick()
	close(over)
	pushed.Wait()
	h.check(os.RemoveAll(filepath.Join(h.repo.GitDir(), "hooks")))
	struck = h.struck.Load()
	h.mu.Lock()
	h.strike = strike{}
	h.mu.Unlock()
	if struck {
		h.moveOn()
	}
	for range 4 {
		h.check(h.clock.later(2 * time.Second))
		h.tick()
	}
	if rows, err := query(h.stateDB(), `SELECT turn_key, step FROM turns WHERE step <> 'done' UNION ALL SELECT commit_oid, 'bundle' FROM bundles`); err != nil || len(rows) > 0 {
		t.Errorf("left: %q, %v", rows, err)
	}
	ran, err := scripted.Runs(h.agentDir())
	h.check(err)
	return h.outcome(), len(ran) - h.before, struck
}

// TestALargeCommitWaitsForItsMachine: a commit that is too large for the database is pushed by the
// machine that has it. The other machine lets the turn be, says where it is, and pays no agent.
func TestALargeCommitWaitsForItsMachine(t *testing.T) {
	testhome.OnlyLong(t)
	t.Parallel()
	h := newHandover(t)
	h.check(put(filepath.Join(h.agentDir(), "rules.yaml"), "- git: [[-c, 'alias.x=!head -c 9000000 /dev/urandom >large', x]]\n"))
	scenes["start"](h)
	h.hookAt("pre-receive")
	h.tick()
	a := h.state
	h.moveOn()
	for range 2 {
		h.check(h.clock.later(time.Second))
		h.tick()
	}
	mergexo, err := program("gh-mergexo")
	h.check(err)
	c := exec.CommandContext(t.Context(), mergexo, "show", "1")
	c.Env = os.Environ()
	for name, value := range maps.All(h.environ()) {
		c.Env = append(c.Env, name+"="+value)
	}
	shown, err := c.Output()
	h.check(err)
	if !strings.Contains(string(shown), "is too large to be pushed from another machine than the one where its agent worked. That is ") {
		t.Errorf("show:\n%s", shown)
	}
	if len(h.repo.Pulls()) > 0 {
		t.Errorf("B went on: %s", h.outcome())
	}
	h.moveTo(a)
	h.tick()
	runs, err := scripted.Runs(h.agentDir())
	h.check(err)
	if len(h.repo.Pulls()) != 1 || len(runs) != 1 {
		t.Errorf("%d runs: %s", len(runs), h.outcome())
	}
}

// TestAnyMachineFinishesATurn: machine A is killed at each effect of a turn, from the moment its agent
// has answered, and never comes back. Machine B, which has the database and a mirror of its own,
// finishes the turn as A would have: with one push, one pull request, one reply and no run of an
// agent.
func TestAnyMachineFinishesATurn(t *testing.T) {
	testhome.NotShort(t)
	for _, scene := range slices.Sorted(maps.Keys(scenes)) {
		t.Run(scene, func(t *testing.T) {
			t.Parallel()
			want, _, _ := play(t, scene, strike{})
			if made := map[string]int{"start": 2, "feedback": 3, "replay": 4}[scene]; !strings.Contains(want, fmt.Sprintf("open of operator, %d commits", made)) {
				t.Fatalf("the scene went wrong:\n%s", want)
			}
			try := func(at strike) bool {
				got, runs, struck := play(t, scene, at)
				if struck && (got != want || runs != 1) {
					t.Errorf("killed %s: %d runs\n%s\nwant\n%s", at, runs, got, want)
				}
				return struck
			}
			for _, hook := range []string{"pre-receive", "post-receive"} {
				if !try(strike{hook: hook}) {
					t.Errorf("%s did not strike", hook)
				}
			}
			if !testhome.Long() {
				return
			}
			points := 0
			for n := 1; try(strike{write: n}); n++ {
				try(strike{write: n, done: true})
				points += 2
			}
			t.Logf("%d points", points)
			if points < 2 {
				t.Error("no request was struck")
			}
		})
	}
}

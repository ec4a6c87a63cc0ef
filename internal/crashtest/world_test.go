//go:build unix

package crashtest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// Who and what is in every world.
const (
	simHost  = "github.localhost"
	operator = "operator"
	repoName = "octo/app"
)

// world is a machine with a GitHub of its own. Its folder is used for one run
// after the other: only the programs in it stay.
type world struct {
	programs programs
	dir      string // short: a socket's path has at most 107 bytes
	scenario scenario
	hub      *githubsim.Hub
	repo     *githubsim.Repo
	token    string
	rig      *rig
	people   *sync.Once   // what people do during the turn, they do once
	before   int          // runs of the agent that the scenario begins with
	later    atomic.Int64 // seconds that the hub's clock was moved by
	mended   atomic.Bool  // what the agent asks about
	plainGit atomic.Bool  // passes find git itself, and nobody counts its calls
	fleet    *fleet       // nil: the machine is alone, with SQLite

	otherName atomic.Bool // of a storm: the machine that is renamed has its other name

	server    *cluster // for fleets, once one was played
	databases int      // that were made there

	mu      sync.Mutex
	machine string                      // that passes are made on; empty: there is one
	live    map[*exec.Cmd]chan struct{} // passes that run; closed when they have ended
}

// programs are built once for all worlds.
type programs struct{ mergexo, helper, git string }

// openWorld makes the folder that worlds live in.
func openWorld(p programs) (*world, error) {
	dir, err := os.MkdirTemp(fast(), "mx")
	if err != nil {
		return nil, err
	}
	w := &world{programs: p, dir: dir, live: map[*exec.Cmd]chan struct{}{}}
	if err := os.MkdirAll(w.path("bin"), 0o755); err != nil {
		return nil, err
	}
	for _, name := range []string{"bin/git", "bin/agent", "bin/acp", "bin/setup"} {
		if err := os.Link(p.helper, w.path(name)); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// fast is a folder in memory where there is one: thousands of runs sync to disk
// at every step, and what survives a SIGKILL does not depend on that.
func fast() string {
	const memory = "/dev/shm"
	if info, err := os.Stat(memory); err == nil && info.IsDir() {
		if dir, err := os.MkdirTemp(memory, "mx"); err == nil {
			_ = os.Remove(dir)
			return memory
		}
	}
	return "/tmp"
}

func (w *world) path(parts ...string) string {
	return filepath.Join(append([]string{w.dir}, parts...)...)
}

// state is the state folder, of the machine that passes are made on.
func (w *world) state(parts ...string) string {
	return w.path(append([]string{"state" + w.suffix()}, parts...)...)
}

// suffix is what the names of a machine's files end with.
func (w *world) suffix() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.machine == "" {
		return ""
	}
	return "-" + w.machine
}

// on has passes made on a machine from now on.
func (w *world) on(machine string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machine = machine
}

// begin makes the world again for a run of a scenario.
func (w *world) begin(s scenario) (err error) {
	w.scenario, w.people, w.before = s, new(sync.Once), 0
	w.later.Store(0)
	w.mended.Store(false)
	w.plainGit.Store(false)
	w.otherName.Store(false)
	w.on("")
	for _, name := range []string{"state", "state-a", "state-b", "state-c", "state-d", "state-e", "home", "gh", "hub", "hub.sock", "bin/rig", "log"} {
		if err := os.RemoveAll(w.path(name)); err != nil {
			return err
		}
	}
	w.rig = &rig{w: w, git: w.programs.git, write: map[int]int{}, query: map[int]int{}, intend: map[int]bool{}}
	if w.rig.listen, err = net.Listen("unix", w.path("bin", "rig")); err != nil {
		return err
	}
	w.rig.served.Go(w.rig.serve)
	if err := w.startHub(); err != nil {
		return err
	}
	if err := w.beginFleet(); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"gh/config.yml":   "http_unix_socket: " + w.path("hub.sock") + "\n",
		"gh/hosts.yml":    "",
		"home/.gitconfig": "[user]\n\tname = Olga Operator\n\temail = operator@example.com\n[init]\n\tdefaultBranch = main\n",
	} {
		if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(w.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return w.configure()
}

// configure writes the config of each machine.
func (w *world) configure() error {
	for _, machine := range w.machines() {
		w.on(machine)
		file := w.path("config" + w.suffix() + ".toml")
		if err := os.WriteFile(file+".new", []byte(w.config()), 0o600); err != nil {
			return err
		}
		if err := os.Rename(file+".new", file); err != nil { // a pass may begin right now
			return err
		}
	}
	w.on(w.machines()[0])
	return nil
}

func (w *world) startHub() (err error) {
	if w.hub, err = githubsim.New(githubsim.Options{Dir: w.path("hub"), Now: w.now}); err != nil {
		return err
	}
	for _, login := range []string{"ann", "bob"} {
		if _, err := w.hub.AddUser(login); err != nil {
			return err
		}
	}
	if w.token, err = w.hub.AddUser(operator); err != nil {
		return err
	}
	if w.repo, err = w.hub.AddRepo(repoName, map[string]string{"README.md": "# App\n", "src/app.txt": "one\ntwo\nthree\n"}); err != nil {
		return err
	}
	for login, level := range map[string]string{operator: "admin", "ann": "write", "bob": "write"} {
		if err := w.repo.SetPermission(login, level); err != nil {
			return err
		}
	}
	for _, label := range workLabels {
		w.repo.MakeLabel(label, "ededed", "")
	}
	if err := w.makeMoreRepos(); err != nil {
		return err
	}
	w.hub.OnRequest(w.rig.onRequest)
	return w.hub.ServeUnix(w.path("hub.sock"))
}

var workLabels = []string{"agent:bugfix", "agent:small-job", "agent:design", "agent:roadmap", "agent:ignore"}

// now is the hub's time. It begins a little in the past, so that it can be moved
// without running ahead of the machine's: what happens within one of its
// seconds has no order.
func (w *world) now() time.Time {
	return time.Now().Add(-time.Minute + time.Duration(w.later.Load())*time.Second)
}

// config waits for nothing, so that every point of a run is reached at once.
func (w *world) config() string {
	adapter, program, own := "command", "agent", cmp.Or(w.scenario.policy, "max_fix_cycles = 1")
	if w.scenario.byTool {
		adapter, program = "acp", "acp"
	}
	setup := ""
	if w.scenario.setsUp {
		setup = fmt.Sprintf("setup = [%q]", w.path("bin", "setup"))
	}
	return fmt.Sprintf(`[runtime]
agent = "rig"
workers = 2
state_dir = %q
sandbox = "none"
%s[agents.rig]
adapter = %q
command = [%q]
[[repo]]
name = %q
remote_url = %q
%s
[repo.review]
enabled = %t
auto_merge = %t
%s
`, w.state(), w.sharedDatabase(), adapter, w.path("bin", program), repoName, w.repo.GitDir(), setup,
		w.scenario.reviews != nil, w.scenario.merges, own) + w.moreRepos()
}

// environ is what a pass sees. Its git is the rig's, unless nobody counts.
func (w *world) environ() []string {
	path := "/usr/local/bin:/usr/bin:/bin"
	if !w.plainGit.Load() {
		path = w.path("bin") + ":" + path
	}
	return []string{
		"HOME=" + w.path("home"), "PATH=" + path, "GH_CONFIG_DIR=" + w.path("gh"), "GH_HOST=" + simHost,
		"GH_TOKEN=" + w.token, "GH_PROMPT_DISABLED=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "LC_ALL=C.UTF-8", "NO_COLOR=1",
		timings + "=retry_base=1ms,quiet_period=0s,min_interval=0s,settle_after=0s",
		"MERGEXO_CONFIG=" + w.path("config"+w.suffix()+".toml"),
		"GOGC=off", "GOMEMLIMIT=256MiB", // a pass is over before it has collected its garbage
	}
}

// end closes the world, and tells what went wrong with the rig itself.
func (w *world) end() error {
	w.kill()
	var errs []error
	if w.rig != nil {
		errs = append(errs, w.rig.listen.Close())
		w.rig.served.Wait()
		errs = append(errs, w.rig.errs...)
	}
	if w.hub != nil {
		if unknown := w.hub.Unknown(); len(unknown) > 0 {
			errs = append(errs, fmt.Errorf("githubsim has no handler for: %s", strings.Join(unknown, ", ")))
		}
		errs = append(errs, w.hub.Close())
	}
	errs = append(errs, w.fleet.end())
	w.rig, w.hub, w.fleet = nil, nil, nil
	return errors.Join(errs...)
}

// longest bounds a pass that hangs; nothing is measured by it.
const longest = 5 * time.Minute

// pass makes one pass and says whether it ended by itself.
func (w *world) pass(flags ...string) (ended bool, err error) {
	done, c, err := w.startPass(flags...)
	if err != nil {
		return false, err
	}
	select {
	case <-done:
	case <-w.halted():
		return false, nil
	case <-time.After(longest):
		w.kill()
		return false, fmt.Errorf("a pass hung for %s", longest)
	}
	if c.ProcessState.Success() {
		if w.scenario.between != nil {
			err = w.scenario.between(w)
		}
		return true, err
	}
	if c.ProcessState.Exited() {
		return true, fmt.Errorf("a pass ended with code %d", c.ProcessState.ExitCode())
	}
	return false, nil
}

// startPass starts the real program. The channel is closed when it has ended.
func (w *world) startPass(flags ...string) (<-chan struct{}, *exec.Cmd, error) {
	log, err := os.OpenFile(w.path("log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	c := exec.Command(w.programs.mergexo, append([]string{"tick"}, flags...)...)
	c.Dir, c.Env, c.Stdout, c.Stderr = w.path("home"), w.environ(), log, log
	done := make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := c.Start(); err != nil {
		return nil, nil, err
	}
	w.live[c] = done
	go func() {
		_ = c.Wait()
		w.mu.Lock()
		delete(w.live, c)
		w.mu.Unlock()
		close(done)
	}()
	return done, c, nil
}

// kill ends every pass with SIGKILL and returns when they are dead.
func (w *world) kill() {
	w.mu.Lock()
	var all []chan struct{}
	for c, done := range w.live {
		_ = c.Process.Kill()
		all = append(all, done)
	}
	w.mu.Unlock()
	for _, done := range all {
		<-done
	}
	if err := w.release(); err != nil && w.rig != nil {
		w.rig.fault(err)
	}
}

// release waits until nobody holds a lock of the dead: a child that a pass was
// about to start holds them until it has become another program, and on a busy
// machine that takes its time.
func (w *world) release() error {
	held, err := filepath.Glob(w.state("locks", "*.lock"))
	if err != nil {
		return err
	}
	w.fleet.cut()
	if err := w.fleet.sessionsEnd(); err != nil {
		return err
	}
	for end := time.Now().Add(longest); len(held) > 0; {
		free, err := unlocked(held[0])
		switch {
		case err != nil:
			return err
		case free:
			held = held[1:]
		case time.Now().After(end):
			return fmt.Errorf("%s is still held after the pass died", held[0])
		default:
			time.Sleep(time.Millisecond)
		}
	}
	return nil
}

// unlocked reports whether a lock can be taken. It takes it for that, so no process may begin at the same time:
// it would hold the lock until it has become another program, and the next pass would find it taken.
func unlocked(path string) (bool, error) {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	f, err := os.Open(path)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), nil // nobody holds what is gone
	}
	defer f.Close()
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// mostPasses is how many passes may be made until a world is quiet.
const mostPasses = 20

// settle makes passes until nothing is left to do and nothing was done.
func (w *world) settle() (passes int, err error) {
	for passes = range mostPasses {
		if err := w.fleet.nextMachine(); err != nil {
			return passes, err
		}
		was := w.rig.counts()
		ended, err := w.pass()
		if err != nil && passes == mostPasses-1 {
			return passes + 1, err
		}
		now := w.rig.counts()
		l, dbErr := w.ledger()
		if dbErr != nil {
			return passes + 1, dbErr
		}
		if err == nil && ended && l.open == 0 && was.writes == now.writes && was.agents == now.agents && w.fleet.allCame() {
			return passes + 1, nil
		}
	}
	l, _ := w.ledger()
	return mostPasses, fmt.Errorf("not quiet after %d passes:\n%s", mostPasses, l.text)
}

//go:build unix

package story

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/story/scripted"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Who and what is in every world.
const (
	simHost  = "github.localhost"
	operator = "operator"
	mainRepo = "octo/app"
)

// world is a machine with a home folder, a config and a GitHub.
type world struct {
	work   string
	state  string   // the state folder
	states []string // those of all machines that the story named
	socket string   // the folder of the socket: a short name, for a socket's path has at most 107 bytes
	hub    *githubsim.Hub
	at     string // the repository where the story is; empty: the main one, and nobody said so
	hosts  *hosts
	token  string // the operator's
	config *configFile
	clock  clock
	server string        // the URL of the database on PostgreSQL; empty: it is a file
	job    chan struct{} // closed when the job that launchd started has ended; nil: it started none
	skew   atomic.Int64  // of GitHub's clock, in nanoseconds
}

// newWorld makes a world in a folder that may hold a story's files already.
func newWorld(work string) (_ *world, err error) {
	w := &world{work: work, state: filepath.Join(work, "state")}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.close())
		}
	}()
	if w.socket, err = os.MkdirTemp("/tmp", "mx"); err != nil {
		return nil, err
	}
	if w.clock, err = newClock(filepath.Join(w.socket, "clock")); err != nil {
		return nil, err
	}
	for _, dir := range []string{w.agentDir(), w.home(), w.ghDir(), w.hubDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
	}
	if err := w.startHub(); err != nil {
		return nil, err
	}
	for name, text := range map[string]string{
		filepath.Join(w.ghDir(), "config.yml"): "http_unix_socket: " + w.socketPath() + "\n",
		filepath.Join(w.home(), ".gitconfig"): "[user]\n\tname = Olga Operator\n\temail = operator@example.com\n[init]\n\tdefaultBranch = main\n" +
			fmt.Sprintf("[url %q]\n\tinsteadOf = https://%s/%s.git\n", w.hub.Repo(mainRepo).GitDir(), simHost, mainRepo), // for a config without remote_url
		filepath.Join(w.ghDir(), "hosts.yml"):   "",
		filepath.Join(w.home(), ".config/.dir"): "",
	} {
		if err := put(name, text); err != nil {
			return nil, err
		}
	}
	return w, w.writeConfig()
}

// startHub makes the GitHub: the operator, ann and bob who may write to the
// repository, mallory who may not, and the repository.
func (w *world) startHub() (err error) {
	if w.hub, err = githubsim.New(githubsim.Options{Dir: w.hubDir(), Now: func() time.Time { return w.clock.Now().Add(time.Duration(w.skew.Load())) }}); err != nil {
		return err
	}
	if err := populate(w.hub); err != nil {
		return err
	}
	w.token = "token-" + operator
	w.hosts, err = serveHosts(w.socketPath(), w.hub)
	return err
}

// populate makes the people of a GitHub, and its repository.
func populate(hub *githubsim.Hub) error {
	for _, login := range []string{"ann", "bob", "mallory", operator} {
		if _, err := hub.AddUser(login); err != nil {
			return err
		}
	}
	return openRepo(hub, mainRepo)
}

// openRepo makes a repository, where ann and bob may write.
func openRepo(hub *githubsim.Hub, name string) error {
	r, err := hub.AddRepo(name, map[string]string{"README.md": "# App\n", "src/app.txt": "one\ntwo\nthree\n"})
	if err != nil {
		return err
	}
	for login, level := range map[string]string{operator: "admin", "ann": "write", "bob": "write"} {
		if err := r.SetPermission(login, level); err != nil {
			return err
		}
	}
	for _, label := range []string{"agent:bugfix", "agent:small-job", "agent:design", "agent:roadmap", "agent:ignore"} {
		r.MakeLabel(label, "ededed", "") // as after the first pass
	}
	return nil
}

// writeConfig makes a config that waits for nothing.
func (w *world) writeConfig() error {
	agent, err := program("scripted-agent")
	if err != nil {
		return err
	}
	w.config = &configFile{path: filepath.Join(w.work, "config.toml")}
	for _, kv := range [][2]string{
		{"agent", "scripted"},
		{"workers", "2"},
		{"turn_timeout", "10m"},
		{"state_dir", w.stateDir()},
		{"sandbox", "none"}, // a story about the sandbox says otherwise; the agents of the others leave their traces in $WORK
	} {
		w.config.set("runtime", kv[0], kv[1])
	}
	for _, t := range [][2]string{{"idle_timeout", "60s"}, {"retry_base", "1ms"}, {"quiet_period", "0s"}, {"min_interval", "0s"}, {"settle_after", "0s"}} {
		w.config.setTiming(t[0], t[1])
	}
	w.config.set("agents.scripted", "adapter", "command")
	w.config.set("agents.scripted", "command", fmt.Sprintf("[%q, %q]", agent, w.agentDir()))
	w.addRepo(mainRepo)
	return w.config.write()
}

// addRepo names a repository in the config. One that the hub does not have gets
// a remote that is not there. Reviews are off: a story about them says otherwise.
func (w *world) addRepo(name string) {
	if !w.config.has("repo:" + name) {
		defer w.config.set("repo:"+name+".review", "enabled", "false")
	}
	w.config.set("repo:"+name, "name", name)
	remote := filepath.Join(w.hubDir(), "nowhere.git")
	if r := w.hub.Repo(name); r != nil {
		remote = r.GitDir()
	}
	w.config.set("repo:"+name, "remote_url", remote)
}

// repo names the repository where the story is.
func (w *world) repo() string { return cmp.Or(w.at, mainRepo) }

// here is that repository as the database knows it.
func (w *world) here() work.Repo {
	owner, name, _ := strings.Cut(w.repo(), "/")
	return work.Repo{Name: work.RepoName{Host: simHost, Owner: owner, Name: name}, NodeID: w.hub.Repo(w.repo()).NodeID()}
}

// runs are those of the agent, in the repository where the story is if it says so.
func (w *world) runs() ([]scripted.Run, error) {
	runs, err := scripted.Runs(w.agentDir())
	return slices.DeleteFunc(runs, func(r scripted.Run) bool { return w.at != "" && r.Repo != w.at }), err
}

// cmdAt has all that follows happen in a repository.
func cmdAt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: at OWNER/NAME")
	}
	w := worldOf(ts)
	w.at = args[0]
	if w.hub.Repo(w.at) == nil {
		ts.Check(openRepo(w.hub, w.at))
		w.addRepo(w.at)
		ts.Check(w.config.write())
	}
	for name, value := range w.places() {
		ts.Setenv(name, value)
	}
}

// places are the folders of the repository where the story is.
func (w *world) places() map[string]string {
	return map[string]string{
		"ORIGIN": w.hub.Repo(w.repo()).GitDir(), "MIRROR": w.dirs().MirrorDir(w.here()), "CHECKOUTS": w.dirs().CheckoutParent(w.here()),
	}
}

func (w *world) dirs() folder.Dirs { return folder.Dirs{State: w.stateDir()} }

func (w *world) socketPath() string { return filepath.Join(w.socket, "s") }
func (w *world) home() string       { return filepath.Join(w.work, "home") }
func (w *world) ghDir() string      { return filepath.Join(w.work, "gh") }
func (w *world) hubDir() string     { return filepath.Join(w.work, "hub") }
func (w *world) agentDir() string   { return filepath.Join(w.work, "agent") }
func (w *world) stateDir() string   { return w.state }
func (w *world) stateDB() string {
	return cmp.Or(w.server, filepath.Join(w.stateDir(), "state.db"))
}
func (w *world) configPath() string { return w.config.path }

// environ is what a program in the world sees, beside PATH.
func (w *world) environ() map[string]string {
	twice := ""
	if testhome.Long() {
		twice = "1"
	}
	env := map[string]string{
		"HOME": w.home(), "XDG_CONFIG_HOME": filepath.Join(w.home(), ".config"),
		"XDG_DATA_HOME": filepath.Join(w.home(), ".local/share"), "XDG_CACHE_HOME": filepath.Join(w.home(), ".cache"),
		"XDG_STATE_HOME": filepath.Join(w.home(), ".local/state"),
		"GH_CONFIG_DIR":  w.ghDir(), "GH_HOST": simHost, "GH_TOKEN": w.token,
		"GH_PROMPT_DISABLED": "1", "GH_NO_UPDATE_NOTIFIER": "1", "GH_FORCE_TTY": "", "NO_COLOR": "",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C.UTF-8",
		"GOGC": "off", "GOMEMLIMIT": "256MiB", // a pass is over before it has collected its garbage
		clockVariable:    w.clock.path,
		twiceVariable:    twice,
		timingsVariable:  w.config.timed(),
		"MERGEXO_CONFIG": w.configPath(), "CONFIG": w.configPath(), "STATE": w.stateDir(), "AGENT": w.agentDir(),
	}
	maps.Copy(env, w.places())
	return env
}

// wakePasses has the passes that a failed story left stopped go on: they take the interrupt with which
// testscript then ends what runs in the background, and waits for its end.
func (w *world) wakePasses() {
	for _, state := range append(w.states, w.stateDir()) {
		passes, _ := folder.Dirs{State: state}.Passes(work.PassLimits{}, w.clock.Now()) // those that it cannot read are not stopped by a story
		for _, p := range passes.Begun {
			if !p.Gone {
				_ = syscall.Kill(p.PID, syscall.SIGCONT) // it may have ended since
			}
		}
	}
}

// close ends the world; a route that the hub does not know fails the test.
func (w *world) close() error {
	var errs []error
	if w.hosts != nil {
		errs = append(errs, w.hosts.close())
	}
	if w.hub != nil {
		if unknown := w.hub.Unknown(); len(unknown) > 0 {
			errs = append(errs, fmt.Errorf("githubsim has no handler for: %s", strings.Join(unknown, ", ")))
		}
		errs = append(errs, w.hub.Close())
	}
	if w.socket != "" {
		errs = append(errs, os.RemoveAll(w.socket))
	}
	return errors.Join(errs...)
}

// put writes a file, whose folder is made where it is missing.
func put(name, content string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, []byte(content), 0o644)
}

package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/environ"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/proc"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// The host, the repository and two accounts of the demo's GitHub.
const (
	host     = "github.localhost"
	repoName = "acme/greet"
	operator = "olga" // whose account the passes use
	stranger = "mallory"
)

// demo is a machine, a GitHub and the story so far.
type demo struct {
	now   func() time.Time
	began time.Time
	out   terminal.Output
	slow  func(what string) (over func()) // nil: nobody watches
	dir   string
	at    places
	self  string // this program
	git   string
	sh    string // empty where there is none
	env   []string
	hub   *githubsim.Hub
	repo  *githubsim.Repo

	socket  string         // the folder of the socket
	root    string         // the repository's first commit
	pulls   map[int]int    // the pull request of an issue
	roadmap int            // the roadmap's issue
	passes  []passRequests // in their order
}

// newDemo makes everything under dir, and starts the GitHub.
func newDemo(opt Options, dir string, at places) (_ *demo, err error) {
	env := opt.Env
	d := &demo{now: opt.Now, began: opt.Now(), out: opt.Out, slow: opt.Slow, dir: dir, at: at, pulls: map[int]int{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	if d.git, err = proc.LookPath("git", env.Path); err != nil {
		return nil, err
	}
	if d.sh, err = proc.LookPath("sh", env.Path); err != nil {
		d.sh = "/bin/sh"
	}
	for _, made := range []string{d.at.gh, d.at.home, d.path("tmp"), filepath.Dir(d.at.config)} {
		if err := os.MkdirAll(made, 0o755); err != nil {
			return nil, err
		}
	}
	if d.hub, err = githubsim.New(githubsim.Options{Dir: d.path("github"), Now: opt.Now}); err != nil {
		return nil, err
	}
	token, err := d.people()
	if err != nil {
		return nil, err
	}
	reached, err := d.serve(opt.Address)
	if err != nil {
		return nil, err
	}
	d.env = append(d.environ(env, token), reached...)
	return d, nil
}

// places are where a demo's things are.
type places struct{ home, gh, config, state string }

// sideBySide places everything directly in the demo's folder, where people find it.
func sideBySide(dir string) places {
	in := func(name string) string { return filepath.Join(dir, name) }
	return places{home: in("home"), gh: in("gh"), config: in("config.toml"), state: in("state")}
}

func (d *demo) path(name string) string { return filepath.Join(d.dir, name) }

// people makes the accounts and the repository, and gives the operator's token.
func (d *demo) people() (token string, err error) {
	if token, err = d.hub.AddUser(operator); err != nil {
		return "", err
	}
	for _, login := range []string{"ann", "bob", stranger} {
		if _, err := d.hub.AddUser(login); err != nil {
			return "", err
		}
	}
	if err := d.hub.AddOrg("acme"); err != nil {
		return "", err
	}
	if d.repo, err = d.hub.AddRepo(repoName, program); err != nil {
		return "", err
	}
	for login, level := range map[string]string{operator: "admin", "ann": "write", "bob": "write"} {
		if err := d.repo.SetPermission(login, level); err != nil {
			return "", err
		}
	}
	d.root, _ = d.repo.Head("main")
	return token, nil
}

// makeLabels makes the labels that people set, as a first pass would.
func (d grounds) makeLabels() {
	for _, label := range []string{"agent:bugfix", "agent:small-job", "agent:design", "agent:roadmap", "agent:ignore", "agent:review", "agent:hold"} {
		d.repo.MakeLabel(label, "ededed", "")
	}
}

// maxSocketPath is what every system takes as the path of a unix socket.
const maxSocketPath = 100

// environ is the environment of a pass: what is on this machine, without what its owner
// has configured.
func (d *demo) environ(env environ.Env, token string) []string {
	return append(env.Agent(nil), // PATH and locale
		"HOME="+d.at.home,
		"TMPDIR="+d.path("tmp"), "TMP="+d.path("tmp"), "TEMP="+d.path("tmp"),
		"GH_CONFIG_DIR="+d.at.gh, "GH_HOST="+host, "GH_TOKEN="+token, "GIT_CONFIG_NOSYSTEM=1", "MERGEXO_CONFIG="+d.at.config,
	)
}

// serve accepts clients at an address, or at a unix socket if its path is short enough. It returns
// the environment variables by which clients find it.
func (d *demo) serve(address string) (reached []string, err error) {
	settings := "version: 1\n"
	if socket, ok := d.serveUnix(address); ok {
		settings += fmt.Sprintf("http_unix_socket: %q\n", socket)
	} else {
		at, err := d.hub.ServeAt(cmp.Or(address, "127.0.0.1:0"))
		if err != nil {
			return nil, err
		}
		reached = []string{"HTTP_PROXY=http://" + at}
	}
	if err := os.WriteFile(filepath.Join(d.at.gh, "config.yml"), []byte(settings), 0o600); err != nil {
		return nil, fmt.Errorf("write gh's configuration: %w", err)
	}
	return reached, nil
}

func (d *demo) serveUnix(address string) (string, bool) {
	if address != "" {
		return "", false
	}
	dir, err := os.MkdirTemp("", "mx")
	if err != nil {
		return "", false
	}
	d.socket = dir
	socket := filepath.Join(dir, "s")
	return socket, len(socket) <= maxSocketPath && d.hub.ServeUnix(socket) == nil
}

// close ends the GitHub.
func (d *demo) close() error {
	var errs []error
	if d.hub != nil {
		errs = append(errs, d.hub.Close())
	}
	if d.socket != "" {
		errs = append(errs, os.RemoveAll(d.socket))
	}
	return errors.Join(errs...)
}

// run starts a program in the demo's environment and waits for its end.
func (d *demo) run(ctx context.Context, path string, args ...string) (proc.Result, error) {
	if d.slow != nil && path == d.self {
		defer d.slow("gh mergexo " + args[0])()
	}
	return proc.Run(ctx, d.command(path, args...))
}

func (d *demo) command(path string, args ...string) proc.Cmd {
	return proc.Cmd{Path: path, Args: args, Dir: d.dir, Env: d.env, Wall: patience, Grace: grace, DieWithParent: true}
}

// gitOutput runs git on the repository behind the GitHub.
func (d witness) gitOutput(ctx context.Context, args ...string) (string, error) {
	res, err := d.run(ctx, d.git, slices.Concat([]string{"--git-dir=" + d.repo.GitDir(), "--literal-pathspecs"}, args)...)
	if err != nil {
		return "", err
	}
	if res.Code != 0 {
		return "", fmt.Errorf("git %s: exit code %d: %s", args[0], res.Code, lastLine(res.Stderr))
	}
	return string(res.Stdout), nil
}

func lastLine(b []byte) string {
	text := strings.TrimSpace(string(b))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

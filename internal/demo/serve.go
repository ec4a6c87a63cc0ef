package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// ServeOptions are what a demo is kept up with.
type ServeOptions struct {
	Options
	Unconfigured bool   // the config names no repository yet
	EnvFile      string // where the environment is written to, for a shell to read; empty: nowhere
}

// Serve keeps a GitHub up, with a repository and a few issues, until ctx ends; then all of
// it is gone, unless it is to be kept.
func Serve(ctx context.Context, opt ServeOptions) (err error) {
	ctx, stop := untilNobodyListens(ctx, &opt.Out)
	defer stop()
	if err := findGit(ctx, opt.Env); err != nil {
		return err
	}
	dir, remove, err := makeFolder(opt.Keep)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	d, err := newDemo(opt.Options, dir, asAtHome(dir))
	if err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("set the demo up: %w", err))
	}
	defer func() { err = errors.Join(err, d.close()) }()
	w, err := grounds{d}.furnish(ctx, opt)
	if err != nil {
		return errors.Join(ctx.Err(), fmt.Errorf("set the demo up: %w", err))
	}
	defer func() { err = errors.Join(err, w.forget(opt.EnvFile)) }()
	if err := w.tell(opt); err != nil {
		return err
	}
	<-ctx.Done()
	if opt.Keep != "" {
		defer sayKept(d)
		return leave(d, serveNotes(d))
	}
	d.say("\nThe simulated GitHub has ended, and %s is removed.", dir)
	d.sayNext()
	return nil
}

// asAtHome has everything where the programs look for it by themselves: a pass that a
// scheduler starts knows nothing but its home folder.
func asAtHome(dir string) places {
	home := filepath.Join(dir, "home")
	return places{
		home: home, gh: filepath.Join(home, ".config", "gh"),
		config: filepath.Join(home, ".config", "mergexo", "config.toml"),
		state:  filepath.Join(home, ".local", "share", "mergexo"),
	}
}

// world is what a person needs to know to try commands.
type world struct {
	d        *demo
	checkout string
	variable []variable
}

// grounds sets up the demo: config, labels, and the issues that a person finds.
type grounds struct{ *demo }

// served are issues that wait for a label; the scripted agent knows what to do about them.
var served = []struct{ author, title, body string }{
	bugIssue - 1:    {"ann", `Without a name it says "Hello, !"`, "`sh greet.sh` should greet the world."},
	designIssue - 1: {"bob", "Greet in other languages", "My friends speak German and Polish."},
	jobIssue - 1:    {"ann", "The README does not say how to run it", ""},
}

// furnish makes what a person finds: issues, a config, a login, this program as gh's
// extension, and a clone.
func (d grounds) furnish(ctx context.Context, opt ServeOptions) (*world, error) {
	for _, is := range served {
		if _, err := d.repo.OpenIssue(is.author, is.title, is.body); err != nil {
			return nil, err
		}
	}
	if !opt.Unconfigured {
		d.makeLabels()
	}
	proxy, err := d.hub.ServeTCP()
	if err != nil {
		return nil, err
	}
	token := githubsim.TokenOf(operator)
	login := fmt.Sprintf("%s:\n    user: %s\n    oauth_token: %s\n    git_protocol: https\n", host, operator, token)
	err = errors.Join(
		d.writeConfig(d.serveConfig(opt.Unconfigured)),
		os.WriteFile(filepath.Join(d.at.gh, "hosts.yml"), []byte(login), 0o600),
		os.WriteFile(filepath.Join(d.at.home, ".gitconfig"), []byte(d.gitConfig(proxy)), 0o644),
		d.install(),
	)
	if err != nil {
		return nil, err
	}
	w := &world{d: d.demo, checkout: filepath.Join(d.at.home, "greet"), variable: d.variables()}
	res, err := d.run(ctx, d.git, "clone", "--quiet", "https://"+host+"/"+repoName+".git", w.checkout)
	if err == nil && res.Code != 0 {
		err = fmt.Errorf("git clone: exit code %d: %s", res.Code, lastLine(res.Stderr))
	}
	return w, err
}

// gitConfig has git ask the GitHub that it finds by its proxy: git knows no sockets. After gh repo
// rename the remote is at github.com, also if it was at another host.
func (d grounds) gitConfig(proxy string) string {
	return fmt.Sprintf(`[user]
	name = %[1]s
	email = %[1]s@users.noreply.github.com
[init]
	defaultBranch = main
[http "http://%[2]s"]
	proxy = http://%[3]s
[url "http://%[2]s/"]
	insteadOf = https://%[2]s/
	insteadOf = https://github.com/
`, operator, host, proxy)
}

// install has gh find this program as its extension.
func (d grounds) install() error {
	dir := filepath.Join(d.at.home, ".local", "share", "gh", "extensions", "gh-mergexo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return os.Symlink(d.self, filepath.Join(dir, "gh-mergexo"))
}

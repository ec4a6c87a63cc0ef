package git

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Identity is the author or committer of a commit.
type Identity struct{ Name, Email string }

func (i Identity) String() string { return i.Name + " <" + i.Email + ">" }

// whole reports whether both parts are known.
func (i Identity) whole() bool { return i.Name != "" && i.Email != "" }

// local is the identity of commits and checkouts that stay on this machine. Nobody has its address.
var local = Identity{Name: "gh mergexo", Email: "noreply@mergexo.invalid"}

// Options configures Open.
type Options struct {
	Bin        string        // a name to find in Env's PATH, or a path; "" means git
	Env        []string      // required; the operator's environment, for credentials and ssh
	Timeout    time.Duration // of a local command; 0 means 5 minutes
	NetTimeout time.Duration // of a fetch or push with signs of life; 0 means 12 hours
	NetIdle    time.Duration // of a fetch or push without a sign of life; 0 means 2 minutes

	ModulesTimeout time.Duration // of the fetches of all submodules of a checkout; 0 means 30 minutes
	PatternTimeout time.Duration // of a local command that matches a checkout's own patterns; 0 means 30 seconds
	GhPath         string        // if set, "gh auth git-credential" provides credentials for https remotes without a Token

	// Token returns the token for an https remote's host; nil, or empty: there is none.
	Token func(ctx context.Context, host string) string
}

// Git runs the operator's git.
type Git struct {
	bin      string
	opt      Options
	env      []string          // of every command
	operator map[string]string // the operator's configuration, the last value of each key
	version  string
}

// The oldest supported version: merge-tree --write-tree appeared in it.
const (
	wantMajor = 2
	wantMinor = 38
)

// Open finds git and reads the operator's settings for ignored files and signing. A git older than
// 2.38 is a *VersionError, a missing one a *NoGitError.
func Open(ctx context.Context, opt Options) (*Git, error) {
	opt.Bin = cmp.Or(opt.Bin, "git")
	opt.Timeout = cmp.Or(opt.Timeout, 5*time.Minute)
	opt.PatternTimeout = cmp.Or(opt.PatternTimeout, 30*time.Second)
	opt.NetTimeout = cmp.Or(opt.NetTimeout, 12*time.Hour)
	opt.NetIdle = cmp.Or(opt.NetIdle, 2*time.Minute)
	opt.ModulesTimeout = cmp.Or(opt.ModulesTimeout, 30*time.Minute)
	bin, err := proc.LookPath(opt.Bin, lookup(opt.Env, "PATH"))
	if err != nil {
		return nil, &NoGitError{err}
	}
	g := &Git{bin: bin, opt: opt, env: baseEnv(opt.Env)}
	var operator map[string]string
	var unread error
	read := make(chan struct{})
	go func() { // in parallel with the version: each is a process to wait for
		defer close(read)
		operator, unread = g.readOperator(ctx)
	}()
	tooOld := g.readVersion(ctx)
	<-read
	if tooOld != nil {
		return nil, tooOld
	}
	if unread != nil {
		return nil, unread
	}
	g.operator = operator
	return g, nil
}

// signsCommits reports whether the operator's git signs commits.
func (g *Git) signsCommits() bool {
	v, ok := g.operator["commit.gpgsign"]
	return ok && isTrue(v)
}

var versionPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`git version (\d+)\.(\d+)\S*`) })

func (g *Git) readVersion(ctx context.Context) error {
	out, err := g.command("version").text(ctx)
	if err != nil {
		return err
	}
	m := versionPattern().FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("read git's version: %q", out)
	}
	g.version = strings.TrimPrefix(m[0], "git version ")
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < wantMajor || (major == wantMajor && minor < wantMinor) {
		return &VersionError{Have: strings.TrimPrefix(m[0], "git version "), Want: fmt.Sprintf("%d.%d", wantMajor, wantMinor)}
	}
	return nil
}

// readOperator reads the system's and the operator's configuration. An invalid GIT_DIR keeps git
// from reading a repository's.
func (g *Git) readOperator(ctx context.Context) (map[string]string, error) {
	c := g.command("config", "--includes", "--null", "--list")
	c.GitDir, c.Operator = os.DevNull, true
	out, err := c.text(ctx)
	if err != nil {
		return nil, fmt.Errorf("read git's configuration: %w", err)
	}
	operator := map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key without a value is a true boolean
		}
		operator[key] = value
	}
	return operator, nil
}

// operatorConfig returns a value of the operator's configuration; key is in lower case.
func (g *Git) operatorConfig(key string) string { return g.operator[key] }

// user returns whom the operator's configuration names as author or committer, as git resolves it: by
// author.name or committer.name, else by user.name. It is zero if a part is missing.
func (g *Git) user(role string) Identity {
	who := Identity{Name: cmp.Or(g.operator[role+".name"], g.operator["user.name"]), Email: cmp.Or(g.operator[role+".email"], g.operator["user.email"])}
	if !who.whole() {
		return Identity{}
	}
	return who
}

// operatorPath returns a path of the operator's configuration with ~ expanded.
func (g *Git) operatorPath(key string) string {
	v := g.operator[key]
	if rest, ok := strings.CutPrefix(v, "~/"); ok {
		return lookup(g.env, "HOME") + "/" + rest
	}
	return v
}

// signingConfig returns the operator's signing keys and programs for a command that signs. Without
// user.signingkey gpg would look for a key of the committer, who is not the operator.
func (g *Git) signingConfig() []string {
	var config []string
	for key, value := range g.operator {
		if strings.HasPrefix(key, "gpg.") || key == "user.signingkey" {
			config = append(config, key+"="+value)
		}
	}
	if g.operator["user.signingkey"] == "" && g.operator["gpg.format"] != "ssh" && g.operator["user.email"] != "" {
		config = append(config, "user.signingkey="+strings.TrimSpace(Identity{Name: g.operator["user.name"], Email: g.operator["user.email"]}.String()))
	}
	return config
}

func isTrue(v string) bool {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

// lookup returns a variable of an environment; the last entry wins.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

// Path returns the path of the git executable.
func (g *Git) Path() string { return g.bin }

// Version returns git's version, such as "2.45.1".
func (g *Git) Version() string { return g.version }

// Init makes an empty repository with a work tree in a folder that exists.
func (g *Git) Init(ctx context.Context, dir string) error {
	_, err := g.command("init", "--quiet", "--template=", "--initial-branch=main", dir).Run(ctx)
	return err
}

package git

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Identity is whom commits are by.
type Identity struct{ Name, Email string }

// Options of Open.
type Options struct {
	Bin        string        // a name to look for in Env's PATH, or a path; "" means git
	Env        []string      // required; the operator's environment, for credentials and ssh
	Timeout    time.Duration // of a local command; 0 means 5 minutes
	NetTimeout time.Duration // of a fetch or push; 0 means 30 minutes
	NetIdle    time.Duration // of a fetch or push that says nothing; 0 means 2 minutes
	Identity   Identity      // required

	PatternTimeout time.Duration // of a local command that reads a checkout's own patterns; 0 means 30 seconds
	GhPath         string        // if set, https remotes ask "gh auth git-credential" for credentials
}

// Git runs the operator's git.
type Git struct {
	bin      string
	opt      Options
	env      []string          // for every command
	operator map[string]string // the operator's configuration, the last value of each key
}

// Version wanted: merge-tree --write-tree.
const (
	wantMajor = 2
	wantMinor = 38
)

// Open finds git and reads what is carried over of the operator's
// configuration: ignored files and signing. A git older than 2.38 is a
// *VersionError, a missing one wraps proc.ErrNotFound.
func Open(ctx context.Context, opt Options) (*Git, error) {
	opt.Bin = orString(opt.Bin, "git")
	opt.Timeout = orDuration(opt.Timeout, 5*time.Minute)
	opt.PatternTimeout = orDuration(opt.PatternTimeout, 30*time.Second)
	opt.NetTimeout = orDuration(opt.NetTimeout, 30*time.Minute)
	opt.NetIdle = orDuration(opt.NetIdle, 2*time.Minute)
	if opt.Identity.Name == "" || opt.Identity.Email == "" {
		return nil, fmt.Errorf("open git: identity %q <%q> is incomplete", opt.Identity.Name, opt.Identity.Email)
	}
	bin, err := proc.LookPath(opt.Bin, lookup(opt.Env, "PATH"))
	if err != nil {
		return nil, fmt.Errorf("open git: %w", err)
	}
	g := &Git{bin: bin, opt: opt, env: baseEnv(opt.Env)}
	if err := g.readVersion(ctx); err != nil {
		return nil, err
	}
	if err := g.readOperator(ctx); err != nil {
		return nil, err
	}
	return g, nil
}

// addTimeout is for adding files, which takes its time for their contents too.
func (g *Git) addTimeout() time.Duration { return 4 * g.opt.PatternTimeout }

// Signs reports whether the operator's git signs commits.
func (g *Git) Signs() bool {
	v, ok := g.operator["commit.gpgsign"]
	return ok && isTrue(v)
}

var versionPattern = regexp.MustCompile(`git version (\d+)\.(\d+)\S*`)

func (g *Git) readVersion(ctx context.Context) error {
	out, err := g.text(ctx, call{args: []string{"version"}})
	if err != nil {
		return err
	}
	m := versionPattern.FindStringSubmatch(out)
	if m == nil {
		return fmt.Errorf("read git's version: %q", out)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	if major < wantMajor || (major == wantMajor && minor < wantMinor) {
		return &VersionError{Have: strings.TrimPrefix(m[0], "git version "), Want: fmt.Sprintf("%d.%d", wantMajor, wantMinor)}
	}
	return nil
}

// readOperator reads the system's and the operator's configuration, and no
// repository's: a GIT_DIR that is none keeps git from looking for one.
func (g *Git) readOperator(ctx context.Context) error {
	out, err := g.text(ctx, call{
		args: []string{"config", "--includes", "--null", "--list"}, gitDir: os.DevNull, operator: true,
	})
	if err != nil {
		return fmt.Errorf("read git's configuration: %w", err)
	}
	g.operator = map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true" // a key alone is a true boolean
		}
		g.operator[key] = value
	}
	return nil
}

// path gives a configured path with ~ expanded.
func (g *Git) path(key string) string {
	v := g.operator[key]
	if rest, ok := strings.CutPrefix(v, "~/"); ok {
		return lookup(g.env, "HOME") + "/" + rest
	}
	return v
}

func isTrue(v string) bool {
	switch strings.ToLower(v) {
	case "true", "yes", "on", "1":
		return true
	}
	return false
}

func orString(s, def string) string {
	if s == "" {
		return def
	}
	return s
}

func orDuration(d, def time.Duration) time.Duration {
	if d == 0 {
		return def
	}
	return d
}

// lookup finds a variable in an environment; the last one counts.
func lookup(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v
		}
	}
	return ""
}

package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

const (
	// trackingRefs is the prefix of the refs of the remote's branches.
	trackingRefs = "refs/remotes/origin/"
	ownRefs      = "refs/mergexo/"
)

// remoteCommand returns a command that contacts the remote. It uses the operator's configuration
// for credentials, proxies and ssh.
func (m *Mirror) remoteCommand(ctx context.Context, args ...string) command {
	c := m.command(args...)
	c.Operator, c.Remote = !m.anonymous, m.url
	if m.anonymous { // curl reads ~/.netrc, and git asks programs that these variables name
		c.Config = []string{"credential.helper="}
		c.Env = []string{"HOME=" + m.dir, "XDG_CONFIG_HOME=" + m.dir, "GIT_ASKPASS=", "SSH_ASKPASS="}
		return c
	}
	at, err := url.Parse(m.url)
	if err != nil || at.Scheme != "https" {
		return c
	}
	if token := m.git.token(ctx, at.Host); token != "" {
		c.Config, c.Pipe = credentials(at.Host, token)
	} else if m.git.opt.GhPath != "" {
		c.Config = []string{"credential.helper=", "credential.helper=!" + shellQuote(m.git.opt.GhPath) + " auth git-credential"}
	}
	return c
}

// token returns the token for a host; empty: there is none.
func (g *Git) token(ctx context.Context, host string) string {
	if g.opt.Token == nil {
		return ""
	}
	return g.opt.Token(ctx, host)
}

// helper answers git's question for a password with the next two lines of the pipe. All of it is built into
// the shell: no argument and no environment has the token.
const helper = `!f() { test "$1" = get && IFS= read -r u <&3 && IFS= read -r p <&3 && printf '%s\n%s\n' "$u" "$p"; }; f`

// credentials have git send a token to one host. Another host, to which a server may redirect, gets none.
// gh's login may change meanwhile: git does not ask gh.
func credentials(host, token string) (config []string, pipe []byte) {
	const often = 8 // a command asks once, and again after a redirect
	pipe = bytes.Repeat([]byte("username=x-access-token\npassword="+token+"\n"), often)
	return []string{"credential.helper=", "credential.https://" + host + ".helper=" + helper}, pipe
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Fetch fetches our branches, the default branch, the wanted branches, and the wanted commits that
// none of them contains. Other branches are left out: a file system may not tell their names apart.
// Refs of deleted ones among these are removed; their commits stay. An empty repository is no error. A wanted
// commit that the remote lacks is a *MissingError, a wanted branch is not. A *NetworkError may pass,
// an *AccessError will not.
func (m *Mirror) Fetch(ctx context.Context, want ...string) error {
	var branches, oids []string
	for _, name := range want {
		switch {
		case name == "": // not known yet
		case validOID(name): // GitHub refuses a branch of such a name
			oids = append(oids, name)
		case checkBranch(name) != nil:
			return fmt.Errorf("fetch: %w", checkBranch(name))
		default:
			branches = append(branches, name)
		}
	}
	return m.locked(ctx, func() error {
		m.packRefs(ctx) // before the fetch, whose objects a power cut may take
		if err := fetchOrRepair(ctx, m, branches); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		for _, oid := range oids {
			if m.Has(ctx, oid) {
				continue
			}
			_, err := m.remoteCommand(ctx, fetchArgs(m.url, oid)...).Run(ctx)
			var failed *CommandError
			switch {
			case errors.As(err, &failed) && failed.Says(notThere):
				return &MissingError{OID: oid}
			case err != nil:
				return fmt.Errorf("fetch %s: %w", oid, remoteError("fetch", err))
			case !m.Has(ctx, oid):
				return &MissingError{OID: oid}
			}
		}
		return nil
	})
}

// FetchPull fetches the head of a pull request, including one from a fork, and keeps it as the
// turn's commit. ok is false if the remote has no pull request of that number. The head may lag
// behind the API. It is durable when FetchPull returns.
func (m *Mirror) FetchPull(ctx context.Context, number int, key string) (oid string, ok bool, err error) {
	if err := checkKey(key); err != nil {
		return "", false, fmt.Errorf("fetch pull request #%d: %w", number, err)
	}
	ref := turnRef(key)
	err = m.locked(ctx, func() error {
		if err := ensure(ctx, m); err != nil {
			return err
		}
		if m.partial() {
			if err := fetchOrRepair(ctx, m, nil); err != nil {
				return err
			}
		}
		_, err := m.remoteCommand(ctx, fetchArgs(m.url, fmt.Sprintf("+refs/pull/%d/head:%s", number, ref))...).Run(ctx)
		var failed *CommandError
		switch {
		case errors.As(err, &failed) && failed.Says(notThere):
			return nil
		case err != nil:
			return remoteError("fetch", err)
		}
		oid, ok, err = m.ref(ctx, ref)
		return err
	})
	if err != nil {
		return "", false, fmt.Errorf("fetch pull request #%d: %w", number, err)
	}
	return oid, ok, nil
}

// notThere are git's messages for objects and refs that the remote lacks.
var notThere = []string{"not our ref", "no such remote ref", "unadvertised object", "couldn't find remote ref"}

func fetchArgs(url string, what ...string) []string {
	return append([]string{
		"fetch", "--progress", "--prune", "--no-prune-tags", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--no-show-forced-updates", url,
	}, what...)
}

// fetch fetches all branches of our flows, the default branch and others.
func (m *Mirror) fetch(ctx context.Context, others []string) error {
	branches := work.BranchPatterns()
	for _, branch := range append([]string{m.base}, others...) {
		_, _, ours := work.ParseBranch(branch)
		if branch != "" && !ours && !slices.Contains(branches, branch) {
			branches = append(branches, branch)
		}
	}
	if m.isNew() {
		return m.clone(ctx, branches)
	}
	return m.fetchHeads(ctx, branches, nil)
}

// fetchHeads fetches branches and patterns of them. A branch that the remote no longer has makes git
// fail: its ref is removed, and the others are fetched.
func (m *Mirror) fetchHeads(ctx context.Context, branches []string, progress io.Writer, options ...string) error {
	var specs []string
	for _, branch := range branches {
		specs = append(specs, "+refs/heads/"+branch+":"+trackingRefs+branch)
	}
	args := fetchArgs(m.url, specs...)
	c := m.remoteCommand(ctx, slices.Concat(args[:1], options, args[1:])...)
	c.Config = append(c.Config, "core.fsyncMethod=batch") // lost objects are fetched again
	c.Stderr = progress
	_, err := c.Run(ctx)
	failed, ok := errors.AsType[*CommandError](err)
	if !ok {
		return remoteError("fetch", err)
	}
	gone := m.goneBranches(ctx, branches, failed.Stderr)
	if len(gone) == 0 {
		return remoteError("fetch", err)
	}
	for _, branch := range gone {
		if _, err := m.command("update-ref", "--no-deref", "-d", trackingRefs+branch).Run(ctx); err != nil {
			return err
		}
	}
	branches = slices.DeleteFunc(slices.Clone(branches), func(branch string) bool { return slices.Contains(gone, branch) })
	return m.fetchHeads(ctx, branches, progress, options...)
}

// goneBranches returns branches that the remote no longer has, as the failure of a fetch shows: one
// of those to fetch that git names, or, as no remote has both, each whose ref is in the way of one to
// fetch ("a" of "a/b").
func (m *Mirror) goneBranches(ctx context.Context, branches []string, stderr string) (gone []string) {
	if named := noSuchBranch().FindStringSubmatch(stderr); named != nil && slices.Contains(branches, named[1]) {
		return named[1:]
	}
	heads, _ := m.Heads(ctx) // the fetch has failed anyway
	for head := range heads {
		if slices.ContainsFunc(branches, func(branch string) bool {
			return strings.HasPrefix(branch, head+"/") || strings.HasPrefix(head, branch+"/")
		}) {
			gone = append(gone, head)
		}
	}
	return gone
}

var noSuchBranch = lazy.Regexp(`(?m)^fatal: couldn't find remote ref refs/heads/(\S+)$`)

// fetchOrRepair fetches and, if the mirror causes the failure, repairs it: broken tracking refs are
// removed, and a mirror with further damage, or with an end of its history that stays, is remade. The
// old mirror is replaced only once the new one is complete.
func fetchOrRepair(ctx context.Context, m *Mirror, branches []string) error {
	if err := ensure(ctx, m); err != nil {
		return err
	}
	first := m.fetch(ctx, branches)
	if errors.Is(first, errEndsStay) {
		return remake(ctx, m, branches...)
	}
	var failed *CommandError
	if first == nil || !errors.As(first, &failed) {
		return first
	}
	m.Close() // a new process reads the current state
	sound := inspect(ctx, m) == nil
	if err := ensure(ctx, m); err != nil {
		return errors.Join(first, err)
	}
	forgot := forgetBroken(ctx, m)
	if (forgot || !sound) && m.fetch(ctx, branches) == nil {
		return nil
	}
	if !forgot && !failed.Says(damageSigns) {
		check := m.command("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
		check.Remote = m.url // allow as much time as for a fetch
		if _, err := check.Run(ctx); !errors.As(err, &failed) {
			return errors.Join(first, ctx.Err())
		}
	}
	if err := remake(ctx, m, branches...); err != nil {
		return errors.Join(first, err)
	}
	return nil
}

// forgetBroken removes loose tracking refs that name no commit, as a power cut leaves them.
func forgetBroken(ctx context.Context, m *Mirror) bool {
	forgot := false
	_ = filepath.WalkDir(m.path("refs", "remotes"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err == nil && !m.Has(ctx, strings.TrimSpace(string(content))) && ctx.Err() == nil {
			forgot = os.Remove(path) == nil || forgot
		}
		return nil
	})
	return forgot
}

// Heads returns the branches of the remote that were fetched, as of their last fetch: branch to object id.
func (m *Mirror) Heads(ctx context.Context) (map[string]string, error) {
	out, err := m.command("for-each-ref", "--format=%(objectname)%09%(refname)", trackingRefs).text(ctx)
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	return headsIn(out, trackingRefs), nil
}

// headsIn parses lines of an object id, a tab and a ref.
func headsIn(lines, refs string) map[string]string {
	heads := map[string]string{}
	for line := range strings.Lines(lines) {
		oid, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if branch, ok := strings.CutPrefix(ref, refs); ok {
			heads[branch] = oid
		}
	}
	return heads
}

// RemoteHeads asks the remote for its branches whose names begin with prefix: branch to object id.
func (m *Mirror) RemoteHeads(ctx context.Context, prefix string) (map[string]string, error) {
	res, err := m.remoteCommand(ctx, "ls-remote", "--heads", m.url, "refs/heads/"+prefixPattern(prefix)).Run(ctx)
	if err != nil {
		return nil, fmt.Errorf("list remote branches: %w", remoteError("ls-remote", err))
	}
	heads := headsIn(string(res.Stdout), "refs/heads/")
	maps.DeleteFunc(heads, func(branch, _ string) bool { return !strings.HasPrefix(branch, prefix) })
	return heads, nil
}

// prefixPattern converts a prefix to a pattern for ls-remote. Pattern characters cannot occur in a
// branch name.
func prefixPattern(prefix string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(`*?[\`, r) {
			return '_'
		}
		return r
	}, prefix) + "*"
}

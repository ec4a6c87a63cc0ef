package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// trackingRefs is the prefix of the refs of the remote's branches.
	trackingRefs = "refs/remotes/origin/"
	ownRefs      = "refs/mergexo/"
)

// remoteCommand returns a command that contacts the remote. It uses the operator's configuration
// for credentials, proxies and ssh.
func (m *Mirror) remoteCommand(args ...string) command {
	c := m.command(args...)
	c.Operator, c.Remote = true, m.url
	if m.git.opt.GhPath != "" && strings.HasPrefix(m.url, "https://") {
		c.Config = []string{
			"credential.helper=",
			"credential.helper=!" + shellQuote(m.git.opt.GhPath) + " auth git-credential",
		}
	}
	return c
}

func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// Fetch fetches every branch of the remote, and the wanted commits that no branch contains. Refs of
// deleted branches are pruned; their commits stay. An empty repository is no error. A wanted commit
// that the remote lacks is a *MissingError. A *NetworkError may pass, an *AccessError will not.
func (m *Mirror) Fetch(ctx context.Context, wantOID ...string) error {
	for _, oid := range wantOID {
		if !validOID(oid) {
			return fmt.Errorf("fetch: %q is no object id", oid)
		}
	}
	return m.locked(ctx, func() error {
		m.packRefs(ctx) // before the fetch, whose objects a power cut may take
		if err := fetchOrRepair(ctx, m); err != nil {
			return fmt.Errorf("fetch: %w", err)
		}
		for _, oid := range wantOID {
			if m.Has(ctx, oid) {
				continue
			}
			_, err := m.remoteCommand(fetchArgs(m.url, oid)...).Run(ctx)
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
		_, err := m.remoteCommand(fetchArgs(m.url, fmt.Sprintf("+refs/pull/%d/head:%s", number, ref))...).Run(ctx)
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

func fetchArgs(url, what string) []string {
	return []string{
		"fetch", "--progress", "--prune", "--no-prune-tags", "--no-tags", "--no-write-fetch-head",
		"--no-auto-maintenance", "--no-recurse-submodules", "--no-show-forced-updates", url, what,
	}
}

func (m *Mirror) fetch(ctx context.Context) error {
	c := m.remoteCommand(fetchArgs(m.url, "+refs/heads/*:"+trackingRefs+"*")...)
	c.Config = append(c.Config, "core.fsyncMethod=batch") // lost objects are fetched again
	_, err := c.Run(ctx)
	if err != nil {
		return remoteError("fetch", err)
	}
	return nil
}

// fetchOrRepair fetches and, if the mirror causes the failure, repairs it: broken tracking refs are
// removed, and a mirror with further damage is remade. The old mirror is replaced only once the new
// one is complete.
func fetchOrRepair(ctx context.Context, m *Mirror) error {
	if err := ensure(ctx, m); err != nil {
		return err
	}
	first := m.fetch(ctx)
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
	if (forgot || !sound) && m.fetch(ctx) == nil {
		return nil
	}
	if !forgot && !failed.Says(damageSigns) {
		check := m.command("fsck", "--connectivity-only", "--no-dangling", "--no-progress")
		check.Remote = m.url // allow as much time as for a fetch
		if _, err := check.Run(ctx); !errors.As(err, &failed) {
			return errors.Join(first, ctx.Err())
		}
	}
	if err := remake(ctx, m); err != nil {
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

// Heads returns the remote's branches as of the last fetch: branch to object id.
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
	res, err := m.remoteCommand("ls-remote", "--heads", m.url, "refs/heads/"+prefixPattern(prefix)).Run(ctx)
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

// defaultBranch asks the remote which branch its HEAD names. If HEAD names none, it is main, master
// or the first branch by name. A repository without branches is an *EmptyError.
func (m *Mirror) defaultBranch(ctx context.Context) (string, error) {
	res, err := m.remoteCommand("ls-remote", "--symref", m.url, "HEAD").Run(ctx)
	if err != nil {
		return "", fmt.Errorf("ask for the default branch: %w", remoteError("ls-remote", err))
	}
	for line := range strings.Lines(string(res.Stdout)) {
		rest, ok := strings.CutPrefix(line, "ref: refs/heads/")
		if branch, _, tab := strings.Cut(rest, "\t"); ok && tab {
			return branch, nil
		}
	}
	heads, err := m.RemoteHeads(ctx, "")
	if err != nil {
		return "", err
	}
	if len(heads) == 0 {
		return "", &EmptyError{URL: redactRemote(m.url, m.url)}
	}
	for _, name := range []string{"main", "master"} {
		if heads[name] != "" {
			return name, nil
		}
	}
	names := make([]string, 0, len(heads))
	for name := range heads {
		names = append(names, name)
	}
	return slices.Min(names), nil
}

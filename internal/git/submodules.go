package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/lazy"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Submodule is a submodule of a checkout, for Restore to fill its folder.
type Submodule struct {
	Path   string // in the checkout, slash-separated
	Commit string
	Empty  string // why its folder stays empty; "": its commit was fetched
	in     string // the submodule that has it, as its place; "": the repository itself
	depth  int    // 1: of the repository itself
	remote moduleRemote
}

// place identifies a submodule among those of several commits.
func (s Submodule) place() string { return s.Path + " " + s.Commit }

const (
	maxModuleDepth = 3  // how deep submodules are filled: one, its own, and theirs
	maxModules     = 50 // of one commit, with those within them
)

// Submodules fetches the submodules of some commits, each into a mirror of its own. Where each is
// fetched from is what the trusted commit says, so that nobody has us fetch what only our login may
// read. A submodule that cannot be fetched is a *CheckoutError; one that the trusted commit gives no
// URL, or with "update = none", stays empty, as in a clone. So does one within another, which nobody
// here can mend, if it cannot be fetched.
func (m *Mirror) Submodules(ctx context.Context, trusted string, commits ...string) ([]Submodule, error) {
	limited, cancel := context.WithTimeout(ctx, m.git.opt.ModulesTimeout)
	defer cancel()
	var all []Submodule
	seen := map[Submodule]bool{}
	for _, commit := range commits {
		found, err := m.submodules(limited, trusted, commit)
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil && limited.Err() != nil:
			return nil, &NetworkError{Op: "fetch submodules", Detail: fmt.Sprintf("some did not arrive within %s", m.git.opt.ModulesTimeout)}
		case err != nil:
			return nil, fmt.Errorf("fetch submodules: %w", err)
		}
		for _, s := range found {
			if !seen[s] {
				all, seen[s] = append(all, s), true
			}
		}
	}
	return all, nil
}

// submodules fetches those of one commit: first the repository's own, then those within them.
func (m *Mirror) submodules(ctx context.Context, trusted, commit string) ([]Submodule, error) {
	all, err := m.listModules(ctx, trusted, commit, Submodule{})
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(all); i++ {
		if i >= maxModules {
			all[i].Empty = fmt.Sprintf("only %d submodules of a commit are filled", maxModules)
		}
		nested, err := m.fetchModule(ctx, all[i])
		_, fault := work.MachineFault(err)
		switch {
		case err == nil:
			all = append(all, nested...)
		case fault || all[i].depth == 1:
			return nil, err
		default:
			all[i].Empty = err.Error()
		}
	}
	return all, nil
}

// listModules lists the submodules of a commit to which the trusted one gives a URL.
func (m *Mirror) listModules(ctx context.Context, trusted, commit string, in Submodule) (all []Submodule, err error) {
	entries, err := m.entries(ctx, commit)
	links := slices.DeleteFunc(entries, func(e treeEntry) bool { return e.Mode != modeGitlink })
	if err != nil || len(links) == 0 {
		return nil, err
	}
	urls, err := m.moduleURLs(ctx, trusted)
	broken, _ := errors.AsType[*CheckoutError](err)
	if err != nil && (broken == nil || in.depth == 0) {
		return nil, err
	}
	for _, e := range links {
		s := Submodule{Path: path.Join(in.Path, e.Path), Commit: e.OID, depth: in.depth + 1}
		if in.depth > 0 {
			s.in = in.place()
		}
		raw, known := urls[e.Path]
		switch {
		case broken != nil:
			s.Empty = "git refuses " + path.Join(in.Path, ".gitmodules")
		case !known:
			continue
		default: // a submodule's own .gitmodules is not ours to trust with a login
			if s.remote, err = moduleAddress(m.url, raw, m.anonymous || in.depth > 0); err != nil {
				s.Empty = err.Error()
			}
		}
		all = append(all, s)
	}
	return all, nil
}

// fetchModule fetches a submodule and returns those within it.
func (m *Mirror) fetchModule(ctx context.Context, s Submodule) (nested []Submodule, err error) {
	if s.Empty != "" {
		return nil, cannotFill(s.Path, s.Empty)
	}
	sub := m.module(s.remote)
	defer sub.Close()
	if err := sub.fetchPinned(ctx, s.Commit); err != nil {
		if _, offline := errors.AsType[*NetworkError](err); offline || ctx.Err() != nil {
			return nil, err
		}
		if _, ours := work.MachineFault(err); ours {
			return nil, err
		}
		return nil, cannotFill(s.Path, fmt.Sprintf("%s does not give us commit %s (%s)", redactRemote(s.remote.url, s.remote.url), work.Short(s.Commit), moduleTrouble(err)))
	}
	if err := sub.requireDistinctNames(ctx, s.Commit); err != nil || s.depth == maxModuleDepth {
		return nil, err
	}
	return sub.listModules(ctx, s.Commit, s.Commit, s)
}

// moduleTrouble says in a few words why a fetch failed.
func moduleTrouble(err error) string {
	if access, ok := errors.AsType[*AccessError](err); ok {
		return access.Detail
	}
	if failed, ok := errors.AsType[*CommandError](err); ok {
		return failed.gist(2)
	}
	return err.Error()
}

func cannotFill(at, why string) *CheckoutError {
	return &CheckoutError{
		Why: fmt.Sprintf("the submodule %q cannot be filled: %s", at, why),
		Do:  "mend it, or have .gitmodules on the base say `update = none` for it, which leaves its folder empty",
	}
}

// moduleURLs returns the URLs of a commit's submodules by path.
func (m *Mirror) moduleURLs(ctx context.Context, commit string) (map[string]string, error) {
	tree, err := m.treeOf(ctx, commit)
	if err != nil {
		return nil, err
	}
	at, ok, err := m.objects.entryAt(ctx, tree, ".gitmodules")
	if err != nil || !ok || !strings.HasPrefix(at.Mode, "100") {
		return nil, err
	}
	c := m.command("config", "--blob="+at.OID, "--null", "--list")
	lines, err := c.fields(ctx)
	if _, broken := errors.AsType[*CommandError](err); broken {
		return nil, &CheckoutError{Why: ".gitmodules on the base cannot be read: git refuses it", Do: "mend .gitmodules"}
	}
	values, last := map[string]string{}, map[string]string{} // of keys; of paths, the section that names it last
	for _, line := range lines {
		key, value, _ := strings.Cut(line, "\n")
		values[key] = value
		if section, ok := strings.CutSuffix(key, ".path"); ok && strings.HasPrefix(section, "submodule.") {
			last[value] = section
		}
	}
	urls := map[string]string{}
	for at, section := range last {
		if url := values[section+".url"]; url != "" && values[section+".update"] != "none" && values[section+".path"] == at {
			urls[at] = url
		}
	}
	return urls, err
}

// moduleRemote is where a submodule is fetched from.
type moduleRemote struct {
	url       string
	anonymous bool // without the operator's logins
}

// Forms of addresses. What does not match is not fetched: transports that run programs, local paths,
// logins in the URL, and texts that git could take for an option.
var (
	webAddress   = lazy.Regexp(`^https://([A-Za-z0-9][A-Za-z0-9.-]*(?::[0-9]+)?)/([^\s\x00-\x1f\x7f]+)$`)
	sshAddress   = lazy.Regexp(`^ssh://(?:[A-Za-z0-9_]+@)?([A-Za-z0-9][A-Za-z0-9.-]*)/([^\s\x00-\x1f\x7f]+)$`)
	shortAddress = lazy.Regexp(`^[A-Za-z0-9_]+@([A-Za-z0-9][A-Za-z0-9.-]*):([^\s\x00-\x1f\x7f]+)$`)
)

// hostAndPath reads an address on a host. The path has no slash in front.
func hostAndPath(address string) (host, at string, ok bool) {
	for _, form := range []func() *regexp.Regexp{webAddress, sshAddress, shortAddress} {
		if found := form().FindStringSubmatch(address); found != nil {
			return strings.ToLower(found[1]), strings.TrimPrefix(path.Clean("/"+found[2]), "/"), true
		}
	}
	return "", "", false
}

// moduleAddress returns where a submodule with a URL in .gitmodules is fetched from: on the parent's
// host as the parent is, on any other host by HTTPS and without a login. A relative URL counts from
// the parent's. A parent on this machine has submodules only beside itself. An anonymous one is
// fetched by HTTPS from the parent's host, too: SSH knows nobody without a login.
func moduleAddress(parent, raw string, anonymous bool) (moduleRemote, error) {
	relative := strings.HasPrefix(raw, "./") || strings.HasPrefix(raw, "../")
	if filepath.IsAbs(parent) {
		beside := filepath.Join(parent, filepath.FromSlash(raw))
		if !relative || filepath.Dir(beside) != filepath.Dir(parent) || strings.ContainsFunc(raw, func(r rune) bool { return r < ' ' }) {
			return moduleRemote{}, fmt.Errorf("its URL %q is none beside the repository's own", raw)
		}
		return moduleRemote{url: beside, anonymous: anonymous}, nil
	}
	home, own, ok := hostAndPath(parent)
	if !ok {
		return moduleRemote{}, errors.New("it is not known how to fetch from the host of the repository itself")
	}
	host, at := home, path.Join(own, raw)
	if !relative {
		if host, at, ok = hostAndPath(raw); !ok {
			return moduleRemote{}, fmt.Errorf("its URL %q is neither https://, ssh:// nor relative", withoutLogin(raw))
		}
	}
	switch {
	case at == "" || at == "." || strings.HasPrefix(at, "..") || strings.HasPrefix(at, "-"):
		return moduleRemote{}, fmt.Errorf("its URL %q names no repository", raw)
	case host != home || anonymous:
		return moduleRemote{url: "https://" + host + "/" + at, anonymous: true}, nil
	case strings.HasPrefix(parent, "https://"):
		return moduleRemote{url: "https://" + host + "/" + at}, nil
	}
	return moduleRemote{url: strings.TrimSuffix(strings.TrimRight(parent, "/"), own) + at}, nil
}

// withoutLogin drops what may be a login from a URL that is shown to people.
func withoutLogin(raw string) string {
	if u, err := url.Parse(raw); err == nil {
		u.User = nil
		return u.String()
	}
	return "?"
}

// module returns the mirror of a submodule, in the folder modules of this mirror.
func (m *Mirror) module(r moduleRemote) *Mirror {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %t", r.url, r.anonymous))
	name := hex.EncodeToString(sum[:8])
	top := m
	for top.parent != nil {
		top = top.parent
	}
	sub := m.git.Mirror(top.path("modules", name+".git"), r.url, strings.TrimSuffix(top.lockPath, ".lock")+"-"+name+".lock")
	sub.anonymous, sub.parent = r.anonymous, top
	return sub
}

// fetchPinned fetches one commit without its history and keeps it.
func (m *Mirror) fetchPinned(ctx context.Context, oid string) error {
	if err := m.Ensure(ctx); err != nil || m.Has(ctx, oid) {
		return err
	}
	return m.locked(ctx, func() error {
		c := m.remoteCommand(ctx, slices.Insert(fetchArgs(m.url, "+"+oid+":"+ownRefs+"pinned/"+oid), 1, "--depth=1")...)
		c.Config = append(c.Config, "protocol.allow=never", "protocol.https.allow=always")
		if !m.anonymous || filepath.IsAbs(m.url) { // the operator's git may fetch from the host in another way
			c.Config = append(c.Config, "protocol.ssh.allow=always", "protocol.file.allow=always")
		}
		if _, err := c.Run(ctx); err != nil {
			return remoteError("fetch", err)
		}
		return m.missing(ctx, oid)
	})
}

// fillModules puts the files of submodules into their folders, for reading. Those of a guarded
// checkout lack what agents obey, as nobody trusted wrote it.
func (m *Mirror) fillModules(ctx context.Context, r Restore, tree []treeEntry) error {
	filled := map[string]bool{}
	for _, s := range r.Submodules {
		own := s.in == "" && slices.ContainsFunc(tree, func(e treeEntry) bool { return e.Mode == modeGitlink && e.Path == s.Path && e.OID == s.Commit })
		if s.Empty != "" || !own && !filled[s.in] {
			continue // or it is of another commit
		}
		if err := m.fillModule(ctx, r, s); err != nil {
			return fmt.Errorf("fill the submodule %s: %w", s.Path, err)
		}
		filled[s.place()] = true
	}
	return nil
}

func (m *Mirror) fillModule(ctx context.Context, r Restore, s Submodule) error {
	sub := m.module(s.remote)
	defer sub.Close()
	dir, index := filepath.Join(r.Dir, filepath.FromSlash(s.Path)), r.Index+".module"
	if err := errors.Join(files.RealFolder(dir), files.Empty(dir), files.Remove(index), files.Remove(index+".lock")); err != nil {
		return err
	}
	if _, err := sub.checkoutCommand(dir, index, "read-tree", "--reset", "-u", s.Commit).Run(ctx); err != nil {
		return err
	}
	if err := files.Remove(index); err != nil {
		return err
	}
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, at)
		switch {
		case err != nil:
			return err
		case r.Guarded.Tree != "" && work.IsAgentFile(filepath.ToSlash(rel)):
			return files.Remove(at)
		case !d.Type().IsRegular():
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(at, info.Mode().Perm()&^0o222)
	})
}

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/mergexo/gh-mergexo/internal/git/plumbing"
	"github.com/mergexo/gh-mergexo/internal/proc"
)

// Limits are the gates before a commit; a zero value is no limit.
type Limits struct {
	MaxFiles     int
	MaxFileBytes int64
	Protected    []string // globs of paths that must not change: "**/CODEOWNERS"
	NotOnly      []string // globs of paths to which a change must not keep
	// Secrets finds what must not be pushed: each secret of a text, and what it
	// is. Whole files are shown to it, names and targets of links; only what a
	// change adds is refused.
	Secrets func(text string) map[string]string
}

// irregular are the kinds of file that no tree can hold.
const irregular = fs.ModeDevice | fs.ModeNamedPipe | fs.ModeSocket | fs.ModeCharDevice | fs.ModeIrregular

// refusals collects reasons, so that one answer names them all.
type refusals struct {
	reasons   []string
	protected bool // a path that the config protects is among them
}

// maxRefusals keeps the answer readable.
const maxRefusals = 20

func (r *refusals) add(format string, args ...any) {
	r.reasons = append(r.reasons, fmt.Sprintf(format, args...))
}

func (r refusals) err() error {
	if len(r.reasons) == 0 {
		return nil
	}
	more := len(r.reasons) - maxRefusals
	reason := strings.Join(r.reasons[:min(len(r.reasons), maxRefusals)], "; ")
	if more > 0 {
		reason += fmt.Sprintf("; and %d more", more)
	}
	return &RefusedError{Reason: reason, Protected: r.protected}
}

// gateRoot refuses a checkout that is no folder of its own any more: through a
// link git would commit what lies elsewhere. A .gitignore or .gitattributes
// that is a pipe would have git wait for ever.
func gateRoot(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return &RefusedError{Reason: "the checkout was removed or replaced"}
	}
	odd, err := findIrregular(dir)
	if err != nil {
		return fmt.Errorf("look through the checkout: %w", err)
	}
	var refused refusals
	for _, p := range odd {
		if b := path.Base(p); b != ".gitignore" && b != ".gitattributes" {
			continue // gateFiles judges those that git would add
		}
		refused.add("%q is no file", p)
	}
	return refused.err()
}

// gateRepositories looks for repositories in the tree before git does. One in
// a submodule's folder or in an ignored folder is the agent's convenience and
// is removed; any other one is refused, and left for the agent to see.
func (m *Mirror) gateRepositories(ctx context.Context, c Commit) error {
	found, err := findRepositories(c.Dir)
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(p string) bool { return !strings.Contains(p, "/") }) // the checkout's own
	if len(found) == 0 {
		return nil
	}
	links, err := m.gitlinks(ctx, c.Dir, c.Index)
	if err != nil {
		return err
	}
	var refused refusals
	for _, p := range found {
		folder := path.Dir(p)
		if slices.ContainsFunc(links, func(l string) bool { return folder == l || strings.HasPrefix(folder, l+"/") }) {
			continue
		}
		ignored, err := m.ignored(ctx, c, folder)
		if err != nil {
			return err
		}
		if !ignored {
			refused.add("%q is a repository within the repository", folder)
		}
	}
	if err := refused.err(); err != nil {
		return err
	}
	return m.dropNested(c.Dir)
}

func (m *Mirror) ignored(ctx context.Context, c Commit, folder string) (bool, error) {
	check := m.treeCall(c.Dir, c.Index, "check-ignore", "--quiet", "-z", "--stdin")
	check.Env = []string{"GIT_LITERAL_PATHSPECS=0"} // refused by this command; ./ makes the path literal
	check.Stdin = []byte("./" + folder + "/\x00")
	check.Answers = []int{1}
	res, err := m.runPatterns(ctx, check)
	if err != nil {
		return false, err
	}
	return res.Code == 0, nil
}

// dropNested removes every .git below the checkout's own.
func (m *Mirror) dropNested(dir string) error {
	found, err := findRepositories(dir)
	if err != nil {
		return err
	}
	for _, p := range found {
		if !strings.Contains(p, "/") {
			continue
		}
		if err := removeTree(filepath.Join(dir, filepath.FromSlash(p))); err != nil {
			return err
		}
	}
	return nil
}

// candidates lists what differs from the index, by stamps, and what is new.
func (m *Mirror) candidates(ctx context.Context, dir, index string) ([]string, error) {
	res, err := m.runPatterns(ctx, m.treeCall(dir, index, "ls-files", "-z", "--modified", "--others", "--exclude-standard", "--deduplicate"))
	if err != nil {
		return nil, err
	}
	return plumbing.Fields(res.Stdout), nil
}

// runPatterns runs a command that compares paths with the patterns of the
// checkout's .gitignore or .gitattributes. Git can be given some that take
// hours: what does not end in time is the change's fault, and is told.
func (m *Mirror) runPatterns(ctx context.Context, c plumbing.Call) (proc.Result, error) {
	if c.Wall == 0 {
		c.Wall = m.git.Options().PatternTimeout
	}
	res, err := c.Run(ctx)
	if late, ok := errors.AsType[*plumbing.TimeoutError](err); ok {
		return res, &RefusedError{Reason: fmt.Sprintf("%s: the patterns in .gitignore or .gitattributes may take git for ever", late)}
	}
	return res, err
}

// gateFiles refuses what would be expensive or impossible to add.
func (m *Mirror) gateFiles(ctx context.Context, c Commit, index string) error {
	paths, err := m.candidates(ctx, c.Dir, index)
	if err != nil {
		return err
	}
	var refused refusals
	if max := c.Limits.MaxFiles; max > 0 && len(paths) > max {
		refused.add("%d files are changed, %d are allowed", len(paths), max)
		return refused.err()
	}
	for _, p := range paths {
		full := filepath.Join(c.Dir, filepath.FromSlash(p))
		info, err := os.Lstat(full)
		if err != nil {
			continue // removed
		}
		trouble := nameTrouble(p)
		switch {
		case trouble != "":
			refused.add("%s", trouble)
		case info.Mode()&fs.ModeSymlink != 0 && isGitmodules(path.Base(p)):
			refused.add("%q is a link, which git does not take", p)
		case info.Mode()&irregular != 0:
			refused.add("%q is no file", p)
		case !info.Mode().IsRegular():
		case c.Limits.MaxFileBytes > 0 && info.Size() > c.Limits.MaxFileBytes:
			refused.add("%q has %d bytes, %d are allowed", p, info.Size(), c.Limits.MaxFileBytes)
		case info.Mode().Perm()&0o400 == 0:
			if err := os.Chmod(full, info.Mode().Perm()|0o400); err != nil {
				return err
			}
		}
	}
	return refused.err()
}

// gateChanges judges the tree that would be committed.
func (m *Mirror) gateChanges(ctx context.Context, c Commit, changes []change, tree, index string, q *quarantine) error {
	l, parents := c.Limits, c.Parents
	var refused refusals
	if l.MaxFiles > 0 && len(changes) > l.MaxFiles {
		refused.add("%d files are changed, %d are allowed", len(changes), l.MaxFiles)
		return refused.err()
	}
	for _, ch := range changes {
		if err := gatePath(ch, l, &refused); err != nil {
			return err
		}
	}
	if err := gateKind(changes, l, &refused); err != nil {
		return err
	}
	if err := m.gateBare(ctx, parents, changes, tree, q, &refused); err != nil {
		return err
	}
	if err := m.gateLinks(ctx, parents, changes, tree, q, &refused); err != nil {
		return err
	}
	if err := m.gateContents(ctx, l, changes, index, q, &refused); err != nil {
		return err
	}
	return refused.err()
}

// gateTakenBack refuses that a merge leaves a protected path otherwise than git
// merged it: to take back what one side changed there looks like no change
// against the other.
func (m *Mirror) gateTakenBack(ctx context.Context, c Commit, tree string, q *quarantine) error {
	if c.From == "" {
		return nil
	}
	changes, err := m.treeChanges(ctx, c.From, tree, q)
	if err != nil {
		return err
	}
	var refused refusals
	for _, ch := range changes {
		if err := gatePath(ch, c.Limits, &refused); err != nil {
			return err
		}
	}
	return refused.err()
}

// gatePath judges by path and mode alone.
func gatePath(ch change, l Limits, refused *refusals) error {
	switch {
	case ch.oldMode == modeGitlink && ch.newMode == modeNone:
		refused.add("submodule %q is removed", ch.path)
	case ch.oldMode == modeGitlink:
		refused.add("submodule %q is changed", ch.path)
	case ch.newMode == modeGitlink:
		refused.add("%q is a repository within the repository", ch.path)
	}
	if trouble := nameTrouble(ch.path); trouble != "" && ch.newMode != modeNone {
		refused.add("%s", trouble)
	}
	glob, ok, err := protected(ch, l.Protected)
	if ok {
		refused.add("%q is protected (%s)", ch.path, glob)
		refused.protected = true
	}
	return err
}

// protected finds the glob that a change is against, without regard to case:
// some checkouts have none. A link in the place of a folder that leads to
// protected paths is one, too: what the link shows would stand there.
func protected(ch change, globs []string) (glob string, ok bool, err error) {
	at := strings.ToLower(ch.path)
	for _, glob := range globs {
		pattern := strings.ToLower(glob)
		ok, err := doublestar.Match(pattern, at)
		if err != nil {
			return "", false, fmt.Errorf("protected path %q: %w", glob, err)
		}
		if fixed, _ := doublestar.SplitPattern(pattern); ch.newMode == modeSymlink && (fixed == at || strings.HasPrefix(fixed, at+"/")) {
			ok = true
		}
		if ok {
			return glob, true, nil
		}
	}
	return "", false, nil
}

// gateKind refuses a change that keeps to paths of one kind: an implementation
// that consists of documents.
func gateKind(changes []change, l Limits, refused *refusals) error {
	if len(l.NotOnly) == 0 || len(changes) == 0 {
		return nil
	}
	for _, ch := range changes {
		within := false
		for _, glob := range l.NotOnly {
			ok, err := doublestar.Match(glob, ch.path)
			if err != nil {
				return fmt.Errorf("path %q: %w", glob, err)
			}
			within = within || ok
		}
		if !within {
			return nil
		}
	}
	refused.add("nothing but documents is changed: %q and such", changes[0].path)
	return nil
}

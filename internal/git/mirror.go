package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"github.com/mergexo/gh-mergexo/internal/files"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Mirror is a bare copy of a remote repository with our own refs under refs/mergexo/. Several
// processes may call its methods at once.
type Mirror struct {
	git       *Git
	dir       string
	url       string
	lockPath  string
	base      string  // the default branch, which each fetch gets; "": none is known
	parent    *Mirror // of a submodule: the repository's mirror
	anonymous bool    // without the operator's logins
	borrowed  string  // objects folder of another mirror, used as an alternate
	objects   *objectReader
	voice     Voice

	looseRefs atomic.Int64 // files below refs when the lock was last taken

	bases   sync.Map // memo of MergeBase: two commits -> their merge base
	indexes sync.Map // path of an index -> its content after restoring
	obeyed  sync.Map // trusted commit -> what agents obey by its files
}

// Mirror returns a mirror without creating it; Ensure does. A local url must be absolute. lockPath
// is the file locked around writes.
func (g *Git) Mirror(dir, url, lockPath string) *Mirror {
	m := &Mirror{git: g, dir: dir, url: url, lockPath: lockPath}
	m.objects = newObjectReader(m.command())
	return m
}

// Close ends the mirror's reading process. The mirror stays usable.
func (m *Mirror) Close() { m.objects.Close() }

// WithBase names the default branch.
func (m *Mirror) WithBase(branch string) *Mirror {
	m.base = branch
	return m
}

// WithAlternate adds another mirror's objects as an alternate, so that they are not fetched again.
// Only for mirrors that are thrown away.
func (m *Mirror) WithAlternate(dir string) *Mirror {
	if objects := filepath.Join(dir, "objects"); files.Exists(objects) {
		m.borrowed = objects
	}
	return m
}

// URL returns the URL of the copied repository.
func (m *Mirror) URL() string { return m.url }

// Dir returns the mirror's directory.
func (m *Mirror) Dir() string { return m.dir }

// lockPoll is how often a held lock is retried.
const lockPoll = 50 * time.Millisecond

// locked runs do under the mirror's lock. Every writer holds it, so git's locks and unfinished files
// found then are stale and are removed.
func (m *Mirror) locked(ctx context.Context, do func() error) error {
	if err := os.MkdirAll(filepath.Dir(m.lockPath), 0o700); err != nil {
		return fmt.Errorf("lock mirror: %w", err)
	}
	lock := flock.New(m.lockPath)
	if _, err := lock.TryLockContext(ctx, lockPoll); err != nil {
		return fmt.Errorf("lock mirror: %w", err)
	}
	defer func() { _ = lock.Close() }()
	if err := m.removeStale(); err != nil {
		return err
	}
	return do()
}

// staleFiles are what a git that was killed, or whose connection broke, leaves beside locks of refs:
// other locks, and parts of packs and objects, as large as what it had fetched.
var staleFiles = []string{
	"*.lock", "objects/info/*.lock", "objects/pack/*.lock", "objects/info/commit-graphs/*.lock",
	"objects/tmp_*", "objects/pack/tmp_*", "objects/??/tmp_obj_*",
}

// removeStale removes staleFiles and refs/**/*.lock. No ref name can end in .lock.
func (m *Mirror) removeStale() error {
	if info, err := os.Stat(m.dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // Ensure sees to that
	}
	for _, pattern := range staleFiles {
		found, err := filepath.Glob(filepath.Join(globEscape(m.dir), pattern))
		if err != nil {
			return fmt.Errorf("remove stale files: %w", err)
		}
		for _, f := range found {
			if err := files.Remove(f); err != nil {
				return fmt.Errorf("remove stale files: %w", err)
			}
		}
	}
	var loose int64
	err := filepath.WalkDir(filepath.Join(m.dir, "refs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if !strings.HasSuffix(d.Name(), ".lock") {
			loose++
			return nil
		}
		return os.Remove(path)
	})
	m.looseRefs.Store(loose)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove stale files: %w", err)
	}
	return nil
}

// globEscape escapes a path for filepath.Glob.
func globEscape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

// command returns a git command on the mirror without a working tree.
func (m *Mirror) command(args ...string) command {
	c := m.git.command(args...)
	c.GitDir = m.dir
	return c
}

// checkoutCommand returns a git command on a checkout. Its folders are given, so git discovers
// none.
func (m *Mirror) checkoutCommand(dir, index string, args ...string) command {
	c := m.command(args...)
	c.Tree, c.Index = dir, index
	return c
}

// stampName is the file written last when a mirror is made. A mirror without it is incomplete.
const stampName = "mergexo-mirror"

// rawAttributes overrides every .gitattributes of the tree. Blobs are checked out and committed
// without conversion of line endings, encodings or keywords, so that a tree round-trips exactly.
const rawAttributes = "* -text -ident !eol !working-tree-encoding\n"

// Ensure creates the mirror, or repairs it if it is incomplete or damaged. Our own refs survive a
// repair.
func (m *Mirror) Ensure(ctx context.Context) error {
	if strings.HasPrefix(m.url, "-") || m.url == "" {
		return fmt.Errorf("ensure mirror: %q is no URL", m.url)
	}
	if inspect(ctx, m) == nil {
		return nil
	}
	return m.locked(ctx, func() error {
		if err := ensure(ctx, m); err != nil {
			return fmt.Errorf("ensure mirror: %w", err)
		}
		return nil
	})
}

func ensure(ctx context.Context, m *Mirror) error {
	if err := inspect(ctx, m); err == nil || beyondRepair(err) {
		return err
	}
	m.Close() // the reader caches the old state
	createAndInspect := func() error {
		if err := create(ctx, m); err != nil {
			return err
		}
		return inspect(ctx, m)
	}
	if err := createAndInspect(); err == nil || ctx.Err() != nil || beyondRepair(err) {
		return cmp.Or(ctx.Err(), err)
	}
	// Remove files that git cannot read; refs and objects stay.
	for _, name := range []string{"config", "HEAD", "packed-refs.new", "info/attributes"} {
		if err := os.RemoveAll(filepath.Join(m.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			break // the parent is not a directory
		}
	}
	if err := createAndInspect(); err == nil || beyondRepair(err) {
		return err
	}
	return remake(ctx, m)
}

// beyondRepair reports whether an error is this machine's fault. A new mirror would fare no better,
// and the old one may hold answers that were paid for.
func beyondRepair(err error) bool {
	_, fault := work.MachineFault(err)
	return fault || errors.Is(err, fs.ErrPermission)
}

// inspect returns why the mirror is not complete, or git cannot read it; nil: it is healthy.
func inspect(ctx context.Context, m *Mirror) error {
	if _, err := os.Stat(filepath.Join(m.dir, stampName)); err != nil {
		return err
	}
	found, err := m.objects.resolve(ctx, emptyTree)
	if err == nil && !found[0].found() {
		err = errors.New("git does not know the empty tree")
	}
	return err
}

// create makes the mirror, or adds what an existing one lacks.
func create(ctx context.Context, m *Mirror) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	_, err := m.git.command("init", "--quiet", "--bare", "--template=", "--initial-branch=mergexo-none", m.dir).Run(ctx)
	if err != nil {
		return err
	}
	if err := configure(m); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(m.dir, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(m.dir, "info", "attributes"), []byte(rawAttributes), 0o600); err != nil {
		return err
	}
	if m.borrowed != "" {
		if err := os.MkdirAll(m.path("objects", "info"), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(m.path("objects", "info", "alternates"), []byte(m.borrowed+"\n"), 0o600); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(m.dir, stampName), []byte("1\n"), 0o600)
}

// ownConfig is for people who use git in the mirror by hand; our own commands pass these settings
// as arguments.
const ownConfig = "[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[core]\n\tfsync = committed\n\tlogAllRefUpdates = false\n"

func configure(m *Mirror) error {
	text, err := os.ReadFile(m.path("config"))
	if err != nil || bytes.Contains(text, []byte(ownConfig)) {
		return err
	}
	return os.WriteFile(m.path("config"), append(text, ownConfig...), 0o600)
}

// remake replaces an unusable mirror by a new one with those of our refs that can still be read. It
// keeps the last broken one beside it.
func remake(ctx context.Context, m *Mirror, branches ...string) error {
	fresh := m.git.Mirror(m.dir+".new", m.url, m.lockPath).WithBase(m.base)
	defer fresh.Close()
	if err := files.Remove(fresh.dir); err != nil {
		return err
	}
	if err := errors.Join(create(ctx, fresh), fresh.fetch(ctx, branches)); err != nil {
		return errors.Join(err, files.Remove(fresh.dir))
	}
	salvage(ctx, fresh, m)
	fresh.Close() // neither folder may be in use while it is moved
	m.Close()
	broken := m.dir + ".broken"
	if err := files.Remove(broken); err != nil {
		return err
	}
	if err := os.Rename(m.dir, broken); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return os.Rename(fresh.dir, m.dir)
}

// salvage copies our readable refs and the objects that the remote lacks; the other refs are lost.
// The old mirror's objects are read as an alternate, after our own, so that a damaged copy of an
// object of the remote is never used.
func salvage(ctx context.Context, m *Mirror, from *Mirror) {
	refs, err := from.ownRefs(ctx)
	if err != nil {
		return
	}
	known, err := m.command("for-each-ref", "--format=^%(objectname)", trackingRefs).text(ctx)
	if err != nil {
		return
	}
	for _, ref := range refs {
		oid, ok, err := from.ref(ctx, ref)
		if err != nil || !ok {
			continue
		}
		c := m.command("pack-objects", "--quiet", "--revs", m.path("objects", "pack", "pack"))
		c.Env = []string{"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quoteAlternate(from.path("objects"))}
		c.Stdin = []byte(oid + "\n" + known + "\n")
		if _, err := c.Run(ctx); err == nil {
			_, _ = m.command("update-ref", "--no-deref", ref, oid).text(ctx)
		}
	}
}

func (m *Mirror) ownRefs(ctx context.Context) ([]string, error) {
	out, err := m.command("for-each-ref", "--format=%(refname)", ownRefs).text(ctx)
	if err != nil {
		return nil, err
	}
	return strings.Fields(out), nil
}

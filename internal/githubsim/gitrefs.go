package githubsim

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// refCache holds the heads as of the last look. Packed refs are read again only when their file was
// replaced; loose ones are few and read each time.
type refCache struct {
	fresh      bool
	heads      map[string]string
	packedInfo fs.FileInfo
	packed     map[string]string
}

// invalidate makes the next look at the heads a real one.
func (g *gitDir) invalidate() {
	g.mu.Lock()
	g.refs.fresh = false
	g.mu.Unlock()
}

// head is the commit of a branch.
func (g *gitDir) head(branch string) (string, bool) {
	oid, ok := g.heads()[branch]
	return oid, ok
}

// heads are all branches with their commits. The map must not be written to.
func (g *gitDir) heads() map[string]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.refs.fresh {
		return g.refs.heads
	}
	loose := g.looseHeads() // before the packed ones, as git does: a ref moves from loose to packed
	g.readPacked()
	heads := g.refs.packed
	if len(loose) > 0 {
		heads = maps.Clone(heads)
		maps.Copy(heads, loose)
	}
	g.refs.heads, g.refs.fresh = heads, true
	return heads
}

func (g *gitDir) looseHeads() map[string]string {
	root := filepath.Join(g.dir, "refs", "heads")
	out := map[string]string{}
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, ".lock") {
			return nil //nolint:nilerr // a ref that goes away while we look is a ref that is gone
		}
		oid, err := os.ReadFile(path)
		if rel, ok := strings.CutPrefix(path, root+string(filepath.Separator)); ok && err == nil && isOID(strings.TrimSpace(string(oid))) {
			out[filepath.ToSlash(rel)] = strings.TrimSpace(string(oid))
		}
		return nil
	})
	return out
}

func (g *gitDir) readPacked() {
	path := filepath.Join(g.dir, "packed-refs")
	info, err := os.Stat(path)
	if err != nil {
		g.refs.packed, g.refs.packedInfo = map[string]string{}, nil
		return
	}
	if old := g.refs.packedInfo; old != nil && os.SameFile(old, info) && old.Size() == info.Size() && old.ModTime().Equal(info.ModTime()) {
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return
	}
	packed := map[string]string{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		oid, name, ok := strings.Cut(lines.Text(), " ")
		if branch, isHead := strings.CutPrefix(name, "refs/heads/"); ok && isHead && isOID(oid) {
			packed[branch] = oid
		}
	}
	g.refs.packed, g.refs.packedInfo = packed, info
}

func isOID(s string) bool {
	return len(s) == 40 && strings.Trim(s, "0123456789abcdef") == ""
}

// setRef moves a full ref name to oid, from old: "" for any, zeroOID when it must be new.
func (g *gitDir) setRef(ref, oid, old string) error {
	defer g.invalidate()
	if old == "" && isOID(oid) && g.writeLoose(ref, oid) == nil {
		return nil
	}
	args := []string{"update-ref", ref, oid}
	if old != "" {
		args = append(args, old)
	}
	_, err := g.run(args...)
	return err
}

// writeLoose writes a loose ref as git does, under its lock, without a process. It leaves new branches to
// git, which minds names that stand in each other's way.
func (g *gitDir) writeLoose(ref, oid string) error {
	path := filepath.Join(g.dir, filepath.FromSlash(ref))
	if strings.HasPrefix(ref, "refs/pull/") {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	} else if _, err := os.Lstat(path); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = lock.WriteString(oid + "\n")
	if err = errors.Join(err, lock.Close()); err != nil {
		return errors.Join(err, os.Remove(path+".lock"))
	}
	return os.Rename(path+".lock", path)
}

// deleteRef removes a full ref name.
func (g *gitDir) deleteRef(ref string) error {
	_, err := g.run("update-ref", "-d", ref)
	g.invalidate()
	return err
}

const zeroOID = "0000000000000000000000000000000000000000"

// packRefs makes many refs at once by writing git's packed-refs file, under its lock: thousands of
// loose ones would take seconds. All refs are packed on the way.
func (g *gitDir) packRefs(refs map[string]string) error {
	if _, err := g.run("pack-refs", "--all"); err != nil {
		return fmt.Errorf("pack refs: %w", err)
	}
	path := filepath.Join(g.dir, "packed-refs")
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read packed refs: %w", err)
	}
	all := maps.Clone(refs)
	for line := range strings.Lines(string(old)) {
		if oid, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok && isOID(oid) {
			all[name] = oid
		}
	}
	text := strings.Builder{}
	text.WriteString("# pack-refs with: sorted \n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&text, "%s %s\n", all[name], name)
	}
	lock, err := os.OpenFile(path+".lock", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("lock packed refs: %w", err)
	}
	_, err = lock.WriteString(text.String())
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(path+".lock", path)
	}
	g.invalidate()
	if err != nil {
		return fmt.Errorf("write packed refs: %w", err)
	}
	return nil
}

package git

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// setRef sets a ref under the lock and syncs it and its folders.
func (m *Mirror) setRef(ctx context.Context, ref, oid string) error {
	return m.locked(ctx, func() error { return m.setRefsLocked(ctx, refAt{ref, oid}) })
}

// refAt is a ref with its new value.
type refAt struct{ ref, oid string }

// setRefsLocked sets refs in their order. After a power cut a later one is never there without the
// earlier ones.
func (m *Mirror) setRefsLocked(ctx context.Context, refs ...refAt) error {
	var commands strings.Builder
	for _, to := range refs {
		if !validOID(to.oid) {
			return fmt.Errorf("%q is no object id", to.oid)
		}
		fmt.Fprintf(&commands, "update %s %s\n", to.ref, to.oid)
	}
	c := m.command("update-ref", "--no-deref", "--stdin")
	c.Stdin = []byte(commands.String())
	if _, err := c.Run(ctx); err != nil {
		return err
	}
	for _, to := range refs {
		for dir := filepath.Dir(m.path(filepath.FromSlash(to.ref))); len(dir) >= len(m.path("refs")); dir = filepath.Dir(dir) {
			if err := files.SyncFolder(dir); err != nil {
				return fmt.Errorf("make %s durable: %w", to.ref, err)
			}
		}
	}
	return nil
}

// manyLooseRefs is how many refs may have a file of their own. Each fetch and push reads all of
// these files several times.
const manyLooseRefs = 32

// packRefs moves refs into one file if many have a file of their own; the caller has the lock. The
// files are removed only once the new one is on the disk. If git fails, they stay.
func (m *Mirror) packRefs(ctx context.Context) {
	if m.looseRefs.Load() <= manyLooseRefs {
		return
	}
	_, err := m.command("pack-refs", "--all", "--no-prune").Run(ctx)
	if err == nil && files.SyncFolder(m.dir) == nil {
		_, _ = m.command("pack-refs", "--all", "--prune").Run(ctx)
	}
}

package mirror

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/internal/files"
)

// SetRef sets a ref under the lock and makes it durable, its name too.
func (m *Mirror) SetRef(ctx context.Context, ref, oid string) error {
	return m.locked(ctx, func() error { return m.setRefLocked(ctx, ref, oid) })
}

func (m *Mirror) setRefLocked(ctx context.Context, ref, oid string) error {
	if !ValidOID(oid) {
		return fmt.Errorf("%q is no object id", oid)
	}
	if _, err := m.Call("update-ref", "--no-deref", ref, oid).Text(ctx); err != nil {
		return err
	}
	for dir := filepath.Dir(m.Path(filepath.FromSlash(ref))); len(dir) >= len(m.Path("refs")); dir = filepath.Dir(dir) {
		if err := files.SyncFolder(dir); err != nil {
			return fmt.Errorf("make %s durable: %w", ref, err)
		}
	}
	return nil
}

// DropRef forgets a ref; one that is not there is no error.
func (m *Mirror) DropRef(ctx context.Context, ref string) error {
	return m.locked(ctx, func() error {
		_, err := m.Call("update-ref", "--no-deref", "-d", ref).Run(ctx)
		return err
	})
}

package machine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick"
)

func (m *Machine) openStore(ctx context.Context) (*store.DB, error) {
	if err := MakeFolder(m.dirs.State); err != nil {
		return nil, err
	}
	return store.Open(ctx, filepath.Join(m.dirs.State, "state.db"), store.Options{Now: m.now, Redact: m.secrets.Redact})
}

// MakeFolder creates a folder; its error has the remedy.
func MakeFolder(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("the state folder cannot be created: %w; set runtime.state_dir in the config to a folder that you may write to", err)
	}
	return nil
}

// throwAway gives a dry run a temporary copy of the database.
func (m *Machine) throwAway(ctx context.Context, pass *tick.Pass) (func() error, error) {
	dir, err := os.MkdirTemp("", "mergexo-dry-run-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the dry run: %w", err)
	}
	remove := func() error { return os.RemoveAll(dir) }
	db, err := m.copyStore(ctx, filepath.Join(dir, "state.db"))
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	pass.Store = db
	return func() error { return errors.Join(db.Close(), remove()) }, nil
}

func (m *Machine) copyStore(ctx context.Context, to string) (*store.DB, error) {
	db, ok, err := store.OpenReadOnly(ctx, filepath.Join(m.dirs.State, "state.db"))
	if err != nil {
		return nil, err
	}
	if ok {
		err := errors.Join(db.Snapshot(ctx, to), db.Close())
		if err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, to, store.Options{Now: m.now})
}

// View runs fn in a read transaction of the state database; false if there is no database yet.
func View(ctx context.Context, stateDir string, fn func(*store.Tx) error) (found bool, err error) {
	if err := GuardState(stateDir); err != nil {
		return false, err
	}
	db, ok, err := store.OpenReadOnly(ctx, filepath.Join(stateDir, "state.db"))
	if err != nil || !ok {
		return ok, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return true, db.View(ctx, fn)
}

package turn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/sandbox"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// DropAllHomes runs dropHomes for every repository.
func (p *restorer) DropAllHomes(ctx context.Context) error {
	var errs []error
	for _, r := range p.All {
		if r.Row.ID != 0 {
			errs = append(errs, p.dropHomes(ctx, r))
		}
	}
	return errors.Join(errs...)
}

// dropHomes removes the home folders of closed items. They contain caches, which a reopened item
// fills again.
func (p *restorer) dropHomes(ctx context.Context, r *env.Repo) error {
	dir := p.Dirs.HomesDir(r.Row)
	homes, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list the home folders of work items: %w", err)
	}
	open := map[string]bool{}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		items, err := tx.ListOpenItems(ctx, r.Row.ID)
		for _, i := range items {
			open[strconv.Itoa(i.Number)] = true
		}
		return err
	})
	if err != nil {
		return err
	}
	var errs []error
	for _, h := range homes { // a failure does not keep the others
		if open[h.Name()] {
			continue
		}
		if err := sandbox.Remove(filepath.Join(dir, h.Name())); err != nil {
			errs = append(errs, fmt.Errorf("remove the home folder of a work item: %w", err))
		}
	}
	return errors.Join(errs...)
}

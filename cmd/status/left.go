package status

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// leftShown is how long a repository is named that another one has replaced.
const leftShown = 30 * 24 * time.Hour

// leftRepo is a repository that no name of the config stands for any more.
type leftRepo struct {
	work.Repo
	replaced bool // another repository has its name
	open     int  // work items
	counts   store.Counts
}

// loadLeft reads the repositories that were left with open work.
func loadLeft(ctx context.Context, tx *store.Tx, q Query, known []work.Repo) ([]leftRepo, error) {
	var left []leftRepo
	for _, r := range known {
		_, named := q.Config.Repo(r.Name)
		if r.NamedBy != q.Config.Path {
			continue // another config's, that shares the state folder
		}
		l := leftRepo{Repo: r, replaced: named && isReplaced(r, known)}
		if named && !l.replaced || l.replaced && q.Now.Sub(r.LeftAt) > leftShown {
			continue
		}
		items, err := tx.ListOpenItems(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if l.open = len(items); l.open == 0 {
			continue
		}
		if l.counts, err = tx.Counts(ctx, r.ID); err != nil {
			return nil, err
		}
		left = append(left, l)
	}
	return left, nil
}

// isReplaced reports whether another repository has the name by now.
func isReplaced(r work.Repo, known []work.Repo) bool {
	return !r.LeftAt.IsZero() && slices.ContainsFunc(known, func(o work.Repo) bool {
		return o.ID != r.ID && o.LeftAt.IsZero() && o.Name.Equal(r.Name)
	})
}

// String says why nothing happens there, and what to do.
func (l leftRepo) String() string {
	name, kept := l.Name.FullName(), work.Count(l.open, "open work item")
	if l.replaced {
		return fmt.Sprintf("%s: another repository has had this name since %s; not worked on: %s of the former one, which is gone", name, work.Stamp(l.LeftAt), kept)
	}
	return fmt.Sprintf("%s is not in the config any more; not worked on: %s. To resume, name it in the config again", name, kept)
}

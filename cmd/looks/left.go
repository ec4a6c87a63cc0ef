package looks

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// leftShown is how long a replaced repository is shown.
const leftShown = 30 * 24 * time.Hour

// Left is a repository that the config no longer names.
type Left struct {
	work.Repo
	Replaced bool // another repository has its name now
	Open     int  // open work items
	Counts   store.Counts
}

// LoadLeft reads the repositories that left the config with open work.
func LoadLeft(ctx context.Context, tx *store.Tx, cfg *config.Config, known []work.Repo, now time.Time) ([]Left, error) {
	var left []Left
	for _, r := range known {
		_, named := cfg.Repo(r.Name)
		if r.NamedBy != cfg.Path {
			continue // named by another config that shares the state folder
		}
		l := Left{Repo: r, Replaced: named && isReplaced(r, known)}
		if named && !l.Replaced || l.Replaced && now.Sub(r.LeftAt) > leftShown {
			continue
		}
		items, err := tx.ListOpenItems(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		if l.Open = len(items); l.Open == 0 {
			continue
		}
		if l.Counts, err = tx.Counts(ctx, r.ID); err != nil {
			return nil, err
		}
		left = append(left, l)
	}
	return left, nil
}

// isReplaced reports whether another repository has the name now.
func isReplaced(r work.Repo, known []work.Repo) bool {
	return !r.LeftAt.IsZero() && slices.ContainsFunc(known, func(o work.Repo) bool {
		return o.ID != r.ID && o.LeftAt.IsZero() && o.Name.Equal(r.Name)
	})
}

// String tells why nothing happens there, and what to do.
func (l Left) String() string {
	name, kept := l.Name.FullName(), work.Count(l.Open, "open work item")
	if l.Replaced {
		return fmt.Sprintf("%s: another repository has had this name since %s; not worked on: %s of the former one, which is gone", name, work.Stamp(l.LeftAt), kept)
	}
	return fmt.Sprintf("%s is not in the config any more; not worked on: %s. To resume, name it in the config again", name, kept)
}

// FindRepo finds the row of a configured repository. Of several rows with that name, it returns the
// one that has it now, or had it last.
func FindRepo(known []work.Repo, name work.RepoName) work.Repo {
	found := work.Repo{Name: name}
	for _, r := range known {
		if !r.Name.Equal(name) {
			continue
		}
		if r.LeftAt.IsZero() {
			return r
		}
		if r.LeftAt.After(found.LeftAt) {
			found = r
		}
	}
	return found
}

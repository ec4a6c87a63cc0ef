package cmd

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
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
func loadLeft(ctx context.Context, tx *store.Tx, cfg *config.Config, known []work.Repo, now time.Time) ([]leftRepo, error) {
	var left []leftRepo
	for _, r := range known {
		_, named := cfg.Repo(r.Name)
		if r.NamedBy != cfg.Path {
			continue // another config's, that shares the state folder
		}
		l := leftRepo{Repo: r, replaced: named && !r.LeftAt.IsZero() && slices.ContainsFunc(known, func(o work.Repo) bool { return o.ID != r.ID && o.LeftAt.IsZero() && o.Name.Equal(r.Name) })}
		if named && !l.replaced || l.replaced && now.Sub(r.LeftAt) > leftShown {
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

// String says why nothing happens there, and what to do.
func (l leftRepo) String() string {
	name, kept := l.Name.FullName(), count(l.open, "open work item")
	if l.replaced {
		return fmt.Sprintf("%s: another repository has had this name since %s; not worked on: %s of the former one, which is gone", name, clock(l.LeftAt), kept)
	}
	return fmt.Sprintf("%s is not in the config any more; not worked on: %s. To resume, name it in the config again", name, kept)
}

// printLeft names the repositories that were left with open work, and those that have
// another name by now.
func (a *app) printLeft(out output, b board) {
	notes := a.env.Stderr
	if out.tty {
		notes = out.w
	}
	for _, l := range b.left {
		fmt.Fprintln(notes, oneLine(l.String()))
	}
	for _, r := range b.repos {
		if r.ID != 0 && !r.Current.Equal(r.Name) {
			fmt.Fprintf(notes, "%s is %s now; write that name in the config\n", r.called, r.Current.FullName())
		}
	}
}

// viewRepos are the configured repositories and those that were left.
func viewRepos(b board) []repoView {
	views := each(b.repos, func(r repoStatus) repoView {
		v := viewRepo(r.Repo, r.counts)
		v.Name = r.called
		return v
	})
	for _, l := range b.left {
		v := viewRepo(l.Repo, l.counts)
		v.Left, v.LeftAt, v.Replaced = true, stamp(l.LeftAt), l.replaced
		views = append(views, v)
	}
	return views
}

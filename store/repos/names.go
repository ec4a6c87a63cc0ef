package repos

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// EnsureRepo gives the row of a repository that the config names, and makes it
// when there is none.
func (t Rows) EnsureRepo(ctx context.Context, name work.RepoName) (work.Repo, error) {
	all, err := t.OpenRepos(ctx, []work.RepoName{name})
	if err != nil {
		return work.Repo{}, err
	}
	return all[0], nil
}

// OpenRepos gives the rows of the repositories that the config names, in its order,
// and makes those that are missing. A repository that was renamed on GitHub and then
// in the config keeps its row; where the config has its former name as well, that is
// for another one. Names are spelled as the config has them.
func (t Rows) OpenRepos(ctx context.Context, names []work.RepoName) ([]work.Repo, error) {
	known, err := t.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(known, func(a, b work.Repo) int {
		return cmp.Or(cmp.Compare(min(1, rows.Millis(a.LeftAt)), min(1, rows.Millis(b.LeftAt))), b.LeftAt.Compare(a.LeftAt)) // the last that had a name
	})
	all := assign(names, known)
	for i, name := range names {
		if r := all[i]; r.ID != 0 && (r.Name != name || !r.LeftAt.IsZero()) {
			all[i], err = t.takeName(ctx, r, name)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, name := range names {
		if all[i].ID == 0 {
			all[i], err = t.addRepo(ctx, work.Repo{Name: name, Current: name})
		}
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

// NameRepo records which config names a repository.
func (t Rows) NameRepo(ctx context.Context, id int64, by string) error {
	return t.tx.One(ctx, fmt.Sprintf("note who names repository %d", id), rows.ErrNotFound, `UPDATE repositories SET named_by = ? WHERE id = ?`, by, id)
}

// LeaveRepo records that no name of the config stands for a repository any more.
func (t Rows) LeaveRepo(ctx context.Context, id int64) error {
	return t.tx.One(ctx, fmt.Sprintf("leave repository %d", id), rows.ErrNotFound, `UPDATE repositories SET left_at = ? WHERE id = ?`, t.tx.Stamp(time.Time{}), id)
}

func nameKey(name work.RepoName) string { return strings.ToLower(name.String()) }

func (t Rows) addRepo(ctx context.Context, r work.Repo) (work.Repo, error) {
	if err := t.freeName(ctx, r.Name, 0); err != nil {
		return work.Repo{}, err
	}
	var err error
	r.ID, err = t.tx.Insert(ctx, fmt.Sprintf("add repository %s", r.Name), "repositories", "name_key, "+repoColumns, append([]any{nameKey(r.Name)}, repoFields(&r)...))
	return r, err
}

// takeName has a name of the config stand for a repository that is known.
func (t Rows) takeName(ctx context.Context, r work.Repo, name work.RepoName) (work.Repo, error) {
	if err := t.freeName(ctx, name, r.ID); err != nil {
		return work.Repo{}, err
	}
	r.Name, r.LeftAt = name, time.Time{}
	return r, t.tx.One(ctx, fmt.Sprintf("give repository %d the name %s", r.ID, name), rows.ErrNotFound,
		`UPDATE repositories SET name = ?, name_key = ?, left_at = 0 WHERE id = ?`, rows.NameOf(&name), nameKey(name), r.ID)
}

// freeName sets the repository apart that has a name, unless it is the one that is to
// have it.
func (t Rows) freeName(ctx context.Context, name work.RepoName, but int64) error {
	_, err := t.tx.Exec(ctx, fmt.Sprintf("free the name %s", name),
		`UPDATE repositories SET name_key = name_key || ' ' || id, left_at = CASE left_at WHEN 0 THEN ? ELSE left_at END WHERE name_key = ? AND id <> ?`,
		t.tx.Stamp(time.Time{}), nameKey(name), but)
	return err
}

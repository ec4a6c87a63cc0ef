package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// ResumeMerging lets a repository be merged into again after it was stopped, and tells
// why it was; false where it was not. waiting is called when a pass holds the plan: what
// that one has decided was decided while merging was stopped.
func ResumeMerging(ctx context.Context, p *Pass, repo work.RepoName, waiting func()) (was merging.Halt, stopped bool, err error) {
	planning, err := p.lockForCommand(ctx, waiting, "")
	if err != nil {
		return was, false, err
	}
	defer planning.Unlock()
	if p.Store, err = p.OpenStore(ctx); err != nil {
		return was, false, err
	}
	defer func() { err = errors.Join(err, p.Store.Close()) }()
	p.assemble()
	if err := p.begin(ctx); err != nil {
		return was, false, err
	}
	at := slices.IndexFunc(p.All, func(r *env.Repo) bool { return r.Name.Equal(repo) })
	if at < 0 || p.All[at].Row.ID == 0 {
		return was, false, fmt.Errorf("no pass has seen %s yet; make one: gh mergexo tick", p.Config.Called(repo))
	}
	row := p.All[at].Row
	alone, ok, err := folder.TryLock(p.Dirs.MergeLock(row)) // whoever merges would say again what it knows
	if err == nil && !ok {
		err = fmt.Errorf("a pass merges in %s at this moment; try again", p.Config.Called(repo))
	}
	if err != nil {
		return was, false, err
	}
	defer alone.Unlock()
	why, kept := p.Dirs.MergingStopped(row)
	if err := p.Dirs.ResumeMerging(row); err != nil { // first: what is only half done is given once more
		return was, false, err
	}
	id := row.ID
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if was, stopped, err = tx.MergingStopped(ctx, id); err != nil || !stopped {
			return err
		}
		_, err = tx.ResumeMerging(ctx, id)
		return err
	})
	if kept && !stopped { // the database was lost
		was, stopped = merging.Halt{Why: why}, true
	}
	if stopped && err == nil {
		p.Log.InfoContext(ctx, "merging resumes", "repo_full_name", repo.FullName(), "stopped_since", was.At, "why", was.Why.Kind)
	}
	return was, stopped && err == nil, err
}

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
)

// ResumeMerging resumes merging in a repository and returns why it was stopped; false: it was not.
// It calls waiting if another pass holds tick.lock: that pass may have planned while merging was
// stopped.
func ResumeMerging(ctx context.Context, p *Pass, repo work.RepoName, waiting func()) (was merging.Halt, stopped bool, err error) {
	planning, err := p.lockForCommand(ctx, waiting, "")
	if err != nil {
		return was, false, err
	}
	defer planning.Unlock()
	if err = p.open(ctx); err != nil {
		return was, false, err
	}
	defer func() { err = errors.Join(err, p.close(ctx)) }()
	if err := p.beginCommand(ctx); err != nil {
		return was, false, err
	}
	at := slices.IndexFunc(p.All, func(r *env.Repo) bool { return r.Name.Equal(repo) })
	if at < 0 || p.All[at].Row.NodeID == "" {
		return was, false, &UnreadError{p.Config.Called(repo)}
	}
	row := p.All[at].Row
	unlock, ok, err := p.TryMerging(ctx, row) // a merging pass would store the stop again
	if err == nil && !ok {
		err = fmt.Errorf("a pass is merging in %s; try again", p.Config.Called(repo))
	}
	if err != nil {
		return was, false, err
	}
	defer unlock()
	file, kept := p.Dirs.MergingStopped(row)
	if err := p.Dirs.ResumeMerging(row); err != nil { // the file first: a command that died halfway is repeated
		return was, false, err
	}
	id, over := row.ID, false
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		if was, stopped, err = tx.MergingStopped(ctx, id); err != nil || !stopped {
			if err == nil {
				over, err = tx.MergingResumed(ctx, id, file.At)
			}
			return err
		}
		_, err = tx.ResumeMerging(ctx, id)
		return err
	})
	if kept && !stopped && !over { // the database was lost
		was, stopped = merging.Halt{Why: file.Why}, true
	}
	if stopped && err == nil {
		p.Log.InfoContext(ctx, "merging resumes", "repo_full_name", repo.FullName(), "stopped_since", was.At, "why", was.Why.Kind)
	}
	return was, stopped && err == nil, err
}

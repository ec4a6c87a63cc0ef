package tick

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A name in the config stands for the repository that it was first seen to mean, for
// as long as there is one: it is followed when it is renamed. Node ids are compared in
// every pass that reads anything new, and again before something is written or an agent
// is started, for a name may be given up and taken by somebody else's repository.

const (
	// sameFor is how long an answer about that is acted on.
	sameFor = time.Minute
	// confirmEvery is when it is asked although nothing of a repository changes:
	// the light query for open pull requests asks it in each pass anyway.
	confirmEvery = 30 * time.Minute
)

// errAnother says that what was read is not of the repository that was known, or was
// read under a name that is no longer its own.
var errAnother = errors.New("another repository was read than the one that is known")

// confirm notes that the name stood for the repository just now.
func (r *remote) confirm(at time.Time) {
	r.same.Lock()
	defer r.same.Unlock()
	r.sameAt = at
}

func (r *remote) confirmed(now time.Time, within time.Duration) bool {
	r.same.Lock()
	defer r.same.Unlock()
	return now.Sub(r.sameAt).Abs() < within
}

// swept takes over what a light query said.
func (h *harvest) swept(who github.Identity) {
	switch {
	case who.NodeID == h.repo.NodeID:
		h.r.confirm(h.now())
	case who.NodeID != "", who.Gone:
		h.another = true
	}
}

// identify makes sure, before anything that was read is judged, that it is of the
// repository that the database knows.
func (h *Reading) identify(ctx context.Context) error {
	at := h.now()
	if recent := h.r.confirmed(at, sameFor) || !h.brought && at.Sub(h.repo.ConfirmedAt).Abs() < confirmEvery; recent && !h.another {
		return nil
	}
	if err := h.p.follow(ctx, h.r); err != nil {
		return err
	}
	now := h.r.repo
	if now.ID != h.repo.ID || !now.Current.Equal(h.repo.Current) {
		return errAnother
	}
	h.repo.DefaultBranch, h.repo.ConfirmedAt = now.DefaultBranch, now.ConfirmedAt
	return nil
}

// regather reads a repository once more after it was found to be another one, or to
// have another address.
func (p *Ingest) regather(ctx context.Context, r *remote, err error) (*Reading, error) {
	before := r.repo
	_, moved := errors.AsType[*github.MovedError](err)
	if moved || github.IsStatus(err, 404) {
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
		if !moved && r.repo.ID == before.ID && r.repo.Current == before.Current {
			return nil, err
		}
	} else if !errors.Is(err, errAnother) {
		return nil, err
	}
	return p.gather(ctx, r)
}

// follow reads who the repository is today: at first sight, when GitHub says that it
// moved, and when it may be another one.
func (p *Ingest) follow(ctx context.Context, r *remote) error {
	now, err := whoIs(ctx, r)
	if err != nil {
		return err
	}
	if err := p.become(ctx, r, now); err != nil {
		return err
	}
	if now.Archived {
		return &work.BlockedError{Reason: fmt.Sprintf("%s is archived", r.Name.FullName()), Hint: "remove it from the config, or unarchive it"}
	}
	if !now.CanPush {
		return &work.BlockedError{
			Reason: fmt.Sprintf("the account that gh is logged in with may not push to %s", r.Name.FullName()),
			Hint:   "ask for write permission, or log in as somebody who has it: gh auth login",
		}
	}
	return nil
}

// whoIs asks which repository is meant: the one that is known, as long as there is
// one, whatever has its former name by now.
func whoIs(ctx context.Context, r *remote) (github.Repository, error) {
	named, err := r.GitHub.Repository(ctx, r.Name)
	gone := github.IsStatus(err, 404)
	if err != nil && !gone {
		return named, fmt.Errorf("read the repository: %w", err)
	}
	if !gone && (r.repo.NodeID == "" || r.repo.NodeID == named.NodeID) {
		return named, nil
	}
	if r.repo.GitHubID != 0 {
		known, err := r.GitHub.RepositoryByID(ctx, r.Name.Host, r.repo.GitHubID)
		if err == nil && known.NodeID == r.repo.NodeID {
			return known, nil
		}
		if err != nil && !github.IsStatus(err, 404) {
			return named, fmt.Errorf("read the repository that was %s: %w", r.Name.FullName(), err)
		}
	}
	if gone {
		return named, &work.BlockedError{
			Reason: fmt.Sprintf("repository %s does not exist, or the account that gh is logged in with cannot see it", r.Name.FullName()),
			Hint:   "check its name in the config, and `gh auth status`",
		}
	}
	return named, nil
}

// become gives the name the row of the repository that it stands for.
func (p *Ingest) become(ctx context.Context, r *remote, now github.Repository) error {
	p.becoming.Lock()
	defer p.becoming.Unlock()
	if twin := p.twin(r, now.NodeID); twin != "" {
		return &work.BlockedError{
			Reason: fmt.Sprintf("%s and %s in the config are one repository, which is %s now", r.Name.FullName(), twin, now.Current.FullName()),
			Hint:   "take one of the two out of the config",
		}
	}
	before, after := r.repo, r.repo
	at := r.GitHub.Now()
	var kept int
	var what store.Identified
	err := p.Store.Update(ctx, func(tx *store.Tx) (err error) {
		who := store.Identity{NodeID: now.NodeID, GitHubID: now.ID, Current: now.Current, DefaultBranch: now.DefaultBranch, At: at}
		if after, what, err = tx.IdentifyRepo(ctx, before.ID, who); err != nil || what != store.RepoReplaced {
			return err
		}
		items, err := tx.ListOpenItems(ctx, before.ID)
		kept = len(items)
		return err
	})
	if err != nil {
		return fmt.Errorf("store which repository %s is: %w", r.Name.FullName(), err)
	}
	p.setRepo(r, after)
	r.confirm(at)
	switch what {
	case store.RepoReplaced:
		r.replaced = replacedNote(kept)
		p.Log.WarnContext(ctx, "the name stands for another repository than before", "repo_full_name", r.Name.FullName(),
			"node_id", now.NodeID, "before", before.NodeID, "open_work_items", kept)
	case store.RepoRenamed:
		p.Log.InfoContext(ctx, "a repository was renamed, and the config followed", "repo_full_name", r.Name.FullName(), "node_id", now.NodeID)
	case store.RepoSame:
	}
	return nil
}

// twin is another name of the config that stands for a repository.
func (p *Ingest) twin(r *remote, nodeID string) string {
	p.rooms.Lock()
	defer p.rooms.Unlock()
	for _, o := range p.all {
		if o != r && o.repo.NodeID == nodeID && o.Name.Host == r.Name.Host {
			return o.Name.FullName()
		}
	}
	return ""
}

// setRepo changes the row of a configured repository: others look through the rows of
// all meanwhile. What was opened of another repository is not kept.
func (p *Ingest) setRepo(r *remote, row work.Repo) {
	p.rooms.Lock()
	defer p.rooms.Unlock()
	if r.repo.ID != row.ID {
		r.opening.Lock()
		r.opened = nil
		r.opening.Unlock()
	}
	r.repo = row
}

// replacedNote says what became of a repository whose name another one has.
func replacedNote(kept int) string {
	note := "this is another repository than before, which is gone; the new one has a mirror and work items of its own"
	if kept > 0 {
		note += fmt.Sprintf(", and the %s of the former one are kept and not worked on", work.Count(kept, "open work item"))
	}
	return note
}

// stillSame makes sure, right before something is written or shown to an agent, that
// the name stands for the repository that this is about: GitHub said so within some
// time.
func (p *Env) stillSame(ctx context.Context, r *remote, within time.Duration) error {
	now := r.GitHub.Now()
	if r.confirmed(now, within) {
		return nil
	}
	seen, err := r.GitHub.Repository(ctx, r.repo.Current)
	switch {
	case github.IsStatus(err, 404):
		return &work.WaitError{Until: now.Add(sameFor), Reason: fmt.Sprintf("%s is not there any more, or this account cannot see it", r.Name.FullName())}
	case err != nil:
		return fmt.Errorf("read which repository %s is: %w", r.Name.FullName(), err)
	case seen.NodeID != r.repo.NodeID:
		return &work.WaitError{Until: now.Add(sameFor), Reason: fmt.Sprintf("%s is another repository by now", r.Name.FullName())}
	}
	r.confirm(now)
	return nil
}

// sameRepos drops the leases on turns of repositories that this pass found to be others:
// they are kept apart with their repository.
func sameRepos(leases []*lease) []*lease {
	var kept []*lease
	for _, l := range leases {
		if l.turn.RepoID == l.remote.repo.ID {
			kept = append(kept, l)
			continue
		}
		l.release()
	}
	return kept
}

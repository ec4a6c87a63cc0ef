package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest/pulse"
)

// A name in the config stands for the repository that it was first seen to mean, for
// as long as there is one: it is followed when it is renamed. Node ids are compared in
// every pass that reads anything new, and again before something is written or an agent
// is started, for a name may be given up and taken by somebody else's repository.

const (
	// confirmEvery is when it is asked although nothing of a repository changes:
	// the light query for open pull requests asks it in each pass anyway.
	confirmEvery = 30 * time.Minute
)

// errAnother says that what was read is not of the repository that was known, or was
// read under a name that is no longer its own.
var errAnother = errors.New("another repository was read than the one that is known")

// identify makes sure, before anything that was read is judged, that it is of the
// repository that the database knows.
func (h *reading) identify(ctx context.Context) error {
	if !h.doubted() {
		return nil
	}
	if err := h.ingest.follow(ctx, h.repo); err != nil {
		return err
	}
	now := h.repo.Row
	if now.ID != h.row.ID || !now.Current.Equal(h.row.Current) {
		return errAnother
	}
	h.row.DefaultBranch, h.row.ConfirmedAt = now.DefaultBranch, now.ConfirmedAt
	return nil
}

// doubted reports whether it is to be asked which repository this is.
func (h *reading) doubted() bool {
	at := h.now()
	recent := h.repo.Confirmed(at, env.SameFor) || !h.brought && at.Sub(h.row.ConfirmedAt).Abs() < confirmEvery
	return !recent || h.doubtful
}

// regather reads a repository once more after it was found to be another one, or to
// have another address.
func (p *Ingest) regather(ctx context.Context, r *env.Repo, look *pulse.Look, err error) (*reading, error) {
	before := r.Row
	_, moved := errors.AsType[*transport.MovedError](err)
	if moved || github.IsStatus(err, 404) {
		if err := p.follow(ctx, r); err != nil {
			return nil, err
		}
		if !moved && r.Row.ID == before.ID && r.Row.Current == before.Current {
			return nil, err
		}
	} else if !errors.Is(err, errAnother) {
		return nil, err
	}
	return p.gather(ctx, r, look)
}

// follow reads who the repository is today: at first sight, when GitHub says that it
// moved, and when it may be another one.
func (p *Ingest) follow(ctx context.Context, r *env.Repo) error {
	now, err := whoIs(ctx, r)
	if err != nil {
		return err
	}
	if err := p.become(ctx, r, now); err != nil {
		return err
	}
	if now.Archived {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoArchived, Name: r.Name.FullName()}}
	}
	if !now.CanPush {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoReadOnly, Name: r.Name.FullName()}}
	}
	return nil
}

// whoIs asks which repository is meant: the one that is known, as long as there is
// one, whatever has its former name by now.
func whoIs(ctx context.Context, r *env.Repo) (github.Repository, error) {
	named, err := r.GitHub.Repository(ctx, r.Name)
	gone := github.IsStatus(err, 404)
	if err != nil && !gone {
		return named, fmt.Errorf("read the repository: %w", err)
	}
	if !gone && (r.Row.NodeID == "" || r.Row.NodeID == named.NodeID) {
		return named, nil
	}
	if r.Row.GitHubID != 0 {
		known, err := r.GitHub.RepositoryByID(ctx, r.Name.Host, r.Row.GitHubID)
		if err == nil && known.NodeID == r.Row.NodeID {
			return known, nil
		}
		if err != nil && !github.IsStatus(err, 404) {
			return named, fmt.Errorf("read the repository that was %s: %w", r.Name.FullName(), err)
		}
	}
	if gone {
		return named, &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoMissing, Name: r.Name.FullName()}}
	}
	return named, nil
}

// become gives the name the row of the repository that it stands for.
func (p *Ingest) become(ctx context.Context, r *env.Repo, now github.Repository) error {
	p.Becoming.Lock()
	defer p.Becoming.Unlock()
	if twin := p.twin(r, now.NodeID); twin != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoTwice, Names: []string{r.Name.FullName(), twin}, Name: now.Current.FullName()}}
	}
	before, after := r.Row, r.Row
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
	r.Confirm(at)
	switch what {
	case store.RepoReplaced:
		r.Replaced = replacedNote(kept)
		p.Log.WarnContext(ctx, "the name stands for another repository than before", "repo_full_name", r.Name.FullName(),
			"node_id", now.NodeID, "before", before.NodeID, "open_work_items", kept)
	case store.RepoRenamed:
		p.Log.InfoContext(ctx, "a repository was renamed, and the config followed", "repo_full_name", r.Name.FullName(), "node_id", now.NodeID)
	case store.RepoSame:
	}
	return nil
}

// twin is another name of the config that stands for a repository.
func (p *Ingest) twin(r *env.Repo, nodeID string) string {
	p.Rooms.Lock()
	defer p.Rooms.Unlock()
	for _, o := range p.All {
		if o != r && o.Row.NodeID == nodeID && o.Name.Host == r.Name.Host {
			return o.Name.FullName()
		}
	}
	return ""
}

// setRepo changes the row of a configured repository: others look through the rows of
// all at the same time. What was opened of another repository is not kept.
func (p *Ingest) setRepo(r *env.Repo, row work.Repo) {
	p.Rooms.Lock()
	defer p.Rooms.Unlock()
	if r.Row.ID != row.ID {
		r.Opening.Lock()
		r.Opened = nil
		r.Opening.Unlock()
	}
	r.Row = row
}

// replacedNote says what became of a repository whose name another one has.
func replacedNote(kept int) string {
	note := "this is another repository than before, which is gone; the new one has a mirror and work items of its own"
	if kept > 0 {
		note += fmt.Sprintf(", and the %s of the former one are kept and not worked on", work.Count(kept, "open work item"))
	}
	return note
}

// SameRepos drops the leases on turns of repositories that this pass found to be others:
// they are kept apart with their repository.
func SameRepos(leases []*env.Lease) []*env.Lease {
	var kept []*env.Lease
	for _, l := range leases {
		if l.Turn.RepoID == l.Repo.Row.ID {
			kept = append(kept, l)
			continue
		}
		l.Release()
	}
	return kept
}

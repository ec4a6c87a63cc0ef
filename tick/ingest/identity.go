package ingest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A name in the config means the repository that was first seen under it, as long as that exists;
// renames are followed. Somebody else's repository may take a name that was given up. So node ids
// are compared in every pass that reads anything new, and again before a write or the start of an
// agent.

// confirmEvery is how often GitHub is asked for all of the identity: the light query has the node id only.
const confirmEvery = 30 * time.Minute

// errAnother says that another repository than the stored one was read, or that the stored one has
// a new name.
var errAnother = errors.New("GitHub returned another repository than the stored one")

// identify checks, before anything read is judged, that it is from the repository that the database
// knows.
func (h *reading) identify(ctx context.Context) error {
	now := h.now()
	if !h.doubtful && h.repo.Confirmed(now, env.SameFor) && now.Sub(h.row.ConfirmedAt).Abs() < confirmEvery {
		return nil
	}
	if err := h.ingest.follow(ctx, h.repo); err != nil {
		return err
	}
	row := h.repo.Row
	if row.ID != h.row.ID || !row.Current.Equal(h.row.Current) {
		return errAnother
	}
	h.row.DefaultBranch, h.row.ConfirmedAt = row.DefaultBranch, row.ConfirmedAt
	return nil
}

// follow reads which repository the name means now: at first sight, when GitHub reports a move, and
// when it may be another one.
func (p *Ingest) follow(ctx context.Context, r *env.Repo) error {
	now, err := readIdentity(ctx, r)
	if err != nil {
		return err
	}
	if err := p.storeIdentity(ctx, r, now); err != nil {
		return err
	}
	if now.Archived {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoArchived, Name: r.Name.FullName()}}
	}
	if !now.CanPush {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoReadOnly, Text: p.tokenVariable(r.Name.Host), Name: r.Name.FullName()}}
	}
	return nil
}

// readIdentity reads which repository is meant: the known one as long as it exists, even if another
// one has its former name.
func readIdentity(ctx context.Context, r *env.Repo) (github.Repository, error) {
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

// storeIdentity gives r the row of the repository that its name means now.
func (p *Ingest) storeIdentity(ctx context.Context, r *env.Repo, now github.Repository) error {
	p.identifying.Lock()
	defer p.identifying.Unlock()
	if twin := p.otherName(r, now.NodeID); twin != "" {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyRepoTwice, Names: []string{r.Name.FullName(), twin}, Name: now.Current.FullName()}}
	}
	before, after := r.Row, r.Row
	at := r.GitHub.Now()
	var kept int
	var what store.Identified
	err := p.db.Update(ctx, func(tx *store.Tx) (err error) {
		who := store.RepoIdentity{NodeID: now.NodeID, GitHubID: now.ID, Current: now.Current, DefaultBranch: now.DefaultBranch, At: at}
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
	p.setRow(r, after)
	if err := p.planReplaced(ctx, r); err != nil {
		return err
	}
	r.Confirm(at)
	switch what {
	case store.RepoReplaced:
		r.Replaced = "this is another repository than before, which is gone; the new one has a mirror and work items of its own"
		if kept > 0 {
			r.Replaced += fmt.Sprintf(", and the %s of the former one are kept and not worked on", work.Count(kept, "open work item"))
		}
		p.log.WarnContext(ctx, "the name belongs to another repository than before", "repo_full_name", r.Name.FullName(),
			"node_id", now.NodeID, "before", before.NodeID, "open_work_items", kept)
	case store.RepoRenamed:
		p.log.InfoContext(ctx, "a repository was renamed", "repo_full_name", r.Name.FullName(), "node_id", now.NodeID)
	case store.RepoSame:
	}
	return nil
}

// SameRepos releases the leases on turns of repositories that this pass found replaced. Those turns
// stay with the former repository.
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

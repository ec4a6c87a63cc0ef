package repos

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store/rows"
)

// Identified says what became of the row of a name when GitHub said which repository
// stands behind it.
type Identified string

const (
	// RepoSame: it is the one that was known, or the first one.
	RepoSame Identified = "same"
	// RepoRenamed: it was known under another name.
	RepoRenamed Identified = "renamed"
	// RepoReplaced: it is another one than before, which is kept apart.
	RepoReplaced Identified = "replaced"
)

// Identity is who GitHub says that a repository is.
type Identity struct {
	NodeID        string
	GitHubID      int64
	Current       work.RepoName
	DefaultBranch string
	At            time.Time
}

// IdentifyRepo records who stands behind the name of a row, and gives the row that
// is the repository's from now on. Rows go by node id: one that was renamed takes
// its row along, and another one under the same name gets a row of its own. What
// was known of the former one is kept in its row, and apart.
func (t Rows) IdentifyRepo(ctx context.Context, id int64, who Identity) (work.Repo, Identified, error) {
	row, err := t.GetRepo(ctx, id)
	if err != nil {
		return work.Repo{}, "", err
	}
	if row.NodeID == who.NodeID {
		row, err = t.setIdentity(ctx, row, who)
		return row, RepoSame, err
	}
	known, isKnown, err := t.findNode(ctx, row.Name.Host, who.NodeID)
	if err != nil {
		return work.Repo{}, "", err
	}
	outcome := RepoSame
	switch {
	case row.NodeID != "":
		outcome, err = RepoReplaced, t.freeName(ctx, row.Name, 0)
	case isKnown:
		outcome, err = RepoRenamed, t.tx.One(ctx, fmt.Sprintf("drop the empty repository %d", id), rows.ErrNotFound, `DELETE FROM repositories WHERE id = ?`, id)
	}
	switch {
	case err != nil:
		return work.Repo{}, "", err
	case isKnown:
		row, err = t.takeName(ctx, known, row.Name)
	case outcome == RepoReplaced:
		row, err = t.addRepo(ctx, work.Repo{Name: row.Name})
	}
	if err != nil {
		return work.Repo{}, "", err
	}
	row, err = t.setIdentity(ctx, row, who)
	return row, outcome, err
}

// RenewRepo gives a repository a new row, of which nothing is known but which repository it
// is. The former one is kept apart.
func (t Rows) RenewRepo(ctx context.Context, r work.Repo) (work.Repo, error) {
	return t.addRepo(ctx, work.Repo{
		Name: r.Name, Current: r.Current, NodeID: r.NodeID, GitHubID: r.GitHubID, DefaultBranch: r.DefaultBranch, ConfirmedAt: r.ConfirmedAt, NamedBy: r.NamedBy,
	})
}

// findNode finds the row of a repository by what GitHub never changes.
func (t Rows) findNode(ctx context.Context, host, nodeID string) (work.Repo, bool, error) {
	all, err := rows.List(ctx, t.tx, "find repository "+nodeID, scanRepo, selectRepo+`WHERE node_id = ? ORDER BY left_at > 0, id`, nodeID)
	at := slices.IndexFunc(all, func(r work.Repo) bool { return r.Name.Host == host })
	if err != nil || at < 0 {
		return work.Repo{}, false, err
	}
	return all[at], true, nil
}

func (t Rows) setIdentity(ctx context.Context, r work.Repo, who Identity) (work.Repo, error) {
	r.NodeID, r.GitHubID, r.Current, r.DefaultBranch, r.ConfirmedAt = who.NodeID, who.GitHubID, who.Current, who.DefaultBranch, who.At
	return r, t.tx.One(ctx, fmt.Sprintf("set identity of repository %d", r.ID), rows.ErrNotFound,
		`UPDATE repositories SET node_id = ?, github_id = ?, current_name = ?, default_branch = ?, confirmed_at = ? WHERE id = ?`,
		r.NodeID, r.GitHubID, rows.NameOf(&r.Current), r.DefaultBranch, t.tx.Stamp(r.ConfirmedAt), r.ID)
}

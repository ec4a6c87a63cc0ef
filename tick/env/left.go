package env

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// OpenRemovedRepos finds repositories that this config no longer names, and returns those that an
// earlier config still named. A later step still ends their unfinished turns and removes their
// labels.
func (p *Env) OpenRemovedRepos(ctx context.Context, tx *store.Tx) (gone []work.RepoName, err error) {
	known, err := tx.ListRepos(ctx)
	if err != nil {
		return nil, err
	}
	var left []*Repo
	rows, names := map[int64]bool{}, map[string]bool{}
	for _, r := range p.All {
		rows[r.Row.ID], names[strings.ToLower(r.Name.String())] = true, true
	}
	for _, row := range known {
		if row.NodeID == "" || row.NamedBy != p.Config.Path || rows[row.ID] || names[strings.ToLower(row.Name.String())] {
			continue
		}
		if row.RemovedAt.IsZero() {
			if err := tx.MarkRepoRemoved(ctx, row.ID); err != nil {
				return nil, err
			}
			gone = append(gone, row.Name)
		}
		if hub := p.gitHubOf(row.Name.Host); hub != nil {
			left = append(left, &Repo{Remote: Remote{Name: row.Name, GitHub: hub}, Row: row, Removed: true, Ready: true})
		}
	}
	p.Removed = left
	return gone, nil
}

// gitHubOf returns the GitHub of a host that gh is logged in to; nil: there is none.
func (p *Env) gitHubOf(host string) GitHub {
	for _, r := range p.All {
		if r.Name.Host == host {
			return r.GitHub
		}
	}
	if p.Host == nil {
		return nil
	}
	return p.Host(host)
}

// ShownAt returns the repository where GitHub shows an item, one that the config no longer names
// included; nil: none.
func (p *Env) ShownAt(repoID int64) *Repo {
	if r := p.RemoteByID(repoID); r != nil {
		return r
	}
	if at := slices.IndexFunc(p.Removed, func(r *Repo) bool { return r.Row.ID == repoID }); at >= 0 && p.Removed[at].Settings.Labels.Working != "" {
		return p.Removed[at]
	}
	return nil
}

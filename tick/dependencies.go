package tick

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// dependencyLife is how old the answer about an open dependency may grow, and how
// long one that GitHub did not answer for is left alone.
const dependencyLife = 5 * time.Minute

// readDependencies asks after the issues that implementations wait for: each
// when it was changed, or at most every few minutes, and never again once it
// is closed. They may be anybody's: what is wrong with one stops what waits for it,
// and nothing else.
func (h *Issues) readDependencies(ctx context.Context) error {
	var waiting []store.Dependency
	err := h.view(ctx, func(tx *store.Tx) (err error) {
		waiting, err = tx.ListOpenDependencies(ctx, h.repo.ID)
		return err
	})
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for _, is := range h.listedIssues {
		changed[strings.ToLower(work.Dependency{Repo: h.r.Name, Number: is.Number}.String())] = true
	}
	for _, d := range waiting {
		if h.now().Sub(d.SeenAt) < dependencyLife && !changed[strings.ToLower(d.Ref)] {
			continue
		}
		state, err := h.dependencyState(ctx, d.Ref)
		if late(err) {
			h.cut(err)
			return nil
		}
		if err != nil {
			h.p.Log.WarnContext(ctx, "a dependency was not read", "repo_full_name", h.r.Name.FullName(), "dependency_of", d.ItemID, "dependency", d.Ref, "error", err)
			h.trouble = append(h.trouble, err.Error())
		} else {
			d.State = state
		}
		h.dependencies = append(h.dependencies, d)
	}
	return nil
}

// dependencyState looks at an issue that something waits for, wherever it is by now.
func (h *Issues) dependencyState(ctx context.Context, ref string) (work.DependencyState, error) {
	d, ok := work.ParseDependency(ref, h.r.Name)
	if !ok {
		return work.DependencyMissing, nil // it names no issue
	}
	repo := d.Repo
	if repo.Equal(h.r.Name) {
		repo = h.repo.Current
	}
	hub, ok := h.p.hostOf(h.r, repo.Host)
	if !ok {
		return work.DependencyMissing, nil // on a host that the config does not name
	}
	is, ok, err := hub.IssueWherever(ctx, repo, d.Number)
	switch {
	case github.IsStatus(err, 403, 451): // by an organization's rules, or because it was taken down
		h.p.Log.WarnContext(ctx, "GitHub does not show a dependency", "repo_full_name", h.r.Name.FullName(), "dependency", ref, "error", err)
		return work.DependencyRefused, nil
	case err != nil:
		return "", err
	case !ok:
		return work.DependencyMissing, nil
	case is.State != "open":
		return work.DependencyClosed, nil
	}
	return work.DependencyOpen, nil
}

// hostOf is the GitHub of a host, as far as the config names a repository there.
func (p *Ingest) hostOf(r *remote, host string) (GitHub, bool) {
	if r.Name.Host == host {
		return r.GitHub, true
	}
	for _, o := range p.all {
		if o.Name.Host == host {
			return o.GitHub, true
		}
	}
	return nil, false
}

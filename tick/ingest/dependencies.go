package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
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
	err := h.View(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		waiting, err = tx.ListOpenDependencies(ctx, h.Repo.ID)
		return err
	})
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for n := range h.Changed {
		changed[strings.ToLower(work.Dependency{Repo: h.R.Name, Number: n}.String())] = true
	}
	for _, d := range waiting {
		if h.Now().Sub(d.SeenAt) < dependencyLife && !changed[strings.ToLower(d.Ref)] {
			continue
		}
		state, err := h.dependencyState(ctx, d.Ref)
		if batch.OutOfTime(err) {
			h.StopReading(err)
			return nil
		}
		if err != nil {
			h.P.Log.WarnContext(ctx, "a dependency was not read", "repo_full_name", h.R.Name.FullName(), "dependency_of", d.ItemID, "dependency", d.Ref, "error", err)
			h.Trouble = append(h.Trouble, err.Error())
		} else {
			d.State = state
		}
		h.Dependencies = append(h.Dependencies, d)
	}
	return nil
}

// dependencyState looks at an issue that something waits for, wherever it is by now.
func (h *Issues) dependencyState(ctx context.Context, ref string) (work.DependencyState, error) {
	d, ok := work.ParseDependency(ref, h.R.Name)
	if !ok {
		return work.DependencyMissing, nil // it names no issue
	}
	repo := d.Repo
	if repo.Equal(h.R.Name) {
		repo = h.Repo.Current
	}
	hub, ok := h.P.HostOf(h.R, repo.Host)
	if !ok {
		return work.DependencyMissing, nil // on a host that the config does not name
	}
	is, ok, err := hub.IssueWherever(ctx, repo, d.Number)
	switch {
	case github.IsStatus(err, 403, 451): // by an organization's rules, or because it was taken down
		h.P.Log.WarnContext(ctx, "GitHub does not show a dependency", "repo_full_name", h.R.Name.FullName(), "dependency", ref, "error", err)
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

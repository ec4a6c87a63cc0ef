package ingest

import (
	"context"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// dependencyLife is the time after which an open dependency is read again, even if the last read
// failed.
const dependencyLife = 5 * time.Minute

// readDependencies reads the issues that implementations wait for: each when it changed, or every
// dependencyLife, and never again once it is closed. They may be in any repository: an error with
// one affects only what waits for it.
func (h *reading) readDependencies(ctx context.Context) error {
	var waiting []store.Dependency
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		waiting, err = tx.ListOpenDependencies(ctx, h.row.ID)
		return err
	})
	if err != nil {
		return err
	}
	changed := map[string]bool{}
	for n := range h.changed {
		changed[strings.ToLower(work.Dependency{Repo: h.repo.Name, Number: n}.String())] = true
	}
	for _, d := range waiting {
		if h.now().Sub(d.SeenAt) < dependencyLife && !changed[strings.ToLower(d.Ref)] {
			continue
		}
		state, err := h.dependencyState(ctx, d.Ref)
		if github.OutOfTime(err) {
			h.stopReading(err)
			return nil
		}
		if err != nil {
			h.env.Log.WarnContext(ctx, "a dependency was not read", "repo_full_name", h.repo.Name.FullName(), "dependency_of", d.ItemID, "dependency", d.Ref, "error", err)
			h.trouble = append(h.trouble, err.Error())
		} else {
			d.State = state
		}
		h.dependencies = append(h.dependencies, d)
	}
	return nil
}

// dependencyState reads the state of a dependency, even if the issue has moved.
func (h *reading) dependencyState(ctx context.Context, ref string) (work.DependencyState, error) {
	d, ok := work.ParseDependency(ref, h.repo.Name)
	if !ok {
		return work.DependencyMissing, nil // it names no issue
	}
	repo := d.Repo
	if repo.Equal(h.repo.Name) {
		repo = h.row.Current
	}
	hub, ok := h.env.HostOf(h.repo, repo.Host)
	if !ok {
		return work.DependencyMissing, nil // the config does not name its host
	}
	is, ok, err := hub.IssueWherever(ctx, repo, d.Number)
	switch {
	case github.IsStatus(err, 403, 451): // an organization's rules forbid it, or it was taken down
		h.env.Log.WarnContext(ctx, "GitHub does not show a dependency", "repo_full_name", h.repo.Name.FullName(), "dependency", ref, "error", err)
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

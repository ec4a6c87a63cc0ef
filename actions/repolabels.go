package actions

import (
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// repoLabels creates labels that a repository lacks, because people can only set existing labels in
// GitHub's web interface. Existing labels keep their look.
type repoLabels struct{ missing []work.Label }

func (e *repoLabels) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	present, err := s.GitHub.RepoLabels(ctx, s.Repo.Current)
	if err != nil {
		return observation{}, false, err
	}
	e.missing = slices.DeleteFunc(work.LabellingOf(a).With, func(l work.Label) bool { return containsLabel(present, l.Name) })
	return observation{}, len(e.missing) == 0, nil
}

func (e *repoLabels) do(ctx context.Context, s Scope, _ work.Action) (observation, error) {
	for _, l := range e.missing {
		if err := s.GitHub.CreateLabel(ctx, s.Repo.Current, l); err != nil && !github.AlreadyExists(err) {
			return observation{}, err
		}
	}
	return observation{}, nil
}

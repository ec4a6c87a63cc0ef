package env

import (
	"context"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// BoxReader reads merge boxes of one repository.
type BoxReader struct {
	R     *Repo                    // required
	rules map[string]merging.Rules // of bases, which several pull requests may have
}

// Read reads GitHub's merge box of a pull request, with what its base demands and, where
// the config asks, the paths that it changes. was is the box as it was read before: at the
// same head it changes the same paths.
func (b *BoxReader) Read(ctx context.Context, pull work.PullRequest, p merging.Policy, was merging.Box) (merging.Box, error) {
	hub, repo := b.R.GitHub, b.R.Row.Current
	box, err := hub.Box(ctx, repo, pull.NodeID, pull.Number, p.Freeze)
	if err != nil {
		return box, err
	}
	rules, known := b.rules[box.Base]
	if !known {
		if rules, err = hub.Rules(ctx, repo, box.Base); err != nil {
			return box, err
		}
		if b.rules == nil {
			b.rules = map[string]merging.Rules{}
		}
		b.rules[box.Base] = rules
	}
	box = box.With(rules)
	switch {
	case len(p.Critical) == 0:
	case was.Head == box.Head && was.Base == box.Base && len(was.Paths) > 0:
		box.Paths = was.Paths
	default:
		box.Paths, err = hub.PullFiles(ctx, repo, pull.Number)
		if len(box.Paths) >= github.MaxPullFiles { // GitHub names no more, so that not all are known
			box.Paths = nil
		}
	}
	return box, err
}

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
	rules map[string]merging.Rules // by base, which several pull requests may share
}

// Read reads the merge box of a pull request, the rules of its base and, if the config limits what
// is merged without a person, the changed paths. The box is read last, so that it shows what changed
// during the other reads. issue is that of its work item. was is the box read before: its paths are
// reused if head and base are the same.
func (b *BoxReader) Read(ctx context.Context, pull work.PullRequest, issue int, p merging.Policy, was merging.Box) (merging.Box, error) {
	hub, repo := b.R.GitHub, b.R.Row.Current
	rules, err := b.demands(ctx, pull.Base)
	if err != nil {
		return merging.Box{}, err
	}
	var paths, uncounted []string
	switch {
	case len(p.Critical) == 0 && p.MaxLines == 0:
	case was.Head == pull.HeadOID && was.Base == pull.Base && len(was.Paths) > 0:
		paths, uncounted = was.Paths, was.Uncounted
	default:
		if paths, uncounted, err = hub.PullFiles(ctx, repo, pull.Number); err != nil {
			return merging.Box{}, err
		}
	}
	box, err := hub.Box(ctx, repo, merging.BoxOf{PullNodeID: pull.NodeID, Number: pull.Number, Issue: issue, Freeze: p.Freeze})
	if err != nil {
		return box, err
	}
	box = box.With(rules)
	if box.Head == pull.HeadOID && len(paths) < github.MaxPullFiles { // paths of another head are unknown; GitHub lists MaxPullFiles at most
		box.Paths, box.Uncounted = paths, uncounted[:min(len(uncounted), merging.MostPaths)]
	}
	return box, nil
}

func (b *BoxReader) demands(ctx context.Context, base string) (merging.Rules, error) {
	if rules, known := b.rules[base]; known {
		return rules, nil
	}
	rules, err := b.R.GitHub.Rules(ctx, b.R.Row.Current, base)
	if err != nil {
		return rules, err
	}
	if b.rules == nil {
		b.rules = map[string]merging.Rules{}
	}
	b.rules[base] = rules
	return rules, nil
}

package actions

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// timelines is what flow asks of GitHub beside labels.
type timelines interface {
	TimelineOf(ctx context.Context, repo work.RepoName, number int) ([]github.TimelineEvent, error)
}

// flow sets the label that begins an issue's work again, or takes it away: what
// begins work is the labelling, not the label. The timeline shows whether
// somebody, be it ourselves, has set it since it was asked for. Target is the
// label, empty for none; Base those that are not to be there; Head the time, on
// GitHub's clock, since when a labelling is as good as ours.
type flow struct{ present []string }

func (e *flow) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	var err error
	if e.present, err = s.GitHub.LabelsOf(ctx, s.Repo.Current, a.Number); err != nil {
		return observation{}, false, err
	}
	if len(e.surplus(a)) > 0 || a.Target != "" && !holds(e.present, a.Target) {
		return observation{}, false, nil
	}
	if a.Target == "" {
		return observation{}, true, nil
	}
	since, err := time.Parse(time.RFC3339, a.Head)
	if err != nil {
		return observation{}, false, nil //nolint:nilerr // then only our own labelling will do
	}
	all, err := s.GitHub.TimelineOf(ctx, s.Repo.Current, a.Number)
	set := slices.ContainsFunc(all, func(t github.TimelineEvent) bool {
		return t.Event == "labeled" && strings.EqualFold(t.Label, a.Target) && !t.CreatedAt.Before(since)
	})
	return observation{}, set, err
}

// surplus are the labels that are there and are not to be.
func (e *flow) surplus(a work.Action) []string {
	var names []string
	for name := range strings.SplitSeq(a.Base, ",") {
		if name != "" && holds(e.present, name) {
			names = append(names, name)
		}
	}
	return names
}

// do takes the label away before it sets it: GitHub notes no labelling where the
// label stands. A death in between leaves an issue without the label, which the
// next look sees.
func (e *flow) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	away := e.surplus(a)
	if a.Target != "" && holds(e.present, a.Target) {
		away = append(away, a.Target)
	}
	for _, name := range away {
		if err := s.GitHub.RemoveLabel(ctx, s.Repo.Current, a.Number, name); err != nil {
			return observation{}, err
		}
	}
	if a.Target == "" {
		return observation{}, nil
	}
	for _, l := range work.LabellingOf(work.Action{Body: a.Body}).With {
		if err := ensureLabel(ctx, s, l); err != nil {
			return observation{}, err
		}
	}
	return observation{}, s.GitHub.AddLabels(ctx, s.Repo.Current, a.Number, []string{a.Target})
}

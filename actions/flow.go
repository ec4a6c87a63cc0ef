package actions

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// timelines is what flow needs from GitHub, besides labels.
type timelines interface {
	TimelineOf(ctx context.Context, repo work.RepoName, number int) ([]github.TimelineEvent, error)
}

// flow sets the label that starts an issue's flow again, or removes it. The labelling starts a
// flow, not the label. The timeline shows whether anybody, including us, has set the label since
// the action was planned, also if a person has removed it since. Target is the label, empty for none; Base the labels to remove; Head the
// time, on GitHub's clock, since when any labelling counts as ours. Extra is the roadmap's issue of
// which the issue is a part: what a person took out of it does not begin.
type flow struct{ present []string }

func (e *flow) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	err := e.readLabels(ctx, s, a)
	if err != nil {
		return observation{}, false, err
	}
	if len(e.surplus(a)) > 0 || a.Target != "" && a.SentAt.IsZero() && !containsLabel(e.present, a.Target) {
		return observation{}, false, nil
	}
	if a.Target == "" {
		return observation{}, true, nil
	}
	since, err := time.Parse(time.RFC3339, a.Head)
	if err != nil {
		return observation{}, false, nil //nolint:nilerr // without that time no labelling by others counts, and we set the label
	}
	all, err := s.GitHub.TimelineOf(ctx, s.Repo.Current, a.Number)
	set := slices.ContainsFunc(all, func(t github.TimelineEvent) bool {
		return t.Event == "labeled" && strings.EqualFold(t.Label, a.Target) && !t.CreatedAt.Before(since)
	})
	return observation{}, set, err
}

// readLabels reads the labels of the issue. One of a roadmap must still be a part of it.
func (e *flow) readLabels(ctx context.Context, s Scope, a work.Action) (err error) {
	if a.Extra == "" {
		e.present, err = s.GitHub.LabelsOf(ctx, s.Repo.Current, a.Number)
		return err
	}
	is, ok, err := listedPart(ctx, s, a, work.Dependency{Repo: s.Repo.Current, Number: a.Number})
	if err == nil && !ok {
		is, ok, err = s.GitHub.Issue(ctx, s.Repo.Current, a.Number)
		parent, _ := strconv.Atoi(a.Extra)
		switch {
		case err != nil:
		case !ok:
			err = &overError{why: "the issue is gone", how: work.EndedGone}
		case !strings.EqualFold(is.Parent, work.Dependency{Repo: s.Repo.Current, Number: parent}.String()): // else the list lags
			err = &overError{why: "a person took it out of the roadmap", how: work.EndedGone}
		}
	}
	e.present = is.Labels
	return err
}

// surplus returns the labels that are set and must be removed.
func (e *flow) surplus(a work.Action) []string {
	var names []string
	for name := range strings.SplitSeq(a.Base, ",") {
		if name != "" && containsLabel(e.present, name) {
			names = append(names, name)
		}
	}
	return names
}

// do removes the label before it sets it, because GitHub records no labelling if the label is
// already set. If the process dies in between, the next look sees an issue without the label.
func (e *flow) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	away := e.surplus(a)
	if a.Target != "" && containsLabel(e.present, a.Target) {
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
			return observation{}, overOfRoadmap(a, err)
		}
	}
	_, err := s.GitHub.AddLabels(ctx, s.Repo.Current, a.Number, []string{a.Target})
	if isNotFound(err) { // the issue, not the label
		return observation{}, err
	}
	return observation{}, overOfRoadmap(a, err)
}

// overOfRoadmap ends the labelling of a roadmap's issue that GitHub refuses: the roadmap stops, and says so.
// One that a command asked for is tried again.
func overOfRoadmap(a work.Action, err error) error {
	if a.Extra == "" {
		return err
	}
	return overIfRefused(err)
}

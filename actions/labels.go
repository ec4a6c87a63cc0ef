package actions

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// labelled is what labels needs from GitHub.
type labelled interface {
	LabelsOf(ctx context.Context, repo work.RepoName, number int) ([]string, error)
	RepoLabels(ctx context.Context, repo work.RepoName) ([]string, error)
	HasLabel(ctx context.Context, repo work.RepoName, name string) (bool, error)
	CreateLabel(ctx context.Context, repo work.RepoName, l work.Label) error
	AddLabels(ctx context.Context, repo work.RepoName, number int, names []string) (present []string, err error)
	RemoveLabel(ctx context.Context, repo work.RepoName, number int, name string) error
}

// labels sets some labels on an issue or pull request and removes others. It compares the current
// labels, so sending it twice has the effect of one send, and changes that people made in between
// are corrected or accepted. Labels that it does not name are not touched. The first send asks nothing
// before: to add a label again has no effect, and the answer shows what there is to take away.
type labels struct {
	missing []work.Label
	surplus []string
	unread  []string // to take away, as far as the answer to the send shows them
}

func (e *labels) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	wanted := work.LabellingOf(a)
	if a.SentAt.IsZero() && len(wanted.With) > 0 {
		e.missing, e.unread = wanted.With, wanted.Without
		return observation{}, false, nil
	}
	present, err := s.GitHub.LabelsOf(ctx, s.Repo.Current, a.Number)
	if err != nil {
		return observation{}, false, err
	}
	e.missing = slices.DeleteFunc(wanted.With, func(l work.Label) bool { return containsLabel(present, l.Name) })
	e.surplus = slices.DeleteFunc(wanted.Without, func(name string) bool { return !containsLabel(present, name) })
	if err := e.leaveUndone(ctx, s, a); err != nil {
		return observation{}, false, err
	}
	return observation{}, len(e.missing) == 0 && len(e.surplus) == 0, nil
}

// leaveUndone leaves labels of a command as they are that were set or removed as it was sent: people have undone that.
func (e *labels) leaveUndone(ctx context.Context, s Scope, a work.Action) (err error) {
	if a.Need != work.NeedRequired || a.SentAt.IsZero() || len(e.missing)+len(e.surplus) == 0 {
		return nil
	}
	e.missing = slices.DeleteFunc(e.missing, func(l work.Label) bool {
		done, failed := happened(ctx, s, a, "labeled", l.Name)
		err = cmp.Or(err, failed)
		return done
	})
	e.surplus = slices.DeleteFunc(e.surplus, func(name string) bool {
		done, failed := happened(ctx, s, a, "unlabeled", name)
		err = cmp.Or(err, failed)
		return done
	})
	return err
}

// happened reports whether the timeline has an event of that kind, about that label, since an action was planned.
func happened(ctx context.Context, s Scope, a work.Action, event, label string) (bool, error) {
	all, err := s.GitHub.TimelineOf(ctx, s.Repo.Current, a.Number)
	since := a.PlannedAt.Truncate(time.Second) // as GitHub's times
	return slices.ContainsFunc(all, func(t github.TimelineEvent) bool {
		return t.Event == event && strings.EqualFold(t.Label, label) && !t.CreatedAt.Before(since)
	}), err
}

func (e *labels) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	var names []string
	for _, l := range e.missing {
		if err := ensureLabel(ctx, s, l); err != nil {
			return observation{}, err
		}
		names = append(names, l.Name)
	}
	if len(names) > 0 {
		present, err := s.GitHub.AddLabels(ctx, s.Repo.Current, a.Number, names)
		if err != nil {
			return observation{}, err
		}
		e.surplus = append(e.surplus, slices.DeleteFunc(e.unread, func(name string) bool { return !containsLabel(present, name) })...)
	}
	for _, name := range e.surplus {
		if err := s.GitHub.RemoveLabel(ctx, s.Repo.Current, a.Number, name); err != nil {
			return observation{}, err
		}
	}
	return observation{}, nil
}

// ensureLabel creates a label with its color and description if the repository lacks it. An
// existing label keeps its look.
func ensureLabel(ctx context.Context, s Scope, l work.Label) error {
	hub := s.GitHub
	if s.Looks != nil {
		hub = s.Looks.shared
	}
	if has, err := hub.HasLabel(ctx, s.Repo.Current, l.Name); err != nil || has {
		return err
	}
	if err := s.GitHub.CreateLabel(ctx, s.Repo.Current, l); err != nil && !github.AlreadyExists(err) {
		return err
	}
	return nil
}

// containsLabel ignores case, as GitHub does.
func containsLabel(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, name) })
}

package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// The labels that start and pause work are what a new user reaches for first, and
// GitHub's web interface offers only labels that the repository has. So each
// configured repository gets them, once: what people delete or change afterwards
// stays as they left it.

// storeRepoLabels plans that the repository has the labels that the config names.
// An idle pass finds the row as it wants it.
func (h *Issues) storeRepoLabels(ctx context.Context, tx *store.Tx, now time.Time) error {
	wanted := work.Labelling{With: work.RepoLabels(h.r.Settings.Labels)}
	// A repository that is made anew under the name is another one.
	a := wanted.Action(h.repo, 0, 0, "repository "+h.repo.NodeID)
	a.Kind, a.PlannedAt, a.Why = work.ActionRepoLabels, now, "the labels that start and pause work"
	known, ok, err := tx.GetAction(ctx, a.Token)
	if err != nil || ok && known.Body == a.Body {
		return err
	}
	return tx.RenewAction(ctx, a)
}

// tellUnmade has whoever runs the pass make the labels that GitHub does not let it
// make: once, for it is not tried again.
func (p *Notices) tellUnmade(rep *Report, r *remote, a work.Action, err error) {
	if a.Kind != work.ActionRepoLabels || !hopeless(a, err) {
		return
	}
	if refused, ok := errors.AsType[*github.Error](err); ok {
		err = refused // without what was being done: the sentence says it
	}
	names := strings.Split(a.Target, ",")
	why := fmt.Sprintf("the labels %s cannot be made: %v; make those that are missing yourself: gh label create %s --repo %s, and so on",
		strings.Join(names, ", "), err, names[0], p.Config.Called(r.Name))
	rep.repo(p.Config.Called(r.Name), func(x *RepoReport) { x.Warnings = append(x.Warnings, why) })
}

// previewLabels adds to a plan which labels a pass would make in its repository. Where
// GitHub does not say, the plan stands without.
func (p *Pass) previewLabels(ctx context.Context, made *plan.Plan) error {
	r := p.remoteByID(made.Repo.ID)
	due, err := p.notices.dueNotices(ctx, r)
	if err != nil {
		return err
	}
	for _, a := range due {
		if a.Kind != work.ActionRepoLabels {
			continue
		}
		present, err := r.GitHub.RepoLabels(ctx, r.repo.Current)
		if err != nil {
			p.Log.WarnContext(ctx, "labels not read", "repo_full_name", r.Name.FullName(), "error", err)
			continue
		}
		missing := slices.DeleteFunc(strings.Split(a.Target, ","), func(name string) bool { return work.HasLabel(present, name) })
		if len(missing) > 0 {
			made.Lines = append(made.Lines, plan.Line{What: "labels", Reason: "the repository lacks " + strings.Join(missing, ", ")})
		}
	}
	return nil
}

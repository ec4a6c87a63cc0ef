package tick

import (
	"context"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// previewLabels adds to a plan the labels that a pass would create in its repository. If GitHub
// does not list them, it adds none.
func (p *Pass) previewLabels(ctx context.Context, made *plan.Plan) error {
	r := p.RemoteByID(made.Repo.ID)
	due, err := p.notices.DueNotices(ctx, r)
	if err != nil {
		return err
	}
	for _, a := range due {
		if a.Kind != work.ActionRepoLabels {
			continue
		}
		present, err := r.GitHub.RepoLabels(ctx, r.Row.Current)
		if err != nil {
			p.Log.WarnContext(ctx, "labels not read", "repo_full_name", r.Name.FullName(), "error", err)
			continue
		}
		missing := slices.DeleteFunc(strings.Split(a.Target, ","), func(name string) bool { return work.HasLabel(present, name) })
		if len(missing) > 0 {
			lacks := change.Line{What: "labels", Reason: "the repository lacks " + strings.Join(missing, ", ")}
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: lacks}})
		}
	}
	return nil
}

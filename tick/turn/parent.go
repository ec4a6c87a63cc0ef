package turn

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// parent returns what an issue below a roadmap is a part of: the roadmap's goal, and what was merged for
// the issues that blocked it. Its own part of the document is the issue's text.
func (p *briefs) parent(ctx context.Context, l *env.Lease) (*prompts.Parent, error) {
	if l.Item.SubIssueOf == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	var of *prompts.Parent
	var pulls []work.PullRequest
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		of, pulls = nil, nil
		live, err := tx.ListLiveRoadmaps(ctx)
		at := slices.IndexFunc(live, func(m roadmap.Record) bool { return m.Ref == l.Item.SubIssueOf })
		if err != nil || at < 0 {
			return err
		}
		of = &prompts.Parent{Number: live[at].Number, Title: live[at].Title, Goal: live[at].Goal}
		needs, err := tx.ListDependencies(ctx, l.Item.ID)
		for _, d := range needs {
			issue, ok := work.ParseDependency(d.Ref, l.Repo.Name)
			if err != nil || !ok || d.State != work.DependencyClosed {
				continue
			}
			var b prompts.Predecessor
			var pull work.PullRequest
			if b, pull, err = predecessor(ctx, tx, l, issue); err == nil {
				of.Before, pulls = append(of.Before, b), append(pulls, pull)
			}
		}
		return err
	})
	if err != nil || of == nil {
		return nil, err
	}
	for n, pull := range pulls {
		if pull.MergeCommit != "" { // a mirror that lacks a commit has no files to name
			of.Before[n].ChangedFiles, _ = l.Repo.Git().MergedFiles(ctx, pull.MergeCommit, pull.HeadOID)
		}
	}
	return of, nil
}

// predecessor returns what is stored about an issue that blocked another one, and its merged pull
// request.
func predecessor(ctx context.Context, tx *store.Tx, l *env.Lease, issue work.Dependency) (b prompts.Predecessor, pull work.PullRequest, err error) {
	if !issue.Repo.Equal(l.Repo.Name) {
		return prompts.Predecessor{Issue: fmt.Sprintf("%s#%d", issue.Repo.FullName(), issue.Number)}, pull, nil
	}
	b.Issue = fmt.Sprintf("#%d", issue.Number)
	item, ok, err := tx.FindItem(ctx, l.Item.RepoID, issue.Number)
	if err != nil || !ok {
		return b, pull, err
	}
	b.Title = item.Title
	if pull, _, err = tx.FindPullOfItem(ctx, item.ID); err != nil || pull.State != work.PullMerged {
		return b, work.PullRequest{}, err
	}
	b.PullRequest, b.MergeCommit, b.Decisions, b.Summary = pull.URL, pull.MergeCommit, document.Split(item.DecisionSummary), pull.Title
	sent, err := tx.ListItemActions(ctx, item.ID)
	for _, a := range sent {
		if a.Kind == work.ActionPullRequest {
			b.Summary = pull.Title + "\n\n" + work.Unmarked(a.Body)
		}
	}
	return b, pull, err
}

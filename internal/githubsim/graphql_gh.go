package githubsim

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// What gh asks for when people use it, beyond what this program does.

func (g *gqlRepo) Description() *string     { return nil }
func (g *gqlRepo) HomepageURL() *gqlURI     { return nil }
func (g *gqlRepo) IsPrivate() bool          { return g.r.private }
func (g *gqlRepo) HasIssuesEnabled() bool   { return true }
func (g *gqlRepo) HasProjectsEnabled() bool { return false }
func (g *gqlRepo) HasWikiEnabled() bool     { return false }

// Parent is what the repository was forked from.
func (g *gqlRepo) Parent() *gqlRepo { return g.x.repository(g.r.fork) }

// Label finds a label by name.
func (g *gqlRepo) Label(a struct{ Name string }) *gqlLabel {
	if l := g.r.label(a.Name); l != nil {
		return &gqlLabel{l}
	}
	return nil
}

// Labels are the repository's.
func (g *gqlRepo) Labels(a struct {
	labelArgs
	Query *string
},
) *gqlPage[*gqlLabel] {
	list := slices.Clone(g.r.labels)
	if a.Query != nil {
		list = slices.DeleteFunc(list, func(l *label) bool {
			return !strings.Contains(strings.ToLower(l.name+" "+l.description), strings.ToLower(*a.Query))
		})
	}
	return a.page(list)
}

// IssueOrPullRequest returns the issue or pull request with a number.
func (g *gqlRepo) IssueOrPullRequest(a struct{ Number int32 }) (*gqlNumbered, error) {
	if is := g.r.issue(int(a.Number)); is != nil {
		return &gqlNumbered{g.x, is}, nil
	}
	return nil, noNumber("an issue or pull request", a.Number)
}

// gqlNumbered is an IssueOrPullRequest.
type gqlNumbered struct {
	x  *gql
	is *issue
}

// ToIssue is a type assertion of the schema.
func (g *gqlNumbered) ToIssue() (*gqlIssue, bool) { return &gqlIssue{g.x, g.is}, g.is.pull == nil }

// ToPullRequest is a type assertion of the schema.
func (g *gqlNumbered) ToPullRequest() (*gqlPull, bool) {
	return g.x.pullRequest(g.is.pull), g.is.pull != nil
}

func (g *gqlIssue) StateReason() *string              { return gqlEnum(g.is.stateReason) }
func (g *gqlIssue) Milestone() *gqlMilestone          { return nil }
func (g *gqlIssue) ProjectCards(PageArgs) gqlCards    { return gqlCards{} }
func (g *gqlIssue) ProjectItems(PageArgs) *gqlNoItems { return &gqlNoItems{} }
func (g *gqlIssue) ReactionGroups() *[]*gqlReactions  { return g.x.reactionGroups(g.is.reactions) }

// Assignees are whose it is.
func (g *gqlIssue) Assignees(a PageArgs) *gqlPage[*gqlAccount] {
	return gqlPaginate(g.is.assignees, a, gqlAccountOf)
}

// Comments are the conversation.
func (g *gqlIssue) Comments(a PageArgs) *gqlPage[*gqlComment] { return g.x.comments(g.is, a) }

// GqlIssueFilter is IssueFilters.
type GqlIssueFilter struct {
	Assignee, CreatedBy, Mentioned *string
	Labels, States                 *[]string
}

// takes tells whether an issue is one of those asked for.
func (f *GqlIssueFilter) takes(is *issue) bool {
	if f == nil {
		return true
	}
	by := func(login *string, users ...*user) bool {
		return login == nil || slices.ContainsFunc(users, func(u *user) bool { return u != nil && strings.EqualFold(u.login, *login) })
	}
	return by(f.CreatedBy, is.author) && by(f.Assignee, is.assignees...) &&
		(f.Mentioned == nil || strings.Contains(is.body, "@"+*f.Mentioned)) &&
		(f.Labels == nil || is.hasLabels(*f.Labels...)) &&
		(f.States == nil || slices.Contains(*f.States, strings.ToUpper(is.state)))
}

type (
	labelsInput struct {
		Input struct {
			ClientMutationID *string
			LabelIDs         []graphql.ID
			LabelableID      graphql.ID
		}
	}
	barePayload  struct{ ClientMutationID *string }
	issuePayload struct {
		ClientMutationID *string
		Issue            *gqlIssue
	}
)

// AddLabelsToLabelable sets labels of an issue or pull request.
func (*gqlRoot) AddLabelsToLabelable(ctx context.Context, a labelsInput) (*barePayload, error) {
	return relabel(ctx, a, func(x *gql, is *issue, names []string) { is.repo.setLabels(x.viewer, is, names, nil) })
}

// RemoveLabelsFromLabelable takes labels of an issue or pull request away.
func (*gqlRoot) RemoveLabelsFromLabelable(ctx context.Context, a labelsInput) (*barePayload, error) {
	return relabel(ctx, a, func(x *gql, is *issue, names []string) { is.repo.setLabels(x.viewer, is, nil, names) })
}

func relabel(ctx context.Context, a labelsInput, change func(*gql, *issue, []string)) (*barePayload, error) {
	x, is, err := conversation(ctx, a.Input.LabelableID)
	if err != nil {
		return nil, err
	}
	if e := is.repo.need(x.viewer, "triage"); e != nil {
		return nil, refuse(e)
	}
	names, err := x.labelNamed(a.Input.LabelIDs)
	if err == nil {
		change(x, is, names)
	}
	return &barePayload{a.Input.ClientMutationID}, err
}

// labelNamed gives the names of labels.
func (x *gql) labelNamed(ids []graphql.ID) (names []string, err error) {
	for _, id := range ids {
		l, ok := x.h.nodeByID(string(id)).(*label)
		if !ok {
			return nil, noNode(string(id))
		}
		names = append(names, l.name)
	}
	return names, nil
}

// CreateIssue opens an issue.
func (*gqlRoot) CreateIssue(ctx context.Context, a struct {
	Input struct {
		AssigneeIDs, LabelIDs, ProjectIDs     *[]graphql.ID
		MilestoneID, ParentIssueID            *graphql.ID
		Body, ClientMutationID, IssueTemplate *string
		RepositoryID                          graphql.ID
		Title                                 string
	}
},
) (*issuePayload, error) {
	x, r, err := target[*Repo](ctx, a.Input.RepositoryID)
	if err != nil {
		return nil, err
	}
	order := newIssue{title: a.Input.Title, body: deref(a.Input.Body)}
	if order.labels, err = x.labelNamed(deref(a.Input.LabelIDs)); err != nil {
		return nil, err
	}
	var parent *issue
	if id := a.Input.ParentIssueID; id != nil {
		if _, parent, err = target[*issue](ctx, *id); err != nil {
			return nil, err
		}
		if e := x.mayHaveChild(parent); e != nil {
			return nil, refuse(e)
		}
	}
	is, e := r.addIssue(x.viewer, order)
	if e == nil && parent != nil {
		e = parent.adopt(x.viewer, is, false)
	}
	if e != nil {
		return nil, refuse(e)
	}
	return &issuePayload{a.Input.ClientMutationID, &gqlIssue{x, is}}, nil
}

// mayHaveChild refuses a parent of an issue that is about to be opened.
func (x *gql) mayHaveChild(parent *issue) *apiError {
	if x.h.noSubIssues {
		return refusal(http.StatusUnprocessableEntity, "InputObject 'CreateIssueInput' doesn't accept argument 'parentIssueId'")
	}
	if e := parent.repo.need(x.viewer, "triage"); e != nil {
		return e
	}
	return parent.mayAdopt(nil, false)
}

// CloseIssue closes an issue.
func (*gqlRoot) CloseIssue(ctx context.Context, a struct {
	Input struct {
		ClientMutationID, StateReason *string
		IssueID                       graphql.ID
	}
},
) (*issuePayload, error) {
	return changeIssue(ctx, a.Input.IssueID, a.Input.ClientMutationID, func(x *gql, is *issue) *apiError {
		return is.repo.setState(x.viewer, is, "closed", strings.ToLower(deref(a.Input.StateReason)))
	})
}

// pullInput names a pull request to change.
type pullInput struct {
	Input struct {
		ClientMutationID *string
		PullRequestID    graphql.ID
	}
}

// ClosePullRequest closes a pull request.
func (*gqlRoot) ClosePullRequest(ctx context.Context, a pullInput) (*mergePayload, error) {
	return changePull(ctx, a, func(u *user, p *pull) *apiError { return p.repo.setState(u, p.issue, "closed", "") })
}

// ReopenPullRequest reopens a pull request.
func (*gqlRoot) ReopenPullRequest(ctx context.Context, a pullInput) (*mergePayload, error) {
	return changePull(ctx, a, func(u *user, p *pull) *apiError { return p.repo.setState(u, p.issue, "open", "") })
}

// MarkPullRequestReadyForReview marks a draft as ready.
func (*gqlRoot) MarkPullRequestReadyForReview(ctx context.Context, a pullInput) (*mergePayload, error) {
	return changePull(ctx, a, func(u *user, p *pull) *apiError { return p.repo.setDraft(u, p, false) })
}

// ConvertPullRequestToDraft makes a draft of a pull request.
func (*gqlRoot) ConvertPullRequestToDraft(ctx context.Context, a pullInput) (*mergePayload, error) {
	return changePull(ctx, a, func(u *user, p *pull) *apiError { return p.repo.setDraft(u, p, true) })
}

func changePull(ctx context.Context, a pullInput, change func(*user, *pull) *apiError) (*mergePayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	if e := change(x.viewer, p); e != nil {
		return nil, refuse(e)
	}
	return &mergePayload{gqlAccountOf(x.viewer), a.Input.ClientMutationID, x.pullRequest(p)}, nil
}

// ReopenIssue reopens an issue.
func (*gqlRoot) ReopenIssue(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		IssueID          graphql.ID
	}
},
) (*issuePayload, error) {
	return changeIssue(ctx, a.Input.IssueID, a.Input.ClientMutationID, func(x *gql, is *issue) *apiError {
		return is.repo.setState(x.viewer, is, "open", "")
	})
}

func changeIssue(ctx context.Context, id graphql.ID, mutation *string, change func(*gql, *issue) *apiError) (*issuePayload, error) {
	x, is, err := target[*issue](ctx, id)
	if err != nil {
		return nil, err
	}
	if e := change(x, is); e != nil {
		return nil, refuse(e)
	}
	return &issuePayload{mutation, &gqlIssue{x, is}}, nil
}

// AddPullRequestReview reviews a pull request.
func (*gqlRoot) AddPullRequestReview(ctx context.Context, a struct {
	Input struct {
		Body, ClientMutationID, Event *string
		CommitOID                     *gqlOID
		PullRequestID                 graphql.ID
	}
},
) (*barePayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	if _, e := p.repo.addReview(x.viewer, p, newReview{event: deref(a.Input.Event), body: deref(a.Input.Body), commit: string(deref(a.Input.CommitOID))}); e != nil {
		return nil, refuse(e)
	}
	return &barePayload{a.Input.ClientMutationID}, nil
}

package githubsim

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// What gh issue edit, gh pr edit and gh pr status ask for.

// BranchProtectionRule is always null: the simulator shows gh no rules of a branch.
func (*gqlRef) BranchProtectionRule() *gqlRule { return nil }

type gqlRule struct{ RequiresStrictStatusChecks bool }

// AssignableUsers may write to the repository.
func (g *gqlRepo) AssignableUsers(a PageArgs) *gqlPage[*gqlAccount] {
	var users []*user
	for _, u := range g.x.h.users {
		if !u.deleted && u.kind == "User" && g.r.can(u, "write") {
			users = append(users, u)
		}
	}
	slices.SortFunc(users, func(u, v *user) int { return strings.Compare(u.login, v.login) })
	return gqlPaginate(users, a, gqlAccountOf)
}

// UpdateIssue edits title, text and assignees of an issue.
func (*gqlRoot) UpdateIssue(ctx context.Context, a struct {
	Input struct {
		AssigneeIDs, LabelIDs, ProjectIDs    *[]graphql.ID
		MilestoneID                          *graphql.ID
		Body, ClientMutationID, State, Title *string
		ID                                   graphql.ID
	}
},
) (*issuePayload, error) {
	in := a.Input
	if in.LabelIDs != nil || in.ProjectIDs != nil || in.MilestoneID != nil || in.State != nil {
		return nil, notEdited()
	}
	return changeIssue(ctx, in.ID, in.ClientMutationID, func(x *gql, is *issue) *apiError {
		return x.edit(is, in.Title, in.Body, in.AssigneeIDs)
	})
}

type pullPayload struct {
	ClientMutationID *string
	PullRequest      *gqlPull
}

// UpdatePullRequest edits title, text, assignees and base of a pull request.
func (*gqlRoot) UpdatePullRequest(ctx context.Context, a struct {
	Input struct {
		AssigneeIDs, LabelIDs, ProjectIDs          *[]graphql.ID
		MilestoneID                                *graphql.ID
		BaseRefName, Body, ClientMutationID, Title *string
		PullRequestID                              graphql.ID
	}
},
) (*pullPayload, error) {
	in := a.Input
	if in.LabelIDs != nil || in.ProjectIDs != nil || in.MilestoneID != nil {
		return nil, notEdited()
	}
	x, p, err := target[*pull](ctx, in.PullRequestID)
	if err != nil {
		return nil, err
	}
	if e := x.edit(p.issue, in.Title, in.Body, in.AssigneeIDs); e != nil {
		return nil, refuse(e)
	}
	if in.BaseRefName != nil && *in.BaseRefName != p.baseRef {
		if e := p.repo.setBase(x.viewer, p, *in.BaseRefName); e != nil {
			return nil, refuse(e)
		}
	}
	return &pullPayload{in.ClientMutationID, x.pullRequest(p)}, nil
}

func notEdited() error {
	return refuse(refusal(http.StatusUnprocessableEntity, "this simulated GitHub changes only title, body, assignees and base here"))
}

// edit changes what is given; the assignees become exactly these.
func (x *gql) edit(is *issue, title, body *string, assignees *[]graphql.ID) *apiError {
	if e := is.repo.editIssue(x.viewer, is, title, body); e != nil || assignees == nil {
		return e
	}
	var list []*user
	for _, id := range *assignees {
		u, ok := x.h.nodeByID(string(id)).(*user)
		if !ok {
			return refusal(http.StatusUnprocessableEntity, "Could not resolve to a node with the global id of '"+string(id)+"'")
		}
		list = append(list, u)
	}
	return is.repo.setAssignees(x.viewer, is, list)
}

// RequestReviews asks people for their review of a pull request.
func (*gqlRoot) RequestReviews(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		PullRequestID    graphql.ID
		TeamIDs, UserIDs *[]graphql.ID
		Union            bool
	}
},
) (*pullPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	var logins []string
	for _, id := range deref(a.Input.UserIDs) {
		if u, ok := x.h.nodeByID(string(id)).(*user); ok {
			logins = append(logins, u.login)
		}
	}
	if e := p.repo.requestReview(x.viewer, p, logins); e != nil {
		return nil, refuse(e)
	}
	return &pullPayload{a.Input.ClientMutationID, x.pullRequest(p)}, nil
}

package githubsim

import (
	"context"
	"slices"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// target finds the object of a mutation by its global id.
func target[T any](ctx context.Context, id graphql.ID) (*gql, T, error) {
	x := gqlFrom(ctx)
	if n := x.node(string(id)); n != nil {
		if v, ok := n.v.(T); ok {
			return x, v, nil
		}
	}
	var none T
	return x, none, noNode(string(id))
}

// conversation is the issue side of an issue or a pull request.
func conversation(ctx context.Context, id graphql.ID) (*gql, *issue, error) {
	if x, p, err := target[*pull](ctx, id); err == nil {
		return x, p.issue, nil
	}
	return target[*issue](ctx, id)
}

type (
	threadInput struct {
		Input struct {
			ClientMutationID *string
			ThreadID         graphql.ID
		}
	}
	threadPayload struct {
		ClientMutationID *string
		Thread           *gqlThread
	}
	pullInput struct {
		Input struct {
			ClientMutationID *string
			PullRequestID    graphql.ID
		}
	}
	pullPayload struct {
		ClientMutationID *string
		PullRequest      *gqlPull
	}
	issuePayload struct {
		ClientMutationID *string
		Issue            *gqlIssue
	}
	labelsInput struct {
		Input struct {
			ClientMutationID *string
			LabelIDs         []graphql.ID
			LabelableID      graphql.ID
		}
	}
	emptyPayload struct{ ClientMutationID *string }
)

// ResolveReviewThread resolves a thread.
func (*gqlRoot) ResolveReviewThread(ctx context.Context, a threadInput) (*threadPayload, error) {
	return resolveThread(ctx, a, true)
}

// UnresolveReviewThread opens a thread again.
func (*gqlRoot) UnresolveReviewThread(ctx context.Context, a threadInput) (*threadPayload, error) {
	return resolveThread(ctx, a, false)
}

func resolveThread(ctx context.Context, a threadInput, resolved bool) (*threadPayload, error) {
	x, t, err := target[*thread](ctx, a.Input.ThreadID)
	if err != nil {
		return nil, err
	}
	if e := t.pull.repo.resolve(x.viewer, t, resolved); e != nil {
		return nil, refuse(e)
	}
	return &threadPayload{a.Input.ClientMutationID, &gqlThread{x, t}}, nil
}

type commentEdge struct {
	Cursor string
	Node   *gqlComment
}

type commentPayload struct {
	ClientMutationID *string
	CommentEdge      *commentEdge
	Subject          *gqlNode
}

// AddComment writes into a conversation.
func (*gqlRoot) AddComment(ctx context.Context, a struct {
	Input struct {
		Body             string
		ClientMutationID *string
		SubjectID        graphql.ID
	}
},
) (*commentPayload, error) {
	x, is, err := conversation(ctx, a.Input.SubjectID)
	if err != nil {
		return nil, err
	}
	c, e := is.repo.addComment(x.viewer, is, a.Input.Body)
	if e != nil {
		return nil, refuse(e)
	}
	edge := &commentEdge{gqlCursor(len(is.comments)), &gqlComment{x, c}}
	return &commentPayload{a.Input.ClientMutationID, edge, x.node(string(a.Input.SubjectID))}, nil
}

type editPayload struct {
	ClientMutationID *string
	IssueComment     *gqlComment
}

// UpdateIssueComment changes a comment's words.
func (*gqlRoot) UpdateIssueComment(ctx context.Context, a struct {
	Input struct {
		Body             string
		ClientMutationID *string
		ID               graphql.ID
	}
},
) (*editPayload, error) {
	x, c, err := target[*comment](ctx, a.Input.ID)
	if err != nil {
		return nil, err
	}
	if e := c.issue.repo.editComment(x.viewer, c, a.Input.Body); e != nil {
		return nil, refuse(e)
	}
	return &editPayload{a.Input.ClientMutationID, &gqlComment{x, c}}, nil
}

type reactionPayload struct {
	ClientMutationID *string
	ReactionGroups   *[]*gqlReactions
}

// AddReaction reacts to an issue, a pull request, a review or a comment.
func (*gqlRoot) AddReaction(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		Content          string
		SubjectID        graphql.ID
	}
},
) (*reactionPayload, error) {
	x := gqlFrom(ctx)
	n := x.node(string(a.Input.SubjectID))
	if n == nil {
		return nil, noNode(string(a.Input.SubjectID))
	}
	var on *[]*reaction
	switch v := n.v.(type) {
	case *issue:
		on = &v.reactions
	case *pull:
		on = &v.reactions
	case *comment:
		on = &v.reactions
	case *review:
		on = &v.reactions
	case *reviewComment:
		on = &v.reactions
	default:
		return nil, noNode(string(a.Input.SubjectID))
	}
	for word, name := range reactionNames {
		if name == a.Input.Content {
			if _, _, e := x.h.react(x.viewer, on, word); e != nil {
				return nil, refuse(e)
			}
		}
	}
	return &reactionPayload{a.Input.ClientMutationID, x.reactionGroups(*on)}, nil
}

// AddLabelsToLabelable sets labels.
func (*gqlRoot) AddLabelsToLabelable(ctx context.Context, a labelsInput) (*emptyPayload, error) {
	return changeLabels(ctx, a, func(x *gql, is *issue, names []string) { is.repo.setLabels(x.viewer, is, names, nil) })
}

// RemoveLabelsFromLabelable takes labels away.
func (*gqlRoot) RemoveLabelsFromLabelable(ctx context.Context, a labelsInput) (*emptyPayload, error) {
	return changeLabels(ctx, a, func(x *gql, is *issue, names []string) { is.repo.setLabels(x.viewer, is, nil, names) })
}

func changeLabels(ctx context.Context, a labelsInput, change func(*gql, *issue, []string)) (*emptyPayload, error) {
	x, is, err := conversation(ctx, a.Input.LabelableID)
	if err != nil {
		return nil, err
	}
	if e := is.repo.need(x.viewer, "triage"); e != nil {
		return nil, refuse(e)
	}
	var names []string
	for _, id := range a.Input.LabelIDs {
		_, l, err := target[*label](ctx, id)
		if err != nil {
			return nil, err
		}
		names = append(names, l.name)
	}
	change(x, is, names)
	return &emptyPayload{a.Input.ClientMutationID}, nil
}

// CloseIssue closes an issue.
func (*gqlRoot) CloseIssue(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		IssueID          graphql.ID
		StateReason      *string
	}
},
) (*issuePayload, error) {
	reason := ""
	if a.Input.StateReason != nil {
		reason = strings.ToLower(*a.Input.StateReason)
	}
	return setIssueState(ctx, a.Input.IssueID, a.Input.ClientMutationID, "closed", reason)
}

// ReopenIssue opens an issue again.
func (*gqlRoot) ReopenIssue(ctx context.Context, a struct {
	Input struct {
		ClientMutationID *string
		IssueID          graphql.ID
	}
},
) (*issuePayload, error) {
	return setIssueState(ctx, a.Input.IssueID, a.Input.ClientMutationID, "open", "")
}

func setIssueState(ctx context.Context, id graphql.ID, mutation *string, state, reason string) (*issuePayload, error) {
	x, is, err := target[*issue](ctx, id)
	if err != nil {
		return nil, err
	}
	if e := is.repo.setState(x.viewer, is, state, reason); e != nil {
		return nil, refuse(e)
	}
	return &issuePayload{mutation, &gqlIssue{x, is}}, nil
}

// CreateIssue opens an issue.
func (*gqlRoot) CreateIssue(ctx context.Context, a struct {
	Input struct {
		AssigneeIDs, LabelIDs, ProjectIDs *[]graphql.ID
		Body, ClientMutationID            *string
		MilestoneID                       *graphql.ID
		RepositoryID                      graphql.ID
		Title                             string
	}
},
) (*issuePayload, error) {
	x, r, err := target[*Repo](ctx, a.Input.RepositoryID)
	if err != nil {
		return nil, err
	}
	in := newIssue{title: a.Input.Title}
	if a.Input.Body != nil {
		in.body = *a.Input.Body
	}
	if a.Input.LabelIDs != nil {
		for _, l := range r.labels {
			if slices.Contains(*a.Input.LabelIDs, graphql.ID(l.nodeID)) {
				in.labels = append(in.labels, l.name)
			}
		}
	}
	if a.Input.AssigneeIDs != nil {
		for _, id := range *a.Input.AssigneeIDs {
			_, u, err := target[*user](ctx, id)
			if err != nil {
				return nil, err
			}
			in.assignees = append(in.assignees, u)
		}
	}
	is, e := r.addIssue(x.viewer, in)
	if e != nil {
		return nil, refuse(e)
	}
	return &issuePayload{a.Input.ClientMutationID, &gqlIssue{x, is}}, nil
}

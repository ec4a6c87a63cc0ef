package githubsim

import (
	"context"

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
)

// ResolveReviewThread resolves a thread.
func (*gqlRoot) ResolveReviewThread(ctx context.Context, a threadInput) (*threadPayload, error) {
	x, t, err := target[*thread](ctx, a.Input.ThreadID)
	if err != nil {
		return nil, err
	}
	if e := t.pull.repo.resolve(x.viewer, t, true); e != nil {
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
	edge := &commentEdge{gqlCursor(len(is.comments)), x.commented(c)}
	return &commentPayload{a.Input.ClientMutationID, edge, x.node(string(a.Input.SubjectID))}, nil
}

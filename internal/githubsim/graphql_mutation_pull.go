package githubsim

import (
	"context"
	"strings"

	"github.com/graph-gophers/graphql-go"
)

// ClosePullRequest closes a pull request without merging it.
func (*gqlRoot) ClosePullRequest(ctx context.Context, a pullInput) (*pullPayload, error) {
	return changePull(ctx, a, func(x *gql, p *pull) *apiError { return p.repo.setState(x.viewer, p.issue, "closed", "") })
}

// ReopenPullRequest opens it again.
func (*gqlRoot) ReopenPullRequest(ctx context.Context, a pullInput) (*pullPayload, error) {
	return changePull(ctx, a, func(x *gql, p *pull) *apiError { return p.repo.setState(x.viewer, p.issue, "open", "") })
}

// ConvertPullRequestToDraft makes a draft of it.
func (*gqlRoot) ConvertPullRequestToDraft(ctx context.Context, a pullInput) (*pullPayload, error) {
	return changePull(ctx, a, func(x *gql, p *pull) *apiError { return p.repo.setDraft(x.viewer, p, true) })
}

// MarkPullRequestReadyForReview ends a draft.
func (*gqlRoot) MarkPullRequestReadyForReview(ctx context.Context, a pullInput) (*pullPayload, error) {
	return changePull(ctx, a, func(x *gql, p *pull) *apiError { return p.repo.setDraft(x.viewer, p, false) })
}

func changePull(ctx context.Context, a pullInput, change func(*gql, *pull) *apiError) (*pullPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	if e := change(x, p); e != nil {
		return nil, refuse(e)
	}
	return &pullPayload{a.Input.ClientMutationID, &gqlPull{x, p}}, nil
}

// MergePullRequest merges.
func (*gqlRoot) MergePullRequest(ctx context.Context, a struct {
	Input struct {
		AuthorEmail, ClientMutationID, CommitBody, CommitHeadline *string
		ExpectedHeadOid                                           *gqlOID
		MergeMethod                                               string
		PullRequestID                                             graphql.ID
	}
},
) (*pullPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	order := mergeOrder{method: strings.ToLower(a.Input.MergeMethod)}
	if oid := a.Input.ExpectedHeadOid; oid != nil {
		order.sha = string(*oid)
	}
	if s := a.Input.CommitHeadline; s != nil {
		order.title = *s
	}
	if s := a.Input.CommitBody; s != nil {
		order.message = *s
	}
	if _, e := p.repo.mergePull(x.viewer, p, order); e != nil {
		return nil, refuse(e)
	}
	return &pullPayload{a.Input.ClientMutationID, &gqlPull{x, p}}, nil
}

// CreatePullRequest opens a pull request.
func (*gqlRoot) CreatePullRequest(ctx context.Context, a struct {
	Input struct {
		BaseRefName         string
		Body                *string
		ClientMutationID    *string
		Draft               bool
		HeadRefName         string
		HeadRepositoryID    *graphql.ID
		MaintainerCanModify bool
		RepositoryID        graphql.ID
		Title               string
	}
},
) (*pullPayload, error) {
	x, r, err := target[*Repo](ctx, a.Input.RepositoryID)
	if err != nil {
		return nil, err
	}
	in := newPull{title: a.Input.Title, head: a.Input.HeadRefName, base: a.Input.BaseRefName, draft: a.Input.Draft}
	if a.Input.Body != nil {
		in.body = *a.Input.Body
	}
	p, e := r.addPull(x.viewer, in)
	if e != nil {
		return nil, refuse(e)
	}
	return &pullPayload{a.Input.ClientMutationID, &gqlPull{x, p}}, nil
}

type replyPayload struct {
	ClientMutationID *string
	Comment          *gqlDiffComment
}

// AddPullRequestReviewThreadReply answers in a thread. While the viewer holds a draft review the answer silently joins
// it, invisible to others.
func (*gqlRoot) AddPullRequestReviewThreadReply(ctx context.Context, a struct {
	Input struct {
		Body                      string
		ClientMutationID          *string
		PullRequestReviewID       *graphql.ID
		PullRequestReviewThreadID graphql.ID
	}
},
) (*replyPayload, error) {
	x, t, err := target[*thread](ctx, a.Input.PullRequestReviewThreadID)
	if err != nil {
		return nil, err
	}
	if e := needBody("PullRequestReviewComment", a.Input.Body); e != nil {
		return nil, refuse(e)
	}
	if e := t.pull.mayTalk(x.viewer); e != nil {
		return nil, refuse(e)
	}
	if draft := t.pull.pendingReview(x.viewer); draft != nil {
		return &replyPayload{a.Input.ClientMutationID, x.diffCommented(t.pull.reply(x.viewer, draft, t.top(), a.Input.Body))}, nil
	}
	c, e := t.pull.repo.addReply(x.viewer, t.pull, t.top(), a.Input.Body)
	if e != nil {
		return nil, refuse(e)
	}
	return &replyPayload{a.Input.ClientMutationID, x.diffCommented(c)}, nil
}

type reviewPayload struct {
	ClientMutationID  *string
	PullRequestReview *gqlReview
}

// AddPullRequestReview reviews a pull request.
func (*gqlRoot) AddPullRequestReview(ctx context.Context, a struct {
	Input struct {
		Body             *string
		ClientMutationID *string
		Event            *string
		PullRequestID    graphql.ID
	}
},
) (*reviewPayload, error) {
	x, p, err := target[*pull](ctx, a.Input.PullRequestID)
	if err != nil {
		return nil, err
	}
	in := newReview{}
	if a.Input.Body != nil {
		in.body = *a.Input.Body
	}
	if a.Input.Event != nil {
		in.event = *a.Input.Event
	}
	v, e := p.repo.addReview(x.viewer, p, in)
	if e != nil {
		return nil, refuse(e)
	}
	return &reviewPayload{a.Input.ClientMutationID, &gqlReview{x, v}}, nil
}

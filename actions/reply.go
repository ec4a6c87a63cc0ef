package actions

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// reviewComments is what reply, resolve and remove need from GitHub.
type reviewComments interface {
	ReviewCommentsOf(ctx context.Context, repo work.RepoName, pull int, since time.Time) ([]github.ReviewComment, error)
	Reply(ctx context.Context, repo work.RepoName, pull int, top int64, body string) (github.ReviewComment, error)
	DeleteReviewComment(ctx context.Context, repo work.RepoName, id int64) error
	ResolveThread(ctx context.Context, threadNodeID string) error
	ReviewComment(ctx context.Context, repo work.RepoName, id int64) (github.ReviewComment, bool, error)
	OwnPendingReview(ctx context.Context, repo work.RepoName, pull int) (bool, error)
}

// reply answers a review comment in its thread. Target is the id of the thread's first comment,
// because GitHub accepts no replies to replies.
type reply struct{}

func (reply) find(ctx context.Context, s Scope, a work.Action) (observation, bool, error) {
	all, err := s.GitHub.ReviewCommentsOf(ctx, s.Repo.Current, a.Number, lookSince(a))
	if err != nil {
		return observation{}, false, err
	}
	got, ok := copies(s, a, all, func(c github.ReviewComment) posted { return posted{c.ID, c.URL, c.Body, c.Author, c.CreatedAt} })
	if ok || a.Sends == 0 {
		return got, ok, nil
	}
	return comment{}.find(ctx, s, a) // the reply may have been posted as a comment in the conversation instead
}

func (reply) do(ctx context.Context, s Scope, a work.Action) (observation, error) {
	top, err := strconv.ParseInt(a.Target, 10, 64)
	if err != nil {
		return observation{}, fmt.Errorf("read the target of a reply: %w", err)
	}
	if a.Sends > 1 { // a draft review may have blocked it; ask first instead of sending in vain
		if pending, err := s.GitHub.OwnPendingReview(ctx, s.Repo.Current, a.Number); err != nil || pending {
			return observation{}, firstOf(err, waitForDraftReview(a, nil))
		}
	}
	c, err := s.GitHub.Reply(ctx, s.Repo.Current, a.Number, top, a.Body)
	if github.IsStatus(err, 422) {
		err = explainDraftReview(ctx, s, a, err)
	}
	if github.IsStatus(err, 404, 410, 422) {
		return replyInConversation(ctx, s, a, err)
	}
	if err != nil {
		return observation{}, err
	}
	return observation{id: strconv.FormatInt(c.ID, 10), url: c.URL}, nil
}

// replyInConversation answers in the conversation if the thread accepts no reply: its first comment
// was deleted, but the answered one still exists.
func replyInConversation(ctx context.Context, s Scope, a work.Action, refused error) (observation, error) {
	answered, ok := work.EventOfKey(a.Why)
	id, err := strconv.ParseInt(answered.Source, 10, 64)
	if !ok || err != nil {
		return observation{}, refused
	}
	c, ok, err := s.GitHub.ReviewComment(ctx, s.Repo.Current, id)
	switch {
	case err != nil:
		return observation{}, err
	case !ok || c.InReplyTo == 0:
		return observation{}, refused
	}
	a.Body = fmt.Sprintf("In answer to [this comment](%s), whose thread accepts no replies any more:\n\n%s", c.URL, a.Body)
	return comment{}.do(ctx, s, a)
}

// explainDraftReview explains a refused reply: while the account has a draft review open, GitHub
// accepts no reply from it. The operator shares the account.
func explainDraftReview(ctx context.Context, s Scope, a work.Action, refused error) error {
	pending, err := s.GitHub.OwnPendingReview(ctx, s.Repo.Current, a.Number)
	if err != nil || !pending {
		return refused
	}
	return waitForDraftReview(a, refused)
}

// draftPause is how long a reply waits before the draft review is looked for again.
const draftPause = time.Minute

func waitForDraftReview(a work.Action, refused error) error {
	return &work.WaitError{
		Until:  a.SentAt.Add(draftPause),
		Reason: work.Reason{Kind: work.WhyDraftReview, Number: a.Number},
		Err:    refused,
	}
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

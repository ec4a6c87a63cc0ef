package actions

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// dying is a gateway whose process dies once a comment was made: nothing after
// that reaches the database.
type dying struct {
	Gateway
	die func()
}

func (d dying) CreateComment(ctx context.Context, repo work.RepoName, number int, body string) (github.Comment, error) {
	c, err := d.Gateway.CreateComment(ctx, repo, number, body)
	d.die()
	return c, err
}

// A pass that died between its request and the answer learned as little as one
// whose answer was lost: the re-send waits, while the lists may not show it.
func TestDeathAfterTheSendWaitsLikeALostAnswer(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	s.hub.Lag("comments", 1, 1, 0)
	dead := s.scope
	dead.GitHub = dying{Gateway: s.scope.GitHub, die: func() { panic("killed") }}
	func() {
		defer func() { _ = recover() }()
		_, _ = s.runner.Apply(t.Context(), dead, a)
	}()
	if s.comments() != 1 {
		t.Fatalf("%d comments after the death, want one", s.comments())
	}
	var wait *work.WaitError
	_, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	if !errors.As(err, &wait) || !wait.Until.Equal(s.at().Add(time.Minute).Truncate(time.Millisecond)) || s.comments() != 1 {
		t.Fatalf("error %v and %d comments, want to wait a minute", err, s.comments())
	}
	s.later(2 * time.Minute)
	got, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	if got.State != work.ActionApplied || s.comments() != 1 {
		t.Errorf("state %s, %d comments", got.State, s.comments())
	}
}

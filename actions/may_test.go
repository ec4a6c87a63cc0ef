package actions

import (
	"context"
	"errors"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What may not be written is not sent, and counts as never sent: the next pass may.
func TestNothingIsSentThatMayNotBe(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	refused := errors.New("another machine works on it")
	asked := int64(0)
	s.runner.May = func(_ context.Context, repoID int64) error { asked = repoID; return refused }
	if _, err := s.runner.Apply(t.Context(), s.scope, a); !errors.Is(err, refused) {
		t.Fatal(err)
	}
	if row := s.row(a); row.Sends != 0 || row.State != work.ActionPlanned || s.comments() != 0 || asked != a.RepoID {
		t.Fatalf("%s after %d sends, %d comments, asked for repository %d", row.State, row.Sends, s.comments(), asked)
	}
	s.runner.May = func(context.Context, int64) error { return nil }
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err != nil || s.comments() != 1 {
		t.Fatalf("%v, %d comments", err, s.comments())
	}
}

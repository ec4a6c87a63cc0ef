package actions

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// stick plans what the sticky comment is to say.
func (s *stage) stick(text, base string) work.Action {
	s.Helper()
	token := work.StopToken(s.scope.Repo.Key(), s.issue, work.Reason{Kind: work.WhyNothingChanged}, "")
	a := work.Action{
		RepoID: s.scope.Repo.ID, Kind: work.ActionSticky, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: s.issue, Body: work.Mark(text, work.Marks{Token: token}), Base: base, PlannedAt: s.at(),
	}
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) error { return tx.RenewAction(s.Context(), a) }))
	return s.row(a)
}

// says checks that there is one comment, with the row's body.
func (s *stage) says(a work.Action) {
	s.Helper()
	all := s.repo.Comments(s.issue)
	if len(all) != 1 || !sameBody(all[0].Body, a.Body) {
		s.Errorf("there are %d comments: %+v, not one with %q", len(all), all, a.Body)
	}
}

func TestStickyIsMadeOnceAndEdited(t *testing.T) {
	s := newStage(t)
	s.says(s.apply(s.stick("it stopped", "")))
	first := s.row(s.stick("it stopped", ""))
	if first.State != work.ActionApplied || first.Made != 1 {
		t.Errorf("the same again is %s, made %d times", first.State, first.Made)
	}
	got := s.apply(s.stick("it stopped again", ""))
	s.says(got)
	if got.ResultID != first.ResultID || s.row(got).Made != 1 {
		t.Errorf("comment %s, made %d times; it was %s", got.ResultID, s.row(got).Made, first.ResultID)
	}
}

func TestStickyThatAPersonDeletedStaysAway(t *testing.T) {
	s := newStage(t)
	s.apply(s.stick("it stopped", ""))
	s.must(s.repo.DeleteComment(s.repo.Comments(s.issue)[0].ID, "olga"))
	for _, text := range []string{"it went on", "it stopped again"} {
		if got := s.apply(s.stick(text, "")); got.State != work.ActionVoid || s.comments() != 0 {
			t.Errorf("%q: state %s, %d comments", text, got.State, s.comments())
		}
	}
}

func TestWhatWentOnBeforeItWasSaidIsNotSaid(t *testing.T) {
	s := newStage(t)
	s.stick("it stopped", "")
	if got := s.apply(s.stick("it went on", work.StickyEdit)); got.State != work.ActionVoid || s.comments() != 0 {
		t.Errorf("state %s, %d comments", got.State, s.comments())
	}
	s.says(s.apply(s.stick("it stopped again", "")))
}

// The comment of a pass whose database is gone is found by its token and edited.
func TestStickyIsFoundAgain(t *testing.T) {
	s := newStage(t)
	token := work.StopToken(s.scope.Repo.Key(), s.issue, work.Reason{Kind: work.WhyNothingChanged}, "")
	_, err := s.repo.Comment(s.issue, "olga", work.Mark("it stopped long ago", work.Marks{Token: token}))
	s.must(err)
	got := s.apply(s.stick("it stopped", ""))
	s.says(got)
	if row := s.row(got); row.Made != 0 || row.ResultID == "" {
		t.Errorf("made %d times, on record %q", row.Made, row.ResultID)
	}
}

func TestStickyWhoseAnswerIsLost(t *testing.T) {
	s := newStage(t)
	s.hub.Lag("comments", 1, 3, 0)
	s.hub.AddFault(losePost())
	var wait *work.WaitError
	if _, err := s.runner.Apply(t.Context(), s.scope, s.stick("it stopped", "")); !errors.As(err, &wait) {
		t.Fatalf("error %v, want to wait", err)
	}
	// What is wanted changes: it waits all the same before another is made.
	a := s.stick("it stopped again", "")
	if !a.NotBefore.After(s.at()) {
		t.Fatal("a comment that may be there would be made again at once")
	}
	if _, err := s.runner.Apply(t.Context(), s.scope, a); !errors.As(err, &wait) || s.comments() != 1 {
		t.Fatalf("error %v and %d comments, want to wait", err, s.comments())
	}
	s.later(2 * time.Minute)
	_, err := s.scope.GitHub.CommentsOf(t.Context(), s.scope.Repo.Current, s.issue, time.Time{}) // ends the lag
	s.must(err)
	s.says(s.apply(s.row(a)))

	lost := githubsim.LoseAnswer() // an edit whose answer is lost is seen, or made again
	lost.Method = "PATCH"
	s.hub.AddFault(lost)
	s.says(s.apply(s.stick("it went on", work.StickyEdit)))
	lost = githubsim.LoseRequest()
	lost.Method = "PATCH"
	s.hub.AddFault(lost)
	a = s.stick("it stopped once more", "")
	if _, err := s.runner.Apply(t.Context(), s.scope, a); !errors.As(err, &wait) {
		t.Fatalf("error %v, want to wait", err)
	}
	s.later(2 * time.Minute)
	s.says(s.apply(s.row(a)))
	if made := s.row(a).Made; made != 1 {
		t.Errorf("made %d times, want once", made)
	}
}

// Of two that we made the one that is not on record is removed, whatever
// they say by now, and the other is kept up to date; what a person pastes of it is
// theirs.
func TestSecondStickyIsRemoved(t *testing.T) {
	s := newStage(t)
	s.hub.Lag("comments", 1, 3, 0)
	s.hub.AddFault(losePost())
	a := s.stick("it stopped", "")
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	s.later(2 * time.Minute)
	a = s.apply(s.stick("it stopped again", ""))
	if s.comments() != 2 {
		t.Fatalf("%d comments, want two that the list did not show", s.comments())
	}
	first, second := s.repo.Comments(s.issue)[0].ID, s.repo.Comments(s.issue)[1].ID
	_, err := s.scope.GitHub.CommentsOf(t.Context(), s.scope.Repo.Current, s.issue, time.Time{})
	s.must(err)
	s.later(time.Hour)
	_, err = s.repo.Comment(s.issue, "olga", a.Body)
	s.must(err)
	extra, err := ExtraCopies(t.Context(), s.scope, s.row(a))
	s.must(err)
	if len(extra) != 1 || extra[0] != first {
		t.Fatalf("extra copies %v, want %d: %d is on record", extra, first, second)
	}
	s.must(s.repo.DeleteComment(first, "olga"))
	a = s.apply(s.stick("it stopped once more", ""))
	if left := s.repo.Comments(s.issue)[0]; left.ID != second || !sameBody(left.Body, a.Body) {
		t.Errorf("comment %d says %q, want %d to say %q", left.ID, left.Body, second, a.Body)
	}
}

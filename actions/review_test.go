package actions

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
)

// reviewed is a stage with a pull request that changes one line of a file of thirty.
type reviewed struct {
	*stage
	pull int
	head string
}

func newReviewed(t *testing.T, author string) *reviewed {
	t.Helper()
	s := &reviewed{stage: newStage(t)}
	var lines strings.Builder
	for i := 1; i <= 30; i++ {
		fmt.Fprintf(&lines, "line %d\n", i)
	}
	_, err := s.repo.PushCommit("main", "octo", map[string]string{"a.txt": lines.String()}, "Lines")
	s.must(err)
	if !s.hub.HasUser(author) {
		_, err = s.hub.AddUser(author)
		s.must(err)
		s.must(s.repo.SetPermission(author, "write"))
	}
	main, _ := s.repo.Head("main")
	s.must(s.repo.CreateBranch("work", main))
	s.head, err = s.repo.PushCommit("work", author, map[string]string{"a.txt": strings.Replace(lines.String(), "line 10\n", "line ten\n", 1)}, "Change")
	s.must(err)
	s.pull, err = s.repo.OpenPull(author, githubsim.NewPull{Title: "Change", Head: "work", Base: "main"})
	s.must(err)
	return s
}

// posting plans a review of quinn's with a comment on these lines.
func (s *reviewed) posting(lines ...int) work.Action {
	s.Helper()
	v := review.Verdict{Reviewer: "quinn", Head: s.head, Decision: review.RequestChanges}
	token := work.ReviewToken(s.scope.Repo.Key(), s.pull, "quinn", s.head, 0)
	body := func(text string) string {
		return work.Mark(text, work.Marks{Token: token, Review: review.Mark(v, nil, nil)})
	}
	remarks := review.Remarks{Whole: body("quinn requests changes. All in one.")}
	for i, line := range lines {
		own := work.FindingToken(s.scope.Repo.Key(), s.pull, "quinn", s.head, 0, i)
		remarks.OnLines = append(remarks.OnLines, review.Remark{Path: "a.txt", Line: line, Body: work.Mark("Wrong.", work.Marks{Token: own})})
	}
	return s.add(work.Action{
		Kind: work.ActionReview, Token: token, Number: s.pull, Target: "quinn", Title: string(v.Decision), Head: s.head,
		Body: body("quinn requests changes."), Extra: remarks.Encode(),
	})
}

func (s *reviewed) add(a work.Action) work.Action {
	s.Helper()
	a.RepoID, a.Need, a.State, a.PlannedAt = s.scope.Repo.ID, work.NeedRequired, work.ActionPlanned, s.at()
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) (err error) {
		a, err = tx.AddAction(s.Context(), a)
		return err
	}))
	return a
}

// says is what stands on the pull request: each review's state, and how many comments.
func (s *reviewed) says() (states []string, comments int) {
	for _, r := range s.repo.Reviews(s.pull) {
		states = append(states, r.State)
	}
	return states, len(s.repo.ReviewComments(s.pull))
}

func (s *reviewed) want(comments int, states ...string) {
	s.Helper()
	if got, n := s.says(); !slices.Equal(got, states) || n != comments {
		s.Errorf("reviews %v with %d comments, not %v with %d", got, n, states, comments)
	}
}

func TestAReviewIsPostedOnceWithItsComments(t *testing.T) {
	s := newReviewed(t, "olga")
	a := s.posting(10)
	s.hub.AddFault(losePost())
	got, err := s.runner.Apply(t.Context(), s.scope, a)
	s.must(err) // it is found at once
	if got.State != work.ActionApplied || got.ResultID == "" || got.ResultURL == "" {
		t.Errorf("%+v", got)
	}
	s.want(1, "COMMENTED")
	if at := s.repo.Reviews(s.pull)[0].CommitOID; at != s.head {
		t.Errorf("the review is of %s, not of %s", at, s.head)
	}
	s.forget()
	if got, err = s.runner.Apply(t.Context(), s.scope, s.posting(10)); err != nil || got.Sends != 0 {
		t.Errorf("%+v, %v", got, err)
	}
	s.want(1, "COMMENTED")
}

// A lost database may count the fixes otherwise: the same reviewer's review of the same
// head is that one all the same.
func TestAReviewOfTheSameHeadIsTheSame(t *testing.T) {
	s := newReviewed(t, "olga")
	first, err := s.runner.Apply(t.Context(), s.scope, s.posting())
	s.must(err)
	again := s.posting()
	again.ID, again.Sends = 0, 0
	again.Token, again.State = work.ReviewToken(s.scope.Repo.Key(), s.pull, "quinn", s.head, 3), work.ActionPlanned
	got, err := s.runner.Apply(t.Context(), s.scope, s.add(again))
	s.must(err)
	if got.Sends != 0 || got.ResultID != first.ResultID {
		t.Errorf("%d sends, review %s, want %s", got.Sends, got.ResultID, first.ResultID)
	}
	other := again
	other.Target, other.Token = "sam", work.ReviewToken(s.scope.Repo.Key(), s.pull, "sam", s.head, 0)
	other.Body = work.Mark("sam approves.", work.Marks{Token: other.Token})
	_, err = s.runner.Apply(t.Context(), s.scope, s.add(other))
	s.must(err)
	s.want(0, "COMMENTED", "COMMENTED")
}

func TestCommentsThatGitHubTakesOnNoLineStandInTheText(t *testing.T) {
	s := newReviewed(t, "olga")
	_, err := s.runner.Apply(t.Context(), s.scope, s.posting(10, 29))
	s.must(err)
	s.want(0, "COMMENTED")
	if body := s.repo.Reviews(s.pull)[0].Body; !strings.Contains(body, "All in one.") {
		t.Errorf("body %q", body)
	}
}

func TestAVerdictIsTold(t *testing.T) {
	for _, tt := range []struct{ author, event, want string }{
		{"olga", github.ReviewRequests, "COMMENTED"}, // her own pull request
		{"ann", github.ReviewRequests, "CHANGES_REQUESTED"},
		{"ann", github.ReviewApproves, "APPROVED"},
		{"ann", "", "COMMENTED"},
	} {
		s := newReviewed(t, tt.author)
		s.scope.Event = tt.event
		_, err := s.runner.Apply(t.Context(), s.scope, s.posting(10))
		s.must(err)
		s.want(1, tt.want)
	}
}

func TestAReviewWaitsForADraft(t *testing.T) {
	s := newReviewed(t, "olga")
	_, err := s.repo.Review(s.pull, "olga", "", "later")
	s.must(err)
	var wait *work.WaitError
	for range 2 { // the second time nothing is posted in vain
		if _, err := s.runner.Apply(t.Context(), s.scope, s.row(s.posting())); !errors.As(err, &wait) || wait.Reason.Kind != work.WhyDraftReview {
			t.Fatalf("error %v", err)
		}
		s.later(2 * time.Minute)
	}
	s.want(0, "PENDING")
	s.must(s.repo.SubmitPending(s.pull, "olga", "COMMENT", "done"))
	_, err = s.runner.Apply(t.Context(), s.scope, s.row(s.posting()))
	s.must(err)
	s.want(0, "COMMENTED", "COMMENTED")
}

func TestAReviewOfABranchThatWasRewritten(t *testing.T) {
	s := newReviewed(t, "olga")
	a := s.posting(10)
	main, _ := s.repo.Head("main")
	_, err := s.repo.ForcePush("work", "olga", main, map[string]string{"b.txt": "b\n"}, "Another")
	s.must(err)
	got, err := s.runner.Apply(t.Context(), s.scope, a)
	s.must(err)
	if got.State != work.ActionVoid {
		t.Errorf("state %s", got.State)
	}
	s.want(0)
}

func TestASecondCopyOfAReviewIsTakenBack(t *testing.T) {
	s := newReviewed(t, "ann")
	s.scope.Event = github.ReviewRequests
	a := s.posting(10)
	s.hub.Lag("reviews", 1, 3, 0)
	s.hub.AddFault(losePost())
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	s.later(2 * time.Minute)
	a, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	s.want(2, "CHANGES_REQUESTED", "CHANGES_REQUESTED")
	for range 3 { // the lag ends
		_, err = s.scope.GitHub.Reviews(t.Context(), s.scope.Repo.Current, s.pull)
		s.must(err)
	}
	extra, err := ExtraCopies(t.Context(), s.scope, s.row(a))
	s.must(err)
	if len(extra) != 1 {
		t.Fatalf("extra copies %v", extra)
	}
	back := Removal(s.scope.Repo, a, extra[0], s.at())
	for range 2 {
		_, err = s.runner.Apply(t.Context(), s.scope, s.row(s.add(back)))
		s.must(err)
	}
	s.want(1, "CHANGES_REQUESTED", "DISMISSED")
	if body := s.repo.Reviews(s.pull)[1].Body; strings.Count(body, "second copy") != 1 {
		t.Errorf("the copy says %q", body)
	}
}

func TestAReviewIsTakenBack(t *testing.T) {
	for _, tt := range []struct {
		author, event string
		protected     bool
		want          string
	}{
		{"ann", github.ReviewApproves, false, "DISMISSED"},
		{"ann", github.ReviewApproves, true, "APPROVED"}, // only some may, there
		{"olga", "", false, "COMMENTED"},
	} {
		s := newReviewed(t, tt.author)
		s.scope.Event = tt.event
		a, err := s.runner.Apply(t.Context(), s.scope, s.posting())
		s.must(err)
		if tt.protected {
			s.repo.Protect("main", nil, 1)
		}
		back := s.add(Dismissal(s.scope.Repo, a, s.repo.Reviews(s.pull)[0].ID, "", "> It is about another head.", s.at()))
		s.hub.AddFault(githubsim.LoseAnswer())
		for range 3 {
			if _, err = s.runner.Apply(t.Context(), s.scope, s.row(back)); err == nil {
				break
			}
			s.later(2 * time.Minute)
		}
		s.must(err)
		s.want(0, tt.want)
		body := s.repo.Reviews(s.pull)[0].Body
		if m, ok := work.ParseMarks(body); !strings.HasPrefix(body, "> It is about another head.\n") || strings.Count(body, "another head") != 1 || !ok || m.Token != a.Token {
			t.Errorf("the review says %q", body)
		}
	}
}

func TestAStatusIsSetOnce(t *testing.T) {
	s := newReviewed(t, "olga")
	plan := func(state, says string) work.Action {
		a := work.Action{
			RepoID: s.scope.Repo.ID, Kind: work.ActionStatus, Need: work.NeedCosmetic, State: work.ActionPlanned, Token: work.StatusToken(s.scope.Repo.Key(), s.head),
			Number: s.pull, Head: s.head, Target: state, Body: says, PlannedAt: s.at(),
		}
		s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error { return tx.RenewAction(t.Context(), a) }))
		return s.row(a)
	}
	s.hub.AddFault(losePost())
	for _, wish := range [][2]string{{"pending", "quinn looks at it"}, {"pending", "quinn looks at it"}, {"success", "approved"}, {"success", "approved"}} {
		s.apply(plan(wish[0], wish[1]))
	}
	if n := s.requests("POST"); n != 2 {
		t.Errorf("set %d times, not twice", n)
	}
	var set []string
	for _, x := range s.repo.Statuses(s.head) {
		set = append(set, x.Context+" "+x.State+" "+x.Description)
	}
	if want := []string{"mergexo/review success approved"}; !slices.Equal(set, want) {
		t.Errorf("statuses %q, want %q", set, want)
	}
}

func TestAPersonIsAskedOnce(t *testing.T) {
	s := newReviewed(t, "olga")
	_, err := s.hub.AddUser("ann")
	s.must(err)
	s.must(s.repo.SetPermission("ann", "write"))
	plan := func(head string) work.Action {
		return s.row(s.add(work.Action{Kind: work.ActionReviewRequest, Token: work.RequestToken(s.scope.Repo.Key(), s.pull, "ann", head), Number: s.pull, Target: "Ann", Head: head}))
	}
	s.hub.AddFault(losePost())
	s.apply(plan(s.head))
	if got := s.repo.Requested(s.pull); !slices.Equal(got, []string{"ann"}) {
		t.Errorf("requested %v", got)
	}
	_, err = s.repo.Review(s.pull, "ann", "APPROVE", "")
	s.must(err)
	s.apply(plan(s.head + " "))
	if got := s.apply(s.add(work.Action{Kind: work.ActionReviewRequest, Token: "another", Number: s.pull, Target: "ann", Head: s.head})); got.Sends != 0 {
		t.Errorf("who has reviewed this head is asked again: %d sends", got.Sends)
	}
}

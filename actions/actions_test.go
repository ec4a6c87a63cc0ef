package actions

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// stage is a runner with a real database and the real client, before a
// simulated GitHub with one issue.
type stage struct {
	*testing.T
	hub    *githubsim.Hub
	repo   *githubsim.Repo
	runner *Runner
	scope  Scope
	issue  int
	began  time.Time
	passed atomic.Int64 // nanoseconds since; the hub asks while a test sets it
}

// at is the time of the test, the hub and the runner.
func (s *stage) at() time.Time { return s.began.Add(time.Duration(s.passed.Load())) }

func (s *stage) until(at time.Time) { s.passed.Store(int64(at.Sub(s.began))) }

func (s *stage) later(d time.Duration) { s.passed.Add(int64(d)) }

func newStage(t *testing.T) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mxa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &stage{T: t, began: time.Now()}
	s.hub, err = githubsim.New(githubsim.Options{Dir: t.TempDir(), Now: s.at})
	s.must(err)
	t.Cleanup(func() { _ = s.hub.Close() })
	token, err := s.hub.AddUser("olga")
	s.must(err)
	s.repo, err = s.hub.AddRepo("octo/app", map[string]string{"README.md": "# App\n"})
	s.must(err)
	s.must(s.repo.SetPermission("olga", "write"))
	s.issue, err = s.repo.OpenIssue("olga", "An issue", "")
	s.must(err)
	socket := filepath.Join(dir, "s")
	s.must(s.hub.ServeUnix(socket))
	client, err := github.New(transport.Options{Host: "github.localhost", Token: token, Socket: socket, Now: s.at})
	s.must(err)
	db := testdb.Open(t, filepath.Join(t.TempDir(), "state.db"), s.at)
	t.Cleanup(func() { _ = db.Close() })
	name := work.RepoName{Host: "github.localhost", Owner: "octo", Name: "app"}
	s.runner = &Runner{Store: db, Now: s.at, Log: slog.New(slog.DiscardHandler), SettleAfter: time.Minute}
	s.must(db.Update(t.Context(), func(tx *store.Tx) error {
		s.scope.Repo, err = testdb.Repo(t.Context(), tx, name)
		return err
	}))
	s.scope.Repo.Current, s.scope.GitHub, s.scope.Accounts = name, client, []int64{s.hub.UserID("olga")}
	return s
}

func (s *stage) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// plan adds a comment's row.
func (s *stage) plan(what string) work.Action {
	s.Helper()
	token := work.NoticeToken(s.scope.Repo.Key(), s.issue, what)
	a := work.Action{
		RepoID: s.scope.Repo.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: s.issue, Body: work.Mark(what, work.Marks{Token: token}), PlannedAt: s.at(),
	}
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) (err error) {
		a, err = tx.AddAction(s.Context(), a)
		return err
	}))
	return a
}

// row reads an action's row again.
func (s *stage) row(a work.Action) (row work.Action) {
	s.Helper()
	s.must(s.runner.Store.View(s.Context(), func(tx *store.Tx) (err error) {
		row, _, err = tx.GetAction(s.Context(), a.Token)
		return err
	}))
	return row
}

// losePost loses the answer to the next POST after it was applied.
func losePost() githubsim.Fault {
	f := githubsim.LoseAnswer()
	f.Method = "POST"
	return f
}

// forget loses the database.
func (s *stage) forget() {
	s.Helper()
	db := testdb.Open(s, filepath.Join(s.TempDir(), "state.db"), func() time.Time { return s.at() })
	s.Cleanup(func() { _ = db.Close() })
	s.must(db.Update(s.Context(), func(tx *store.Tx) error {
		row, err := testdb.Repo(s.Context(), tx, s.scope.Repo.Current)
		s.scope.Repo.ID = row.ID
		return err
	}))
	s.runner.Store = db
}

func (s *stage) comments() int { return len(s.repo.Comments(s.issue)) }

func TestAppliedAndUnknownIsFoundNotSent(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	_, err := s.repo.Comment(s.issue, "olga", a.Body) // a pass that died after its request
	s.must(err)
	got, err := s.runner.Apply(t.Context(), s.scope, a)
	s.must(err)
	if got.State != work.ActionApplied || s.comments() != 1 || s.row(a).Sends != 0 {
		t.Errorf("state %s, %d comments, %d sends", got.State, s.comments(), s.row(a).Sends)
	}
}

func TestLostAnswerIsLookedForBeforeItIsSentAgain(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	s.hub.Lag("comments", 1, 2, 0)
	s.hub.AddFault(losePost())
	_, err := s.runner.Apply(t.Context(), s.scope, a)
	var wait *work.WaitError
	if !errors.As(err, &wait) || !wait.Until.Equal(s.at().Add(time.Minute)) {
		t.Fatalf("error %v, want to wait a minute", err)
	}
	a = s.row(a)
	if a.Sends != 1 || a.State != work.ActionSent {
		t.Fatalf("row %s with %d sends after a lost answer", a.State, a.Sends)
	}
	// Still not visible: it is looked for in every pass, and only the send waits.
	if _, err = s.runner.Apply(t.Context(), s.scope, a); !errors.As(err, &wait) {
		t.Fatalf("error %v, want to wait", err)
	}
	if got := s.row(a).Sends; got != 1 {
		t.Fatalf("%d sends before its time", got)
	}
	a, err = s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	if a.State != work.ActionApplied || s.comments() != 1 {
		t.Errorf("state %s, %d comments", a.State, s.comments())
	}
}

func TestSecondCopyIsRemoved(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	s.hub.Lag("comments", 1, 3, 0)
	s.hub.AddFault(losePost())
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	s.later(2 * time.Minute)
	a, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	if s.comments() != 2 || a.Sends != 2 {
		t.Fatalf("%d comments after %d sends, want two of each", s.comments(), a.Sends)
	}
	_, err = s.scope.GitHub.CommentsOf(t.Context(), s.scope.Repo.Current, s.issue, time.Time{}) // ends the lag
	s.must(err)
	first := s.repo.Comments(s.issue)[0].ID
	extra, err := ExtraCopies(t.Context(), s.scope, s.row(a))
	s.must(err)
	if len(extra) != 1 || extra[0] == first {
		t.Fatalf("extra copies %v, first %d", extra, first)
	}
	var removal work.Action
	s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
		removal, err = tx.AddAction(t.Context(), Removal(s.scope.Repo, a, extra[0], s.at()))
		return err
	}))
	_, err = s.runner.Apply(t.Context(), s.scope, removal)
	s.must(err)
	left := s.repo.Comments(s.issue)
	if len(left) != 1 || left[0].ID != first {
		t.Errorf("%d comments are left, want the first alone", len(left))
	}
}

// TestPasteOfOurCommentStays: sent twice, arrived once, and a person of the
// same account pastes it, marker and all.
func TestPasteOfOurCommentStays(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	never := githubsim.LoseRequest()
	never.Method = "POST"
	s.hub.AddFault(never)
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil {
		t.Fatal("a request that never arrived went unnoticed")
	}
	s.later(2 * time.Minute)
	a, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	if s.comments() != 1 || a.Sends != 2 {
		t.Fatalf("%d comments after %d sends, want one after two", s.comments(), a.Sends)
	}
	s.later(5 * time.Minute)
	_, err = s.repo.Comment(s.issue, "olga", a.Body)
	s.must(err)
	extra, err := ExtraCopies(t.Context(), s.scope, s.row(a))
	s.must(err)
	if len(extra) != 0 {
		t.Errorf("a person's paste is taken for our second copy: %v", extra)
	}
}

func TestPullRequestThatIsNotListedYet(t *testing.T) {
	s := newStage(t)
	_, err := s.repo.PushCommit("agent/bugfix/1-x", "olga", map[string]string{"a": "b\n"}, "Fix")
	s.must(err)
	s.hub.Lag("pulls", 1, 0, 2*time.Minute)
	s.hub.AddFault(losePost())
	a := s.plan("unused")
	a.Kind, a.Token, a.Head, a.Base, a.Title = work.ActionPullRequest, work.NoticeToken(s.scope.Repo.Key(), s.issue, "pull"), "agent/bugfix/1-x", "main", "Fix"
	a.Body = work.Mark("Fixes it.", work.Marks{Token: a.Token})
	s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) (err error) {
		a, err = tx.AddAction(t.Context(), a)
		return err
	}))
	for range 2 { // its answer is lost; then it is refused, as it exists
		var wait *work.WaitError
		if _, err := s.runner.Apply(t.Context(), s.scope, s.row(a)); !errors.As(err, &wait) {
			t.Fatalf("error %v: it would count as a failed attempt", err)
		}
		s.later(time.Minute)
	}
	got, err := s.runner.Apply(t.Context(), s.scope, s.row(a))
	s.must(err)
	if got.State != work.ActionApplied || len(s.repo.Pulls()) != 1 {
		t.Errorf("state %s, %d pull requests", got.State, len(s.repo.Pulls()))
	}
}

func TestStrangersMarkersDoNotCount(t *testing.T) {
	s := newStage(t)
	_, err := s.hub.AddUser("mallory")
	s.must(err)
	a := s.plan("hello")
	_, err = s.repo.Comment(s.issue, "mallory", a.Body)
	s.must(err)
	a, err = s.runner.Apply(t.Context(), s.scope, a)
	s.must(err)
	if a.Sends != 1 || s.comments() != 2 {
		t.Errorf("%d sends, %d comments: the stranger's copy was taken for ours", a.Sends, s.comments())
	}
}

func TestGoneIsVoid(t *testing.T) {
	s := newStage(t)
	a := s.plan("hello")
	s.must(s.repo.DeleteIssue(s.issue, "octo"))
	a.State = work.ActionPlanned
	got, err := s.runner.Apply(t.Context(), s.scope, a)
	if err == nil && got.State != work.ActionVoid {
		t.Errorf("state %s of a comment on a deleted issue", got.State)
	}
	if err != nil && !github.IsStatus(err, 404, 410) {
		t.Errorf("error %v", err)
	}
}

func TestWritesArePaced(t *testing.T) {
	s := newStage(t)
	for i := range sendsPerMinute {
		a := s.plan(fmt.Sprint("comment ", i))
		s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
			err := tx.MarkSent(t.Context(), a.ID, s.at())
			return err
		}))
	}
	over := s.plan("one more")
	_, err := s.runner.Apply(t.Context(), s.scope, over)
	var wait *work.WaitError
	if !errors.As(err, &wait) || s.comments() != 0 {
		t.Fatalf("error %v, %d comments: not paced", err, s.comments())
	}
	s.later(2 * time.Minute)
	_, err = s.runner.Apply(t.Context(), s.scope, over)
	s.must(err)
}

func TestSightOf(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	made := func(id int64, seconds int) posted {
		return posted{id: id, body: "ours", at: begin.Add(time.Duration(seconds) * time.Second)}
	}
	at := func(ids ...int64) (all []posted) {
		for _, id := range ids {
			body := "ours"
			if id < 0 {
				id, body = -id, "pasted"
			}
			all = append(all, posted{id: id, body: body})
		}
		return all
	}
	for _, c := range []struct {
		sends int
		found []posted
		want  string
	}{
		{1, at(), "none"},
		{1, at(5), "5 []"},
		{2, at(9, 5), "5 [9]"},
		{1, at(5, 9), "5 []"},      // sent once: the other is a person's paste
		{2, at(5, -9), "5 []"},     // other words: a person's
		{2, at(-3, 5, 9), "5 [9]"}, // a paste that came first changes nothing
		{1, at(-3), "3 []"},        // ours, edited by a person
		{0, at(5, 9), "5 []"},      // the count was lost: nothing is removed
		{3, at(5, 6, 7, 8), "5 [6 7]"},
		{2, []posted{made(5, 0), made(9, 90)}, "5 [9]"},   // made while we sent
		{2, []posted{made(5, 0), made(9, 181)}, "5 []"},   // made later: a person's paste
		{2, []posted{made(5, 70), made(9, 250)}, "5 [9]"}, // GitHub's clock counts from its first
	} {
		got := "none"
		sent := work.Action{Sends: c.sends, Body: "ours", PlannedAt: begin, SentAt: begin.Add(time.Minute)}
		if s, ok := chooseCopy(sent, c.found); ok {
			got = strings.TrimSpace(fmt.Sprint(s.id, " ", s.extra))
		}
		if got != c.want {
			t.Errorf("%d sends, found %v: %s, want %s", c.sends, c.found, got, c.want)
		}
	}
}

package actions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testdb"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

const fixBranch = "agent/bugfix/1-x"

// mergeStage is a stage with a mirror and a pull request of ours.
type mergeStage struct {
	*stage
	mirror *git.Mirror
	pull   int
	head   string
}

func newMergeStage(t *testing.T) *mergeStage {
	t.Helper()
	s := &mergeStage{stage: newStage(t)}
	_, err := s.hub.AddUser("pat")
	s.must(err)
	s.must(s.repo.SetPermission("pat", "write"))
	s.head, err = s.repo.PushCommit(fixBranch, "olga", map[string]string{"fix.txt": "fixed\n"}, "Fix it")
	s.must(err)
	s.pull, err = s.repo.OpenPull("olga", githubsim.NewPull{Title: "Fix it", Head: fixBranch})
	s.must(err)
	g, err := git.Open(t.Context(), git.Options{Env: os.Environ()})
	s.must(err)
	dir := t.TempDir()
	s.mirror = g.Mirror(filepath.Join(dir, "m.git"), s.repo.GitDir(), filepath.Join(dir, "lock")).WithBase("main")
	s.must(s.mirror.Fetch(t.Context()))
	s.scope.Branches = s.mirror
	return s
}

// planned adds a row of merging.
func (s *mergeStage) planned(kind work.ActionKind, token, target string) work.Action {
	s.Helper()
	a := work.Action{
		RepoID: s.scope.Repo.ID, Kind: kind, Need: work.NeedRequired, Token: token, State: work.ActionPlanned, Number: s.pull,
		Target: target, Head: s.head, Base: "main", Title: "Fix it (#2)", Body: "Fixes #1\n\n" + merging.Trailer + token, PlannedAt: s.at(),
	}
	s.must(s.runner.Store.Update(s.Context(), func(tx *store.Tx) (err error) {
		a, err = tx.AddAction(s.Context(), a)
		return err
	}))
	return a
}

func (s *mergeStage) merging(m merging.Method) work.Action {
	s.Helper()
	return s.planned(work.ActionMerge, work.MergeToken(s.scope.Repo.Key(), s.pull, s.head), string(m))
}

// mains counts the commits of the base.
func (s *mergeStage) mains() int {
	s.Helper()
	log, err := s.repo.Log("main")
	s.must(err)
	return len(log)
}

func (s *mergeStage) apply(a work.Action) (work.Action, error) {
	s.Helper()
	return s.runner.Apply(s.Context(), s.scope, s.row(a))
}

// merged makes sure that the pull request is merged exactly once, and that the row says so.
func (s *mergeStage) merged(a work.Action, commits int) {
	s.Helper()
	tip, _ := s.repo.Head("main")
	if row := s.row(a); row.State != work.ActionApplied || row.ResultID != tip || s.mains() != commits {
		s.Errorf("row %s with result %q, %d commits on main at %s", row.State, row.ResultID, s.mains(), tip)
	}
}

// requests counts the merges that GitHub was asked for.
func (s *mergeStage) requests() (n int) {
	for _, rq := range s.hub.Requests() {
		if rq.Method == "PUT" && strings.HasSuffix(rq.Path, "/merge") {
			n++
		}
	}
	return n
}

func TestMergesByEachMethod(t *testing.T) {
	t.Parallel()
	for method, commits := range map[merging.Method]int{merging.Squash: 2, merging.MergeCommit: 3, merging.Rebase: 2} {
		t.Run(string(method), func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			s.advance()
			a := s.merging(method)
			_, err := s.apply(a)
			s.must(err)
			s.merged(a, commits+1)
			if method == merging.Rebase {
				return
			}
			log, err := s.repo.Log("main")
			s.must(err)
			if !strings.HasSuffix(strings.TrimSpace(log[0].Message), merging.Trailer+a.Token) {
				t.Errorf("the message does not end with the token: %q", log[0].Message)
			}
		})
	}
}

// advance moves the base.
func (s *mergeStage) advance() {
	s.Helper()
	_, err := s.repo.PushCommit("main", "pat", map[string]string{"other.txt": "more\n"}, "Other")
	s.must(err)
}

// mergeAnswer is a fault of the next merge.
func mergeAnswer(f githubsim.Fault) githubsim.Fault {
	f.Method, f.Path = "PUT", "*/merge"
	return f
}

// Whatever answer comes to a merge that took place, it is believed that it did.
func TestMergedWhateverTheAnswer(t *testing.T) {
	t.Parallel()
	testhome.NotShort(t)
	for name, fault := range map[string]githubsim.Fault{
		"500":          {Applied: true, Status: 500},
		"502":          {Applied: true, Status: 502, Body: "<html>Bad gateway</html>"},
		"reset":        githubsim.LoseAnswer(),
		"405":          {Applied: true, Status: 405, Body: `{"message":"Pull Request is not mergeable"}`},
		"in progress":  {Applied: true, Status: 405, Body: `{"message":"Merge already in progress"}`},
		"409":          {Applied: true, Status: 409, Body: `{"message":"Head branch was modified. Review and try the merge again."}`},
		"403":          {Applied: true, Status: 403, Body: `{"message":"Resource not accessible by integration"}`},
		"page instead": githubsim.HTML(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.merging(merging.Squash)
			fault.Applied = true
			s.hub.AddFault(mergeAnswer(fault))
			_, err := s.apply(a)
			s.must(err)
			s.merged(a, 2)
			if s.requests() != 1 {
				t.Errorf("%d merges were asked for", s.requests())
			}
		})
	}
}

// A merge that did not take place although its fate is unclear waits before it is sent
// again.
func TestNotMergedAndUnclear(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]githubsim.Fault{
		"500": {Status: 500}, "reset": githubsim.LoseRequest(),
		"in progress": {Status: 405, Body: `{"message":"Merge already in progress"}`},
		"a lie":       {Status: 200, Body: `{"sha":"1111111111111111111111111111111111111111","merged":true,"message":"merged"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.merging(merging.Squash)
			s.hub.AddFault(mergeAnswer(fault))
			for range 2 {
				var wait *work.WaitError
				if _, err := s.apply(a); !errors.As(err, &wait) || !wait.Until.Truncate(time.Millisecond).Equal(s.row(a).NotBefore) {
					t.Fatalf("error %v, want to wait", err)
				}
			}
			if s.requests() != 1 || s.row(a).State != work.ActionSent {
				t.Fatalf("%d merges were asked for, row %s", s.requests(), s.row(a).State)
			}
			s.later(2 * time.Minute)
			_, err := s.apply(a)
			s.must(err)
			s.merged(a, 2)
		})
	}
}

// relose forgets the row, as a lost database does, and plans the same again.
func (s *mergeStage) relose(a work.Action) string {
	s.Helper()
	fresh := testdb.Open(s, filepath.Join(s.TempDir(), "again.db"), s.at)
	s.Cleanup(func() { _ = fresh.Close() })
	s.runner.Store = fresh
	current := s.scope.Repo.Current
	s.must(fresh.Update(s.Context(), func(tx *store.Tx) (err error) {
		s.scope.Repo, err = testdb.Repo(s.Context(), tx, current)
		return err
	}))
	s.scope.Repo.Current = current
	return s.planned(a.Kind, a.Token, a.Target).Token
}

// With the row lost our own merge is known by the token in its commit, and nobody else's
// is taken for it.
func TestMergedBefore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by   string
		ours bool
		want work.ActionState
	}{
		"by us before the database was lost": {"", true, work.ActionApplied},
		"by a person":                        {"pat", false, work.ActionVoid},
		"by a person with our login":         {"olga", false, work.ActionVoid},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newMergeStage(t)
			a := s.merging(merging.Squash)
			if c.ours {
				_, err := s.apply(a)
				s.must(err)
				a.Token = s.relose(a)
			} else {
				_, err := s.repo.Merge(s.pull, c.by, "squash")
				s.must(err)
			}
			before := s.requests()
			_, err := s.apply(a)
			s.must(err)
			if row := s.row(a); row.State != c.want || s.requests() != before {
				t.Errorf("row %s, want %s; %d merges were asked for", row.State, c.want, s.requests()-before)
			}
		})
	}
}

// Refused by GitHub: nothing came of it, it counts as never sent, and is left alone for a
// while.
func TestRefusedMerges(t *testing.T) {
	t.Parallel()
	testhome.NotShort(t)
	for _, c := range []struct {
		status  int
		message string
		kind    github.RefusalKind
	}{
		{405, "Base branch was modified. Review and try the merge again.", github.BaseModified},
		{405, `Required status check "build" is expected.`, github.CheckMissing},
		{405, "Repository rule violations found\n\nA conversation must be resolved before this pull request can be merged.", github.RuleBroken},
		{405, "Pull Request is not mergeable", github.NotMergeable},
		{405, "Pull Request is still a draft", github.IsDraft},
		{405, "Squash merges are not allowed on this repository.", github.MethodBarred},
		{405, "Changes must be made through the merge queue", github.AboutQueue},
		{403, "Resource not accessible by personal access token", github.NoPermission},
		{404, "Not Found", github.NoPermission},
		{422, "words of another day", github.OtherRefusal},
	} {
		s := newMergeStage(t)
		a := s.merging(merging.Squash)
		s.repo.RefuseNextMerges(1, c.status, c.message)
		_, err := s.apply(a)
		var refused *RefusedError
		if !errors.As(err, &refused) || refused.Kind != c.kind {
			t.Errorf("%q: error %v, want %s", c.message, err, c.kind)
			continue
		}
		row := s.row(a)
		if row.State != work.ActionPlanned || row.Sends != 0 || !row.NotBefore.After(s.at()) || row.LastError == "" || s.mains() != 1 {
			t.Errorf("%q: row %+v, %d commits on main", c.message, row, s.mains())
		}
		if _, err := s.apply(a); err == nil || s.requests() != 1 {
			t.Errorf("%q: sent again at once: %v", c.message, err)
		}
		s.later(time.Hour)
		_, err = s.apply(a)
		s.must(err)
		s.merged(a, 2)
	}
}

// What is longer in vain is asked for less often.
func TestRefusedIsAskedForLessAndLess(t *testing.T) {
	t.Parallel()
	testhome.NotShort(t)
	s := newMergeStage(t)
	a := s.merging(merging.Squash)
	s.repo.RefuseMerges("Repository rule violations found")
	for range 12 * 4 {
		_, _ = s.apply(a)
		s.later(15 * time.Minute)
	}
	if n := s.requests(); n < 12 || n > 20 {
		t.Errorf("%d requests in half a day", n)
	}
}

func TestTheHeadMovedBeforeTheMerge(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.merging(merging.Squash)
	_, err := s.repo.PushCommit(fixBranch, "pat", map[string]string{"evil.txt": "unread\n"}, "Unread")
	s.must(err)
	got, err := s.apply(a)
	s.must(err)
	if got.State != work.ActionVoid || s.mains() != 1 {
		t.Errorf("row %s, %d commits on main: what nobody read was merged", got.State, s.mains())
	}
}

func TestClosedMeanwhile(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.merging(merging.Squash)
	s.must(s.repo.Close(s.pull, "pat", ""))
	got, err := s.apply(a)
	s.must(err)
	if got.State != work.ActionVoid || s.requests() != 0 {
		t.Errorf("row %s, %d merges were asked for", got.State, s.requests())
	}
}

// Only what was looked for is told by Watch: it sends nothing.
func TestWatchSendsNothing(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	a := s.merging(merging.Squash)
	got, err := s.runner.SettleWithoutSend(t.Context(), s.scope, a)
	s.must(err)
	if got.State != work.ActionPlanned || s.requests() != 0 {
		t.Errorf("row %s, %d merges were asked for", got.State, s.requests())
	}
}

// Somebody else's pull request is never merged, whatever was planned.
func TestForeignPullsAreNotMerged(t *testing.T) {
	t.Parallel()
	s := newMergeStage(t)
	for _, kind := range []work.ActionKind{work.ActionMerge, work.ActionEnqueue, work.ActionUpdateBranch} {
		var a work.Action
		s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
			item, err := tx.AddItem(t.Context(), work.Item{RepoID: s.scope.Repo.ID, Number: s.pull, Flow: work.FlowReview, State: work.StateAwaitingFeedback, Since: s.at()})
			if err != nil {
				return err
			}
			a, err = tx.AddAction(t.Context(), work.Action{
				RepoID: s.scope.Repo.ID, ItemID: item, Kind: kind, Need: work.NeedRequired, Token: string(kind) + strings.Repeat("0", 40), State: work.ActionPlanned, Number: s.pull, Head: s.head, Base: "main",
			})
			return err
		}))
		var foreign *ForeignError
		if _, err := s.runner.Apply(t.Context(), s.scope, a); !errors.As(err, &foreign) {
			t.Errorf("%s: error %v", kind, err)
		}
		s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
			return tx.MoveItem(t.Context(), a.ItemID, []work.State{work.StateAwaitingFeedback}, work.StateClosed, work.Reason{}, "", s.at())
		}))
	}
}

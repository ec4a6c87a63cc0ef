package actions

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// dyingRelated is a gateway whose process dies once it has sent something about an issue.
type dyingRelated struct{ Gateway }

func (d dyingRelated) CreateChild(ctx context.Context, n github.NewChild) (github.Child, error) {
	_, _ = d.Gateway.CreateChild(ctx, n)
	panic("killed")
}

func (d dyingRelated) AddBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error {
	_ = d.Gateway.AddBlocker(ctx, repo, number, blocker)
	panic("killed")
}

func (d dyingRelated) RemoveBlocker(ctx context.Context, repo work.RepoName, number int, blocker int64) error {
	_ = d.Gateway.RemoveBlocker(ctx, repo, number, blocker)
	panic("killed")
}

func (d dyingRelated) UpdateIssue(ctx context.Context, repo work.RepoName, number int, title, body string) error {
	_ = d.Gateway.UpdateIssue(ctx, repo, number, title, body)
	panic("killed")
}

func (d dyingRelated) CloseIssue(ctx context.Context, repo work.RepoName, number int, reason string) error {
	_ = d.Gateway.CloseIssue(ctx, repo, number, reason)
	panic("killed")
}

func (d dyingRelated) MarkReady(ctx context.Context, pullNodeID string) error {
	_ = d.Gateway.MarkReady(ctx, pullNodeID)
	panic("killed")
}

// roadmapStage is a stage with a roadmap's issue, which is blocked by the issue, and another
// repository.
type roadmapStage struct {
	*stage
	roadmap int
	lib     *githubsim.Repo
}

func newRoadmapStage(t *testing.T) *roadmapStage {
	t.Helper()
	s := &roadmapStage{stage: newStage(t)}
	var err error
	s.roadmap, err = s.repo.OpenIssue("octo", "The plan", "Its text")
	s.must(err)
	s.must(s.repo.Block(s.roadmap, "olga", strconv.Itoa(s.issue)))
	s.lib, err = s.hub.AddRepo("octo/lib", map[string]string{"a": "a"})
	s.must(err)
	s.must(s.lib.SetPermission("olga", "write"))
	_, err = s.lib.OpenIssue("olga", "Of the library", "")
	s.must(err)
	repo, err := s.scope.GitHub.(*github.Client).Repository(t.Context(), s.scope.Repo.Current) //nolint:forcetypeassert // it is that
	s.must(err)
	s.scope.Repo.NodeID = repo.NodeID
	return s
}

func (s *roadmapStage) child(node string) work.Action {
	token := work.ChildToken(s.scope.Repo.Key(), s.roadmap, 0, node)
	mark := work.MarkNode(work.NodeMark{Roadmap: s.roadmap, Node: node, Hash: "h"})
	return s.add(work.Action{
		Kind: work.ActionChild, Token: token, Number: s.roadmap, Target: node, Title: "Node " + node,
		Body: work.Mark("Do "+node+".", work.Marks{Token: token, Node: mark}),
	})
}

func (s *roadmapStage) block(ref, base string) work.Action {
	if !strings.Contains(ref, "#") {
		ref = work.Dependency{Repo: s.scope.Repo.Name, Number: s.number(ref)}.String()
	}
	return s.add(work.Action{Kind: work.ActionBlock, Token: work.BlockToken(s.scope.Repo.Key(), s.roadmap, ref, base, ""), Number: s.roadmap, Target: ref, Base: base})
}

func (s *roadmapStage) number(text string) int {
	n, err := strconv.Atoi(text)
	s.must(err)
	return n
}

func (s *roadmapStage) edit() work.Action {
	return s.add(work.Action{
		Kind: work.ActionEditIssue, Token: work.EditIssueToken(s.scope.Repo.Key(), s.roadmap, "a", "b"), Number: s.roadmap,
		Title: "The new plan", Body: work.Mark("Its new text", work.Marks{Token: strings.Repeat("a", 64)}), Base: work.IssueHash("The plan", "Its text"),
	})
}

func (s *roadmapStage) closing() work.Action {
	return s.add(work.Action{Kind: work.ActionCloseIssue, Token: work.CloseIssueToken(s.scope.Repo.Key(), s.roadmap, "x"), Number: s.roadmap, Target: work.CloseNotPlanned})
}

// events counts what the timeline of the roadmap's issue has of a kind.
func (s *roadmapStage) events(kind string) (n int) {
	all, err := s.scope.GitHub.TimelineOf(s.Context(), s.scope.Repo.Current, s.roadmap)
	s.must(err)
	for _, e := range all {
		if e.Event == kind {
			n++
		}
	}
	return n
}

// relatedKinds are the actions on a roadmap's issues, each with how often its effect shows.
var relatedKinds = []struct {
	name string
	plan func(*roadmapStage) work.Action
	seen func(*roadmapStage) int
}{
	{"child", func(s *roadmapStage) work.Action { return s.child("parser") }, func(s *roadmapStage) int { return s.events("sub_issue_added") }},
	{"block", func(s *roadmapStage) work.Action { return s.block("github.localhost/octo/lib#1", "") }, func(s *roadmapStage) int { return s.events("blocked_by_added") - 1 }},
	{"unblock", func(s *roadmapStage) work.Action { return s.block("1", work.BlockRemove) }, func(s *roadmapStage) int { return s.events("blocked_by_removed") }},
	{"edit_issue", func(s *roadmapStage) work.Action { return s.edit() }, func(s *roadmapStage) int { return s.events("renamed") }},
	{"close_issue", func(s *roadmapStage) work.Action { return s.closing() }, func(s *roadmapStage) int { return s.events("closed") }},
}

// deaths are the ways in which a pass ends while it sends an action, or afterwards.
func deaths() map[string]func(*roadmapStage, work.Action) {
	lost := func(f githubsim.Fault) func(*roadmapStage, work.Action) {
		return func(s *roadmapStage, a work.Action) {
			f.Method = "WRITE"
			s.hub.AddFault(f)
			_, _ = s.runner.Apply(s.Context(), s.scope, a)
			if n := s.hub.PendingFaults(); n != 0 {
				s.Errorf("%d faults struck nothing", n)
			}
		}
	}
	return map[string]func(*roadmapStage, work.Action){
		"none":             func(*roadmapStage, work.Action) {},
		"a lost answer":    lost(githubsim.LoseAnswer()),
		"a lost request":   lost(githubsim.LoseRequest()),
		"a broken gateway": lost(githubsim.Fault{Status: 502, Body: "{}"}),
		"a death": func(s *roadmapStage, a work.Action) {
			defer func() { _ = recover() }()
			dead := s.scope
			dead.GitHub = dyingRelated{s.scope.GitHub}
			_, _ = s.runner.Apply(s.Context(), dead, a)
		},
		"a lost database": func(s *roadmapStage, a work.Action) {
			_, err := s.runner.Apply(s.Context(), s.scope, a)
			s.must(err)
			s.forget()
		},
	}
}

// However a pass ends while it sends, and if the database is lost afterwards: the effect is there
// once, and a later pass records it.
func TestDeathsOfWhatIsSentAboutIssues(t *testing.T) {
	testhome.NotShort(t)
	for name, end := range deaths() {
		for _, kind := range relatedKinds {
			t.Run(kind.name+" and "+name, func(t *testing.T) {
				s := newRoadmapStage(t)
				end(s, kind.plan(s))
				s.later(2 * time.Minute)
				got := s.apply(s.row(kind.plan(s)))
				if got.State != work.ActionApplied || kind.seen(s) != 1 {
					t.Errorf("it is %s, and done %d times", got.State, kind.seen(s))
				}
				s.hub.ResetLog()
				s.apply(s.row(got))
				if n := s.requests("POST") + s.requests("PATCH") + s.requests("DELETE"); n != 0 {
					t.Errorf("what is settled made %d writes", n)
				}
			})
		}
	}
}

// A sub-issue that people moved about is not opened again, and one that is opened twice, because
// lists show it late, is closed once.
func TestANodeHasOneSubIssue(t *testing.T) {
	for name, c := range map[string]struct {
		deed func(*roadmapStage, int)
		want work.ActionState
	}{
		"stays":        {func(*roadmapStage, int) {}, work.ActionApplied},
		"is closed":    {func(s *roadmapStage, n int) { s.must(s.repo.Close(n, "olga", "not_planned")) }, work.ActionApplied},
		"is renamed":   {func(s *roadmapStage, n int) { s.must(s.repo.EditIssue(n, "olga", new("Other"), nil)) }, work.ActionApplied},
		"is taken out": {func(s *roadmapStage, n int) { s.must(s.repo.RemoveSubIssue(s.roadmap, "olga", strconv.Itoa(n))) }, work.ActionApplied},
		"goes elsewhere": {func(s *roadmapStage, n int) {
			_, err := s.repo.TransferIssue(n, "olga", "octo/lib")
			s.must(err)
		}, work.ActionVoid},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			first := s.apply(s.child("parser"))
			c.deed(s, s.number(first.ResultID))
			s.forget()
			before := len(s.repo.Issues())
			got := s.apply(s.child("parser"))
			if got.State != c.want || len(s.repo.Issues()) != before {
				t.Errorf("it is %s, with %d more issues", got.State, len(s.repo.Issues())-before)
			}
			if c.want == work.ActionApplied && got.ResultID != first.ResultID {
				t.Errorf("it is #%s, and was #%s", got.ResultID, first.ResultID)
			}
		})
	}

	// The sub-issues show it late, so that it is opened twice.
	s := newRoadmapStage(t)
	never := githubsim.Fault{Method: "GET", Path: fmt.Sprintf("/repos/octo/app/issues/%d/sub_issues", s.roadmap), Status: 200, Body: "[]"}
	none := githubsim.Fault{Method: "GET", Path: "/repos/octo/app/issues", Status: 200, Body: "[]"}
	for range 3 { // before the first, after it, before the second
		s.hub.AddFault(never)
		s.hub.AddFault(none)
	}
	s.hub.AddFault(losePost())
	a := s.child("parser")
	if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil {
		t.Fatal("a lost answer went unnoticed")
	}
	s.later(2 * time.Minute)
	a = s.apply(s.row(a))
	if want := strconv.Itoa(s.roadmap + 1); a.ResultID != want {
		t.Errorf("the sub-issue is #%s, want the first, #%s", a.ResultID, want)
	}
	second := s.row(work.Action{Token: work.CloseIssueToken(s.scope.Repo.Key(), s.roadmap+2, "copy")})
	s.apply(second)
	if is, _ := s.repo.Issue(s.roadmap + 2); is.State != "closed" || is.StateReason != "not_planned" {
		t.Errorf("the second copy is %s", is.State)
	}
}

// What cannot be done any more is void, with the reason, and nothing is sent.
func TestWhatIsSentAboutIssuesEnds(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		deed       func(*roadmapStage)
		how        work.Ending
		want       string
	}{
		{"the roadmap is deleted", "*", func(s *roadmapStage) { s.must(s.repo.DeleteIssue(s.roadmap, "olga")) }, work.EndedGone, "gone"},
		{"the roadmap is transferred", "*", func(s *roadmapStage) {
			_, err := s.repo.TransferIssue(s.roadmap, "olga", "octo/lib")
			s.must(err)
		}, work.EndedGone, "gone"},
		{"no permission", "*", func(s *roadmapStage) {
			s.must(s.repo.SetPermission("olga", "read"))
		}, work.EndedRefused, "refused"},
		{"a person edited it", "edit_issue", func(s *roadmapStage) { s.must(s.repo.EditIssue(s.roadmap, "olga", nil, new("My text"))) }, work.EndedEdited, "a person edited the issue"},
		{"the blocker is deleted", "block", func(s *roadmapStage) { s.must(s.lib.DeleteIssue(1, "octo")) }, work.EndedGone, "does not exist"},
		{"the blocker is hidden", "block", func(s *roadmapStage) { s.lib.SetPrivate(true); s.must(s.lib.SetPermission("olga", "none")) }, work.EndedGone, "does not exist"},
		{"fifty edges", "block", func(s *roadmapStage) {
			for range 49 {
				n, err := s.lib.OpenIssue("octo", "x", "")
				s.must(err)
				s.must(s.repo.Block(s.roadmap, "olga", fmt.Sprintf("octo/lib#%d", n)))
			}
		}, work.EndedRefused, "refused it: An issue has at most 50 dependencies"},
		{"a hundred sub-issues", "child", func(s *roadmapStage) {
			for range 100 {
				n, err := s.lib.OpenIssue("octo", "x", "")
				s.must(err)
				s.must(s.repo.AddSubIssue(s.roadmap, "olga", fmt.Sprintf("octo/lib#%d", n)))
			}
		}, work.EndedRefused, "refused it: "},
		{"an old host", "child", func(s *roadmapStage) { s.hub.WithoutSubIssues() }, work.EndedRefused, "no sub-issues"},
		{"an old host", "block", func(s *roadmapStage) { s.hub.WithoutDependencies() }, work.EndedRefused, "no dependencies"},
	} {
		for _, kind := range relatedKinds {
			if c.kind != "*" && c.kind != kind.name {
				continue
			}
			t.Run(kind.name+": "+c.name, func(t *testing.T) {
				s := newRoadmapStage(t)
				a := kind.plan(s)
				c.deed(s)
				before := len(s.repo.Issues())
				got := s.apply(a)
				row := s.row(a)
				if got.State != work.ActionVoid || got.Ending != c.how || row.Ending != c.how || !strings.Contains(row.LastError, c.want) || len(s.repo.Issues()) != before {
					t.Errorf("it is %s, %q: %q", got.State, row.Ending, row.LastError)
				}
			})
		}
	}
}

// GitHub refuses what is being added at the same moment with the word that it has for what exists.
func TestTakenIsLookedForAgain(t *testing.T) {
	taken := githubsim.Fault{Method: "WRITE", Status: 422, Body: `{"message":"Priority has already been taken"}`}
	graph := githubsim.Fault{Method: "WRITE", Status: 200, Body: `{"data":{"createIssue":null},"errors":[{"type":"UNPROCESSABLE","message":"Priority has already been taken"}]}`}
	for _, kind := range relatedKinds[:2] {
		f := taken
		if kind.name == "child" {
			f = graph
		}
		s := newRoadmapStage(t)
		s.hub.AddFault(f)
		a := kind.plan(s)
		if _, err := s.runner.Apply(t.Context(), s.scope, a); err == nil || s.row(a).State != work.ActionSent {
			t.Errorf("%s is %s: %v", kind.name, s.row(a).State, err)
		}
		s.later(2 * time.Minute)
		if got := s.apply(s.row(a)); got.State != work.ActionApplied || kind.seen(s) != 1 {
			t.Errorf("%s is %s, and done %d times", kind.name, got.State, kind.seen(s))
		}
	}
}

// An edge that a person made is ours, too, and one that a person removed is not made again.
func TestPeoplesEdgesStay(t *testing.T) {
	s := newRoadmapStage(t)
	s.must(s.lib.Rename("octo/library"))
	s.must(s.repo.Block(s.roadmap, "olga", "octo/library#1"))
	s.hub.ResetLog()
	a := s.block("github.localhost/octo/lib#1", "")
	if got := s.apply(a); got.State != work.ActionApplied || s.requests("POST") != 0 {
		t.Errorf("an edge that is there is %s, with %d writes", got.State, s.requests("POST"))
	}
	s.must(s.repo.Unblock(s.roadmap, "olga", "octo/library#1"))
	s.apply(s.row(s.block("github.localhost/octo/lib#1", "")))
	list, err := s.scope.GitHub.BlockedBy(t.Context(), s.scope.Repo.Current, s.roadmap)
	s.must(err)
	if slices.ContainsFunc(list, func(b work.Blocker) bool { return strings.Contains(b.Ref, "octo/lib") }) {
		t.Error("an edge that a person removed is there again")
	}
}

// A follow-up is a sub-issue where the host has them, else an issue of its own; there is one for each
// number, also after a death.
func TestAFollowupIsOpenedOnce(t *testing.T) {
	for _, old := range []bool{false, true} {
		s := newRoadmapStage(t)
		if old {
			s.hub.WithoutSubIssues()
		}
		token := work.FollowupToken(s.scope.Repo.Key(), s.roadmap, 1)
		a := s.add(work.Action{
			Kind: work.ActionChild, Token: token, Number: s.roadmap, Title: "Cache it", Body: work.Mark("It is slow.", work.Marks{Token: token}),
		})
		done := s.apply(a)
		if below := s.repo.SubIssues(s.roadmap); (len(below) == 1) == old {
			t.Errorf("old %t: sub-issues %v", old, below)
		}
		again := a
		again.State = work.ActionPlanned // of a database that lost the row
		seen, ok, err := (&child{}).find(t.Context(), s.scope, again)
		if err != nil || !ok || seen.id != done.ResultID {
			t.Errorf("old %t: found %v, %t, %v; it is %s", old, seen, ok, err, done.ResultID)
		}
	}
}

// An issue that a changed document lacks stays open once a person touched it, or work on it has begun; our
// own comments and bots do not count. It is read right before it is closed.
func TestWhatPeopleTouchedStaysOpen(t *testing.T) {
	for name, c := range map[string]struct {
		deed func(*roadmapStage)
		want string // empty: it is closed
	}{
		"untouched": {func(*roadmapStage) {}, ""},
		"ours": {func(s *roadmapStage) {
			_, err := s.repo.Comment(s.roadmap, "olga", work.Mark("It waits.", work.Marks{Token: strings.Repeat("b", 64)}))
			s.must(err)
		}, ""},
		"a comment": {func(s *roadmapStage) {
			_, err := s.repo.Comment(s.roadmap, "octo", "Keep it")
			s.must(err)
		}, "a person commented"},
		"a text":      {func(s *roadmapStage) { s.must(s.repo.EditIssue(s.roadmap, "octo", nil, new("Mine"))) }, "a person edited"},
		"a title":     {func(s *roadmapStage) { s.must(s.repo.EditIssue(s.roadmap, "octo", new("Mine"), nil)) }, "a person edited"},
		"a sub-issue": {func(s *roadmapStage) { s.must(s.repo.AddSubIssue(s.roadmap, "octo", "octo/lib#1")) }, "a person put sub-issues"},
		"a pull request": {func(s *roadmapStage) {
			s.must(s.runner.Store.Update(t.Context(), func(tx *store.Tx) error {
				id, err := tx.AddItem(t.Context(), work.Item{RepoID: s.scope.Repo.ID, Number: s.roadmap, Flow: work.FlowBugfix, State: work.StateAwaitingFeedback})
				if err != nil {
					return err
				}
				_, err = tx.PutPull(t.Context(), work.PullRequest{RepoID: s.scope.Repo.ID, ItemID: id, Number: 99, State: work.PullOpen})
				return err
			}))
		}, "work on the issue has begun"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newRoadmapStage(t)
			a := s.add(work.Action{
				Kind: work.ActionCloseIssue, Token: work.CloseIssueToken(s.scope.Repo.Key(), s.roadmap, "removed"), RepoID: s.scope.Repo.ID, Number: s.roadmap,
				Target: work.CloseNotPlanned, Base: work.IssueHash("The plan", "Its text"),
			})
			c.deed(s)
			got := s.apply(a)
			is, _ := s.repo.Issue(s.roadmap)
			if row := s.row(a); (is.State == "closed") != (c.want == "") || !strings.Contains(row.LastError, c.want) || c.want != "" && got.Ending != work.EndedEdited {
				t.Errorf("the issue is %s, the action %s, %q: %q", is.State, row.State, row.Ending, row.LastError)
			}
		})
	}
}

// A person gives the roadmap's issue a title while its new text is under way: it stays.
func TestOnlyTheTextOfAnIssueIsSent(t *testing.T) {
	s := newRoadmapStage(t)
	a := s.add(work.Action{
		Kind: work.ActionEditIssue, Token: work.EditIssueToken(s.scope.Repo.Key(), s.roadmap, "a", "text"), Number: s.roadmap,
		Title: "The plan", Body: work.Mark("Its new text", work.Marks{Token: strings.Repeat("a", 64)}), Base: work.IssueHash("The plan", "Its text"),
	})
	s.hub.AddFault(githubsim.Fault{Method: "PATCH", Path: "/repos/octo/app/issues/*", Do: func() error {
		return s.repo.EditIssue(s.roadmap, "olga", new("Mine"), nil)
	}})
	got := s.apply(a)
	is, _, err := s.scope.GitHub.Issue(t.Context(), s.scope.Repo.Current, s.roadmap)
	s.must(err)
	if got.State != work.ActionApplied || is.Title != "Mine" || !strings.HasPrefix(is.Body, "Its new text") {
		t.Errorf("it is %s: %q, %q", got.State, is.Title, is.Body)
	}
}

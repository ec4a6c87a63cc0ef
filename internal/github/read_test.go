package github

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
)

func TestIssuesAndTheirPages(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n := w.issue(t, "first", "agent:design")
	w.advance(time.Minute)
	pull, _ := w.pull(t, "topic")
	p, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{})})
	must(t, err)
	if len(p.Items) != 2 || p.Items[1].Number != pull || !p.Items[1].IsPull {
		t.Fatalf("issues %+v, want the pull request last: it changed last", p.Items)
	}
	got := p.Items[0]
	if got.Number != n || got.Title != "first" || got.Body != "body of first" || got.State != "open" || got.IsPull ||
		got.Author.Login != "alice" || got.Author.ID != w.hub.UserID("alice") || !slices.Equal(got.Labels, []string{"agent:design"}) ||
		!got.CreatedAt.Equal(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)) || got.NodeID == "" || !strings.HasSuffix(got.URL, "/alice/app/issues/1") {
		t.Errorf("issue %+v", got)
	}
	again, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{}), ETag: p.ETag})
	must(t, err)
	if !again.NotModified || again.ETag == "" || len(again.Items) != 0 {
		t.Errorf("unchanged page: %+v", again)
	}
	must(t, w.repo.Close(n, "alice", ""))
	open, err := w.client.ListIssues(ctx, transport.PageRequest{URL: OpenIssuesURL(w.name, time.Time{})})
	must(t, err)
	if len(open.Items) != 1 || open.Items[0].Number != pull {
		t.Errorf("open issues %+v", open.Items)
	}
}

func TestEveryPageOfAListing(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	const many = 250
	n := w.issue(t, "busy")
	for i := range many {
		_, err := w.repo.Comment(n, "bob", fmt.Sprintf("comment %d", i))
		must(t, err)
	}
	w.asked()
	comments, err := w.client.CommentsOf(ctx, w.name, n, time.Time{})
	must(t, err)
	if len(comments) != many || comments[0].Body != "comment 0" || comments[many-1].Body != "comment 249" || comments[7].Number != n {
		t.Errorf("%d comments", len(comments))
	}
	if asked := w.asked(); asked != 3 {
		t.Errorf("%d requests for 250 comments, want 3", asked)
	}
	seen := map[int64]bool{}
	for url := CommentsURL(w.name, time.Time{}); url != ""; {
		p, err := w.client.ListComments(ctx, transport.PageRequest{URL: url})
		must(t, err)
		for _, c := range p.Items {
			seen[c.ID] = true
		}
		url = p.Next
	}
	if len(seen) != many {
		t.Errorf("%d comments in the repository's list", len(seen))
	}
	timeline, err := w.client.TimelineOf(ctx, w.name, n)
	must(t, err)
	if len(timeline) != many {
		t.Errorf("%d timeline entries", len(timeline))
	}
}

// The longest possible page is read: a hundred comments of GitHub's maximum length, of characters
// with the longest JSON form.
func TestTheLongestPage(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "busy")
	for range 100 {
		_, err := w.repo.Comment(n, "bob", strings.Repeat("\x01", 65536))
		must(t, err)
	}
	p, err := w.client.ListComments(t.Context(), transport.PageRequest{URL: CommentsURL(w.name, time.Time{})})
	must(t, err)
	if len(p.Items) != 100 || p.Items[99].Body != strings.Repeat("^A", 65536) {
		t.Errorf("%d comments", len(p.Items))
	}
}

// An ETag covers one page: page 1 may be unchanged while page 2 is not.
func TestPageETagsAreOfTheirOwnPage(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	for i := range 150 {
		w.issue(t, fmt.Sprintf("issue %d", i))
	}
	first, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{})})
	must(t, err)
	second, err := w.client.ListIssues(ctx, transport.PageRequest{URL: first.Next})
	must(t, err)
	if len(first.Items) != 100 || len(second.Items) != 50 || second.Next != "" {
		t.Fatalf("pages of %d and %d", len(first.Items), len(second.Items))
	}
	// A reaction changes an issue on page 2 without changing updatedAt, so the issue keeps its
	// place.
	must(t, w.repo.React(second.Items[49].Number, "bob", "heart"))
	page1, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{}), ETag: first.ETag})
	must(t, err)
	page2, err := w.client.ListIssues(ctx, transport.PageRequest{URL: first.Next, ETag: second.ETag})
	must(t, err)
	if !page1.NotModified || page2.NotModified {
		t.Errorf("page 1 unchanged: %v, page 2 unchanged: %v; want true, false", page1.NotModified, page2.NotModified)
	}
}

func TestIssueThatIsGone(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n := w.issue(t, "to be deleted")
	got, ok, err := w.client.Issue(ctx, w.name, n)
	if err != nil || !ok || got.Number != n {
		t.Fatalf("issue %+v, %v, %v", got, ok, err)
	}
	must(t, w.repo.DeleteIssue(n, "alice"))
	for _, number := range []int{n, 99} {
		if _, ok, err := w.client.Issue(ctx, w.name, number); ok || err != nil {
			t.Errorf("issue %d: %v, %v; want absent", number, ok, err)
		}
	}
	// A transferred issue redirects while its repository does not.
	w.hub.AddFault(redirectOf("/repos/alice/app/issues/7"))
	if _, ok, err := w.client.Issue(ctx, w.name, 7); ok || err != nil {
		t.Errorf("transferred issue: %v, %v; want absent", ok, err)
	}
}

func redirectOf(path string) githubsim.Fault {
	f := githubsim.Redirect("http://api.github.localhost/repositories/1/elsewhere")
	f.Path = path
	return f
}

func TestRenamedRepository(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n := w.issue(t, "before the rename")
	old, err := w.client.Repository(ctx, w.name)
	must(t, err)
	must(t, w.repo.Rename("alice/renamed"))
	got, err := w.client.Repository(ctx, w.name)
	must(t, err)
	if got.NodeID != old.NodeID || got.ID != old.ID || got.Current != repoName("alice", "renamed") || got.DefaultBranch != "main" || !got.CanPush || got.Archived {
		t.Errorf("repository %+v, before %+v", got, old)
	}
	var moved *transport.MovedError
	if _, err := w.client.ListIssues(ctx, transport.PageRequest{URL: IssuesURL(w.name, time.Time{})}); !errors.As(err, &moved) {
		t.Errorf("a read of the old name: %v, want a MovedError", err)
	}
	if _, _, err := w.client.Issue(ctx, w.name, n); !errors.As(err, &moved) {
		t.Errorf("an issue of the old name: %v, want a MovedError: it is not gone", err)
	}
	if _, err := w.client.CreateComment(ctx, w.name, n, "lost?"); !errors.As(err, &moved) {
		t.Errorf("a write to the old name: %v, want a MovedError", err)
	}
	if c, err := w.client.CommentsOf(ctx, got.Current, n, time.Time{}); err != nil || len(c) != 0 {
		t.Errorf("comments %v, %v after a write that was redirected", c, err)
	}
}

// account returns a user as the hub knows them.
func (w *world) account(login string) work.Account {
	return work.Account{ID: w.hub.UserID(login), Login: login}
}

// The permission is that of the account with its current login, never of another account with the
// old login.
func TestPermissionIsTheAccountsWhateverItsName(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	bob := w.account("bob")
	must(t, w.hub.RenameUser("bob", "bobby"))
	if got, err := w.client.Permission(ctx, w.name, bob); err != nil || got != "write" {
		t.Errorf("renamed: %q, %v", got, err)
	}
	carol := w.account("carol")
	must(t, w.hub.RenameUser("carol", "carla"))
	must(t, w.hub.RenameUser("bobby", "carol"))
	if got, err := w.client.Permission(ctx, w.name, carol); err != nil || got != "read" {
		t.Errorf("whose name somebody else has: %q, %v", got, err)
	}
}

func TestAccounts(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	acc, etag, same, err := w.client.Viewer(ctx, "")
	must(t, err)
	if acc != (work.Account{ID: w.hub.UserID("alice"), Login: "alice"}) || etag == "" || same {
		t.Errorf("viewer %+v, %q, %v", acc, etag, same)
	}
	if _, again, same, err := w.client.Viewer(ctx, etag); err != nil || !same || again != etag {
		t.Errorf("unchanged viewer: %v, %q, %v", same, again, err)
	}
	for login, want := range map[string]string{"alice": "admin", "bob": "write", "carol": "read", "nobody": "none"} {
		if got, err := w.client.Permission(ctx, w.name, w.account(login)); err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", login, got, err, want)
		}
	}
	must(t, w.repo.SetPermission("carol", "maintain"))
	if got, err := w.client.Permission(ctx, w.name, w.account("carol")); err != nil || got != "write" {
		t.Errorf("maintain: %q, %v", got, err)
	}
	w.hub.RevokeToken("revoked")
	if _, _, _, err := w.newClient(t, "revoked").Viewer(ctx, ""); !IsStatus(err, http.StatusUnauthorized) {
		t.Errorf("bad token: %v", err)
	}
}

func TestAuthorsOfEveryKind(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "talk")
	for _, login := range []string{"bob", "helper[bot]", "carol"} {
		_, err := w.repo.Comment(n, login, "hello")
		must(t, err)
	}
	must(t, w.hub.DeleteUser("carol"))
	comments, err := w.client.CommentsOf(t.Context(), w.name, n, time.Time{})
	must(t, err)
	want := []work.Account{
		{ID: w.hub.UserID("bob"), Login: "bob"}, {ID: w.hub.UserID("helper[bot]"), Login: "helper[bot]", Bot: true}, {Login: "ghost"},
	}
	for i, c := range comments {
		if c.Author != want[i] {
			t.Errorf("author %+v, want %+v", c.Author, want[i])
		}
	}
}

func TestPulls(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	got, ok, err := w.client.Pull(ctx, w.name, n)
	must(t, err)
	head, _ := w.repo.Head("topic")
	base, _ := w.repo.Head("main")
	if !ok || got.State != work.PullOpen || got.Head != "topic" || got.HeadOID != head || got.Base != "main" || got.BaseOID != base ||
		got.HeadRepo != "alice/app" || got.CrossRepo || got.Mergeable != mergeable || got.MergeCommit != "" || got.Author.Login != "bob" {
		t.Errorf("pull request %+v", got)
	}
	oid, err := w.repo.Merge(n, "alice", "squash")
	must(t, err)
	again := func() Pull {
		list, err := w.client.PullsByHead(ctx, w.name, "topic")
		must(t, err)
		if len(list) != 1 {
			t.Fatalf("pull requests of the branch: %+v", list)
		}
		return list[0]
	}
	if got := again(); got.State != work.PullMerged || got.MergeCommit != oid || got.MergedAt.IsZero() {
		t.Errorf("merged pull request %+v", got)
	}
	if got, _, err := w.client.Pull(ctx, w.name, n); err != nil || got.MergedBy.Login == "" || got.MergedBy.ID == 0 || got.MergeCommit != oid {
		t.Errorf("merged pull request by itself %+v, %v", got, err)
	}
	if _, ok, err := w.client.Pull(ctx, w.name, 99); ok || err != nil {
		t.Errorf("no pull request: %v, %v", ok, err)
	}
	if list, err := w.client.PullsByHead(ctx, w.name, "other"); err != nil || len(list) != 0 {
		t.Errorf("no branch: %+v, %v", list, err)
	}
}

// A stranger's fork may have a branch of the same name, and may be deleted.
func TestForkedPull(t *testing.T) {
	w := newWorld(t)
	fork, err := w.repo.AddFork("carol")
	must(t, err)
	_, err = fork.PushCommit("topic", "carol", map[string]string{"a": "b"}, "m")
	must(t, err)
	n, err := w.repo.OpenPull("carol", githubsim.NewPull{Title: "x", Head: "carol:topic"})
	must(t, err)
	got, _, err := w.client.Pull(t.Context(), w.name, n)
	must(t, err)
	if !got.CrossRepo || got.HeadRepo != "carol/app" {
		t.Errorf("forked pull request %+v", got)
	}
	if list, err := w.client.PullsByHead(t.Context(), w.name, "topic"); err != nil || len(list) != 0 {
		t.Errorf("found the fork's as ours: %+v, %v", list, err)
	}
	details, _, err := w.client.Details(t.Context(), []string{got.NodeID})
	must(t, err)
	if !details[0].CrossRepo || details[0].HeadRepo != "carol/app" {
		t.Errorf("details %+v", details[0].Pull)
	}
	fork.DeleteRepo()
	got, _, err = w.client.Pull(t.Context(), w.name, n)
	must(t, err)
	if !got.CrossRepo || got.HeadRepo != "" {
		t.Errorf("pull request of a deleted fork %+v", got)
	}
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	must(t, w.repo.Label(n, "bob", "agent:bugfix"))
	must(t, w.repo.Close(n, "alice", "completed"))
	must(t, w.repo.Reopen(n, "alice"))
	events, err := w.client.TimelineOf(t.Context(), w.name, n)
	must(t, err)
	var got []string
	for _, e := range events {
		if e.ID == 0 || e.CreatedAt.IsZero() {
			t.Errorf("event %+v", e)
		}
		got = append(got, e.Event+" "+e.Label+" "+e.Actor.Login)
	}
	if want := []string{"labeled agent:bugfix bob", "closed  alice", "reopened  alice"}; !slices.Equal(got, want) {
		t.Errorf("timeline %q, want %q", got, want)
	}
}

// permission is "read" for triage. The role tells them apart; for custom roles, the permissions do.
func TestPermissionTellsTriageFromRead(t *testing.T) {
	w := newWorld(t)
	must(t, w.repo.SetPermission("carol", "triage"))
	if got, err := w.client.Permission(t.Context(), w.name, w.account("carol")); err != nil || got != "triage" {
		t.Errorf("may %q, %v", got, err)
	}
	own := wirePermission{Permission: "read", RoleName: "gardener"}
	own.User.Permissions.Triage = true
	if got := own.level(); got != "triage" {
		t.Errorf("a role of the organization's own: %q", got)
	}
}

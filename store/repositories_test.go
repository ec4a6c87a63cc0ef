package store

import (
	"errors"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

func getRepo(t *testing.T, d *DB, id int64) work.Repo {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (work.Repo, error) { return tx.GetRepo(t.Context(), id) })
}

func TestRepositories(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	want := addRepo(t, d)
	equal(t, want, work.Repo{ID: want.ID, Name: name, Current: name})

	renamed := work.RepoName{Host: "github.com", Owner: "octo-org", Name: "Hello2"}
	update(t, d, func(tx *Tx) error {
		return identify(ctx, tx, want.ID, RepoIdentity{NodeID: "R_1", GitHubID: 42, Current: renamed, DefaultBranch: "main", At: t0})
	})
	want.NodeID, want.GitHubID, want.Current, want.DefaultBranch, want.ConfirmedAt = "R_1", 42, renamed, "main", t0
	equal(t, getRepo(t, d, want.ID), want)

	want.IssuesSince, want.CommentsSince, want.ReviewCommentsSince = t0, t0.Add(time.Second), t0.Add(time.Millisecond)
	update(t, d, func(tx *Tx) error { return tx.SetCursors(ctx, want) })
	equal(t, getRepo(t, d, want.ID), want)

	update(t, d, func(tx *Tx) error { return tx.DeferRepo(ctx, want.ID, t0.Add(time.Hour), "limit", false) })
	want.NotBefore, want.LastError = t0.Add(time.Hour), "limit"
	equal(t, getRepo(t, d, want.ID), want)
	update(t, d, func(tx *Tx) error { return tx.DeferRepo(ctx, want.ID, t0.Add(2*time.Hour), "500", true) })
	want.NotBefore, want.LastError, want.Failures = t0.Add(2*time.Hour), "500", 1
	equal(t, getRepo(t, d, want.ID), want)

	update(t, d, func(tx *Tx) error { return tx.DeferRepo(ctx, want.ID, time.Time{}, "", false) })
	want.NotBefore, want.LastError, want.Failures = time.Time{}, "", 0
	equal(t, getRepo(t, d, want.ID), want)
	update(t, d, func(tx *Tx) error { return tx.DeferRepo(ctx, want.ID, t0.Add(2*time.Hour), "500", true) })

	update(t, d, func(tx *Tx) error { return tx.Heartbeat(ctx, want.ID, t0.Add(3*time.Hour)) })
	want.HeartbeatAt, want.NotBefore, want.LastError, want.Failures = t0.Add(3*time.Hour), time.Time{}, "", 0
	equal(t, getRepo(t, d, want.ID), want)

	wantErr(t, d, ErrNotFound, func(tx *Tx) error { return tx.Heartbeat(ctx, 99, t0) })
	wantErr(t, d, ErrNotFound, func(tx *Tx) error { _, err := tx.GetRepo(ctx, 99); return err })
}

// The config's spelling may change, and follow a rename on GitHub: the row stays.
func TestEnsureRepoFollowsARename(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	ensure := func(owner, repo string) work.Repo {
		return inTx(t, d, func(tx *Tx) (work.Repo, error) {
			return tx.EnsureRepo(ctx, work.RepoName{Host: "github.com", Owner: owner, Name: repo})
		})
	}
	first := ensure("octo", "hello")
	equal(t, ensure("octo", "hello"), first)
	if got := ensure("OCTO", "Hello"); got.ID != first.ID || got.Name.FullName() != "OCTO/Hello" {
		t.Errorf("another spelling: %+v", got)
	}
	update(t, d, func(tx *Tx) error {
		return identify(ctx, tx, first.ID, RepoIdentity{NodeID: "R_1", GitHubID: 1, Current: work.RepoName{Host: "github.com", Owner: "octo", Name: "new"}})
	})
	if got := ensure("octo", "New"); got.ID != first.ID || got.Name.Name != "New" {
		t.Errorf("after the rename: %+v", got)
	}
	other := ensure("octo", "hello") // the old name is free for another repository
	update(t, d, func(tx *Tx) error {
		return identify(ctx, tx, first.ID, RepoIdentity{NodeID: "R_1", GitHubID: 1, Current: other.Name}) // and is claimed by both
	})
	if got := ensure("octo", "hello"); got.ID != other.ID {
		t.Errorf("another row than the one of this very name: %+v", got)
	}
	if other.ID == first.ID {
		t.Error("two repositories in one row")
	}
	all := inTx(t, d, func(tx *Tx) ([]work.Repo, error) { return tx.ListRepos(ctx) })
	if len(all) != 2 || all[0].ID != other.ID || all[1].ID != first.ID {
		t.Errorf("by name: %+v", all)
	}
}

func TestValidators(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	get := func(repoID int64, url string) (v work.Validator, ok bool) {
		update(t, d, func(tx *Tx) (err error) {
			v, ok, err = tx.GetValidator(ctx, repoID, url)
			return err
		})
		return v, ok
	}
	all := []work.Validator{
		{RepoID: 0, URL: "user", ETag: `W/"1"`, SeenAt: t0},
		{RepoID: 1, URL: "repos/o/n/issues?page=1", ETag: `"2"`, Next: "next", SeenAt: t0},
		{RepoID: 1, URL: "repos/o/n/issues?%", ETag: `"3"`, SeenAt: t0},
		{RepoID: 1, URL: "repos/o/n/pulls", ETag: `"4"`, SeenAt: t0},
		{RepoID: 1, URL: "repos/o/n_n/issues?", ETag: `"5"`, SeenAt: t0},
		{RepoID: 1, URL: "repos/o/n-n/issues?", ETag: `"6"`, SeenAt: t0},
		{RepoID: 1, URL: "repos/O/n_n/issues?", ETag: `"7"`, SeenAt: t0},
	}
	for _, v := range all {
		update(t, d, func(tx *Tx) error { return tx.PutValidator(ctx, v) })
	}
	for _, v := range all {
		got, ok := get(v.RepoID, v.URL)
		equal(t, got, v)
		equal(t, ok, true)
	}
	if _, ok := get(2, "user"); ok {
		t.Error("found for another repository")
	}
	all[0].ETag, all[0].Next, all[0].SeenAt = `W/"9"`, "there", t0.Add(time.Minute)
	update(t, d, func(tx *Tx) error { return tx.PutValidator(ctx, all[0]) })
	got, _ := get(0, "user")
	equal(t, got, all[0])

	update(t, d, func(tx *Tx) error { return tx.DeleteValidators(ctx, 1, "repos/o/n/issues?") })
	update(t, d, func(tx *Tx) error { return tx.DeleteValidators(ctx, 1, "repos/o/n_n/") })
	var left []string
	for _, v := range all {
		if _, ok := get(v.RepoID, v.URL); ok {
			left = append(left, v.URL)
		}
	}
	equal(t, left, []string{"user", "repos/o/n/pulls", "repos/o/n-n/issues?", "repos/O/n_n/issues?"})
}

func TestWalksAndLabels(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	walk := func() string {
		return inTx(t, d, func(tx *Tx) (string, error) { return tx.GetFirstLook(ctx, r.ID) })
	}
	equal(t, walk(), "")
	for _, next := range []string{"a", "b", "", ""} {
		update(t, d, func(tx *Tx) error { return tx.SetFirstLook(ctx, r.ID, next) })
		equal(t, walk(), next)
	}
	labels := func() []string {
		return inTx(t, d, func(tx *Tx) ([]string, error) { return tx.ListSeenLabels(ctx, r.ID) })
	}
	equal(t, len(labels()), 0)
	for _, l := range []string{"b", "a", "b"} {
		update(t, d, func(tx *Tx) error { return tx.AddSeenLabel(ctx, r.ID, l) })
	}
	equal(t, labels(), []string{"a", "b"})
}

func TestAccountsAndPermissions(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	for _, a := range []work.Account{{ID: 2, Login: "two"}, {ID: 1, Login: "one", Bot: true}, {ID: 2, Login: "renamed"}, {ID: 2, Login: "renamed"}} {
		update(t, d, func(tx *Tx) error { return tx.AddAccount(ctx, "github.com", a, work.RoleOperator) })
	}
	// One that speaks for a reviewer is none of the operator's, until gh is logged in as it:
	// from then on it stays so.
	update(t, d, func(tx *Tx) error {
		return firstOf(
			tx.AddAccount(ctx, "github.com", work.Account{ID: 1, Login: "one", Bot: true}, work.RoleReviewer),
			tx.AddAccount(ctx, "github.com", work.Account{ID: 3, Login: "three"}, work.RoleReviewer),
			tx.AddAccount(ctx, "github.com", work.Account{ID: 4, Login: "four"}, work.RoleReviewer),
			tx.AddAccount(ctx, "github.com", work.Account{ID: 4, Login: "four"}, work.RoleOperator),
		)
	})
	accounts := func(role work.AccountRole) map[string][]work.Account {
		return inTx(t, d, func(tx *Tx) (map[string][]work.Account, error) { return tx.ListAccounts(ctx, role) })
	}
	equal(t, accounts(work.RoleOperator), map[string][]work.Account{"github.com": {{ID: 1, Login: "one", Bot: true}, {ID: 2, Login: "renamed"}, {ID: 4, Login: "four"}}})
	equal(t, accounts(work.RoleReviewer), map[string][]work.Account{"github.com": {{ID: 3, Login: "three"}}})

	check := func(account int64, level string, at time.Time, ok bool) {
		t.Helper()
		update(t, d, func(tx *Tx) error {
			gotLevel, gotAt, gotOK, err := tx.GetPermission(ctx, r.ID, account)
			equal(t, []any{gotLevel, gotAt, gotOK}, []any{level, at, ok})
			return err
		})
	}
	check(2, "", time.Time{}, false)
	update(t, d, func(tx *Tx) error { return tx.PutPermission(ctx, r.ID, 2, "two", "read", t0) })
	check(2, "read", t0, true)
	update(t, d, func(tx *Tx) error { return tx.PutPermission(ctx, r.ID, 2, "two", "write", t0.Add(time.Hour)) })
	check(2, "write", t0.Add(time.Hour), true)
	check(3, "", time.Time{}, false)

	// A login stands for the account that was seen under it first, whatever either becomes later.
	pin := func(id int64, login string, want int64) {
		t.Helper()
		equal(t, inTx(t, d, func(tx *Tx) (int64, error) { return tx.PinAllowed(ctx, r.ID, work.Account{ID: id, Login: login}, t0) }), want)
	}
	pin(2, "Trent", 2)
	check(2, "", time.Time{}, false)
	update(t, d, func(tx *Tx) error { return tx.PutPermission(ctx, r.ID, 2, "renamed", "read", t0) })
	pin(9, "trent", 2)
	pin(2, "renamed", 2)
	pin(9, "trent", 2)
	pin(2, "trent", 2)
}

func TestSessions(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	author := SessionKey{i.ID, "codex", ""}
	check := func(of SessionKey, session string, slot int, ok bool) {
		t.Helper()
		update(t, d, func(tx *Tx) error {
			gotSession, gotSlot, gotOK, err := tx.GetSession(ctx, of)
			equal(t, []any{gotSession, gotSlot, gotOK}, []any{session, slot, ok})
			return err
		})
	}
	check(author, "", 0, false)
	for slot, s := range []string{"first", "second"} {
		update(t, d, func(tx *Tx) error { return tx.PutSession(ctx, author, s, slot, t0) })
		check(author, s, slot, true)
	}
	check(SessionKey{i.ID, "claude", ""}, "", 0, false)

	// Two reviewers with the author's agent have sessions of their own.
	quinn, sam := SessionKey{i.ID, "codex", "quinn"}, SessionKey{i.ID, "codex", "sam"}
	check(quinn, "", 0, false)
	update(t, d, func(tx *Tx) error {
		return firstOf(tx.PutSession(ctx, quinn, "of quinn", 1, t0), tx.PutSession(ctx, sam, "of sam", 2, t0))
	})
	check(author, "second", 1, true)
	check(quinn, "of quinn", 1, true)
	update(t, d, func(tx *Tx) error { return tx.DropSession(ctx, author) })
	check(author, "", 0, false)
	check(quinn, "of quinn", 1, true)
	update(t, d, func(tx *Tx) error { return tx.DropSession(ctx, quinn) })
	check(sam, "of sam", 2, true)
	update(t, d, func(tx *Tx) error { return tx.DropSessions(ctx, i.ID) })
	check(sam, "", 0, false)

	equal(t, SessionOf(work.Turn{ItemID: 7, Agent: "codex", Kind: work.KindReview, Reviewer: "quinn"}), SessionKey{7, "codex", "quinn"})
	equal(t, SessionOf(work.Turn{ItemID: 7, Agent: "codex", Kind: work.KindFix, Reviewer: "quinn"}), SessionKey{7, "codex", ""})
}

func TestUsageOfASessionIsTheLastThatWasCounted(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	i := addItem(t, d, work.Item{RepoID: addRepo(t, d).ID, Number: 1})
	u := addTurn(t, d, work.Turn{RepoID: i.RepoID, ItemID: i.ID, Key: "k"})
	counted := func(agent, session string) work.Usage {
		return inTx(t, d, func(tx *Tx) (work.Usage, error) { return tx.GetSessionUsage(ctx, u.ItemID, agent, session) })
	}
	equal(t, counted("codex", "s"), work.Usage{})
	for n := range int64(3) {
		usage := work.Usage{InputTokens: 100 * n, OutputTokens: n, CostUSD: 0.5}
		run := inTx(t, d, func(tx *Tx) (int64, error) {
			return tx.AddRun(ctx, work.Run{Turn: u.ID, Agent: "codex", Session: "s", Began: t0})
		})
		update(t, d, func(tx *Tx) error { return tx.PutSessionUsage(ctx, run, usage) })
		equal(t, counted("codex", "s"), usage)
	}
	equal(t, counted("codex", "other"), work.Usage{})
	equal(t, counted("mine", "s"), work.Usage{})
}

// Of many repositories the one whose first look was cut is read by the next pass, whatever
// GitHub shows of it, and one of which everything was looked at is not.
func TestAFirstLookThatWasCutIsUnread(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	repo := addRepo(t, d)
	for _, c := range []struct {
		at     string
		unread bool
	}{{"", true}, {t0.Format(time.RFC3339), true}, {work.FirstLookDone, false}} {
		update(t, d, func(tx *Tx) error { return tx.SetFirstLook(ctx, repo.ID, c.at) })
		unread := inTx(t, d, func(tx *Tx) (map[int64]bool, error) { return tx.ListUnread(ctx, t0, t0) })
		if unread[repo.ID] != c.unread {
			t.Errorf("at %q it is unread: %t", c.at, unread[repo.ID])
		}
	}
}

// What a pass had no time for counts as unread; what could not be read has its reason instead.
func TestUnreadNumbersAreCounted(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	repo := addRepo(t, d)
	for _, b := range []Backlogged{
		{Number: 1, At: t0.Add(time.Minute)},
		{Number: 2, At: t0},
		{Number: 3},
		{Number: 4, At: t0.Add(-time.Hour), Tries: 1, Why: "502"},
		{Number: 5, At: t0.Add(-time.Hour), Again: true},
		{Number: 6, At: t0.Add(-time.Hour), Why: "#4"},
	} {
		update(t, d, func(tx *Tx) error { return tx.PutBacklog(ctx, repo.ID, b) })
	}
	all := inTx(t, d, func(tx *Tx) (map[int64]Unread, error) { return tx.ListUnreadNumbers(ctx) })
	equal(t, all, map[int64]Unread{repo.ID: {Numbers: 3, Since: t0}})
}

// A number that a pass has read stays in the backlog until the pass ends. A row without the pass's mark was not read
// by it: the database may have been set back since.
func TestOnlyWhatAPassReadLeavesTheBacklog(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	for n := 1; n <= 3; n++ {
		update(t, d, func(tx *Tx) error { return tx.PutBacklog(ctx, r.ID, Backlogged{Number: n, At: t0}) })
	}
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.MarkBacklogRead(ctx, r.ID, 1, "this"), tx.MarkBacklogRead(ctx, r.ID, 2, "another"))
	})
	update(t, d, func(tx *Tx) error {
		var errs []error
		for n := 1; n <= 3; n++ {
			errs = append(errs, tx.DropBacklogRead(ctx, r.ID, n, "this"))
		}
		return errors.Join(errs...)
	})
	left := inTx(t, d, func(tx *Tx) ([]Backlogged, error) { return tx.ListBacklog(ctx, r.ID) })
	equal(t, []int{left[0].Number, left[1].Number, len(left)}, []int{2, 3, 2})
	if !left[0].Since.IsZero() {
		t.Errorf("nothing was said on #2, and what was said since %s is to be read", left[0].Since)
	}
}

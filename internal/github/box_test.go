package github

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// box reads the merge box of a pull request as alice.
func (w *world) box(t *testing.T, n int, node string) merging.Box {
	t.Helper()
	b, err := w.client.Box(t.Context(), w.name, merging.BoxOf{PullNodeID: node, Number: n, Freeze: "agent:freeze"})
	must(t, err)
	return b
}

func TestTheBoxOfAPullRequest(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	tip, _ := w.repo.Head("main")
	head, _ := w.repo.Head("topic")
	must(t, w.repo.AllowMethods("rebase", "squash"))
	w.repo.DeleteOnMerge(true)
	w.repo.Protect("main", []string{"build", "never"}, 1)
	for name, end := range map[string]string{"build": "success", "lint": "failure", "slow": "", "manual": "action_required", "gone": "cancelled"} {
		_, err := w.repo.SetCheck("topic", name, map[bool]string{true: "in_progress"}[end == ""], end)
		must(t, err)
	}
	must(t, w.repo.SetStatus("topic", "deploy", "pending", ""))
	first, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "why?")
	must(t, err)
	_, err = w.repo.ReviewComment(n, "bob", "README.md", 3, "and this?")
	must(t, err)
	must(t, w.repo.Resolve(first, "bob"))
	id, err := w.repo.Review(n, "alice", "APPROVE", "fine")
	must(t, err)
	_, err = w.repo.Review(n, "helper[bot]", "COMMENT", "hm")
	must(t, err)
	_, err = w.repo.Review(n, "alice", "PENDING", "a draft of ours")
	must(t, err)
	w.asked()

	b := w.box(t, n, node)
	if got := w.asked(); got != 1 {
		t.Errorf("%d requests", got)
	}
	if !b.Read() || b.State != work.PullOpen || b.Draft || b.Head != head || b.Base != "main" || b.BaseTip != tip || b.At.IsZero() || b.UpdatedAt.IsZero() {
		t.Errorf("box %+v", b)
	}
	if b.Mergeable != "MERGEABLE" || b.Status != "BLOCKED" || b.Decision != "APPROVED" || b.Permission != "ADMIN" || !b.DeleteBranch || b.Threads != 1 || b.Freeze != 0 {
		t.Errorf("box %+v", b)
	}
	if !slices.Equal(b.Methods, []merging.Method{merging.Squash, merging.Rebase}) {
		t.Errorf("methods %q", b.Methods)
	}
	i := slices.IndexFunc(b.Reviews, func(r merging.Review) bool { return r.ID == id })
	if i < 0 || b.Reviews[i].At.IsZero() || b.Reviews[i] != (merging.Review{ID: id, State: "APPROVED", Head: head, By: work.Account{ID: w.hub.UserID("alice"), Login: "alice"}, At: b.Reviews[i].At}) {
		t.Errorf("reviews %+v", b.Reviews)
	}
	if slices.ContainsFunc(b.Reviews, func(r merging.Review) bool { return r.State == "PENDING" }) {
		t.Errorf("a draft counts: %+v", b.Reviews)
	}
	if !slices.ContainsFunc(b.Reviews, func(r merging.Review) bool { return r.By.Login == "helper[bot]" && r.By.Bot }) {
		t.Errorf("the bot's review: %+v", b.Reviews)
	}
	ended := w.at
	want := map[string]merging.Check{
		"build":  {Name: "build", State: merging.Green, Required: true},
		"lint":   {Name: "lint", State: merging.Red, Ended: ended},
		"slow":   {Name: "slow", State: merging.Runs},
		"manual": {Name: "manual", State: merging.Runs, Ended: ended},
		"gone":   {Name: "gone", State: merging.Red, Ended: ended, Lapsed: true},
		"deploy": {Name: "deploy", State: merging.Runs},
	}
	if len(b.Checks) != len(want) || !b.ChecksKnown {
		t.Errorf("checks %+v", b.Checks)
	}
	for _, c := range b.Checks {
		if c != want[c.Name] {
			t.Errorf("check %+v, want %+v", c, want[c.Name])
		}
	}
}

func TestTheBoxOfWhatIsDraftBehindOrInConflict(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	must(t, w.repo.ConvertToDraft(n, "bob"))
	if b := w.box(t, n, node); !b.Draft {
		t.Errorf("a draft: %+v", b)
	}
	must(t, w.repo.MarkReady(n, "bob"))
	w.repo.ProtectBy("main", githubsim.Rules{Checks: []string{"build"}, Strict: true})
	_, err := w.repo.SetCheck("topic", "build", "", "success")
	must(t, err)
	tip, err := w.repo.PushCommit("main", "alice", map[string]string{"other": "x\n"}, "other")
	must(t, err)
	if b := w.box(t, n, node); b.Status != "BEHIND" || b.BaseTip != tip {
		t.Errorf("behind: %+v", b)
	}
	_, err = w.repo.PushCommit("main", "alice", map[string]string{"README.md": "else\n"}, "conflict")
	must(t, err)
	if b := w.box(t, n, node); b.Mergeable != "CONFLICTING" || b.Status != "DIRTY" {
		t.Errorf("in conflict: %+v", b)
	}
	w.hub.LagMergeable(1)
	if b := w.box(t, n, node); b.Mergeable != "UNKNOWN" {
		t.Errorf("not computed: %+v", b)
	}
}

// An open issue with the label freezes merges; a closed one or one with another label does not.
func TestTheBoxShowsAFreeze(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	w.issue(t, "other", "bug")
	closed := w.issue(t, "thawed", "agent:freeze")
	must(t, w.repo.Close(closed, "alice", "completed"))
	if b := w.box(t, n, node); b.Freeze != 0 {
		t.Errorf("frozen by %d", b.Freeze)
	}
	first := w.issue(t, "stop", "agent:freeze")
	w.issue(t, "stop again", "agent:freeze")
	if b := w.box(t, n, node); b.Freeze != first {
		t.Errorf("frozen by %d, not %d", b.Freeze, first)
	}
	b, err := w.client.Box(t.Context(), w.name, merging.BoxOf{PullNodeID: node, Number: n})
	if err != nil || b.Freeze != 0 {
		t.Errorf("no label: frozen by %d, %v", b.Freeze, err)
	}
}

// The brakes beside the box come with it, in the same request.
func TestTheBoxShowsLabelsAndTheIssue(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	w.repo.MakeLabel("agent:bugfix", "ffffff", "")
	issue, err := w.repo.OpenIssue("bob", "It is broken", "", "agent:bugfix")
	must(t, err)
	must(t, w.repo.Label(n, "bob", "agent:hold"))
	of := merging.BoxOf{PullNodeID: node, Number: n, Issue: issue}
	read := func() merging.Box {
		t.Helper()
		w.asked()
		b, err := w.client.Box(t.Context(), w.name, of)
		must(t, err)
		if got := w.asked(); got != 1 {
			t.Errorf("%d requests", got)
		}
		return b
	}
	b := read()
	if !slices.Equal(b.Labels, []string{"agent:hold"}) || !slices.Equal(b.Issue.Labels, []string{"agent:bugfix"}) || !b.Issue.Wanted || b.Issue.UpdatedAt.IsZero() || b.Closes {
		t.Errorf("box %+v", b)
	}
	for reason, wanted := range map[string]bool{"completed": true, "not_planned": false} {
		must(t, w.repo.Close(issue, "bob", reason))
		if b := read(); b.Issue.Wanted != wanted {
			t.Errorf("closed as %s: %+v", reason, b.Issue)
		}
		must(t, w.repo.Reopen(issue, "bob"))
	}
	must(t, w.repo.DeleteIssue(issue, "alice"))
	if b := read(); b.Issue.Wanted || b.Issue.Number != issue {
		t.Errorf("deleted: %+v", b.Issue)
	}
}

func TestWhatClosesAnIssue(t *testing.T) {
	for body, closes := range map[string]bool{
		"Fixes #12": true, "fixes: #12.": true, "It is done.\n\nResolves #12": true, "Closed #12": true, "(closes #12)": true,
		"Refs #12": false, "Fixes #123": false, "Fixes #1": false, "prefixes #12": false, "<!-- Fixes #12 -->": false, "Fixes 12": false, "": false,
	} {
		if closesIssue(body, 12) != closes {
			t.Errorf("%q: %t", body, !closes)
		}
	}
}

func TestTheBoxOfWhatIsMerged(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	if b := w.box(t, n, node); b.MergedBy != (work.Account{}) || b.MergeCommit != "" {
		t.Errorf("not merged: %+v", b)
	}
	oid, err := w.repo.Merge(n, "bob", "squash")
	must(t, err)
	must(t, w.repo.DeleteBranch("topic", "bob"))
	b := w.box(t, n, node)
	if b.State != work.PullMerged || b.MergedBy.Login != "bob" || b.MergeCommit != oid || b.BaseTip != oid {
		t.Errorf("merged: %+v", b)
	}
}

// A token that may not see checks still sees the statuses and everything else.
func TestTheBoxWithoutASightOfChecks(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	w.repo.Protect("main", []string{"ci"}, 0)
	_, err := w.repo.SetCheck("topic", "build", "", "failure")
	must(t, err)
	must(t, w.repo.SetStatus("topic", "ci", "success", ""))
	must(t, w.hub.ForbidChecks("alice", true))
	b := w.box(t, n, node)
	if b.ChecksKnown || !b.Read() || !slices.Equal(b.Checks, []merging.Check{{Name: "ci", State: merging.Green, Required: true}}) {
		t.Errorf("box %+v", b)
	}
	head, _ := w.repo.Head("topic")
	if all, known, err := w.client.CommitChecks(t.Context(), w.name, head); err != nil || known || len(all) != 1 {
		t.Errorf("checks %+v, %v, %v", all, known, err)
	}
}

// Long lists are read completely: an entry on the last page may block a merge.
func TestTheBoxHasEveryPage(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	const many = 101 // one more than fits on a page
	for i := range many {
		_, err := w.repo.SetCheck("topic", fmt.Sprintf("check %03d", i), "", map[bool]string{true: "failure", false: "success"}[i == many-1])
		must(t, err)
		_, err = w.repo.ReviewComment(n, "bob", "README.md", 3, "why?")
		must(t, err)
	}
	_, err := w.repo.Review(n, "alice", "REQUEST_CHANGES", "no")
	must(t, err)
	w.asked()
	b := w.box(t, n, node)
	if got := w.asked(); got != 4 {
		t.Errorf("%d requests, want one and one for each of three lists", got)
	}
	if len(b.Checks) != many || b.Checks[many-1].Name != "check 100" || b.Checks[many-1].State != merging.Red || b.Threads != many || len(b.Reviews) != many+1 || b.Reviews[many].State != "CHANGES_REQUESTED" {
		t.Errorf("%d checks, %d threads, %d reviews: %+v", len(b.Checks), b.Threads, len(b.Reviews), b)
	}
	head, _ := w.repo.Head("topic")
	if all, known, err := w.client.CommitChecks(t.Context(), w.name, head); err != nil || !known || len(all) != many || w.asked() != 2 {
		t.Errorf("checks %+v, %v, %v", all, known, err)
	}
}

// Pages of two heads make no box: an approval of one does not apply to the other.
func TestTheBoxIsOfOneHead(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	for range 101 {
		_, err := w.repo.Review(n, "alice", "COMMENT", "hm")
		must(t, err)
	}
	asked := 0
	w.hub.OnRequest(func(r githubsim.Request) {
		if !r.Done {
			return
		}
		if asked++; asked == 1 {
			_, err := w.repo.PushCommit("topic", "bob", map[string]string{"new": "x\n"}, "pushed meanwhile")
			must(t, err)
		}
	})
	if b, err := w.client.Box(t.Context(), w.name, merging.BoxOf{PullNodeID: node, Number: n}); err == nil || asked != 2 || !strings.Contains(err.Error(), "moved") {
		t.Errorf("%+v after %d requests", b, asked)
	}
	if b := w.box(t, n, node); len(b.Reviews) != 101 {
		t.Errorf("later: %+v", b)
	}
}

func TestTheBoxOfWhatIsNoPullRequest(t *testing.T) {
	w := newWorld(t)
	n, node := w.pull(t, "topic")
	ctx := t.Context()
	if _, err := w.client.Box(ctx, w.name, merging.BoxOf{PullNodeID: "PR_nothing", Number: n}); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("nothing: %v", err)
	}
	if _, err := w.client.Box(ctx, w.name, merging.BoxOf{PullNodeID: node, Number: n + 1}); !isBody(err) {
		t.Errorf("another number: %v", err)
	}
	for _, body := range []string{"null", "{}", `{"data":null}`, `{"data":{"p0":null}}`, `{"data":{"p0":{"id":"` + node + `","number":` + fmt.Sprint(n) + `}}}`} {
		w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: body, Header: http.Header{"Content-Type": {"application/json"}}})
		if _, err := w.client.Box(ctx, w.name, merging.BoxOf{PullNodeID: node, Number: n}); !isBody(err) {
			t.Errorf("%s: %v", body, err)
		}
	}
	w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: `{"data":{"p0":null},"errors":[{"type":"FORBIDDEN","path":["p0","reviews"],"message":"no"}]}`})
	if _, err := w.client.Box(ctx, w.name, merging.BoxOf{PullNodeID: node, Number: n}); !IsStatus(err, http.StatusForbidden) {
		t.Errorf("other things refused: %v", err)
	}
}

// One query has the boxes of many. What is wrong with one of them does not fail the others, and each
// is asked with its own pull request, issue and label.
func TestTheBoxesOfManyAreOneQuery(t *testing.T) {
	w := newWorld(t)
	w.repo.MakeLabel("agent:freeze", "ffffff", "")
	freeze := w.issue(t, "stop", "agent:freeze")
	w.repo.Protect("main", []string{"build"}, 0)
	var of []merging.BoxOf
	for i := range MaxBoxes {
		branch := fmt.Sprint("topic-", i)
		n, node := w.pull(t, branch)
		if i%2 == 0 {
			_, err := w.repo.SetCheck(branch, "build", "", "success")
			must(t, err)
		}
		of = append(of, merging.BoxOf{PullNodeID: node, Number: n, Issue: w.issue(t, branch, "bug"), Freeze: map[bool]string{true: "agent:freeze"}[i%3 == 0]})
	}
	of[4].PullNodeID = "PR_nothing"
	of[5].Number++
	for range 101 { // more than fits on a page
		_, err := w.repo.Review(of[6].Number, "alice", "COMMENT", "hm")
		must(t, err)
	}
	w.asked()
	all, err := w.client.Boxes(t.Context(), w.name, of)
	must(t, err)
	if got := w.asked(); got != 2 {
		t.Errorf("%d requests, want one and a page of reviews", got)
	}
	for i, read := range all {
		switch b := read.Box; {
		case i == 4:
			if !IsStatus(read.Err, http.StatusNotFound) {
				t.Errorf("nothing: %v", read.Err)
			}
		case i == 5:
			if !isBody(read.Err) {
				t.Errorf("another number: %v", read.Err)
			}
		case read.Err != nil:
			t.Errorf("%d: %v", i, read.Err)
		default:
			head, _ := w.repo.Head(fmt.Sprint("topic-", i))
			if b.Head != head || b.Issue.Number != of[i].Issue || !b.Issue.Wanted || b.At.IsZero() || !b.ChecksKnown {
				t.Errorf("%d: %+v", i, b)
			}
			green := []merging.Check{{Name: "build", State: merging.Green, Required: true}}
			if want := i%2 == 0; want != slices.Equal(b.Checks, green) {
				t.Errorf("%d: checks %+v", i, b.Checks)
			}
			if want := map[bool]int{true: freeze}[i%3 == 0]; b.Freeze != want {
				t.Errorf("%d: frozen by %d, not %d", i, b.Freeze, want)
			}
			if want := map[bool]int{true: 101}[i == 6]; len(b.Reviews) != want {
				t.Errorf("%d: %d reviews", i, len(b.Reviews))
			}
		}
	}
	if _, err := w.client.Boxes(t.Context(), w.name, append(of, of[0])); err == nil {
		t.Errorf("%d in one query", len(of)+1)
	}
}

// A cancelled check means nothing for a commit but blocks a merge.
func TestChecksOfACommit(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	oid, err := w.repo.PushCommit("main", "alice", map[string]string{"a": "b\n"}, "m")
	must(t, err)
	if all, known, err := w.client.CommitChecks(ctx, w.name, oid); err != nil || !known || len(all) != 0 {
		t.Errorf("none: %+v, %v, %v", all, known, err)
	}
	for name, end := range map[string]string{"build": "success", "unit": "failure", "old": "cancelled", "slow": ""} {
		_, err := w.repo.SetCheck(oid, name, map[bool]string{true: "queued"}[end == ""], end)
		must(t, err)
	}
	must(t, w.repo.SetStatus(oid, "ci", "error", ""))
	w.asked()
	all, known, err := w.client.CommitChecks(ctx, w.name, oid)
	must(t, err)
	want := map[string]merging.CheckState{"build": merging.Green, "unit": merging.Red, "old": merging.Runs, "slow": merging.Runs, "ci": merging.Red}
	if !known || len(all) != len(want) || w.asked() != 1 {
		t.Errorf("checks %+v, %v", all, known)
	}
	for _, c := range all {
		if c.State != want[c.Name] || c.Required {
			t.Errorf("check %+v", c)
		}
	}
	if all, known, err := w.client.CommitChecks(ctx, w.name, "0123456789012345678901234567890123456789"); err != nil || known || len(all) != 0 {
		t.Errorf("no such commit: %+v, %v, %v", all, known, err)
	}
	if _, _, err := w.client.CommitChecks(ctx, repoName("alice", "nothing"), oid); !IsStatus(err, http.StatusNotFound) {
		t.Errorf("no such repository: %v", err)
	}
}

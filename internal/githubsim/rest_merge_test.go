package githubsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// merge asks for a merge as me, and gives the status and the message.
func (w *world) merge(n int, body object) (status int, message string) {
	w.t.Helper()
	res := w.do("me", http.MethodPut, fmt.Sprintf("/repos/acme/app/pulls/%d/merge", n), body)
	out := struct{ Message string }{}
	decode(w, res, &out)
	return res.StatusCode, out.Message
}

// box is what the merge box says of a pull request: its state and GitHub's decision on reviews.
func (w *world) box(n int) string {
	w.t.Helper()
	d := w.data("me", `query($id: ID!) { node(id: $id) { ... on PullRequest { mergeStateStatus reviewDecision } } }`, object{"id": w.nodeOf(n)})
	return fmt.Sprint(at(w.t, d, "node", "mergeStateStatus"), " ", at(w.t, d, "node", "reviewDecision"))
}

// Each demand is told in the box, refuses the merge in GitHub's words, and is met.
func TestMergeDemands(t *testing.T) {
	const frame = "Repository rule violations found\n\n"
	green := func(w *world, n int, names ...string) {
		for _, name := range names {
			_, err := w.repo.SetCheck("topic", name, "", "success")
			w.must(err)
		}
	}
	approve := func(w *world, n int, who string) {
		_, err := w.repo.Review(n, who, "APPROVE", "")
		w.must(err)
	}
	for _, tt := range []struct {
		name    string
		rules   Rules
		classic bool
		before  func(*world, int)
		box     string
		message string
		open    func(*world, int)
		after   string
	}{
		{
			name: "a check", rules: Rules{Checks: []string{"build"}}, box: "BLOCKED <nil>",
			message: frame + "Required status check \"build\" is expected.\n\n",
			open:    func(w *world, n int) { green(w, n, "build") }, after: "CLEAN <nil>",
		},
		{
			name: "a check, protected", rules: Rules{Checks: []string{"build"}}, classic: true, box: "BLOCKED <nil>",
			message: `Required status check "build" is expected.`,
			open:    func(w *world, n int) { w.must(w.repo.SetStatus("topic", "build", "success", "")) }, after: "CLEAN <nil>",
		},
		{
			name: "a failing check", rules: Rules{Checks: []string{"build"}}, classic: true, box: "BLOCKED <nil>",
			before:  func(w *world, n int) { w.must(w.repo.SetStatus("topic", "build", "failure", "")) },
			message: `Required status check "build" is failing.`,
			open:    func(w *world, n int) { w.must(w.repo.SetStatus("topic", "build", "success", "")) }, after: "CLEAN <nil>",
		},
		{
			name: "several checks", rules: Rules{Checks: []string{"build", "lint", "test"}}, classic: true, box: "BLOCKED <nil>",
			before: func(w *world, n int) {
				green(w, n, "lint")
				_, err := w.repo.SetCheck("topic", "test", "in_progress", "")
				w.must(err)
			},
			message: "2 of 3 required status checks have not succeeded: 1 expected, and 1 pending.",
			open:    func(w *world, n int) { green(w, n, "build", "test") }, after: "CLEAN <nil>",
		},
		{
			name: "behind", rules: Rules{Checks: []string{"build", "lint"}, Strict: true}, classic: true, box: "BEHIND <nil>",
			before: func(w *world, n int) {
				green(w, n, "build", "lint")
				_, err := w.repo.PushCommit("main", "acme", map[string]string{"new": "n\n"}, "Move on")
				w.must(err)
			},
			message: "2 of 2 required status checks are expected.",
			open: func(w *world, n int) {
				want[object](w, http.StatusAccepted, "me", http.MethodPut, fmt.Sprintf("/repos/acme/app/pulls/%d/update-branch", n), object{"expected_head_sha": w.repo.Branches()["topic"]})
				green(w, n, "build", "lint")
			},
			after: "CLEAN <nil>",
		},
		{
			name: "an approval", rules: Rules{Approvals: 1}, box: "BLOCKED REVIEW_REQUIRED",
			before:  func(w *world, n int) { approve(w, n, "tom") }, // who may only read
			message: frame + "At least 1 approving review is required by reviewers with write access.\n\n",
			open:    func(w *world, n int) { approve(w, n, "me") }, after: "CLEAN APPROVED",
		},
		{
			name: "opposed", rules: Rules{Approvals: 1}, classic: true, box: "BLOCKED CHANGES_REQUESTED",
			before: func(w *world, n int) {
				approve(w, n, "me")
				_, err := w.repo.Review(n, "acme", "REQUEST_CHANGES", "no")
				w.must(err)
			},
			message: "Changes have been requested by reviewers with write access.",
			open:    func(w *world, n int) { approve(w, n, "acme") }, after: "CLEAN APPROVED",
		},
		{
			name: "the last push", rules: Rules{LastPush: true}, box: "BLOCKED REVIEW_REQUIRED",
			message: frame + "New changes require approval from someone other than the last pusher.\n\n",
			open:    func(w *world, n int) { approve(w, n, "me") }, after: "CLEAN APPROVED",
		},
		{
			name: "conversations", rules: Rules{Conversations: true}, box: "BLOCKED <nil>",
			before: func(w *world, n int) {
				_, err := w.repo.ReviewComment(n, "tom", "src/a.txt", 3, "why?")
				w.must(err)
			},
			message: frame + "A conversation must be resolved before this pull request can be merged.\n\n",
			open:    func(w *world, n int) { w.must(w.repo.Resolve(w.repo.ReviewComments(n)[0].ID, "me")) }, after: "CLEAN <nil>",
		},
		{
			name: "two at once", rules: Rules{Checks: []string{"build"}, Approvals: 2}, box: "BLOCKED REVIEW_REQUIRED",
			message: frame + "Required status check \"build\" is expected.\n\nAt least 2 approving reviews are required by reviewers with write access.\n\n",
			open: func(w *world, n int) {
				green(w, n, "build")
				approve(w, n, "me")
				approve(w, n, "acme")
			}, after: "CLEAN APPROVED",
		},
		{
			name: "the queue", rules: Rules{Queue: "squash"}, box: "CLEAN <nil>", message: frame + throughQueue + "\n\n",
			open: func(w *world, n int) { w.must(w.repo.RemoveRuleset("rules")) }, after: "CLEAN <nil>",
		},
		{
			name: "a method", rules: Rules{Methods: []string{"rebase"}}, box: "CLEAN <nil>", message: frame + "Squash merges are not allowed on this branch.\n\n",
			open: func(w *world, n int) { w.repo.SetRuleset("rules", "main", Rules{}) }, after: "CLEAN <nil>",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			n := w.pull("topic", "ann")
			if tt.before != nil {
				tt.before(w, n)
			}
			if tt.classic {
				w.repo.ProtectBy("main", tt.rules)
			} else {
				w.repo.SetRuleset("rules", "main", tt.rules)
			}
			if got := w.box(n); got != tt.box {
				t.Errorf("the box says %s, want %s", got, tt.box)
			}
			if status, message := w.merge(n, object{"merge_method": "squash"}); status != http.StatusMethodNotAllowed || message != tt.message {
				t.Errorf("merge: %d %q, want %q", status, message, tt.message)
			}
			tt.open(w, n)
			if got := w.box(n); got != tt.after {
				t.Errorf("then the box says %s, want %s", got, tt.after)
			}
			if status, message := w.merge(n, object{"merge_method": "squash"}); status != http.StatusOK {
				t.Errorf("then merge: %d %s", status, message)
			}
		})
	}
}

func TestMergeRefusals(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	was := w.repo.Branches()["topic"]
	refused := func(what string, status int, message string, body object) {
		t.Helper()
		if got, text := w.merge(n, body); got != status || text != message {
			t.Errorf("%s: %d %q, want %d %q", what, got, text, status, message)
		}
	}
	w.must(w.repo.ConvertToDraft(n, "ann"))
	refused("draft", 405, "Pull Request is still a draft", nil)
	w.must(w.repo.MarkReady(n, "ann"))
	w.must(w.repo.AllowMethods("rebase"))
	refused("merge", 405, "Merge commits are not allowed on this repository.", nil)
	refused("squash", 405, "Squash merges are not allowed on this repository.", object{"merge_method": "squash"})
	w.must(w.repo.AllowMethods("merge", "squash"))
	refused("rebase", 405, "Rebase merges are not allowed on this repository.", object{"merge_method": "rebase"})
	w.repo.SetRuleset("linear", "main", Rules{Linear: true})
	refused("linear", 405, "This branch must not contain merge commits.", nil)
	for _, message := range []string{"Base branch was modified. Review and try the merge again.", "Merge already in progress"} {
		w.repo.RefuseNextMerges(2, 405, message)
		refused(message, 405, message, object{"merge_method": "squash"})
		refused(message, 405, message, object{"merge_method": "squash"})
		if got := w.box(n); got != "CLEAN <nil>" {
			t.Errorf("the box says %s", got)
		}
	}
	w.repo.RefuseNextMerges(1, 500, "Server Error")
	refused("broken", 500, "Server Error", object{"merge_method": "squash"})
	_, err := w.repo.PushCommit("topic", "ann", map[string]string{"b": "b\n"}, "More")
	w.must(err)
	refused("moved", 409, "Head branch was modified. Review and try the merge again.", object{"sha": was})
	_, err = w.repo.PushCommit("main", "acme", map[string]string{"b": "clash\n"}, "Clash")
	w.must(err)
	refused("conflict", 405, notMergeable, object{"merge_method": "squash"})
	w.must(w.repo.Close(n, "ann", ""))
	refused("closed", 405, notMergeable, nil)
	if got, _ := w.repo.Head("main"); len(got) != 40 {
		t.Error("no main")
	}
	if p, _ := w.repo.Pull(n); p.Merged {
		t.Error("it was merged")
	}
}

// A merge that is left half done has its commit on the base and an open pull request.
func TestHalfMerge(t *testing.T) {
	for _, method := range []string{"merge", "squash", "rebase"} {
		t.Run(method, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.repo.OpenIssue("ann", "Broken", "")
			w.must(err)
			n := w.pull("topic", "ann")
			body := "Fixes #1"
			w.must(w.repo.EditIssue(n, "ann", nil, &body))
			before, _ := w.repo.Head("main")
			w.repo.HalveNextMerges(1)
			if status, message := w.merge(n, object{"merge_method": method}); status != 500 {
				t.Errorf("%d %s", status, message)
			}
			after, _ := w.repo.Head("main")
			if p, _ := w.repo.Pull(n); after == before || p.Merged || p.State != "open" {
				t.Errorf("main moved: %t, the pull request is %s", after != before, p.State)
			}
			w.must(w.repo.CompleteMerge(n))
			if p, _ := w.repo.Pull(n); !p.Merged || p.MergeOID != after {
				t.Errorf("completed: %+v", p)
			}
			if is, _ := w.repo.Issue(1); is.State != "closed" {
				t.Error("the issue is open")
			}
			if w.repo.CompleteMerge(n) == nil {
				t.Error("completed twice")
			}
		})
	}
}

// A merge lands another tree when that was ordered, and closing words can be ignored.
func TestOtherTreeAndKeptIssue(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "Broken", "")
	w.must(err)
	w.repo.KeepIssues(true)
	w.repo.DeleteOnMerge(true)
	n := w.pull("topic", "ann")
	body := "Fixes #1"
	w.must(w.repo.EditIssue(n, "ann", nil, &body))
	w.repo.AlterNextMerges(1, "smuggled", "x\n")
	if status, message := w.merge(n, object{"merge_method": "squash", "commit_title": "Title", "commit_message": "ours"}); status != 200 {
		t.Fatalf("%d %s", status, message)
	}
	if text, _ := w.repo.File("main", "smuggled"); text != "x\n" {
		t.Errorf("smuggled %q", text)
	}
	list, err := w.repo.Log("main")
	w.must(err)
	if list[0].Message != "Title\n\nours" || len(list[0].Parents) != 1 {
		t.Errorf("the commit is %+v", list[0])
	}
	if is, _ := w.repo.Issue(1); is.State != "open" {
		t.Error("the issue was closed")
	}
	if _, there := w.repo.Head("topic"); there {
		t.Error("the branch is there")
	}
}

// Something may happen between a look and the merge.
func TestDeedBeforeTheMerge(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	head := w.repo.Branches()["topic"]
	w.hub.AddFault(Fault{Method: "PUT", Path: "*/merge", Do: func() error {
		_, err := w.repo.PushCommit("topic", "ann", map[string]string{"late": "l\n"}, "Late")
		return err
	}})
	if status, message := w.merge(n, object{"sha": head}); status != 409 {
		t.Errorf("%d %s", status, message)
	}
	if status, message := w.merge(n, object{"sha": w.repo.Branches()["topic"]}); status != 200 {
		t.Errorf("the second: %d %s", status, message)
	}
}

// An update may come late, and then only for the head that it was asked for.
func TestUpdateBranch(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	path := fmt.Sprintf("/repos/acme/app/pulls/%d/update-branch", n)
	if res := w.do("me", http.MethodPut, path, nil); res.StatusCode != 422 || !strings.Contains(res.text, "There are no new commits on the base branch.") {
		t.Errorf("nothing new: %d %s", res.StatusCode, res.text)
	}
	_, err := w.repo.PushCommit("main", "acme", map[string]string{"new": "n\n"}, "Move on")
	w.must(err)
	if res := w.do("me", http.MethodPut, path, object{"expected_head_sha": strings.Repeat("0", 40)}); res.StatusCode != 422 || !strings.Contains(res.text, "expected head sha") {
		t.Errorf("another head: %d %s", res.StatusCode, res.text)
	}
	was := w.repo.Branches()["topic"]
	w.repo.DelayUpdates(true)
	want[object](w, 202, "me", http.MethodPut, path, object{"expected_head_sha": was})
	if now := w.repo.Branches()["topic"]; now != was {
		t.Error("it did not wait")
	}
	w.repo.FinishUpdates()
	list, err := w.repo.Log("topic")
	w.must(err)
	if len(list[0].Parents) != 2 || list[0].Parents[0] != was || list[0].Message != "Merge branch 'main' into topic" {
		t.Errorf("the head is %+v", list[0])
	}
	_, err = w.repo.PushCommit("main", "acme", map[string]string{"new": "m\n"}, "Move on")
	w.must(err)
	want[object](w, 202, "me", http.MethodPut, path, nil)
	mine, err := w.repo.PushCommit("topic", "ann", map[string]string{"c": "c\n"}, "More")
	w.must(err)
	w.repo.FinishUpdates()
	if now := w.repo.Branches()["topic"]; now != mine {
		t.Error("an update came over a push")
	}
}

package githubsim

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
)

const boxQuery = `query($id: ID!, $oid: GitObjectID!) { node(id: $id) { ... on PullRequest {
	number mergeStateStatus mergeable reviewDecision isMergeQueueEnabled isInMergeQueue mergeQueueEntry { id state position enqueuedAt headCommit { oid } baseCommit { oid } }
	mergedBy { login } merged additions deletions changedFiles totalCommentsCount updatedAt isDraft autoMergeRequest { enabledAt } viewerCanUpdateBranch viewerDidAuthor
	reviews(last: 10) { nodes { state commit { oid } author { login } } } latestOpinionatedReviews(first: 10) { nodes { state } } latestReviews(first: 10) { nodes { state } }
	reviewThreads(first: 10) { nodes { isResolved } }
	baseRef { name target { oid ... on Commit { statusCheckRollup { state } parents(first: 2) { nodes { oid } } } } }
	statusCheckRollup { contexts(first: 10) { nodes { __typename ... on CheckRun { name isRequired(pullRequestNumber: 1) } ... on StatusContext { context isRequired(pullRequestNumber: 1) } } } }
	repository { mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed deleteBranchOnMerge viewerPermission autoMergeAllowed defaultBranchRef { name }
		issues(labels: ["agent:freeze"], states: [OPEN], first: 1) { totalCount nodes { number url title } }
		object(oid: $oid) { ... on Commit { oid messageHeadline statusCheckRollup { state } } } } } } }`

func TestGraphQLMergeBox(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	freeze, err := w.repo.OpenIssue("ann", "Nothing now", "", "agent:freeze")
	w.must(err)
	_, err = w.repo.Review(n, "acme", "APPROVE", "")
	w.must(err)
	_, err = w.repo.Review(n, "acme", "COMMENT", "by the way")
	w.must(err)
	_, err = w.repo.SetCheck("topic", "build", "", "success")
	w.must(err)
	_, err = w.repo.SetCheck("topic", "spelling", "", "failure")
	w.must(err)
	w.must(w.repo.SetStatus("topic", "ci", "success", ""))
	_, err = w.repo.SetCheck("main", "build", "", "failure")
	w.must(err)
	w.repo.SetRuleset("rules", "main", Rules{Checks: []string{"build", "ci"}, Approvals: 1})
	w.must(w.repo.AllowMethods("squash"))
	main, _ := w.repo.Head("main")
	d := w.data("me", boxQuery, object{"id": w.nodeOf(n), "oid": main})
	for path, want := range map[string]any{
		"mergeStateStatus": "UNSTABLE", "reviewDecision": "APPROVED", "isMergeQueueEnabled": false, "mergeQueueEntry": nil, "mergedBy": nil, "merged": false,
		"additions": 1.0, "deletions": 1.0, "changedFiles": 1.0, "repository.mergeCommitAllowed": false, "repository.squashMergeAllowed": true,
		"repository.viewerPermission": "WRITE", "repository.issues.totalCount": 1.0, "repository.issues.nodes.0.number": float64(freeze),
		"repository.object.statusCheckRollup.state": "FAILURE", "baseRef.target.oid": main, "baseRef.target.statusCheckRollup.state": "FAILURE",
		"reviews.nodes.0.commit.oid": w.repo.Branches()["topic"], "latestReviews.nodes.0.state": "COMMENTED", "latestOpinionatedReviews.nodes.0.state": "APPROVED",
	} {
		steps := []any{"node"}
		for s := range strings.SplitSeq(path, ".") {
			if s == "0" {
				steps = append(steps, 0)
			} else {
				steps = append(steps, s)
			}
		}
		if got := at(t, d, steps...); got != want {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	var required []string
	for _, c := range at(t, d, "node", "statusCheckRollup", "contexts", "nodes").([]any) {
		name, _ := c.(object)["name"].(string)
		context, _ := c.(object)["context"].(string)
		required = append(required, fmt.Sprint(name+context, " ", c.(object)["isRequired"]))
	}
	if !slices.Equal(required, []string{"build true", "spelling false", "ci true"}) {
		t.Errorf("required %q", required)
	}
	w.hub.LagMergeable(1)
	for _, want := range []string{"UNKNOWN UNKNOWN", "MERGEABLE UNSTABLE"} {
		d = w.data("me", boxQuery, object{"id": w.idOf(n), "oid": main})
		if got := fmt.Sprint(at(t, d, "node", "mergeable"), " ", at(t, d, "node", "mergeStateStatus")); got != want {
			t.Errorf("while it is computed: %s, want %s", got, want)
		}
	}
	_, err = w.repo.Merge(n, "me", "squash")
	w.must(err)
	if d = w.data("acme", boxQuery, object{"id": w.nodeOf(n), "oid": main}); at(t, d, "node", "mergedBy", "login") != "me" || at(t, d, "node", "merged") != true {
		t.Errorf("merged %v", d)
	}
	w.repo.ProtectBy("main", Rules{Approvals: 1})
	if is := get[[]object](w, "me", "/repos/acme/app/rules/branches/main"); len(is) != 4 {
		t.Errorf("the rules are %v", is)
	}
	w.must(w.repo.RemoveRuleset("rules"))
	if is := get[[]object](w, "tom", "/repos/acme/app/rules/branches/main"); len(is) != 0 {
		t.Errorf("a protection is no ruleset: %v", is)
	}
}

// A status that is only expected is GraphQL's: REST has no such state.
func TestExpectedStatus(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	w.repo.ProtectBy("main", Rules{Checks: []string{"build"}})
	w.must(w.repo.SetStatus("topic", "build", "expected", ""))
	d := w.data("me", `query($id: ID!) { node(id: $id) { ... on PullRequest { mergeStateStatus statusCheckRollup { state contexts(first: 5) { nodes { ... on StatusContext { state } } } } } } }`, object{"id": w.nodeOf(n)})
	if at(t, d, "node", "mergeStateStatus") != "BLOCKED" || at(t, d, "node", "statusCheckRollup", "state") != "EXPECTED" ||
		at(t, d, "node", "statusCheckRollup", "contexts", "nodes", 0, "state") != "EXPECTED" {
		t.Errorf("expected %v", d)
	}
	if s := get[object](w, "me", "/repos/acme/app/commits/topic/status"); s["total_count"] != 0.0 || s["state"] != "pending" {
		t.Errorf("REST says %v", s)
	}
	if _, message := w.merge(n, nil); message != `Required status check "build" is expected.` {
		t.Errorf("merge: %s", message)
	}
	w.must(w.repo.SetStatus("topic", "build", "success", ""))
	if got := w.box(n); got != "CLEAN <nil>" {
		t.Errorf("the box says %s", got)
	}
}

const enqueueMutation = `mutation($id: ID!, $head: GitObjectID) { enqueuePullRequest(input: {pullRequestId: $id, expectedHeadOid: $head}) { mergeQueueEntry { state position pullRequest { number } } } }`

// refusedGraph demands one error of a mutation.
func (w *world) refusedGraph(what, as, query, kind, message string, vars object) {
	w.t.Helper()
	if a := w.graph(as, query, vars); len(a.Errors) != 1 || a.Errors[0].Type != kind || a.Errors[0].Message != message {
		w.t.Errorf("%s: %+v", what, a)
	}
}

// idOf is nodeOf without a request, which would see whether it can be merged.
func (w *world) idOf(n int) string {
	p, _ := w.repo.Pull(n)
	return p.NodeID
}

func (w *world) queueOf() string {
	var out []string
	for _, q := range w.repo.Queue() {
		out = append(out, fmt.Sprintf("%d %s %d", q.Number, q.State, q.Position))
	}
	return strings.Join(out, ", ")
}

func TestMergeQueue(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.PushCommit("topic", "ann", map[string]string{"one": "1\n"}, "One")
	w.must(err)
	n, err := w.repo.OpenPull("ann", NewPull{Title: "One", Head: "topic"})
	w.must(err)
	_, err = w.repo.PushCommit("second", "ann", map[string]string{"two": "2\n"}, "Two")
	w.must(err)
	m, err := w.repo.OpenPull("ann", NewPull{Title: "Two", Head: "second"})
	w.must(err)
	vars := object{"id": w.nodeOf(n), "head": w.repo.Branches()["topic"]}
	w.refusedGraph("no queue", "me", enqueueMutation, "UNPROCESSABLE", "Merge queue is not enabled for this branch", vars)
	w.repo.SetRuleset("queue", "main", Rules{Checks: []string{"build"}, Strict: true, Queue: "squash"})
	w.refusedGraph("a check", "me", enqueueMutation, "UNPROCESSABLE", `Pull request Required status check "build" is expected.`, vars)
	for _, ref := range []string{"topic", "second"} {
		_, err = w.repo.SetCheck(ref, "build", "", "success")
		w.must(err)
	}
	w.refusedGraph("a reader", "tom", enqueueMutation, "FORBIDDEN", "Must have push access to repository", vars)
	w.refusedGraph("another head", "me", enqueueMutation, "UNPROCESSABLE", "Head branch was modified. Review and try the merge again.", object{"id": vars["id"], "head": strings.Repeat("0", 40)})
	d := w.data("me", enqueueMutation, vars)
	if at(t, d, "enqueuePullRequest", "mergeQueueEntry", "state") != "QUEUED" || at(t, d, "enqueuePullRequest", "mergeQueueEntry", "position") != 1.0 {
		t.Errorf("queued %v", d)
	}
	w.refusedGraph("twice", "me", enqueueMutation, "UNPROCESSABLE", "Pull request is already in the queue", vars)
	if status, message := w.merge(n, object{"merge_method": "squash"}); status != 405 || !strings.Contains(message, throughQueue) {
		t.Errorf("around the queue: %d %s", status, message)
	}
	w.must(w.repo.Enqueue(m, "me"))
	w.must(w.repo.StepQueue(n))
	w.must(w.repo.StepQueue(m))
	if w.repo.StepQueue(n) == nil {
		t.Error("nobody waited for the check")
	}
	q := w.repo.Queue()
	if w.queueOf() != fmt.Sprintf("%d AWAITING_CHECKS 1, %d AWAITING_CHECKS 2", n, m) {
		t.Errorf("the queue is %s", w.queueOf())
	}
	d = w.data("me", boxQuery, object{"id": vars["id"], "oid": q[0].Group})
	if at(t, d, "node", "mergeQueueEntry", "headCommit", "oid") != q[0].Group || at(t, d, "node", "isInMergeQueue") != true || at(t, d, "node", "isMergeQueueEnabled") != true {
		t.Errorf("the entry is %v", at(t, d, "node"))
	}
	_, err = w.repo.SetCheck(q[0].Group, "build", "", "success")
	w.must(err)
	w.must(w.repo.StepQueue(n))
	w.must(w.repo.StepQueue(n))
	if p, _ := w.repo.Pull(n); !p.Merged || p.MergeOID != q[0].Group || w.repo.Branches()["main"] != q[0].Group {
		t.Errorf("landed: %+v", p)
	}
	if d = w.data("me", boxQuery, object{"id": vars["id"], "oid": q[0].Group}); at(t, d, "node", "mergedBy", "login") != "github-merge-queue" {
		t.Errorf("merged by %v", at(t, d, "node", "mergedBy"))
	}
	_, err = w.repo.SetCheck(q[1].Group, "build", "", "failure")
	w.must(err)
	w.must(w.repo.StepQueue(m))
	if p, _ := w.repo.Pull(m); len(w.repo.Queue()) != 0 || p.Merged || p.State != "open" {
		t.Errorf("a failed check: %s %+v", w.queueOf(), p)
	}
	for branch := range w.repo.Branches() {
		if strings.HasPrefix(branch, "gh-readonly-queue/") {
			t.Errorf("%s is left", branch)
		}
	}
}

// What takes a pull request out of its queue.
func TestFallenOutOfTheQueue(t *testing.T) {
	for name, deed := range map[string]func(w *world, n int){
		"push":    func(w *world, n int) { w.must2(w.repo.PushCommit("topic", "ann", map[string]string{"b": "b"}, "More")) },
		"close":   func(w *world, n int) { w.must(w.repo.Close(n, "ann", "")) },
		"draft":   func(w *world, n int) { w.must(w.repo.ConvertToDraft(n, "ann")) },
		"person":  func(w *world, n int) { w.must(w.repo.Dequeue(n, "acme")) },
		"program": func(w *world, n int) { w.data("me", dequeueMutation, object{"id": w.nodeOf(n)}) },
		"conflict": func(w *world, n int) {
			w.must2(w.repo.PushCommit("main", "acme", map[string]string{"src/a.txt": "clash\n"}, "Clash"))
			w.must(w.repo.StepQueue(n))
			if w.queueOf() != "1 UNMERGEABLE 1" {
				w.t.Errorf("the queue is %s", w.queueOf())
			}
			w.must(w.repo.StepQueue(n))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := w.pull("topic", "ann")
			w.repo.ProtectBy("main", Rules{Queue: "merge"})
			w.must(w.repo.Enqueue(n, "me"))
			deed(w, n)
			if p, _ := w.repo.Pull(n); w.queueOf() != "" || p.Merged {
				t.Errorf("the queue is %q, merged %t", w.queueOf(), p.Merged)
			}
			i := slices.IndexFunc(w.repo.Timeline(n), func(e TimelineEntry) bool { return e.Event == "removed_from_merge_queue" })
			if i < 0 {
				t.Error("the timeline does not tell")
			}
		})
	}
}

const dequeueMutation = `mutation($id: ID!) { dequeuePullRequest(input: {id: $id}) { mergeQueueEntry { state } } }`

// An entry that is locked stays, and one whose base moved is built again.
func TestQueueLockedAndBuiltAgain(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	w.repo.SetRuleset("queue", "main", Rules{Queue: "rebase"})
	w.must(w.repo.Enqueue(n, "me"))
	w.must(w.repo.SetQueueState(n, "LOCKED"))
	if w.repo.StepQueue(n) == nil {
		t.Error("a locked entry moved")
	}
	w.must(w.repo.SetQueueState(n, "QUEUED"))
	w.must(w.repo.StepQueue(n))
	was := w.repo.Queue()[0].Group
	w.must2(w.repo.PushCommit("main", "acme", map[string]string{"new": "n"}, "Around it"))
	w.must(w.repo.StepQueue(n))
	if now := w.repo.Queue()[0].Group; now == was || now == "" {
		t.Errorf("the group is %q, was %q", now, was)
	}
	w.repo.AlterNextMerges(1, "smuggled", "x")
	w.must(w.repo.StepQueue(n))
	w.must(w.repo.StepQueue(n))
	if _, there := w.repo.File("main", "smuggled"); !there {
		t.Error("the queue landed what was tested")
	}
	if w.repo.SetQueueState(n, "QUEUED") == nil || w.repo.SetQueueState(n, "NONE") == nil {
		t.Error("there is an entry")
	}
}

// must2 is must for a deed that answers something.
func (w *world) must2(_ string, err error) {
	w.t.Helper()
	w.must(err)
}

func TestGraphQLMerge(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	mutation := `mutation($id: ID!, $head: GitObjectID) { mergePullRequest(input: {pullRequestId: $id, expectedHeadOid: $head, mergeMethod: SQUASH, commitHeadline: "T", commitBody: "B"}) { pullRequest { merged } actor { login } } }`
	vars := object{"id": w.nodeOf(n), "head": strings.Repeat("0", 40)}
	w.refusedGraph("another head", "me", mutation, "UNPROCESSABLE", "Head branch was modified. Review and try the merge again.", vars)
	vars["head"] = w.repo.Branches()["topic"]
	if d := w.data("me", mutation, vars); at(t, d, "mergePullRequest", "pullRequest", "merged") != true {
		t.Errorf("merged %v", d)
	}
	if res := w.do("me", http.MethodGet, "/repos/acme/app/branches/main/protection", nil); res.StatusCode != 404 {
		t.Errorf("protection: %d", res.StatusCode)
	}
}

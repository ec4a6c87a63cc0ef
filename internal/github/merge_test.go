package github

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// refused returns the kind of a refusal, "" for other errors.
func refused(err error) RefusalKind {
	r, ok := RefusalOf(err)
	if !ok {
		return ""
	}
	return r.Kind
}

func TestMergeOfTheHeadThatIsMeant(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, node := w.pull(t, "topic")
	head, _ := w.repo.Head("topic")
	before, _ := w.repo.Head("main")
	w.hub.ResetLog()
	for _, o := range []MergeOrder{{Method: merging.Squash}, {SHA: head}} {
		if _, err := w.client.Merge(ctx, w.name, n, o); err == nil || refused(err) != "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if all := w.hub.Requests(); len(all) != 0 {
		t.Errorf("sent %+v", all)
	}
	if _, err := w.client.Merge(ctx, w.name, n, MergeOrder{SHA: before, Method: merging.Squash}); refused(err) != HeadMoved {
		t.Errorf("another head: %v", err)
	}
	if tip, _ := w.repo.Head("main"); tip != before {
		t.Fatal("merged all the same")
	}
	commit, err := w.client.Merge(ctx, w.name, n, MergeOrder{SHA: head, Method: merging.Squash, Title: "The title", Message: "The message\n\nMergexo-Action: abc"})
	must(t, err)
	log, err := w.repo.Log("main")
	must(t, err)
	if log[0].OID != commit || log[0].Message != "The title\n\nThe message\n\nMergexo-Action: abc" {
		t.Errorf("landed %+v, told %s", log[0], commit)
	}
	if b := w.box(t, n, node); b.State != work.PullMerged || b.MergeCommit != commit {
		t.Errorf("box %+v", b)
	}
	if _, err := w.client.Merge(ctx, w.name, n, MergeOrder{SHA: head, Method: merging.Squash}); refused(err) != NotMergeable {
		t.Errorf("once more: %v", err)
	}
}

// Each refusal of the simulator, which has GitHub's real answers.
func TestMergesThatAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name   string
		before func(w *world, n int) error
		kind   RefusalKind
		about  string
	}{
		{"a draft", func(w *world, n int) error { return w.repo.ConvertToDraft(n, "bob") }, IsDraft, ""},
		{"a method", func(w *world, _ int) error { return w.repo.AllowMethods("merge") }, MethodBarred, "squash"},
		{"a ruleset's method", func(w *world, _ int) error {
			w.repo.SetRuleset("r", "main", githubsim.Rules{Methods: []string{"rebase"}})
			return nil
		}, MethodBarred, "squash"},
		{"a check", func(w *world, _ int) error { w.repo.Protect("main", []string{"build"}, 0); return nil }, CheckMissing, "build"},
		{"checks", func(w *world, _ int) error {
			w.repo.SetRuleset("r", "main", githubsim.Rules{Checks: []string{"a", "b"}})
			return nil
		}, CheckMissing, "2 of 2 required status checks are expected"},
		{"a review", func(w *world, _ int) error { w.repo.Protect("main", nil, 1); return nil }, ReviewNeeded, "At least 1 approving review is required by reviewers with write access"},
		{"the last push", func(w *world, _ int) error { w.repo.ProtectPushes("main", githubsim.LastPush); return nil }, ReviewNeeded, "New changes require approval from someone other than the last pusher"},
		{"a conversation", func(w *world, n int) error {
			w.repo.SetRuleset("r", "main", githubsim.Rules{Conversations: true})
			_, err := w.repo.ReviewComment(n, "bob", "README.md", 5, "why?")
			return err
		}, RuleBroken, "A conversation must be resolved before this pull request can be merged"},
		{"the queue", func(w *world, _ int) error {
			w.repo.SetRuleset("r", "main", githubsim.Rules{Queue: "squash"})
			return nil
		}, AboutQueue, ""},
		{"a conflict", func(w *world, _ int) error {
			_, err := w.repo.PushCommit("main", "alice", map[string]string{"README.md": "else\n"}, "m")
			return err
		}, NotMergeable, ""},
		{"an archive", func(w *world, _ int) error { w.repo.SetArchived(true); return nil }, NoPermission, "archived"},
		{"no right to push", func(w *world, _ int) error {
			w.repo.RefuseNextMerges(1, 405, "You're not authorized to push to this branch. Visit https://docs.github.com for more information.")
			return nil
		}, NoPermission, ""},
		{"the base moved", func(w *world, _ int) error {
			w.repo.RefuseNextMerges(1, 405, "Base branch was modified. Review and try the merge again.")
			return nil
		}, BaseModified, ""},
		{"one is under way", func(w *world, _ int) error { w.repo.RefuseNextMerges(1, 405, "Merge already in progress"); return nil }, InProgress, ""},
		{"words of another day", func(w *world, _ int) error { w.repo.RefuseMerges("It rains"); return nil }, OtherRefusal, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			n, _ := w.pull(t, "topic")
			head, _ := w.repo.Head("topic")
			must(t, tt.before(w, n))
			_, err := w.client.Merge(t.Context(), w.name, n, MergeOrder{SHA: head, Method: merging.Squash})
			r, ok := RefusalOf(err)
			if !ok || r.Kind != tt.kind || r.Name != tt.about || r.Text == "" || strings.Contains(r.Text, "\n") {
				t.Errorf("%+v, %v of %v", r, ok, err)
			}
		})
	}
}

// An account without write access is refused; a limit is no refusal.
func TestMergeWithoutPermission(t *testing.T) {
	w := newWorld(t)
	n, _ := w.pull(t, "topic")
	head, _ := w.repo.Head("topic")
	order := MergeOrder{SHA: head, Method: merging.Squash}
	token, err := w.hub.AddUser("dave")
	must(t, err)
	dave := w.newClient(t, token)
	if _, err := dave.Merge(t.Context(), w.name, n, order); refused(err) != NoPermission {
		t.Errorf("a reader: %v", err)
	}
	w.hub.AddFault(githubsim.Secondary(time.Minute))
	var wait *work.WaitError
	if _, err := w.client.Merge(t.Context(), w.name, n, order); !errors.As(err, &wait) || refused(err) != "" {
		t.Errorf("a limit: %v, %q", err, refused(err))
	}
}

// A merge without an answer is neither merged nor refused.
func TestMergesWithoutAnAnswer(t *testing.T) {
	for name, fault := range map[string]githubsim.Fault{
		"connection closed": githubsim.LoseAnswer(),
		"500":               {Applied: true, Status: http.StatusInternalServerError},
		"503 and a wait":    {Applied: true, Status: http.StatusServiceUnavailable, Header: http.Header{"Retry-After": {"5"}}},
		"408":               {Applied: true, Status: http.StatusRequestTimeout},
		"200 with a page":   {Applied: true, Status: http.StatusOK, Body: "<html>Unicorn!</html>"},
		"200 and not":       {Applied: true, Status: http.StatusOK, Body: `{"sha":"1","merged":false}`},
		"lost on the way":   githubsim.LoseRequest(),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n, _ := w.pull(t, "topic")
			head, _ := w.repo.Head("topic")
			w.hub.ResetLog()
			fault.Method = http.MethodPut
			w.hub.AddFault(fault)
			commit, err := w.client.Merge(t.Context(), w.name, n, MergeOrder{SHA: head, Method: merging.Squash})
			var unclear *transport.UnclearError
			if !errors.As(err, &unclear) || commit != "" && err == nil || refused(err) != "" {
				t.Errorf("%q, %v, %q", commit, err, refused(err))
			}
			if got := len(w.hub.Requests()); got != 1 {
				t.Errorf("%d requests: a merge is never sent again by itself", got)
			}
		})
	}
}

func TestAMergeFollowsNoRedirect(t *testing.T) {
	w := newWorld(t)
	n, _ := w.pull(t, "topic")
	head, _ := w.repo.Head("topic")
	for name, write := range map[string]func() error{
		"merge": func() error {
			_, err := w.client.Merge(t.Context(), w.name, n, MergeOrder{SHA: head, Method: merging.Squash})
			return err
		},
		"update": func() error { return w.client.UpdateBranch(t.Context(), w.name, n, head) },
	} {
		w.hub.ResetLog()
		f := githubsim.Redirect("http://api.github.localhost/repos/alice/other/pulls/1/merge")
		f.Status = http.StatusTemporaryRedirect
		w.hub.AddFault(f)
		var moved *transport.MovedError
		if err := write(); !errors.As(err, &moved) || refused(err) != "" || len(w.hub.Requests()) != 1 {
			t.Errorf("%s: %v, %d requests", name, err, len(w.hub.Requests()))
		}
	}
}

func TestTheQueueTakesTheHeadThatIsMeant(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, node := w.pull(t, "topic")
	first, firstNode := w.pull(t, "first")
	head, _ := w.repo.Head("topic")
	firstHead, _ := w.repo.Head("first")
	if _, err := w.client.Enqueue(ctx, node, head); refused(err) != AboutQueue {
		t.Errorf("no queue: %v", err)
	}
	w.repo.SetRuleset("r", "main", githubsim.Rules{Queue: "squash", Checks: []string{"build"}})
	if b := w.box(t, n, node); !b.Queue.Required || b.Queue.In {
		t.Errorf("before: %+v", b.Queue)
	}
	if _, err := w.client.Enqueue(ctx, node, ""); err == nil || refused(err) != "" {
		t.Errorf("no head: %v", err)
	}
	if _, err := w.client.Enqueue(ctx, node, firstHead); refused(err) != HeadMoved {
		t.Errorf("another head: %v", err)
	}
	if _, err := w.client.Enqueue(ctx, node, head); refused(err) != CheckMissing {
		t.Errorf("no checks: %v", err)
	}
	for _, oid := range []string{head, firstHead} {
		_, err := w.repo.SetCheck(oid, "build", "", "success")
		must(t, err)
	}
	_, err := w.client.Enqueue(ctx, firstNode, firstHead)
	must(t, err)
	q, err := w.client.Enqueue(ctx, node, head)
	must(t, err)
	if q != (merging.Queue{Required: true, In: true, State: "QUEUED", Position: 2}) {
		t.Errorf("enqueued: %+v", q)
	}
	if _, err := w.client.Enqueue(ctx, node, head); refused(err) != AboutQueue {
		t.Errorf("twice: %v", err)
	}
	must(t, w.repo.StepQueue(first))
	group := w.repo.Queue()[0].Group
	if b := w.box(t, first, firstNode); group == "" || b.Queue.By.Login != "alice" || b.Queue != (merging.Queue{Required: true, In: true, State: "AWAITING_CHECKS", Position: 1, Group: group, By: b.Queue.By}) {
		t.Errorf("a group: %+v", b.Queue)
	}
	must(t, w.client.Dequeue(ctx, node))
	if err := w.client.Dequeue(ctx, node); err == nil {
		t.Error("out of the queue a second time")
	}
	if b := w.box(t, n, node); b.Queue.In || b.Queue.State != "" {
		t.Errorf("fallen out: %+v", b.Queue)
	}
}

func TestTheQueueWithoutAnAnswer(t *testing.T) {
	w := newWorld(t)
	_, node := w.pull(t, "topic")
	head, _ := w.repo.Head("topic")
	w.repo.SetRuleset("r", "main", githubsim.Rules{Queue: "squash"})
	for name, fault := range map[string]githubsim.Fault{
		"connection closed": githubsim.LoseRequest(),
		"502":               {Status: http.StatusBadGateway},
		"an error":          {Status: http.StatusOK, Body: `{"data":{"enqueuePullRequest":null},"errors":[{"message":"Something went wrong while executing your query."}]}`},
		"no entry":          {Status: http.StatusOK, Body: `{"data":{"enqueuePullRequest":{"mergeQueueEntry":null}}}`},
	} {
		w.hub.AddFault(fault)
		_, err := w.client.Enqueue(t.Context(), node, head)
		var unclear *transport.UnclearError
		if !errors.As(err, &unclear) || refused(err) != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if q := w.repo.Queue(); len(q) != 0 {
		t.Errorf("queue %+v", q)
	}
	w.hub.AddFault(githubsim.Fault{Path: "/graphql", Status: http.StatusBadGateway, Applied: true})
	_, _ = w.client.Enqueue(t.Context(), node, head)
	if q := w.repo.Queue(); len(q) != 1 {
		t.Errorf("queue %+v", q)
	}
}

func TestUpdateOfABranch(t *testing.T) {
	w := newWorld(t)
	ctx := t.Context()
	n, _ := w.pull(t, "topic")
	head, _ := w.repo.Head("topic")
	if err := w.client.UpdateBranch(ctx, w.name, n, ""); err == nil || refused(err) != "" {
		t.Errorf("no head: %v", err)
	}
	if err := w.client.UpdateBranch(ctx, w.name, n, head); refused(err) != NothingNew {
		t.Errorf("up to date: %v", err)
	}
	tip, err := w.repo.PushCommit("main", "alice", map[string]string{"other": "x\n"}, "other")
	must(t, err)
	if err := w.client.UpdateBranch(ctx, w.name, n, tip); refused(err) != HeadMoved {
		t.Errorf("another head: %v", err)
	}
	must(t, w.client.UpdateBranch(ctx, w.name, n, head))
	log, err := w.repo.Log("topic")
	must(t, err)
	if now, _ := w.repo.Head("topic"); now == head || len(log) == 0 || !strings.HasPrefix(log[0].Message, "Merge branch 'main' into topic") {
		t.Errorf("head %+v", log)
	}
}

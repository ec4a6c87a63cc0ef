package githubsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/testhome"
)

// driver sends requests and holds each answer against the contract.
type driver struct {
	*world
	contract *contract
}

// send sends a request below acme/app (a path that begins with / is the API's own) and demands its
// status.
func (d *driver) send(as string, status int, method, path string, body any) {
	d.t.Helper()
	if path == "" || path[0] != '/' {
		path = "/repos/acme/app" + map[bool]string{true: "/", false: ""}[path != "" && path[0] != '?'] + path
	}
	res := d.do(as, method, path, body)
	if res.StatusCode != status {
		d.t.Errorf("%s %s: %d, want %d: %.200s", method, path, res.StatusCode, status, res.text)
	}
	d.contract.check(d.t, method, path, res.StatusCode, res.text)
}

func (d *driver) get(path string) {
	d.t.Helper()
	d.send("me", http.StatusOK, http.MethodGet, path, nil)
}

// absent demands a 404.
func (d *driver) absent(path string) {
	d.t.Helper()
	d.send("me", http.StatusNotFound, http.MethodGet, path, nil)
}

// TestContractREST drives the endpoints with a repository that has something of everything.
func TestContractREST(t *testing.T) {
	testhome.NotShort(t)
	d := &driver{newWorld(t), newContract(t)}
	d.issues()
	d.pulls()
	d.reviews()
	d.verdicts()
	d.merges()
	d.git()
	d.accounts()
	d.refusals()
	d.deletedFork()
	for _, name := range d.contract.missed() {
		t.Errorf("%s: not checked", name)
	}
	for name := range undocumented {
		if !d.contract.excused[name] {
			t.Errorf("%s is excused for nothing", name)
		}
	}
}

func (d *driver) issues() {
	n, err := d.repo.OpenIssue("ann", "An issue", "its body", "bug")
	d.must(err)
	c, err := d.repo.Comment(n, "eve", "a comment")
	d.must(err)
	d.must(d.repo.React(n, "tom", "heart"))
	d.must(d.repo.ReactToComment(c, "tom", "+1"))
	d.must(d.repo.Lock(n, "ann"))
	d.must(d.repo.Unlock(n, "ann"))
	d.must(d.repo.Close(n, "ann", "not_planned"))
	d.must(d.repo.Reopen(n, "ann"))
	d.get("issues?state=all&sort=updated&direction=desc&per_page=100")
	d.get("issues?labels=bug")
	d.get("issues/1")
	d.get("issues/1/comments")
	d.get("issues/comments?sort=updated&direction=desc&since=2020-01-01T00:00:00Z")
	d.get(fmt.Sprintf("issues/comments/%d", c))
	d.get("issues/1/timeline")
	d.get("issues/1/labels")
	d.get("labels")
	d.get("labels/bug")
	d.send("me", http.StatusCreated, http.MethodPost, "issues", object{"title": "Another", "body": "x", "labels": []string{"bug"}})
	made := want[struct{ ID int64 }](d.world, http.StatusCreated, "me", http.MethodPost, "/repos/acme/app/issues/1/comments", object{"body": "mine"})
	at := fmt.Sprintf("issues/comments/%d", made.ID)
	d.send("me", http.StatusCreated, http.MethodPost, "issues/1/comments", object{"body": "x"})
	d.send("me", http.StatusOK, http.MethodPatch, at, object{"body": "changed"})
	d.send("me", http.StatusCreated, http.MethodPost, at+"/reactions", object{"content": "eyes"})
	d.send("me", http.StatusOK, http.MethodPost, at+"/reactions", object{"content": "eyes"})
	d.send("me", http.StatusCreated, http.MethodPost, "issues/1/reactions", object{"content": "eyes"})
	d.send("me", http.StatusNoContent, http.MethodDelete, at, nil)
	d.send("me", http.StatusOK, http.MethodPost, "issues/1/labels", object{"labels": []string{"agent:bugfix", "x"}})
	d.send("me", http.StatusOK, http.MethodDelete, "issues/1/labels/x", nil)
	d.send("me", http.StatusCreated, http.MethodPost, "labels", object{"name": "priority:1", "color": "ff0000"})
	d.must(d.repo.Lock(n, "me"))
	d.get("issues/1")
	d.send("me", http.StatusOK, http.MethodPatch, "issues/2", object{"title": "Renamed", "body": "new"})
	d.send("me", http.StatusOK, http.MethodPatch, "issues/2", object{"state": "closed", "state_reason": "not_planned"})
	d.send("tom", http.StatusForbidden, http.MethodPatch, "issues/2", object{"title": "Mine"})
	d.must(d.repo.AddSubIssue(1, "me", "2")) // what an issue says of its sub-issues is described
	d.must(d.repo.Block(1, "me", "2"))
	d.get("issues/1")
	d.get("issues/2")
	_, err = d.hub.AddRepo("acme/lib", nil)
	d.must(err)
	moved, err := d.repo.OpenIssue("me", "Moves", "")
	d.must(err)
	_, err = d.repo.TransferIssue(moved, "acme", "acme/lib")
	d.must(err)
	d.send("me", http.StatusMovedPermanently, http.MethodGet, fmt.Sprintf("issues/%d", moved), nil)
}

func (d *driver) pulls() {
	n := d.pull("topic", "ann")
	d.must(d.repo.Label(n, "ann", "bug"))
	at := fmt.Sprintf("pulls/%d", n)
	d.get("pulls?state=all&head=acme:topic&per_page=100")
	d.get(at)
	d.get(at + "/files")
	d.get(at + "/commits")
	d.send("me", http.StatusOK, http.MethodPatch, at, object{"title": "Renamed", "body": "Fixes #1"})
	_, err := d.repo.PushCommit("other", "me", map[string]string{"b.txt": "b"}, "Other")
	d.must(err)
	d.send("me", http.StatusCreated, http.MethodPost, "pulls", object{"title": "Other", "head": "other", "base": "main", "draft": true})
	merged := d.pull("merged", "ann")
	_, err = d.repo.Merge(merged, "me", "squash")
	d.must(err)
	d.get(fmt.Sprintf("pulls/%d", merged))
	d.get(fmt.Sprintf("issues/%d/timeline", merged))
}

func (d *driver) reviews() {
	n := d.pull("reviewed", "ann")
	top, err := d.repo.ReviewComment(n, "tom", "src/a.txt", 3, "why?")
	d.must(err)
	_, err = d.repo.Review(n, "tom", "REQUEST_CHANGES", "no", LineComment{Path: "src/a.txt", Line: 3, Body: "here"})
	d.must(err)
	_, err = d.repo.Review(n, "me", "PENDING", "draft", LineComment{Path: "src/a.txt", Line: 3, Body: "hidden"})
	d.must(err)
	at := fmt.Sprintf("pulls/%d", n)
	d.get("pulls/comments?sort=updated&direction=desc&per_page=100")
	d.get(at + "/comments")
	d.get(fmt.Sprintf("pulls/comments/%d", top))
	d.get(at + "/reviews")
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, fmt.Sprintf("%s/comments/%d/replies", at, top), object{"body": "x"})
	d.must(d.repo.SubmitPending(n, "me", "COMMENT", "now"))
	reply := want[struct{ ID int64 }](d.world, http.StatusCreated, "me", http.MethodPost, fmt.Sprintf("/repos/acme/app/%s/comments/%d/replies", at, top), object{"body": "first"})
	d.send("me", http.StatusCreated, http.MethodPost, fmt.Sprintf("%s/comments/%d/replies", at, top), object{"body": "because"})
	d.send("me", http.StatusCreated, http.MethodPost, fmt.Sprintf("pulls/comments/%d/reactions", top), object{"content": "eyes"})
	d.send("me", http.StatusNoContent, http.MethodDelete, fmt.Sprintf("pulls/comments/%d", reply.ID), nil)
	_, err = d.repo.PushCommit("reviewed", "ann", map[string]string{"src/a.txt": "all new\n"}, "Outdate it")
	d.must(err)
	d.get(fmt.Sprintf("pulls/comments/%d", top)) // outdated now
	d.get(fmt.Sprintf("issues/%d/timeline", n))
}

// verdicts drives what a reviewer sends.
func (d *driver) verdicts() {
	n := d.pull("judged", "ann")
	d.must(d.repo.SetPermission("tom", "read"))
	head := d.repo.Branches()["judged"]
	reviews := fmt.Sprintf("pulls/%d/reviews", n)
	made := want[struct{ ID int64 }](d.world, http.StatusOK, "me", http.MethodPost, "/repos/acme/app/"+reviews, object{
		"commit_id": head, "event": "REQUEST_CHANGES", "body": "no", "comments": []object{{"path": "src/a.txt", "line": 3, "side": "RIGHT", "body": "here"}},
	})
	at := fmt.Sprintf("%s/%d", reviews, made.ID)
	d.send("me", http.StatusOK, http.MethodPost, reviews, object{"commit_id": head, "event": "COMMENT", "body": "hm"})
	d.send("ann", http.StatusUnprocessableEntity, http.MethodPost, reviews, object{"commit_id": head, "event": "APPROVE"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, reviews, object{"commit_id": d.repo.Branches()["main"], "event": "COMMENT", "body": "x"})
	d.get(reviews)
	d.get(at + "/comments")
	d.absent(reviews + "/1/comments")
	d.send("me", http.StatusOK, http.MethodPut, at, object{"body": "not yet"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPut, at, object{"body": strings.Repeat("x", maxBody+1)})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPut, at+"/dismissals", object{"message": " "})
	d.send("me", http.StatusOK, http.MethodPut, at+"/dismissals", object{"message": "the head moved", "event": "DISMISS"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPut, at+"/dismissals", object{"message": "again"})
	d.send("me", http.StatusNotFound, http.MethodPut, reviews+"/1/dismissals", object{"message": "x"})
	asked := fmt.Sprintf("pulls/%d/requested_reviewers", n)
	d.send("me", http.StatusCreated, http.MethodPost, asked, object{"reviewers": []string{"tom"}})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, asked, object{"reviewers": []string{"ann"}})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, asked, object{"reviewers": []string{"eve"}})
	d.send("eve", http.StatusForbidden, http.MethodPost, asked, object{"reviewers": []string{"tom"}})
	d.get(asked)
	d.must(d.repo.ConvertToDraft(n, "ann"))
	d.must(d.repo.MarkReady(n, "ann"))
	d.get(fmt.Sprintf("issues/%d/timeline", n))
	d.send("me", http.StatusCreated, http.MethodPost, "statuses/"+head, object{"state": "pending", "context": "mergexo/review", "description": "looks", "target_url": nil})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, "statuses/"+head, object{"state": "done"})
	d.send("tom", http.StatusForbidden, http.MethodPost, "statuses/"+head, object{"state": "success"})
	d.get("commits/" + head + "/status")
	d.get("commits/main/status")
	d.absent("commits/none/status")
}

// merges drives what merging asks and sends.
func (d *driver) merges() {
	n := d.pull("landing", "ann")
	at, head := fmt.Sprintf("pulls/%d", n), d.repo.Branches()["landing"]
	d.get("rules/branches/main")
	d.get("branches/main")
	d.absent("branches/nothing")
	d.send("acme", http.StatusNotFound, http.MethodGet, "branches/main/protection", nil)
	d.repo.SetRuleset("all", "main", Rules{
		Checks: []string{"build"}, Strict: true, Approvals: 1, DismissStale: true, LastPush: true, Conversations: true, Linear: true, Methods: []string{"squash"}, Queue: "squash",
	})
	d.get("rules/branches/main")
	d.repo.ProtectBy("main", Rules{Checks: []string{"build"}, Strict: true, Approvals: 2, Conversations: true})
	d.send("acme", http.StatusOK, http.MethodGet, "branches/main/protection", nil)
	d.absent("branches/main/protection")
	d.get("branches/main")
	d.send("me", http.StatusMethodNotAllowed, http.MethodPut, at+"/merge", object{"merge_method": "squash"})
	d.repo.Unprotect("main")
	d.must(d.repo.RemoveRuleset("all"))
	d.send("me", http.StatusUnprocessableEntity, http.MethodPut, at+"/update-branch", object{"expected_head_sha": head})
	_, err := d.repo.PushCommit("main", "acme", map[string]string{"new.txt": "new\n"}, "Move on")
	d.must(err)
	d.send("tom", http.StatusForbidden, http.MethodPut, at+"/update-branch", nil)
	d.send("me", http.StatusAccepted, http.MethodPut, at+"/update-branch", object{"expected_head_sha": head})
	d.send("me", http.StatusConflict, http.MethodPut, at+"/merge", object{"sha": head})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPut, at+"/merge", object{"merge_method": "octopus"})
	d.send("tom", http.StatusForbidden, http.MethodPut, at+"/merge", nil)
	d.send("me", http.StatusNotFound, http.MethodPut, "pulls/999/merge", nil)
	d.send("me", http.StatusOK, http.MethodPut, at+"/merge", object{"merge_method": "squash", "commit_title": "t", "commit_message": "m"})
	d.send("tom", http.StatusForbidden, http.MethodDelete, "git/refs/heads/landing", nil)
	d.send("me", http.StatusNoContent, http.MethodDelete, "git/refs/heads/landing", nil)
	d.send("me", http.StatusUnprocessableEntity, http.MethodDelete, "git/refs/heads/landing", nil)
	d.must(d.repo.AllowMethods("squash"))
	d.get("")
}

func (d *driver) git() {
	_, err := d.repo.SetCheck("topic", "build", "in_progress", "")
	d.must(err)
	run, err := d.repo.SetCheck("topic", "test", "completed", "failure")
	d.must(err)
	d.must(d.repo.SetStatus("topic", "ci", "pending", "wait"))
	for _, path := range []string{
		"", "git/ref/heads/topic", fmt.Sprintf("check-runs/%d", run), "commits/topic/check-runs", "commits/topic/status", "compare/main...topic", "contents/README.md",
	} {
		d.get(path)
	}
}

func (d *driver) accounts() {
	for _, path := range []string{"/user", "collaborators/ann/permission"} {
		d.get(path)
	}
}

func (d *driver) refusals() {
	for _, path := range []string{"issues/99", "issues/comments/1", "pulls/99", "pulls/comments/1", "git/ref/heads/none", "/repos/acme/none", "labels/none"} {
		d.absent(path)
	}
	d.send("me", http.StatusNotFound, http.MethodPost, "issues/99/comments", object{"body": "x"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, "pulls", object{"title": "t", "head": "topic", "base": "main"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, "pulls", object{"title": "t", "head": "none", "base": "main"})
	d.send("me", http.StatusUnprocessableEntity, http.MethodPost, "issues/1/comments", object{"body": ""})
	for _, path := range []string{"issues/99/reactions", "issues/comments/1/reactions", "pulls/comments/1/reactions"} {
		d.send("me", http.StatusNotFound, http.MethodPost, path, object{"content": "eyes"})
	}
	d.send("me", http.StatusNotFound, http.MethodDelete, "issues/comments/1", nil)
	d.absent("/repos/acme/none/pulls")
	d.absent("/repos/acme/none/issues/comments")
	d.send("me", http.StatusNotFound, http.MethodPost, "/repos/acme/none/pulls", object{"title": "t", "head": "topic", "base": "main"})
	d.tokens["stranger"] = "nobody's token"
	d.send("stranger", http.StatusUnauthorized, http.MethodGet, "issues", nil)
	d.must(d.repo.DeleteIssue(2, "acme"))
	d.send("me", http.StatusGone, http.MethodGet, "issues/2", nil)
	tag := d.do("me", http.MethodGet, "/repos/acme/app/issues", nil).Header.Get("Etag")
	if res := d.do("me", http.MethodGet, "/repos/acme/app/issues", nil, "If-None-Match", tag); res.StatusCode != http.StatusNotModified || res.text != "" {
		d.t.Errorf("unchanged list: %d %q", res.StatusCode, res.text)
	}
	d.must(d.repo.Rename("acme/renamed"))
	d.send("me", http.StatusMovedPermanently, http.MethodGet, "", nil)
	d.send("me", http.StatusMovedPermanently, http.MethodGet, "issues/1", nil)
	d.must(d.repo.Rename("acme/app"))
}

func (d *driver) deletedFork() {
	fork, err := d.repo.AddFork("eve")
	d.must(err)
	_, err = fork.PushCommit("theirs", "eve", map[string]string{"c.txt": "c"}, "Theirs")
	d.must(err)
	n, err := d.repo.OpenPull("eve", NewPull{Title: "From a fork", Head: "eve:theirs"})
	d.must(err)
	d.get(fmt.Sprintf("pulls/%d", n))
	fork.DeleteRepo()
	d.get(fmt.Sprintf("pulls/%d", n))
	d.must(d.hub.DeleteUser("eve"))
	d.get("issues/1/comments")
	d.get(fmt.Sprintf("issues/%d", n))
	d.get("issues?state=all")
}

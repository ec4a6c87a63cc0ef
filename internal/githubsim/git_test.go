package githubsim

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// clone makes a working copy and returns a runner of git commands in it.
func (w *world) clone() (dir string, git func(args ...string) (string, error)) {
	w.t.Helper()
	dir = filepath.Join(w.t.TempDir(), "clone")
	run := func(in string, args ...string) (string, error) {
		cmd := exec.CommandContext(w.t.Context(), "git", args...)
		cmd.Dir = in
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@y", "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@y")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := run(".", "clone", "--quiet", w.repo.GitDir(), dir)
	if err != nil {
		w.t.Fatalf("clone: %v: %s", err, out)
	}
	return dir, func(args ...string) (string, error) { return run(dir, args...) }
}

// TestRealPushes pushes with git itself: the pull requests follow.
func TestRealPushes(t *testing.T) {
	w := newWorld(t)
	dir, git := w.clone()
	step := func(args ...string) string {
		t.Helper()
		out, err := git(args...)
		if err != nil {
			t.Fatalf("git %v: %v: %s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
	write := func(content string) {
		t.Helper()
		w.must(os.WriteFile(filepath.Join(dir, "new.txt"), []byte(content), 0o600))
		step("add", "-A")
	}
	step("checkout", "-q", "-b", "topic")
	write("1\n")
	step("commit", "-q", "-m", "One")
	step("push", "-q", "origin", "topic")
	p := want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/pulls", object{"title": "t", "head": "topic", "base": "main"})
	w.clock.advance(time.Minute)
	write("2\n")
	step("commit", "-q", "-m", "Two")
	step("push", "-q", "origin", "topic")
	got := get[object](w, "me", "/repos/acme/app/pulls/1")
	if got["head"].(object)["sha"] != step("rev-parse", "HEAD") || got["commits"] != 2.0 || got["updated_at"] == p["updated_at"] {
		t.Errorf("after a push: %v", got)
	}
	step("commit", "-q", "--amend", "-m", "Two, amended")
	step("push", "-q", "-f", "origin", "topic")
	if line := w.repo.Timeline(1); len(line) != 1 || line[0].Event != "head_ref_force_pushed" {
		t.Errorf("after a force-push: %+v", line)
	}
	if out := step("ls-remote", "origin", "refs/pull/1/head"); !strings.HasPrefix(out, step("rev-parse", "HEAD")) {
		t.Errorf("refs/pull/1/head: %s", out)
	}
	step("push", "-q", "origin", "topic:main")
	if p, _ := w.repo.Pull(1); !p.Merged {
		t.Errorf("pushed to main, but %+v", p)
	}
	step("push", "-q", "origin", ":topic")
	if _, ok := w.repo.Head("topic"); ok {
		t.Error("the branch is still there")
	}
}

func TestDeletedBranchClosesPull(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	head, _ := w.repo.Head("topic")
	w.must(w.repo.DeleteBranch("topic", "ann"))
	p, _ := w.repo.Pull(n)
	if p.State != "closed" || p.Merged || p.HeadOID != head {
		t.Errorf("pull request %+v", p)
	}
	want[object](w, 422, "ann", http.MethodPatch, "/repos/acme/app/pulls/1", object{"state": "open"})
	w.must(w.repo.CreateBranch("topic", head))
	want[object](w, 200, "ann", http.MethodPatch, "/repos/acme/app/pulls/1", object{"state": "open"})
}

func TestRefusedPushes(t *testing.T) {
	w := newWorld(t)
	dir, git := w.clone()
	w.must(w.repo.RefusePushes("main", "error: GH006: Protected branch update failed for refs/heads/main."))
	w.must(w.repo.RefuseWorkflows())
	w.must(os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "x"}} {
		if out, err := git(args...); err != nil {
			t.Fatal(out)
		}
	}
	if out, err := git("push", "origin", "HEAD:main"); err == nil || !strings.Contains(out, "GH006: Protected branch update failed") {
		t.Errorf("push to main: %v %s", err, out)
	}
	if out, err := git("push", "origin", "HEAD:other"); err != nil {
		t.Errorf("push to another branch: %s", out)
	}
	w.must(os.MkdirAll(filepath.Join(dir, ".github", "workflows"), 0o755))
	w.must(os.WriteFile(filepath.Join(dir, ".github", "workflows", "ci.yml"), nil, 0o600))
	for _, args := range [][]string{{"add", "-A"}, {"commit", "-q", "-m", "ci"}} {
		if out, err := git(args...); err != nil {
			t.Fatal(out)
		}
	}
	if out, err := git("push", "origin", "HEAD:other"); err == nil || !strings.Contains(out, "without `workflow` scope") {
		t.Errorf("push of a workflow: %v %s", err, out)
	}
	w.must(w.repo.AllowPushes())
	if out, err := git("push", "origin", "HEAD:other", "HEAD:main"); err != nil {
		t.Errorf("allowed again: %s", out)
	}
}

func TestRefsAndContents(t *testing.T) {
	w := newWorld(t)
	main, _ := w.repo.Head("main")
	ref := want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/git/refs", object{"ref": "refs/heads/agent/x", "sha": main})
	if ref["object"].(object)["sha"] != main {
		t.Errorf("ref %v", ref)
	}
	want[object](w, 422, "me", http.MethodPost, "/repos/acme/app/git/refs", object{"ref": "refs/heads/agent/x", "sha": main})
	oid, err := w.repo.PushCommit("agent/y", "ann", map[string]string{"dir/f.txt": "hello\n"}, "Add")
	w.must(err)
	if got := get[object](w, "me", "/repos/acme/app/git/ref/heads/agent/y"); got["object"].(object)["sha"] != oid {
		t.Errorf("ref %v", got)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/git/matching-refs/heads/agent"); len(list) != 2 {
		t.Errorf("matching %v", list)
	}
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/git/ref/heads/agent", nil)
	want[object](w, 200, "me", http.MethodPatch, "/repos/acme/app/git/refs/heads/agent/x", object{"sha": oid})
	res := w.do("me", http.MethodPatch, "/repos/acme/app/git/refs/heads/agent/x", object{"sha": main})
	if res.StatusCode != 422 || !strings.Contains(res.text, "Update is not a fast forward") {
		t.Errorf("backwards: %d %s", res.StatusCode, res.text)
	}
	want[object](w, 204, "me", http.MethodDelete, "/repos/acme/app/git/refs/heads/agent/x", nil)
	if b := get[object](w, "me", "/repos/acme/app/branches/agent/y"); b["commit"].(object)["sha"] != oid {
		t.Errorf("branch %v", b["name"])
	}
	if list := get[[]object](w, "me", "/repos/acme/app/branches"); len(list) != 2 {
		t.Errorf("branches %v", list)
	}
	file := get[object](w, "me", "/repos/acme/app/contents/dir/f.txt?ref=agent/y")
	if data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(file["content"].(string), "\n", "")); err != nil || string(data) != "hello\n" {
		t.Errorf("content %q %v", data, err)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/contents/dir?ref=agent/y"); len(list) != 1 || list[0]["path"] != "dir/f.txt" {
		t.Errorf("folder %v", list)
	}
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/contents/dir/f.txt", nil)
	cmp := get[object](w, "me", "/repos/acme/app/compare/main...agent/y")
	if cmp["status"] != "ahead" || cmp["ahead_by"] != 1.0 || len(cmp["files"].([]any)) != 1 {
		t.Errorf("compare %v", cmp)
	}
	if c := get[object](w, "me", "/repos/acme/app/commits/agent/y"); c["sha"] != oid || c["stats"].(object)["additions"] != 1.0 {
		t.Errorf("commit %v", c["sha"])
	}
	if list := get[[]object](w, "me", "/repos/acme/app/commits?sha=agent/y"); len(list) != 2 {
		t.Errorf("commits %v", list)
	}
	tree := get[object](w, "me", "/repos/acme/app/git/trees/agent%2Fy?recursive=1")
	if len(tree["tree"].([]any)) != 5 {
		t.Errorf("tree %v", tree)
	}
	if b := get[object](w, "me", "/repos/acme/app/git/blobs/"+file["sha"].(string)); b["size"] != 6.0 {
		t.Errorf("blob %v", b)
	}
	if c := get[object](w, "me", "/repos/acme/app/git/commits/"+oid); c["message"] != "Add" {
		t.Errorf("git commit %v", c)
	}
}

func TestChecks(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	head, _ := w.repo.Head("topic")
	at := "/repos/acme/app/commits/" + head
	if s := get[object](w, "me", at+"/status"); s["state"] != "pending" || s["total_count"] != 0.0 {
		t.Errorf("without statuses: %v", s)
	}
	_, err := w.repo.SetCheck("topic", "build", "", "failure")
	w.must(err)
	id, err := w.repo.SetCheck("topic", "build", "in_progress", "")
	w.must(err)
	runs := get[object](w, "me", at+"/check-runs")
	if runs["total_count"] != 1.0 || runs["check_runs"].([]any)[0].(object)["status"] != "in_progress" {
		t.Errorf("latest runs: %v", runs)
	}
	if runs := get[object](w, "me", "/repos/acme/app/commits/topic/check-runs?filter=all"); runs["total_count"] != 2.0 {
		t.Errorf("all runs: %v", runs["total_count"])
	}
	run := get[object](w, "me", fmt.Sprintf("/repos/acme/app/check-runs/%d", id))
	if run["name"] != "build" || run["pull_requests"].([]any)[0].(object)["number"] != 1.0 {
		t.Errorf("run %v", run)
	}
	suites := get[object](w, "me", at+"/check-suites")
	if suites["total_count"] != 1.0 || suites["check_suites"].([]any)[0].(object)["status"] != "in_progress" {
		t.Errorf("suites %v", suites)
	}
	want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/statuses/"+head, object{"state": "success", "context": "ci"})
	want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/statuses/"+head, object{"state": "failure", "context": "ci"})
	if s := get[object](w, "me", at+"/status"); s["state"] != "failure" || s["total_count"] != 1.0 {
		t.Errorf("combined %v", s)
	}
	if list := get[[]object](w, "me", at+"/statuses"); len(list) != 2 || list[0]["state"] != "failure" {
		t.Errorf("statuses %v", list)
	}
	want[object](w, 403, "me", http.MethodPost, "/repos/acme/app/check-runs", object{"name": "x", "head_sha": head})
	token, err := w.hub.AddBot("ci")
	w.must(err)
	w.tokens["ci"] = token
	made := want[object](w, 201, "ci", http.MethodPost, "/repos/acme/app/check-runs", object{"name": "x", "head_sha": head})
	want[object](w, 200, "ci", http.MethodPatch, fmt.Sprintf("/repos/acme/app/check-runs/%.0f", made["id"]), object{"conclusion": "success"})
}

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
	oid, err := w.repo.PushCommit("agent/y", "ann", map[string]string{"dir/f.txt": "hello\n"}, "Add")
	w.must(err)
	if got := get[object](w, "me", "/repos/acme/app/git/ref/heads/agent/y"); got["object"].(object)["sha"] != oid {
		t.Errorf("ref %v", got)
	}
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/git/ref/heads/agent", nil)
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
}

func TestChecks(t *testing.T) {
	w := newWorld(t)
	id := object{"id": w.nodeOf(w.pull("topic", "ann"))}
	rollup := func() any {
		return at(t, w.data("me", `query($id: ID!) { node(id: $id) { ... on PullRequest { statusCheckRollup { state contexts(first: 9) { nodes {
			... on CheckRun { name status conclusion } ... on StatusContext { context state } } } } } } }`, id), "node", "statusCheckRollup")
	}
	if got := rollup(); got != nil {
		t.Errorf("without checks: %v", got)
	}
	_, err := w.repo.SetCheck("topic", "build", "", "failure")
	w.must(err)
	run, err := w.repo.SetCheck("topic", "build", "in_progress", "")
	w.must(err)
	if got := rollup(); at(t, got, "state") != "PENDING" || len(at(t, got, "contexts", "nodes").([]any)) != 1 || at(t, got, "contexts", "nodes", 0, "status") != "IN_PROGRESS" {
		t.Errorf("latest runs: %v", got)
	}
	one := get[object](w, "me", fmt.Sprintf("/repos/acme/app/check-runs/%d", run))
	if one["name"] != "build" || one["pull_requests"].([]any)[0].(object)["number"] != 1.0 {
		t.Errorf("run %v", one)
	}
	w.must(w.repo.SetStatus("topic", "ci", "success", ""))
	w.must(w.repo.SetStatus("topic", "ci", "failure", ""))
	if got := rollup(); at(t, got, "state") != "FAILURE" || len(at(t, got, "contexts", "nodes").([]any)) != 2 {
		t.Errorf("with a status: %v", got)
	}
}

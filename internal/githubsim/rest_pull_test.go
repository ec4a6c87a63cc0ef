package githubsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

func TestPullLife(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "Broken", "")
	w.must(err)
	oid, err := w.repo.PushCommit("topic", "me", map[string]string{"src/a.txt": Removed, "new dir/b \"q\".txt": "x\ny\n"}, "Move it")
	w.must(err)
	p := want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/pulls", object{"title": "Move", "body": "Fixes #1", "head": "topic", "base": "main"})
	if p["number"] != 2.0 || p["head"].(object)["sha"] != oid || p["mergeable"] != true || p["mergeable_state"] != "clean" || p["commits"] != 1.0 ||
		p["changed_files"] != 2.0 || p["additions"] != 2.0 || p["deletions"] != 10.0 || p["head"].(object)["label"] != "acme:topic" {
		t.Errorf("made %v", p)
	}
	res := w.do("me", http.MethodPost, "/repos/acme/app/pulls", object{"title": "Again", "head": "acme:topic", "base": "main"})
	if res.StatusCode != 422 || !strings.Contains(res.text, "A pull request already exists for acme:topic.") {
		t.Errorf("duplicate: %d %s", res.StatusCode, res.text)
	}
	list := get[[]object](w, "me", "/repos/acme/app/pulls?state=all&head=acme:topic")
	if len(list) != 1 || list[0]["mergeable"] != nil || list[0]["merged"] != nil {
		t.Errorf("list %v", list)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls?head=acme:other"); len(list) != 0 {
		t.Errorf("other head: %v", list)
	}
	files := get[[]object](w, "me", "/repos/acme/app/pulls/2/files")
	if len(files) != 2 || files[0]["filename"] != "new dir/b \"q\".txt" || files[0]["status"] != "added" || !strings.HasPrefix(files[0]["patch"].(string), "@@ -0,0 +1,2 @@") {
		t.Errorf("files %v", files)
	}
	if commits := get[[]object](w, "me", "/repos/acme/app/pulls/2/commits"); len(commits) != 1 || commits[0]["author"].(object)["login"] != "me" {
		t.Errorf("commits %v", commits)
	}
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/pulls/2/merge", nil)
	want[object](w, 409, "me", http.MethodPut, "/repos/acme/app/pulls/2/merge", object{"sha": strings.Repeat("0", 40)})
	merged := want[object](w, 200, "me", http.MethodPut, "/repos/acme/app/pulls/2/merge", object{"sha": oid})
	if head, _ := w.repo.Head("main"); head != merged["sha"] {
		t.Errorf("main is at %s, not %v", head, merged["sha"])
	}
	want[object](w, 204, "me", http.MethodGet, "/repos/acme/app/pulls/2/merge", nil)
	if is, _ := w.repo.Issue(1); is.State != "closed" || is.StateReason != "completed" {
		t.Errorf("the fixed issue is %+v", is)
	}
	if p := get[object](w, "me", "/repos/acme/app/pulls/2"); p["merged"] != true || p["state"] != "closed" || p["merged_by"].(object)["login"] != "me" {
		t.Errorf("merged %v", p)
	}
	want[object](w, 405, "me", http.MethodPut, "/repos/acme/app/pulls/2/merge", object{})
	want[object](w, 422, "me", http.MethodPatch, "/repos/acme/app/pulls/2", object{"state": "open"})
	if list := get[[]object](w, "me", "/repos/acme/app/commits/"+oid+"/pulls"); len(list) != 1 {
		t.Errorf("pulls of the commit: %v", list)
	}
}

func TestPullRefusals(t *testing.T) {
	w := newWorld(t)
	w.must(w.repo.CreateBranch("same", "main"))
	tests := []struct {
		name, as string
		in       object
		status   int
		text     string
	}{
		{"no head", "me", object{"title": "t", "head": "nope", "base": "main"}, 422, `"field":"head","code":"invalid"`},
		{"no base", "me", object{"title": "t", "head": "same", "base": "nope"}, 422, `"field":"base","code":"invalid"`},
		{"nothing new", "me", object{"title": "t", "head": "same", "base": "main"}, 422, "No commits between main and same"},
		{"no title", "me", object{"head": "same", "base": "main"}, 422, `"field":"title","code":"missing_field"`},
		{"no permission", "tom", object{"title": "t", "head": "same", "base": "main"}, 422, "must be a collaborator"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if res := w.do(tt.as, http.MethodPost, "/repos/acme/app/pulls", tt.in); res.StatusCode != tt.status || !strings.Contains(res.text, tt.text) {
				t.Errorf("%d %s", res.StatusCode, res.text)
			}
		})
	}
}

func TestMergeMethods(t *testing.T) {
	for method, subjects := range map[string]string{
		"merge":  "Merge pull request #1 from acme/topic|Two|One|Base moves on|Initial commit",
		"squash": "Change (#1)|Base moves on|Initial commit",
		"rebase": "Two|One|Base moves on|Initial commit",
	} {
		t.Run(method, func(t *testing.T) {
			w := newWorld(t)
			_, err := w.repo.PushCommit("topic", "ann", map[string]string{"one": "1\n"}, "One")
			w.must(err)
			_, err = w.repo.PushCommit("topic", "ann", map[string]string{"two": "2\n"}, "Two")
			w.must(err)
			_, err = w.repo.PushCommit("main", "acme", map[string]string{"base": "b\n"}, "Base moves on")
			w.must(err)
			n, err := w.repo.OpenPull("ann", NewPull{Title: "Change", Head: "topic"})
			w.must(err)
			want[object](w, 200, "me", http.MethodPut, fmt.Sprintf("/repos/acme/app/pulls/%d/merge", n), object{"merge_method": method})
			list, err := w.repo.Log("main")
			w.must(err)
			var got []string
			for _, c := range list {
				got = append(got, c.Subject())
			}
			if strings.Join(got, "|") != subjects {
				t.Errorf("main is %q, want %q", got, subjects)
			}
			for file, content := range map[string]string{"one": "1\n", "two": "2\n", "base": "b\n"} {
				if have, _ := w.repo.File("main", file); have != content {
					t.Errorf("%s is %q", file, have)
				}
			}
		})
	}
}

func TestConflict(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	_, err := w.repo.PushCommit("main", "acme", map[string]string{"src/a.txt": "all\nnew\n"}, "Clash")
	w.must(err)
	p := get[object](w, "me", "/repos/acme/app/pulls/1")
	if p["mergeable"] != false || p["mergeable_state"] != "dirty" {
		t.Errorf("mergeable %v %v", p["mergeable"], p["mergeable_state"])
	}
	res := w.do("me", http.MethodPut, "/repos/acme/app/pulls/1/merge", object{})
	if res.StatusCode != 405 || !strings.Contains(res.text, "Pull Request is not mergeable") {
		t.Errorf("merge: %d %s", res.StatusCode, res.text)
	}
	w.hub.LagMergeable(1)
	if p := get[object](w, "me", "/repos/acme/app/pulls/1"); p["mergeable"] != nil || p["mergeable_state"] != "unknown" {
		t.Errorf("unknown: %v", p["mergeable"])
	}
	w.must(w.repo.SetDraft(n, "ann", true))
	if res := w.do("me", http.MethodPut, "/repos/acme/app/pulls/1/merge", object{}); !strings.Contains(res.text, "Pull Request is still a draft") {
		t.Errorf("draft: %s", res.text)
	}
	w.must(w.repo.SetDraft(n, "ann", false))
	w.repo.RefuseMerges("Changes must be made through the merge queue")
	if res := w.do("me", http.MethodPut, "/repos/acme/app/pulls/1/merge", object{}); res.StatusCode != 405 || !strings.Contains(res.text, "merge queue") {
		t.Errorf("queue: %s", res.text)
	}
}

func TestUpdateBranchAndProtection(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	_, err := w.repo.PushCommit("main", "acme", map[string]string{"other": "b\n"}, "Base moves on")
	w.must(err)
	want[object](w, 422, "me", http.MethodPut, "/repos/acme/app/pulls/1/update-branch", object{"expected_head_sha": strings.Repeat("0", 40)})
	want[object](w, 202, "me", http.MethodPut, "/repos/acme/app/pulls/1/update-branch", object{})
	if content, _ := w.repo.File("topic", "other"); content != "b\n" {
		t.Errorf("the branch lacks the base's file")
	}
	want[object](w, 422, "me", http.MethodPut, "/repos/acme/app/pulls/1/update-branch", object{})
	w.repo.Protect("main", []string{"build"}, 1)
	res := w.do("me", http.MethodPut, "/repos/acme/app/pulls/1/merge", object{})
	if res.StatusCode != 405 || !strings.Contains(res.text, "build") {
		t.Errorf("unmet check: %s", res.text)
	}
	_, err = w.repo.SetCheck("topic", "build", "", "success")
	w.must(err)
	if p := get[object](w, "me", "/repos/acme/app/pulls/1"); p["mergeable_state"] != "blocked" {
		t.Errorf("state %v", p["mergeable_state"])
	}
	_, err = w.repo.Review(n, "me", "APPROVE", "")
	w.must(err)
	want[object](w, 200, "me", http.MethodPut, "/repos/acme/app/pulls/1/merge", object{})
}

func TestForkPull(t *testing.T) {
	w := newWorld(t)
	fork, err := w.repo.AddFork("eve")
	w.must(err)
	oid, err := fork.PushCommit("agent/bugfix/1-x", "eve", map[string]string{"evil": "x\n"}, "Evil")
	w.must(err)
	p := want[object](w, 201, "eve", http.MethodPost, "/repos/acme/app/pulls", object{"title": "t", "head": "eve:agent/bugfix/1-x", "base": "main"})
	if p["head"].(object)["sha"] != oid || p["head"].(object)["repo"].(object)["full_name"] != "eve/app" || p["head"].(object)["repo"].(object)["fork"] != true {
		t.Errorf("head %v", p["head"])
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls?head=acme:agent/bugfix/1-x"); len(list) != 0 {
		t.Errorf("found a fork's by our owner: %v", list)
	}
	_, err = fork.PushCommit("agent/bugfix/1-x", "eve", map[string]string{"evil": "y\n"}, "More")
	w.must(err)
	if p := get[object](w, "me", "/repos/acme/app/pulls/1"); p["commits"] != 2.0 || p["mergeable"] != true {
		t.Errorf("after a push to the fork: %v %v", p["commits"], p["mergeable"])
	}
	fork.DeleteRepo()
	if p := get[object](w, "me", "/repos/acme/app/pulls/1"); p["head"].(object)["repo"] != nil {
		t.Errorf("a deleted fork: %v", p["head"])
	}
}

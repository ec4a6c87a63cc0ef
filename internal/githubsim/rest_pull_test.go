package githubsim

import (
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
	merged, err := w.repo.Merge(2, "me", "")
	w.must(err)
	if head, _ := w.repo.Head("main"); head != merged {
		t.Errorf("main is at %s, not %s", head, merged)
	}
	if is, _ := w.repo.Issue(1); is.State != "closed" || is.StateReason != "completed" {
		t.Errorf("the fixed issue is %+v", is)
	}
	if p := get[object](w, "me", "/repos/acme/app/pulls/2"); p["merged"] != true || p["state"] != "closed" || p["merged_by"].(object)["login"] != "me" {
		t.Errorf("merged %v", p)
	}
	if _, err := w.repo.Merge(2, "me", ""); err == nil {
		t.Error("merged twice")
	}
	want[object](w, 422, "me", http.MethodPatch, "/repos/acme/app/pulls/2", object{"state": "open"})
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
			_, err = w.repo.Merge(n, "me", method)
			w.must(err)
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
	if _, err := w.repo.Merge(n, "me", ""); err == nil || !strings.Contains(err.Error(), "Pull Request is not mergeable") {
		t.Errorf("merge: %v", err)
	}
	w.hub.LagMergeable(1)
	if p := get[object](w, "me", "/repos/acme/app/pulls/1"); p["mergeable"] != nil || p["mergeable_state"] != "unknown" {
		t.Errorf("unknown: %v", p["mergeable"])
	}
	w.repo.RefuseMerges("Changes must be made through the merge queue")
	if _, err := w.repo.Merge(n, "me", ""); err == nil || !strings.Contains(err.Error(), "merge queue") {
		t.Errorf("queue: %v", err)
	}
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

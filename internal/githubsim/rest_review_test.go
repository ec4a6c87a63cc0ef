package githubsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestReviews(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	const path = "/repos/acme/app/pulls/1/reviews"
	for name, in := range map[string]object{"COMMENT": {"event": "COMMENT"}, "REQUEST_CHANGES": {"event": "REQUEST_CHANGES", "body": " "}} {
		if res := w.do("me", http.MethodPost, path, in); res.StatusCode != 422 {
			t.Errorf("%s without a body: %d", name, res.StatusCode)
		}
	}
	for _, event := range []string{"APPROVE", "REQUEST_CHANGES"} {
		if res := w.do("ann", http.MethodPost, path, object{"event": event, "body": "x"}); res.StatusCode != 422 || !strings.Contains(res.text, "your own pull request") {
			t.Errorf("own pull request, %s: %d %s", event, res.StatusCode, res.text)
		}
	}
	v := want[object](w, 200, "me", http.MethodPost, path, object{"event": "REQUEST_CHANGES", "body": "no", "comments": []object{{"path": "src/a.txt", "line": 3, "body": "here"}}})
	if v["state"] != "CHANGES_REQUESTED" || v["submitted_at"] == nil {
		t.Errorf("review %v", v)
	}
	one := fmt.Sprintf("%s/%.0f", path, v["id"])
	if list := get[[]object](w, "me", one+"/comments"); len(list) != 1 || list[0]["body"] != "here" {
		t.Errorf("its comments %v", list)
	}
	want[object](w, 200, "me", http.MethodPut, one, object{"body": "no, no"})
	want[object](w, 200, "me", http.MethodPut, one+"/dismissals", object{"message": "stale"})
	if got := get[object](w, "me", one); got["state"] != "DISMISSED" || got["body"] != "no, no" {
		t.Errorf("dismissed %v", got)
	}
	want[object](w, 422, "me", http.MethodDelete, one, nil)
	res := w.do("me", http.MethodPost, path, object{"event": "COMMENT", "body": "x", "comments": []object{{"path": "src/a.txt", "line": 99, "body": "where"}}})
	if res.StatusCode != 422 {
		t.Errorf("a line outside the diff: %d", res.StatusCode)
	}
}

func TestPendingReview(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	top, err := w.repo.ReviewComment(1, "ann", "src/a.txt", 3, "look")
	w.must(err)
	const path = "/repos/acme/app/pulls/1/reviews"
	v := want[object](w, 200, "me", http.MethodPost, path, object{"body": "draft", "comments": []object{{"path": "src/a.txt", "line": 3, "body": "secret"}}})
	if v["state"] != "PENDING" || v["submitted_at"] != nil {
		t.Errorf("draft %v", v)
	}
	one := fmt.Sprintf("%s/%.0f", path, v["id"])
	want[object](w, 404, "acme", http.MethodGet, one, nil)
	if mine, others := get[[]object](w, "me", path), get[[]object](w, "acme", path); len(mine) != 2 || len(others) != 1 {
		t.Errorf("seen by me %d, by others %d", len(mine), len(others))
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls/comments"); len(list) != 1 {
		t.Errorf("a draft's comment is in the list: %v", list)
	}
	reply := fmt.Sprintf("/repos/acme/app/pulls/1/comments/%d/replies", top)
	res := w.do("me", http.MethodPost, reply, object{"body": "hm"})
	if res.StatusCode != 422 || !strings.Contains(res.text, "user_id can only have one pending review per pull request") {
		t.Errorf("reply beside a draft: %d %s", res.StatusCode, res.text)
	}
	want[object](w, 422, "me", http.MethodPost, path, object{})
	sent := want[object](w, 200, "me", http.MethodPost, one+"/events", object{"event": "COMMENT"})
	if sent["state"] != "COMMENTED" || sent["body"] != "draft" {
		t.Errorf("submitted %v", sent)
	}
	want[object](w, 201, "me", http.MethodPost, reply, object{"body": "hm"})
	v = want[object](w, 200, "me", http.MethodPost, path, object{"comments": []object{{"path": "src/a.txt", "line": 3, "body": "gone"}}})
	want[object](w, 200, "me", http.MethodDelete, fmt.Sprintf("%s/%.0f", path, v["id"]), nil)
	if n := len(w.repo.ReviewComments(1)); n != 3 {
		t.Errorf("%d comments are left", n)
	}
}

func TestDiffComments(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	const path = "/repos/acme/app/pulls/1/comments"
	head, _ := w.repo.Head("topic")
	res := w.do("me", http.MethodPost, path, object{"body": "x", "path": "src/a.txt", "line": 10, "commit_id": head})
	if res.StatusCode != 422 || !strings.Contains(res.text, "must be part of the diff") {
		t.Errorf("line outside the diff: %d %s", res.StatusCode, res.text)
	}
	c := want[object](w, 201, "me", http.MethodPost, path, object{"body": "why", "path": "src/a.txt", "line": 3, "side": "RIGHT", "commit_id": head})
	if c["line"] != 3.0 || !strings.HasSuffix(c["diff_hunk"].(string), "\n+THREE topic") || c["pull_request_review_id"] == nil || c["in_reply_to_id"] != nil {
		t.Errorf("made %v", c)
	}
	w.clock.advance(time.Minute)
	r := want[object](w, 201, "ann", http.MethodPost, fmt.Sprintf("%s/%.0f/replies", path, c["id"]), object{"body": "because"})
	if r["in_reply_to_id"] != c["id"] || r["path"] != "src/a.txt" {
		t.Errorf("reply %v", r)
	}
	want[object](w, 422, "me", http.MethodPost, fmt.Sprintf("%s/%.0f/replies", path, r["id"]), object{"body": "a reply to a reply"})
	want[object](w, 404, "me", http.MethodPost, path+"/1/replies", object{"body": "to nothing"})
	list := get[[]object](w, "me", "/repos/acme/app/pulls/comments?sort=updated&direction=desc")
	if len(list) != 2 || list[0]["body"] != "because" {
		t.Errorf("list %v", list)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls/comments?since=2026-03-01T12:01:00Z"); len(list) != 1 {
		t.Errorf("since: %v", list)
	}
	_, err := w.repo.PushCommit("topic", "ann", map[string]string{"src/a.txt": "zero\none\ntwo\nTHREE topic\nfour\nfive\nsix\nseven\neight\nnine\nten\n"}, "Shift")
	w.must(err)
	one := fmt.Sprintf("/repos/acme/app/pulls/comments/%.0f", c["id"])
	if got := get[object](w, "me", one); got["line"] != 4.0 || got["original_line"] != 3.0 {
		t.Errorf("a line that moved: %v of %v", got["line"], got["original_line"])
	}
	_, err = w.repo.PushCommit("topic", "ann", map[string]string{"src/a.txt": "zero\none\ntwo\nchanged\nfour\n"}, "Change")
	w.must(err)
	if got := get[object](w, "me", one); got["line"] != nil || got["position"] != nil {
		t.Errorf("an outdated line: %v", got["line"])
	}
	want[object](w, 200, "me", http.MethodPatch, one, object{"body": "edited"})
	want[object](w, 201, "ann", http.MethodPost, one+"/reactions", object{"content": "eyes"})
	want[object](w, 204, "me", http.MethodDelete, one, nil)
	want[object](w, 404, "me", http.MethodGet, one, nil)
	if all := w.repo.ReviewComments(1); len(all) != 1 || all[0].Body != "because" {
		t.Errorf("left: %+v", all)
	}
}

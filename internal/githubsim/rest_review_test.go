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
	for _, verdict := range []string{"COMMENT", "REQUEST_CHANGES"} {
		if _, err := w.repo.Review(1, "me", verdict, " "); err == nil {
			t.Errorf("%s without a body", verdict)
		}
	}
	for _, verdict := range []string{"APPROVE", "REQUEST_CHANGES"} {
		if _, err := w.repo.Review(1, "ann", verdict, "x"); err == nil || !strings.Contains(err.Error(), "your own pull request") {
			t.Errorf("own pull request, %s: %v", verdict, err)
		}
	}
	id, err := w.repo.Review(1, "me", "REQUEST_CHANGES", "no", LineComment{Path: "src/a.txt", Line: 3, Body: "here"})
	w.must(err)
	w.must(w.repo.EditReview(1, id, "", "no, no"))
	list := get[[]object](w, "tom", "/repos/acme/app/pulls/1/reviews")
	if len(list) != 1 || list[0]["state"] != "CHANGES_REQUESTED" || list[0]["submitted_at"] == nil || list[0]["body"] != "no, no" {
		t.Errorf("reviews %v", list)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls/1/comments"); len(list) != 1 || list[0]["body"] != "here" {
		t.Errorf("its comments %v", list)
	}
	if _, err := w.repo.Review(1, "me", "COMMENT", "x", LineComment{Path: "src/a.txt", Line: 99, Body: "where"}); err == nil {
		t.Error("a line outside the diff")
	}
}

func TestPendingReview(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	top, err := w.repo.ReviewComment(1, "ann", "src/a.txt", 3, "look")
	w.must(err)
	const path = "/repos/acme/app/pulls/1/reviews"
	_, err = w.repo.Review(1, "me", "PENDING", "draft", LineComment{Path: "src/a.txt", Line: 3, Body: "secret"})
	w.must(err)
	mine, others := get[[]object](w, "me", path), get[[]object](w, "acme", path)
	if len(mine) != 2 || len(others) != 1 {
		t.Fatalf("seen by me %d, by others %d", len(mine), len(others))
	}
	if v := mine[1]; v["state"] != "PENDING" || v["submitted_at"] != nil {
		t.Errorf("draft %v", v)
	}
	if list := get[[]object](w, "me", "/repos/acme/app/pulls/comments"); len(list) != 1 {
		t.Errorf("a draft's comment is in the list: %v", list)
	}
	reply := fmt.Sprintf("/repos/acme/app/pulls/1/comments/%d/replies", top)
	res := w.do("me", http.MethodPost, reply, object{"body": "hm"})
	if res.StatusCode != 422 || !strings.Contains(res.text, "user_id can only have one pending review per pull request") {
		t.Errorf("reply beside a draft: %d %s", res.StatusCode, res.text)
	}
	w.must(w.repo.SubmitPending(1, "me", "COMMENT", "draft"))
	if sent := get[[]object](w, "acme", path); len(sent) != 2 || sent[1]["state"] != "COMMENTED" || sent[1]["body"] != "draft" {
		t.Errorf("submitted %v", sent)
	}
	want[object](w, 201, "me", http.MethodPost, reply, object{"body": "hm"})
	if n := len(w.repo.ReviewComments(1)); n != 3 {
		t.Errorf("%d comments are left", n)
	}
}

func TestDiffComments(t *testing.T) {
	w := newWorld(t)
	w.pull("topic", "ann")
	const path = "/repos/acme/app/pulls/1/comments"
	if _, err := w.repo.ReviewComment(1, "me", "src/a.txt", 10, "x"); err == nil || !strings.Contains(err.Error(), "must be part of the diff") {
		t.Errorf("line outside the diff: %v", err)
	}
	id, err := w.repo.ReviewComment(1, "me", "src/a.txt", 3, "why")
	w.must(err)
	one := fmt.Sprintf("/repos/acme/app/pulls/comments/%d", id)
	c := get[object](w, "me", one)
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
	_, err = w.repo.PushCommit("topic", "ann", map[string]string{"src/a.txt": "zero\none\ntwo\nTHREE topic\nfour\nfive\nsix\nseven\neight\nnine\nten\n"}, "Shift")
	w.must(err)
	if got := get[object](w, "me", one); got["line"] != 4.0 || got["original_line"] != 3.0 {
		t.Errorf("a line that moved: %v of %v", got["line"], got["original_line"])
	}
	_, err = w.repo.PushCommit("topic", "ann", map[string]string{"src/a.txt": "zero\none\ntwo\nchanged\nfour\n"}, "Change")
	w.must(err)
	if got := get[object](w, "me", one); got["line"] != nil || got["position"] != nil {
		t.Errorf("an outdated line: %v", got["line"])
	}
	want[object](w, 201, "ann", http.MethodPost, one+"/reactions", object{"content": "eyes"})
	want[object](w, 204, "me", http.MethodDelete, one, nil)
	want[object](w, 404, "me", http.MethodGet, one, nil)
	if all := w.repo.ReviewComments(1); len(all) != 1 || all[0].Body != "because" {
		t.Errorf("left: %+v", all)
	}
}

// TestReviewsLag: a review that was just posted is in no list yet, neither by REST nor by GraphQL.
func TestReviewsLag(t *testing.T) {
	w := newWorld(t)
	n := w.pull("topic", "ann")
	const path = "/repos/acme/app/pulls/1/reviews"
	w.hub.Lag("reviews", 1, 0, time.Minute)
	made := want[object](w, 200, "me", http.MethodPost, path, object{"event": "COMMENT", "body": "hm", "comments": []object{{"path": "src/a.txt", "line": 3, "body": "why"}}})
	if list := get[[]object](w, "me", path); len(list) != 0 {
		t.Errorf("listed at once: %v", list)
	}
	if id, _ := w.repo.Review(n, "tom", "COMMENT", "and I"); id == 0 {
		t.Error("no second review")
	}
	if list := get[[]object](w, "me", path); len(list) != 1 || list[0]["body"] != "and I" {
		t.Errorf("the second: %v", list)
	}
	w.clock.advance(time.Minute)
	if list := get[[]object](w, "me", path); len(list) != 2 || list[0]["id"] != made["id"] || list[0]["commit_id"] != w.repo.Branches()["topic"] {
		t.Errorf("later: %v", list)
	}
}

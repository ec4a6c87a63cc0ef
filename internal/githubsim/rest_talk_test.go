package githubsim

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestComments(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	c := want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/issues/1/comments", object{"body": "hello <b>&"})
	if c["body"] != "hello <b>&" || c["author_association"] != "COLLABORATOR" || !strings.HasSuffix(c["issue_url"].(string), "/issues/1") {
		t.Errorf("made %v", c)
	}
	w.clock.advance(time.Minute)
	id, err := w.repo.Comment(n, "tom", "second")
	w.must(err)
	w.clock.advance(time.Minute)
	path := fmt.Sprintf("/repos/acme/app/issues/comments/%.0f", c["id"])
	edited := want[object](w, 200, "me", http.MethodPatch, path, object{"body": "edited"})
	if edited["updated_at"] != "2026-03-01T12:02:00Z" || edited["created_at"] != "2026-03-01T12:00:00Z" {
		t.Errorf("stamps of an edit: %v", edited)
	}
	list := get[[]object](w, "me", "/repos/acme/app/issues/comments?sort=updated&direction=desc")
	if len(list) != 2 || list[0]["body"] != "edited" {
		t.Errorf("by update: %v", list)
	}
	if got := get[[]object](w, "me", "/repos/acme/app/issues/1/comments?since=2026-03-01T12:02:00Z"); len(got) != 1 {
		t.Errorf("since keeps %d", len(got))
	}
	if res := w.do("tom", http.MethodPatch, path, object{"body": "mine now"}); res.StatusCode != 403 {
		t.Errorf("a stranger edits: %d", res.StatusCode)
	}
	want[object](w, 204, "me", http.MethodDelete, path, nil)
	want[object](w, 404, "me", http.MethodGet, path, nil)
	w.must(w.hub.DeleteUser("tom"))
	if got := get[object](w, "me", fmt.Sprintf("/repos/acme/app/issues/comments/%d", id)); got["user"] != nil {
		t.Errorf("a deleted author: %v", got["user"])
	}
}

func TestCommentRefusals(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	const path = "/repos/acme/app/issues/1/comments"
	res := w.do("me", http.MethodPost, path, object{"body": strings.Repeat("ä", 65537)})
	if res.StatusCode != 422 || !strings.Contains(res.text, "body is too long (maximum is 65536 characters)") {
		t.Errorf("too long: %d %s", res.StatusCode, res.text)
	}
	want[object](w, 201, "me", http.MethodPost, path, object{"body": strings.Repeat("ä", 65536)})
	want[object](w, 422, "me", http.MethodPost, path, object{"body": " "})
	want[object](w, 401, "", http.MethodPost, path, object{"body": "who am I"})
	w.hub.SetMaxComments(1)
	res = w.do("me", http.MethodPost, path, object{"body": "one too many"})
	if res.StatusCode != 403 || !strings.Contains(res.text, "Commenting is disabled on issues with more than 2500 comments") {
		t.Errorf("too many: %d %s", res.StatusCode, res.text)
	}
	w.hub.SetMaxComments(2500)
	w.must(w.repo.Lock(1, "me"))
	want[object](w, 403, "tom", http.MethodPost, path, object{"body": "locked out"})
	want[object](w, 201, "me", http.MethodPost, path, object{"body": "I can write"})
	w.must(w.repo.Unlock(1, "me"))
	w.repo.SetArchived(true)
	want[object](w, 403, "me", http.MethodPost, path, object{"body": "archived"})
}

func TestReactions(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	id, err := w.repo.Comment(1, "ann", "hi")
	w.must(err)
	w.clock.advance(time.Minute)
	path := fmt.Sprintf("/repos/acme/app/issues/comments/%d", id)
	first := want[object](w, 201, "me", http.MethodPost, path+"/reactions", object{"content": "eyes"})
	again := want[object](w, 200, "me", http.MethodPost, path+"/reactions", object{"content": "eyes"})
	if first["id"] != again["id"] {
		t.Errorf("a second reaction was made: %v %v", first, again)
	}
	c := get[object](w, "me", path)
	if c["reactions"].(object)["eyes"] != 1.0 || c["updated_at"] != "2026-03-01T12:00:00Z" {
		t.Errorf("after a reaction: %v", c)
	}
	w.hub.BumpOnReaction(true)
	want[object](w, 201, "tom", http.MethodPost, path+"/reactions", object{"content": "+1"})
	if c := get[object](w, "me", path); c["updated_at"] != "2026-03-01T12:01:00Z" {
		t.Errorf("no bump: %v", c["updated_at"])
	}
	want[object](w, 422, "me", http.MethodPost, path+"/reactions", object{"content": "shrug"})
	want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/issues/1/reactions", object{"content": "rocket"})
}

func TestLabels(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	const path = "/repos/acme/app/issues/1/labels"
	list := want[[]object](w, 200, "me", http.MethodPost, path, object{"labels": []string{"agent:design", "x/y"}})
	if len(list) != 2 || list[0]["color"] != "ededed" {
		t.Errorf("added %v", list)
	}
	want[[]object](w, 200, "me", http.MethodPost, path, object{"labels": []string{"AGENT:design"}})
	want[[]object](w, 200, "me", http.MethodDelete, path+"/x%2Fy", nil)
	want[object](w, 404, "me", http.MethodDelete, path+"/x%2Fy", nil)
	if got := w.repo.Labels(1); len(got) != 1 || got[0] != "agent:design" {
		t.Errorf("labels %v", got)
	}
	want[object](w, 403, "tom", http.MethodPost, path, object{"labels": []string{"no"}})
	want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/labels", object{"name": "mine", "color": "ff0000", "description": "d"})
	want[object](w, 422, "me", http.MethodPost, "/repos/acme/app/labels", object{"name": "Mine"})
	want[object](w, 200, "me", http.MethodGet, "/repos/acme/app/labels/mine", nil)
	if all := get[[]object](w, "me", "/repos/acme/app/labels"); len(all) != 3 {
		t.Errorf("labels of the repository: %v", all)
	}
}

func TestTimeline(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	n := w.pull("topic", "ann")
	w.clock.advance(time.Second)
	title := "Better"
	w.must(w.repo.Label(n, "ann", "x"))
	w.must(w.repo.Unlabel(n, "ann", "x"))
	w.must(w.repo.EditIssue(n, "ann", &title, nil))
	_, err = w.repo.Comment(n, "me", "about #1")
	w.must(err)
	_, err = w.repo.Review(n, "me", "COMMENT", "look", LineComment{"src/a.txt", 3, "why"})
	w.must(err)
	w.must(w.repo.Close(n, "ann", ""))
	w.must(w.repo.Reopen(n, "ann"))
	w.clock.advance(time.Second)
	_, err = w.repo.ForcePush("topic", "ann", "", map[string]string{"src/a.txt": "1\n"}, "again")
	w.must(err)
	_, err = w.repo.Merge(n, "acme", "")
	w.must(err)
	var words []string
	for _, e := range get[[]object](w, "me", fmt.Sprintf("/repos/acme/app/issues/%d/timeline?per_page=100", n)) {
		words = append(words, e["event"].(string))
	}
	const order = "labeled unlabeled renamed commented reviewed line-commented closed reopened committed head_ref_force_pushed merged closed"
	if got := strings.Join(words, " "); got != order {
		t.Errorf("timeline\n%s, want\n%s", got, order)
	}
	cross := get[[]object](w, "me", "/repos/acme/app/issues/1/timeline")
	if len(cross) != 1 || cross[0]["event"] != "cross-referenced" || cross[0]["source"].(object)["issue"].(object)["number"] != float64(n) {
		t.Errorf("cross-reference: %v", cross)
	}
}

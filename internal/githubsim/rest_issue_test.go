package githubsim

import (
	"net/http"
	"testing"
	"time"
)

func TestIssues(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenIssue("ann", "First", "see #2", "agent:design")
	w.must(err)
	w.clock.advance(time.Minute)
	is := want[object](w, 201, "me", http.MethodPost, "/repos/acme/app/issues", object{"title": "Second", "body": "b", "labels": []string{"x"}})
	if is["number"] != 2.0 || is["state"] != "open" || is["labels"].([]any)[0].(object)["name"] != "x" {
		t.Errorf("made %v", is)
	}
	w.pull("topic", "ann")
	list := get[[]object](w, "me", "/repos/acme/app/issues?state=all&sort=created&direction=asc")
	if len(list) != 3 || list[2]["pull_request"] == nil || list[0]["pull_request"] != nil {
		t.Errorf("list %v", list)
	}
	if got := get[[]object](w, "me", "/repos/acme/app/issues?labels=agent:design"); len(got) != 1 || got[0]["number"] != float64(n) {
		t.Errorf("by label %v", got)
	}
	if got := get[[]object](w, "me", "/repos/acme/app/issues?since=2026-03-01T12:01:00Z&state=all"); len(got) != 2 {
		t.Errorf("since: %d issues", len(got))
	}
	title := "Renamed"
	w.must(w.repo.EditIssue(1, "me", &title, nil))
	w.must(w.repo.Close(1, "me", "not_planned"))
	one := get[object](w, "me", "/repos/acme/app/issues/1")
	if one["title"] != "Renamed" || one["state_reason"] != "not_planned" || one["closed_by"].(object)["login"] != "me" {
		t.Errorf("patched %v", one)
	}
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/issues/99", nil)
	w.must(w.repo.DeleteIssue(2, "acme"))
	want[object](w, 410, "me", http.MethodGet, "/repos/acme/app/issues/2", nil)
}

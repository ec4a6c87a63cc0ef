package githubsim

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func (w *world) post(body string) error {
	_, err := w.try("me", http.MethodPost, "/repos/acme/app/issues/1/comments", object{"body": body})
	return err
}

func (w *world) bodies() []string {
	var out []string
	for _, c := range w.repo.Comments(1) {
		out = append(out, c.Body)
	}
	return out
}

func faultWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	return w
}

func TestLostAnswers(t *testing.T) {
	w := faultWorld(t)
	after, before := LoseAnswer(), LoseRequest()
	after.Method, before.Method, before.Nth = "WRITE", "WRITE", 2
	w.hub.AddFault(after)
	w.hub.AddFault(before)
	get[object](w, "me", "/user")
	if err := w.post("applied"); err == nil {
		t.Error("the answer came")
	}
	if err := w.post("first match of the second fault"); err != nil {
		t.Error(err)
	}
	if err := w.post("never arrived"); err == nil {
		t.Error("the answer came")
	}
	if got := w.bodies(); !slices.Equal(got, []string{"applied", "first match of the second fault"}) {
		t.Errorf("comments %q", got)
	}
	if n := w.hub.PendingFaults(); n != 0 {
		t.Errorf("%d faults are left", n)
	}
	log := w.hub.Requests()
	if rq := log[1]; rq.Status != 0 || !rq.Applied || !rq.Write || log[3].Applied {
		t.Errorf("the log says %+v, %+v", log[1], log[3])
	}
}

func TestStatusFaults(t *testing.T) {
	w := faultWorld(t)
	const path = "/repos/acme/app/issues/1/comments"
	w.hub.AddFault(Fault{Path: "/repos/*/comments", Contains: "five hundred", Status: 500, Applied: true})
	w.hub.AddFault(Fault{Method: "POST", Path: "/repos/*/comments", Status: 502, Always: true})
	w.hub.AddFault(Fault{Request: 4, Status: 403, Body: `{"message":"no"}`})
	want[object](w, 502, "me", http.MethodPost, path, object{"body": "bad gateway"})
	want[object](w, 500, "me", http.MethodPost, path, object{"body": "five hundred"})
	want[object](w, 502, "me", http.MethodPost, path, object{"body": "again"})
	if res := w.do("me", http.MethodGet, "/user", nil); res.StatusCode != 403 || res.text != `{"message":"no"}` {
		t.Errorf("the fourth request: %d %s", res.StatusCode, res.text)
	}
	if got := w.bodies(); !slices.Equal(got, []string{"five hundred"}) {
		t.Errorf("comments %q", got)
	}
	w.hub.ClearFaults()
	w.hub.AddFault(HTML())
	if res := w.do("me", http.MethodGet, "/user", nil); res.StatusCode != 200 || !strings.HasPrefix(res.text, "<html>") {
		t.Errorf("page: %d %s", res.StatusCode, res.text)
	}
	w.hub.AddFault(Redirect("https://elsewhere.test/"))
	if res := w.do("me", http.MethodGet, "/user", nil); res.StatusCode != 301 || res.Header.Get("Location") != "https://elsewhere.test/" {
		t.Errorf("redirect: %d", res.StatusCode)
	}
	w.hub.AddFault(Fault{Delay: 30 * time.Millisecond})
	began := time.Now()
	get[object](w, "me", "/user")
	if took := time.Since(began); took < 30*time.Millisecond {
		t.Errorf("the answer took %s", took)
	}
}

func TestListLag(t *testing.T) {
	w := faultWorld(t)
	w.hub.Lag("comments", 1, 2, 0)
	w.must(w.post("late"))
	w.must(w.post("at once"))
	for i, n := range []int{1, 1, 2} {
		if list := get[[]object](w, "me", "/repos/acme/app/issues/1/comments"); len(list) != n {
			t.Errorf("read %d shows %d comments, want %d", i+1, len(list), n)
		}
	}
	w.hub.Lag("pulls", -1, 0, time.Minute)
	w.pull("topic", "ann")
	want[object](w, 200, "me", http.MethodGet, "/repos/acme/app/pulls/2", nil)
	if list := get[[]object](w, "me", "/repos/acme/app/pulls"); len(list) != 0 {
		t.Errorf("listed at once: %v", list)
	}
	w.clock.advance(time.Minute)
	if list := get[[]object](w, "me", "/repos/acme/app/pulls"); len(list) != 1 {
		t.Errorf("not listed after a minute")
	}
}

func TestHookAndLog(t *testing.T) {
	w := faultWorld(t)
	var seen []string
	w.hub.OnRequest(func(rq Request) {
		when := "before"
		if rq.Done {
			when = "after"
		}
		seen = append(seen, when+" "+rq.Method)
	})
	w.must(w.post("x"))
	w.hub.OnRequest(nil)
	if !slices.Equal(seen, []string{"before POST", "after POST"}) {
		t.Errorf("the hook saw %q", seen)
	}
	want[object](w, 200, "me", http.MethodGet, "/api/v3/user?a=b", nil)
	log := w.hub.Requests()
	if len(log) != 2 || log[0].N != 1 || log[0].Body != `{"body":"x"}` || log[1].Path != "/user" || log[1].Query != "a=b" || log[1].Write {
		t.Errorf("log %+v", log)
	}
	w.hub.ResetLog()
	get[object](w, "me", "/user")
	if log := w.hub.Requests(); len(log) != 1 || log[0].N != 1 {
		t.Errorf("after a reset %+v", log)
	}
}

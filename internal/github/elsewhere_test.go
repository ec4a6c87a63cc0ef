package github

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// elsewhere has URLs that look like GitHub's but are not.
var elsewhere = []string{
	"http://evil.example/repos/alice/app/issues?page=2",
	"http://api.github.localhost:8443/repos/alice/app/issues?page=2",
	"https://api.github.localhost/repos/alice/app/issues?page=2",
	"http://api.github.localhost@evil.example/repos/alice/app/issues?page=2",
	"http://api.github.localhost.evil.example/repos/alice/app/issues?page=2",
	"//evil.example/repos/alice/app/issues?page=2",
}

func TestATokenIsSentToItsOwnHostOnly(t *testing.T) {
	w := newWorld(t)
	for _, address := range elsewhere {
		w.hub.ClearFaults()
		w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: "[]", Header: http.Header{"Link": {"<" + address + `>; rel="next"`}}})
		w.asked()
		if _, err := w.client.TimelineOf(t.Context(), w.name, 1); !isBody(err) || !strings.Contains(err.Error(), "the token is not sent there") {
			t.Errorf("next page %s: %v", address, err)
		}
		if n := w.asked(); n != 1 {
			t.Errorf("next page %s: %d requests, want the first alone", address, n)
		}
		w.hub.ClearFaults()
		w.hub.AddFault(githubsim.Redirect(address))
		if _, err := w.client.Repository(t.Context(), w.name); !isBody(err) {
			t.Errorf("redirect to %s: %v", address, err)
		}
		if n := w.asked(); n != 1 {
			t.Errorf("redirect to %s: %d requests, want the first alone", address, n)
		}
		if strings.HasPrefix(address, "http") {
			if _, err := w.client.ListIssues(t.Context(), transport.PageRequest{URL: address}); err == nil || w.asked() != 0 {
				t.Errorf("stored page %s: %v", address, err)
			}
		}
	}
}

// A proxy may change the case of the host and add or omit the default port.
func TestNextPageOfTheSameHost(t *testing.T) {
	w := newWorld(t)
	n := w.issue(t, "x")
	for _, next := range []string{
		"http://API.github.localhost:80/repos/alice/app/issues?page=1", "/repos/alice/app/issues?page=1",
	} {
		w.hub.ClearFaults()
		w.hub.AddFault(githubsim.Fault{Status: http.StatusOK, Body: "[]", Header: http.Header{"Link": {"<" + next + `>; rel="next"`}}})
		first, err := w.client.ListIssues(t.Context(), transport.PageRequest{URL: IssuesURL(w.name, time.Time{})})
		must(t, err)
		second, err := w.client.ListIssues(t.Context(), transport.PageRequest{URL: first.Next})
		must(t, err)
		if len(second.Items) != 1 || second.Items[0].Number != n {
			t.Errorf("%s: %+v", next, second.Items)
		}
	}
}

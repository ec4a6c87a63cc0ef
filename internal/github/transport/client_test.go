package transport

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
	"github.com/cli/go-gh/v2/pkg/config"
)

// ghConfig sets up gh's files for the test, and no environment besides env.
func ghConfig(t *testing.T, files, env map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "GH_HOST", "GH_DEBUG"} {
		t.Setenv(name, env[name])
	}
	t.Setenv("GH_CONFIG_DIR", dir)
	t.Setenv("GH_PATH", filepath.Join(dir, "no-gh")) // no keyring and no login of the operator
	if err := config.Reload(nil); err != nil {
		t.Fatal(err)
	}
}

// recorder records URLs and answers with an empty object.
type recorder struct{ urls []string }

func (r *recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.urls = append(r.urls, req.URL.String())
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader("{}")), Request: req,
	}, nil
}

func TestEndpointsAreThoseOfGoGh(t *testing.T) {
	ghConfig(t, map[string]string{"hosts.yml": "moved.example:\n  oauth_token: t\n  api_host: api.moved.example\n"}, nil)
	for _, host := range []string{
		"github.com", "GitHub.com", "api.github.com", "github.localhost", "acme.ghe.com", "api.acme.ghe.com",
		"ghes.example", "GHES.example", "garage.github.com", "moved.example",
	} {
		seen := &recorder{}
		opts := api.ClientOptions{Host: host, AuthToken: "t", Transport: seen}
		rest, err := api.NewRESTClient(opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := rest.DoWithContext(t.Context(), http.MethodGet, "user", nil, &struct{}{}); err != nil {
			t.Fatal(err)
		}
		graph, err := api.NewGraphQLClient(opts)
		if err != nil {
			t.Fatal(err)
		}
		if err := graph.DoWithContext(t.Context(), "{x}", nil, &struct{}{}); err != nil {
			t.Fatal(err)
		}
		gotREST, gotGraph := endpoints(host, configuredAPIHost(host))
		if gotREST+"user" != seen.urls[0] || gotGraph != seen.urls[1] {
			t.Errorf("%s: %s, %s; go-gh has %v", host, gotREST, gotGraph, seen.urls)
		}
	}
}

func TestPageLink(t *testing.T) {
	for _, tt := range []struct{ header, want string }{
		{"", ""},
		{`<https://api.x/a?page=2>; rel="next", <https://api.x/a?page=9>; rel="last"`, "https://api.x/a?page=2"},
		{`<https://api.x/a?page=1>; rel="prev", <https://api.x/a?labels=a,b&page=3>; rel="next"`, "https://api.x/a?labels=a,b&page=3"},
		{`<https://api.x/a?page=1>; rel="first"`, ""},
		{`<https://api.x/a?after=Y3Vy>; foo="x"; rel=next`, "https://api.x/a?after=Y3Vy"},
		{`<https://api.x/broken`, ""},
	} {
		a := &Answer{Header: http.Header{"Link": {tt.header}}}
		if got := nextLink(a); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.header, got, tt.want)
		}
	}
}

func TestLimitIsToldFromPermissionByFields(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	docs := "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"
	for _, tt := range []struct {
		name    string
		status  int
		header  http.Header
		docs    string
		message string
		limit   bool
		until   time.Time
		held    string
	}{
		{name: "permission", status: 403, message: "Resource not accessible by personal access token", docs: "https://docs.github.com/rest/checks"},
		{name: "not found", status: 404, message: "API rate limit exceeded"},
		{name: "primary", status: 403, header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1000600"}}, message: "?", limit: true, until: time.Unix(1_000_600, 0), held: resourceCore},
		{name: "retry-after wins", status: 403, header: http.Header{"Retry-After": {"30"}, "X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1000600"}}, limit: true, until: now.Add(30 * time.Second), held: everything},
		{name: "429 without a sign", status: 429, limit: true, until: now.Add(minWait), held: everything},
		{name: "secondary by its page", status: 403, docs: docs, message: "?", limit: true, until: now.Add(minWait), held: everything},
		{name: "secondary by its words", status: 403, message: "You have exceeded a secondary rate limit and have been temporarily blocked from content creation.", limit: true, until: now.Add(minWait), held: everything},
		{name: "content limit as 422", status: 422, message: "was submitted too quickly", limit: true, until: now.Add(minWait), held: everything},
		{name: "validation with remaining 0", status: 422, header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1000600"}}, message: "Validation Failed"},
		{name: "clock ahead of the reset", status: 403, header: http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"999000"}}, limit: true, until: now.Add(minWait), held: everything},
		{name: "http date", status: 429, header: http.Header{"Retry-After": {now.Add(90 * time.Second).UTC().Format(http.TimeFormat)}}, limit: true, until: now.Add(90 * time.Second), held: everything},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := &Answer{Status: tt.status, Header: tt.header, resource: resourceCore, limits: readLimits(tt.header, now)}
			if got := isLimit(a, &Error{Status: tt.status, Message: tt.message}, tt.docs); got != tt.limit {
				t.Fatalf("limit %v, want %v", got, tt.limit)
			}
			if !tt.limit {
				return
			}
			held, until, _ := a.limits.until(resourceCore, now)
			if held != tt.held || !until.Equal(tt.until) {
				t.Errorf("hold %q until %v, want %q until %v", held, until, tt.held, tt.until)
			}
		})
	}
}

func TestGraphQLLimitsByType(t *testing.T) {
	for _, tt := range []struct {
		err  GraphError
		want bool
	}{
		{GraphError{Type: "RATE_LIMITED"}, true},
		{GraphError{Type: "RATE_LIMIT"}, true},
		{GraphError{Message: "You have exceeded a secondary rate limit."}, true},
		{GraphError{Type: "UNPROCESSABLE", Message: "was submitted too quickly"}, true},
		{GraphError{Type: "NOT_FOUND", Message: "Could not resolve to a Repository with the name 'o/rate limit'"}, false},
		{GraphError{Type: "FORBIDDEN", Message: "Resource not accessible by personal access token"}, false},
	} {
		if got := tt.err.isLimit(); got != tt.want {
			t.Errorf("%+v: %v", tt.err, got)
		}
	}
}

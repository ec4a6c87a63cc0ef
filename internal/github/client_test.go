package github

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/config"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
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

func TestNewResolvesHostAndTokenAsGhDoes(t *testing.T) {
	for _, tt := range []struct {
		name  string
		hosts string
		env   map[string]string
		host  string
		want  string // host of the client; empty: not logged in
	}{
		{name: "nothing", want: ""},
		{name: "GH_TOKEN", env: map[string]string{"GH_TOKEN": "t"}, want: "github.com"},
		{name: "hosts.yml", hosts: "ghes.example:\n  oauth_token: t\n", want: "ghes.example"},
		{name: "GH_HOST wins", hosts: "ghes.example:\n  oauth_token: t\n", env: map[string]string{"GH_HOST": "GitHub.localhost", "GH_TOKEN": "t"}, want: "github.localhost"},
		{name: "token of another host", host: "ghes.example", env: map[string]string{"GH_TOKEN": "t"}, want: ""},
		{name: "enterprise token", host: "ghes.example", env: map[string]string{"GH_ENTERPRISE_TOKEN": "t"}, want: "ghes.example"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{}
			if tt.hosts != "" {
				files["hosts.yml"] = tt.hosts
			}
			ghConfig(t, files, tt.env)
			c, err := New(transport.Options{Host: tt.host, Now: time.Now})
			var missing *transport.NotLoggedInError
			switch {
			case tt.want == "" && !errors.As(err, &missing):
				t.Errorf("error %v, want a NotLoggedInError", err)
			case tt.want != "" && err != nil:
				t.Errorf("error %v", err)
			case tt.want != "" && c.host() != tt.want:
				t.Errorf("host %q, want %q", c.host(), tt.want)
			}
		})
	}
}

func TestURLsAreStable(t *testing.T) {
	repo := repoName("o", "r")
	since := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("x", 3600))
	for got, want := range map[string]string{
		IssuesURL(repo, since):               "repos/o/r/issues?direction=asc&per_page=100&since=2026-01-02T02%3A04%3A05Z&sort=updated&state=all",
		IssuesURL(repo, time.Time{}):         "repos/o/r/issues?direction=asc&per_page=100&sort=updated&state=all",
		OpenIssuesURL(repo, time.Time{}):     "repos/o/r/issues?direction=asc&per_page=100&sort=updated&state=open",
		CommentsURL(repo, time.Time{}):       "repos/o/r/issues/comments?direction=asc&per_page=100&sort=updated",
		ReviewCommentsURL(repo, time.Time{}): "repos/o/r/pulls/comments?direction=asc&per_page=100&sort=updated",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func repoName(owner, name string) work.RepoName {
	return work.RepoName{Host: "github.localhost", Owner: owner, Name: name}
}

// NextPage increments the page number, which may be absent.
func TestNextPage(t *testing.T) {
	first := IssuesURL(repoName("o", "r"), time.Time{})
	second, err := NextPage(first)
	if err != nil {
		t.Fatal(err)
	}
	third, err := NextPage(second)
	if want := "repos/o/r/issues?direction=asc&page=3&per_page=100&sort=updated&state=all"; err != nil || third != want {
		t.Errorf("%s behind %s, %v: want %s", third, second, err, want)
	}
	if next, err := NextPage("repos/o/r/issues?page=last"); err == nil {
		t.Errorf("no number, and then %s", next)
	}
}

// host returns the client's host in lower case.
func (c *Client) host() string { return c.api.Host() }

package githubsim

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cli/go-gh/v2/pkg/api"
)

func TestAuthentication(t *testing.T) {
	w := newWorld(t)
	if u := get[object](w, "me", "/user"); u["login"] != "me" || u["type"] != "User" {
		t.Errorf("viewer %v", u)
	}
	if res := w.do("me", http.MethodGet, "/user", nil, "Authorization", "Bearer nonsense"); res.StatusCode != 401 || !strings.Contains(res.text, "Bad credentials") {
		t.Errorf("unknown token: %d %s", res.StatusCode, res.text)
	}
	want[object](w, 401, "", http.MethodGet, "/user", nil)
	if r := get[object](w, "", "/repos/acme/app"); r["name"] != "app" {
		t.Errorf("repository %v", r)
	}
	w.hub.RevokeToken(w.tokens["me"])
	want[object](w, 401, "me", http.MethodGet, "/user", nil)
	if res := w.do("ann", http.MethodGet, "/repos/acme/app", nil, "X-GitHub-Api-Version", "2021-01-01"); res.StatusCode != 400 {
		t.Errorf("an unknown version: %d", res.StatusCode)
	}
}

func TestPermissions(t *testing.T) {
	w := newWorld(t)
	perm := func(login string) string {
		p := get[object](w, "me", "/repos/acme/app/collaborators/"+login+"/permission")
		return p["permission"].(string) + "/" + p["role_name"].(string)
	}
	w.must(w.repo.SetPermission("eve", "triage"))
	for login, level := range map[string]string{"acme": "admin/admin", "ann": "write/write", "tom": "read/read", "eve": "read/triage"} {
		if got := perm(login); got != level {
			t.Errorf("%s has %s, want %s", login, got, level)
		}
	}
	want[object](w, 403, "tom", http.MethodGet, "/repos/acme/app/collaborators/ann/permission", nil)
	want[object](w, 404, "me", http.MethodGet, "/repos/acme/app/collaborators/nobody/permission", nil)
	w.repo.SetPrivate(true)
	if got := perm("tom"); got != "none/none" {
		t.Errorf("a stranger to a private repository has %s", got)
	}
	want[object](w, 404, "tom", http.MethodGet, "/repos/acme/app", nil)
	want[object](w, 404, "", http.MethodGet, "/repos/acme/app", nil)
	if r := get[object](w, "me", "/repos/acme/app"); r["private"] != true || r["permissions"].(object)["push"] != true || r["permissions"].(object)["admin"] != false {
		t.Errorf("repository %v", r["permissions"])
	}
}

func TestConditional(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	const path = "/repos/acme/app/issues"
	first := w.do("me", http.MethodGet, path, nil)
	tag := first.Header.Get("Etag")
	used := w.hub.Used("me", "core")
	again := w.do("me", http.MethodGet, path, nil, "If-None-Match", tag)
	if again.StatusCode != 304 || again.text != "" || again.Header.Get("Etag") != tag {
		t.Errorf("unchanged: %d %q", again.StatusCode, again.text)
	}
	if now := w.hub.Used("me", "core"); now != used {
		t.Errorf("a 304 cost %d", now-used)
	}
	if res := w.do("ann", http.MethodGet, path, nil, "If-None-Match", tag); res.StatusCode != 200 {
		t.Errorf("another token's validator: %d", res.StatusCode)
	}
	if res := w.do("me", http.MethodGet, path, nil, "If-None-Match", tag, "Accept", "application/json"); res.StatusCode != 200 {
		t.Errorf("another Accept: %d", res.StatusCode)
	}
	w.must(w.repo.React(1, "tom", "heart"))
	if res := w.do("me", http.MethodGet, path, nil, "If-None-Match", tag); res.StatusCode != 200 {
		t.Errorf("after a reaction: %d", res.StatusCode)
	}
	last := w.hub.Requests()
	if rq := last[1]; !rq.Conditional || !rq.NotModified || rq.Status != 304 || rq.User != "me" {
		t.Errorf("the log says %+v", rq)
	}
}

var linkRE = regexp.MustCompile(`<([^>]+)>; rel="(\w+)"`)

func links(res response) map[string]string {
	out := map[string]string{}
	for _, m := range linkRE.FindAllStringSubmatch(res.Header.Get("Link"), -1) {
		out[m[2]] = m[1]
	}
	return out
}

func TestPagination(t *testing.T) {
	w := newWorld(t)
	for i := range 7 {
		_, err := w.repo.OpenIssue("ann", fmt.Sprintf("Issue %d", i+1), "")
		w.must(err)
	}
	res := w.do("me", http.MethodGet, "/repos/acme/app/issues?per_page=3&state=all&direction=asc", nil)
	l := links(res)
	if !strings.Contains(l["next"], fmt.Sprintf("/repositories/%d/issues?", w.repo.ID())) || !strings.Contains(l["last"], "page=3") || l["prev"] != "" {
		t.Errorf("links %v", l)
	}
	var titles []string
	for url, pages := w.base+"/repos/acme/app/issues?per_page=3&state=all&direction=asc", 0; url != "" && pages < 9; pages++ {
		res := w.do("me", http.MethodGet, url, nil)
		titles = append(titles, regexp.MustCompile(`Issue \d`).FindAllString(res.text, -1)...)
		url = links(res)["next"]
	}
	if len(titles) != 7 || titles[6] != "Issue 7" {
		t.Errorf("walked over %v", titles)
	}
	if l := links(w.do("me", http.MethodGet, l["last"], nil)); l["next"] != "" || l["first"] == "" || !strings.Contains(l["prev"], "page=2") {
		t.Errorf("links of the last page %v", l)
	}
	w.hub.SetMaxPage(2)
	if res := w.do("me", http.MethodGet, "/repos/acme/app/issues?page=3", nil); res.StatusCode != 422 || !strings.Contains(res.text, "cursor based pagination") {
		t.Errorf("deep page: %d", res.StatusCode)
	}
	if l := links(w.do("me", http.MethodGet, "/repos/acme/app/issues", nil)); len(l) != 0 {
		t.Errorf("a single page links to %v", l)
	}
}

func TestRedirects(t *testing.T) {
	w := newWorld(t)
	_, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	w.must(w.repo.Rename("eve/renamed"))
	res := w.do("me", http.MethodGet, "/repos/acme/app/issues/1?x=y", nil)
	to := res.Header.Get("Location")
	if res.StatusCode != 301 || to != fmt.Sprintf("%s/repositories/%d/issues/1?x=y", w.base, w.repo.ID()) {
		t.Fatalf("redirected to %q with %d", to, res.StatusCode)
	}
	if is := want[object](w, 200, "me", http.MethodGet, to, nil); !strings.Contains(is["url"].(string), "/repos/eve/renamed/issues/1") {
		t.Errorf("issue %v", is["url"])
	}
	if res := w.do("me", http.MethodPost, "/repos/acme/app/issues/1/comments", object{"body": "x"}); res.StatusCode != 301 {
		t.Errorf("a write: %d", res.StatusCode)
	}
	if n := len(w.repo.Comments(1)); n != 0 {
		t.Errorf("a redirected write made %d comments", n)
	}
	want[object](w, 200, "me", http.MethodGet, "/repos/Eve/Renamed", nil)
	want[object](w, 200, "me", http.MethodGet, "/api/v3/repos/eve/renamed", nil)
	want[object](w, 404, "me", http.MethodGet, "/repos/eve/renamed/", nil)
}

func TestUnknownRoute(t *testing.T) {
	w := newWorld(t)
	hub, err := New(Options{Dir: t.TempDir(), Now: w.clock.now})
	w.must(err)
	defer func() { _ = hub.Close() }()
	addr, err := hub.ServeTCP()
	w.must(err)
	if res := w.do("", http.MethodGet, "http://"+addr+"/gists", nil); res.StatusCode != 501 {
		t.Errorf("status %d", res.StatusCode)
	}
	if got := hub.Unknown(); !slices.Equal(got, []string{"GET /gists"}) {
		t.Errorf("unknown %v", got)
	}
}

func TestLimits(t *testing.T) {
	w := newWorld(t)
	res := w.do("me", http.MethodGet, "/repos/acme/app", nil)
	if res.Header.Get("X-Ratelimit-Limit") != "5000" || res.Header.Get("X-Ratelimit-Remaining") != "4999" || res.Header.Get("X-Ratelimit-Resource") != "core" {
		t.Errorf("headers %v", res.Header)
	}
	w.must(w.hub.SetRemaining("me", "core", 0))
	res = w.do("me", http.MethodGet, "/repos/acme/app", nil)
	if res.StatusCode != 403 || res.Header.Get("X-Ratelimit-Remaining") != "0" || !strings.Contains(res.text, "API rate limit exceeded") {
		t.Errorf("spent: %d %s", res.StatusCode, res.text)
	}
	w.clock.advance(time.Hour)
	want[object](w, 200, "me", http.MethodGet, "/repos/acme/app", nil)
	f := Secondary(30 * time.Second)
	w.hub.AddFault(f)
	res = w.do("me", http.MethodGet, "/user", nil)
	if res.StatusCode != 403 || res.Header.Get("Retry-After") != "30" || !strings.Contains(res.text, "secondary rate limit") {
		t.Errorf("secondary: %d %v", res.StatusCode, res.Header)
	}
	want[object](w, 200, "me", http.MethodGet, "/user", nil)
}

func TestGoGH(t *testing.T) {
	w := newWorld(t)
	n, err := w.repo.OpenIssue("ann", "First", "")
	w.must(err)
	for i := range 3 {
		_, err = w.repo.Comment(n, "ann", fmt.Sprintf("Remark %d", i+1))
		w.must(err)
	}
	sock := shortSocket(t)
	w.must(w.hub.ServeUnix(sock))
	for host, prefix := range map[string]string{
		"github.localhost": "http://api.github.localhost/", "github.com": "https://api.github.com/", "ghes.test": "https://ghes.test/api/v3/",
	} {
		t.Run(host, func(t *testing.T) {
			client, err := api.NewRESTClient(api.ClientOptions{Host: host, AuthToken: w.tokens["me"], UnixDomainSocket: sock})
			w.must(err)
			var pages int
			comments := len(w.repo.Comments(1))
			for path := "repos/acme/app/issues/comments?per_page=1"; path != ""; {
				res, err := client.RequestWithContext(t.Context(), http.MethodGet, path, nil)
				w.must(err)
				path = links(response{Response: res})["next"]
				if path != "" && !strings.HasPrefix(path, prefix) {
					t.Errorf("next is %s", path)
				}
				pages++
				_ = res.Body.Close()
			}
			if pages != comments {
				t.Errorf("walked over %d pages of %d", pages, comments)
			}
			var c struct{ Body string }
			w.must(client.Post("repos/acme/app/issues/1/comments", strings.NewReader(`{"body":"by go-gh"}`), &c))
			if c.Body != "by go-gh" {
				t.Errorf("made %+v", c)
			}
		})
	}
}

func TestGH(t *testing.T) {
	gh, err := exec.LookPath("gh")
	if err != nil {
		t.Skip("gh is not installed")
	}
	w := newWorld(t)
	for i := range 3 {
		_, err := w.repo.OpenIssue("ann", fmt.Sprintf("Issue %d", i+1), "")
		w.must(err)
	}
	sock := shortSocket(t)
	w.must(w.hub.ServeUnix(sock))
	cfg := t.TempDir()
	w.must(os.WriteFile(filepath.Join(cfg, "config.yml"), []byte("http_unix_socket: "+sock+"\n"), 0o600))
	for _, host := range []string{"github.localhost", "github.com"} {
		cmd := exec.CommandContext(t.Context(), gh, "api", "--paginate", "repos/acme/app/issues?per_page=1", "--jq", ".[].title")
		cmd.Env = []string{"HOME=" + cfg, "GH_CONFIG_DIR=" + cfg, "GH_HOST=" + host, "GH_TOKEN=" + w.tokens["me"], "GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1"}
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != "Issue 3\nIssue 2\nIssue 1\n" {
			t.Errorf("%s: %v: %s", host, err, out)
		}
	}
}

// gh runs the real gh against the hub, as somebody, and gives what it said.
func (w *world) gh(path, as string, args ...string) (string, error) {
	w.t.Helper()
	cfg := w.t.TempDir()
	sock := shortSocket(w.t)
	w.must(w.hub.ServeUnix(sock))
	w.must(os.WriteFile(filepath.Join(cfg, "config.yml"), []byte("http_unix_socket: "+sock+"\n"), 0o600))
	cmd := exec.CommandContext(w.t.Context(), path, args...)
	cmd.Dir = cfg
	cmd.Env = []string{"HOME=" + cfg, "GH_CONFIG_DIR=" + cfg, "GH_HOST=github.localhost", "GH_TOKEN=" + w.tokens[as], "GH_NO_UPDATE_NOTIFIER=1", "GH_PROMPT_DISABLED=1", "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// The real gh merges, and is refused, as it is by GitHub.
func TestGHMerges(t *testing.T) {
	gh, err := exec.LookPath("gh")
	if err != nil {
		t.Skip("gh is not installed")
	}
	w := newWorld(t)
	n := w.pull("topic", "ann")
	was := w.repo.Branches()["topic"]
	w.must2(w.repo.PushCommit("topic", "ann", map[string]string{"b": "b\n"}, "More"))
	merge := func(args ...string) (string, error) {
		return w.gh(gh, "me", append([]string{"pr", "merge", fmt.Sprint(n), "--repo", "github.localhost/acme/app"}, args...)...)
	}
	refused := func(message string, args ...string) {
		t.Helper()
		if out, err := merge(args...); err == nil || !strings.Contains(out, message) {
			t.Errorf("gh says %q (%v), want %q", out, err, message)
		}
	}
	refused("Head branch was modified. Review and try the merge again.", "--squash", "--match-head-commit", was)
	w.must(w.repo.AllowMethods("squash"))
	refused("Rebase merges are not allowed on this repository.", "--rebase")
	w.repo.RefuseNextMerges(1, 405, "Merge already in progress")
	refused("Merge already in progress", "--squash")
	w.repo.SetRuleset("rules", "main", Rules{Checks: []string{"build"}})
	refused("the base branch policy prohibits the merge", "--squash")
	w.must(w.repo.RemoveRuleset("rules"))
	if out, err := merge("--squash", "--match-head-commit", w.repo.Branches()["topic"], "--subject", "Title", "--body", "ours"); err != nil {
		t.Fatalf("gh: %v: %s", err, out)
	}
	list, err := w.repo.Log("main")
	w.must(err)
	if list[0].Message != "Title\n\nours" || len(list[0].Parents) != 1 {
		t.Errorf("landed %+v", list[0])
	}
	if out, _ := merge("--squash"); !strings.Contains(out, "was already merged") {
		t.Errorf("again: %s", out)
	}
}

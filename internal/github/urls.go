package github

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/cli/go-gh/v2/pkg/config"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// IssuesURL returns the listing of a repository's issues and pull requests, oldest change first.
func IssuesURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues", since, "state", "all", "sort", "updated", "direction", "asc")
}

// OpenIssuesURL returns the listing of a repository's open issues and pull requests, oldest change first.
func OpenIssuesURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues", since, "state", "open", "sort", "updated", "direction", "asc")
}

// CommentsURL returns the listing of the conversation comments of a repository's issues and pull
// requests, oldest change first.
func CommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues/comments", since, "sort", "updated", "direction", "asc")
}

// ReviewCommentsURL returns the listing of the diff comments of a repository's pull requests,
// oldest change first.
func ReviewCommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "pulls/comments", since, "sort", "updated", "direction", "asc")
}

// SinceOf returns the since parameter of a listing's URL; zero if it has none.
func SinceOf(address string) time.Time {
	u, err := url.Parse(address)
	if err != nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, u.Query().Get("since"))
	if err != nil {
		return time.Time{}
	}
	return at
}

// NextPage returns the URL of the page after the given one, by its page number.
func NextPage(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	query := u.Query()
	page, err := strconv.Atoi(cmp.Or(query.Get("page"), "1"))
	if err != nil {
		return "", fmt.Errorf("the page of %s: %w", address, err)
	}
	query.Set("page", strconv.Itoa(page+1))
	u.RawQuery = query.Encode()
	return u.String(), nil
}

// listURL builds the URL of the first page; the others come from its Link header. Equal arguments
// give equal URLs, because an ETag belongs to an exact URL.
func listURL(r work.RepoName, path string, since time.Time, query ...string) string {
	q := url.Values{"per_page": {"100"}}
	for i := 0; i < len(query); i += 2 {
		q.Set(query[i], query[i+1])
	}
	if !since.IsZero() {
		q.Set("since", since.UTC().Format(time.RFC3339))
	}
	return "repos/" + r.FullName() + "/" + path + "?" + q.Encode()
}

// RemoteURL returns the URL of a repository for git: ssh if gh's git_protocol for the host is ssh,
// else https, as for `gh repo clone`.
func RemoteURL(repo work.RepoName) string {
	if protocol(repo.Host) == "ssh" {
		return "git@" + repo.Host + ":" + repo.FullName() + ".git"
	}
	return "https://" + repo.Host + "/" + repo.FullName() + ".git"
}

// protocol returns git_protocol of the host, else the global one.
func protocol(host string) string {
	cfg, err := config.Read(nil)
	if err != nil {
		return ""
	}
	for _, keys := range [][]string{{"hosts", host, "git_protocol"}, {"git_protocol"}} {
		if p, err := cfg.Get(keys); err == nil && p != "" {
			return p
		}
	}
	return ""
}

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

// IssuesURL lists a repository's issues and pull requests, oldest change first.
func IssuesURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues", since, "state", "all", "sort", "updated", "direction", "asc")
}

// LabelledIssuesURL lists a repository's open issues and pull requests with a
// label, oldest change first.
func LabelledIssuesURL(r work.RepoName, label string, since time.Time) string {
	return listURL(r, "issues", since, "state", "open", "labels", label, "sort", "updated", "direction", "asc")
}

// CommentsURL lists the conversation comments of a repository's issues and
// pull requests, oldest change first.
func CommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "issues/comments", since, "sort", "updated", "direction", "asc")
}

// ReviewCommentsURL lists the diff comments of a repository's pull requests,
// oldest change first.
func ReviewCommentsURL(r work.RepoName, since time.Time) string {
	return listURL(r, "pulls/comments", since, "sort", "updated", "direction", "asc")
}

// SinceOf is the moment from which on a list's address shows what changed; zero
// when it shows everything.
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

// NextPage is the address of the page behind one of a list, by its number.
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

// listURL builds the first page's address; the others come from its Link. The
// same arguments give the same text, to which an ETag belongs.
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

// RemoteURL is where git finds a repository: by ssh if gh's git_protocol for
// the host says so, else by https, as `gh repo clone` does.
func RemoteURL(repo work.RepoName) string {
	if protocol(repo.Host) == "ssh" {
		return "git@" + repo.Host + ":" + repo.FullName() + ".git"
	}
	return "https://" + repo.Host + "/" + repo.FullName() + ".git"
}

// protocol reads git_protocol: the host's own, else the general one.
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

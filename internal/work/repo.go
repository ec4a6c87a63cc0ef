package work

import (
	"fmt"
	"strings"
	"time"
)

// RepoName names a repository on a GitHub host.
type RepoName struct {
	Host  string // "github.com"; never empty after ParseRepoName
	Owner string
	Name  string
}

// ParseRepoName reads "owner/name" or "host/owner/name". The first form is on defaultHost.
func ParseRepoName(s, defaultHost string) (RepoName, error) {
	parts := strings.Split(s, "/")
	if len(parts) == 2 {
		parts = append([]string{defaultHost}, parts...)
	}
	if len(parts) != 3 {
		return RepoName{}, fmt.Errorf("repository %q: want owner/name or host/owner/name", s)
	}
	for _, p := range parts {
		if !validNamePart(p) || p == "." || p == ".." {
			return RepoName{}, fmt.Errorf("repository %q: want owner/name or host/owner/name", s)
		}
	}
	return RepoName{Host: strings.ToLower(parts[0]), Owner: parts[1], Name: parts[2]}, nil
}

func validNamePart(s string) bool {
	if s == "" || strings.HasPrefix(s, "-") {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_.", r):
		default:
			return false
		}
	}
	return true
}

// FullName returns "owner/name", as GitHub writes it.
func (r RepoName) FullName() string { return r.Owner + "/" + r.Name }

// String returns "host/owner/name".
func (r RepoName) String() string { return r.Host + "/" + r.FullName() }

// Equal ignores case, as GitHub does.
func (r RepoName) Equal(o RepoName) bool {
	return strings.EqualFold(r.Name, o.Name) && strings.EqualFold(r.Owner, o.Owner) && strings.EqualFold(r.Host, o.Host)
}

// Repo is the stored row of a repository.
type Repo struct {
	ID            int64    // id in the database
	Name          RepoName // as the config names it
	Current       RepoName // as GitHub names it; differs after a rename
	NodeID        string   // GitHub's; unchanged by renames
	GitHubID      int64    // GitHub's numeric id; names the repository's lock files
	DefaultBranch string
	ConfirmedAt   time.Time // when GitHub last confirmed that Name is this repository
	RemovedAt     time.Time // when the config's last name for it was removed; zero: the config names it
	NamedBy       string    // path of the config that last named it

	IssuesSince         time.Time // "since" parameter for issues
	CommentsSince       time.Time // "since" parameter for issues/comments
	ReviewCommentsSince time.Time // "since" parameter for pulls/comments

	HeartbeatAt time.Time // end of the last completed ingest
	Pulse       Pulse     // the last result of the query for many repositories
	NotBefore   time.Time // no request before: a rate limit, or backoff after failures
	Failures    int       // consecutive failed ingests
	LastError   string    // why the last ingest failed; empty: it did not
}

// Pulse is what the query for many repositories showed of one.
type Pulse struct {
	At      time.Time // time of the last query
	Issues  time.Time // newest change of an issue at the last full read; zero: unknown
	Pulls   time.Time // newest change of a pull request at the last full read; zero: unknown
	Changed time.Time // when a change was last seen
}

// LookedAt is when the repository was last checked, by a pulse or by a read.
func (r Repo) LookedAt() time.Time {
	if r.Pulse.At.After(r.HeartbeatAt) {
		return r.Pulse.At
	}
	return r.HeartbeatAt
}

// Ref formats an issue or pull request as owner/name#12.
func Ref(repo RepoName, number int) string {
	return fmt.Sprintf("%s#%d", repo.FullName(), number)
}

// Account is a GitHub account.
type Account struct {
	ID    int64 // database id; 0 if the account was deleted
	Login string
	Bot   bool // user.type Bot, __typename Bot, or a login ending in "[bot]"
}

// AccountRole is the role of one of our own accounts.
type AccountRole string

// The roles of an account.
const (
	RoleOperator AccountRole = "operator" // gh's login
	RoleReviewer AccountRole = "reviewer" // used only for a reviewer's reviews
)

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

// ParseRepoName reads "owner/name" or "host/owner/name". The first form gets
// defaultHost.
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

// FullName is "owner/name", the form GitHub and its users write.
func (r RepoName) FullName() string { return r.Owner + "/" + r.Name }

// String is "host/owner/name", which is unambiguous.
func (r RepoName) String() string { return r.Host + "/" + r.FullName() }

// Equal compares as GitHub does: without regard to case.
func (r RepoName) Equal(o RepoName) bool {
	return strings.EqualFold(r.Name, o.Name) && strings.EqualFold(r.Owner, o.Owner) && strings.EqualFold(r.Host, o.Host)
}

// Repo is a repository as the database knows it.
type Repo struct {
	ID            int64    // the database's
	Name          RepoName // as the config names it
	Current       RepoName // as GitHub names it today; differs after a rename
	NodeID        string   // GitHub's, survives renames
	GitHubID      int64    // GitHub's number; names the repository's lock files
	DefaultBranch string
	ConfirmedAt   time.Time // when GitHub last said that the name stands for it
	LeftAt        time.Time // since when no name of the config stands for it; zero: one does
	NamedBy       string    // the path of the config that named it last

	IssuesSince         time.Time // "since" of the issues walk
	CommentsSince       time.Time // "since" of the issues/comments walk
	ReviewCommentsSince time.Time // "since" of the pulls/comments walk

	HeartbeatAt time.Time // last completed ingest
	Pulse       Pulse     // what one query for many repositories showed of it
	NotBefore   time.Time // a limit, or backoff after failures: no request before
	Failures    int       // consecutive failed ingests
	LastError   string    // why the last ingest failed; empty when it did not
}

// Pulse is what one query for many repositories showed of a repository.
type Pulse struct {
	At      time.Time // when it was asked last
	Issues  time.Time // the newest change of an issue when the repository was read in full last; zero: nobody knows
	Pulls   time.Time // that of a pull request
	Changed time.Time // when something was last seen to have changed
}

// LookedAt is when a repository was last looked at, by a pulse or by reading it.
func (r Repo) LookedAt() time.Time {
	if r.Pulse.At.After(r.HeartbeatAt) {
		return r.Pulse.At
	}
	return r.HeartbeatAt
}

// Ref renders the reference of an issue or pull request as people write it:
// owner/name#12.
func Ref(repo RepoName, number int) string {
	return fmt.Sprintf("%s#%d", repo.FullName(), number)
}

// Account is a GitHub account.
type Account struct {
	ID    int64 // database id; 0 when the account was deleted
	Login string
	Bot   bool // user.type Bot, __typename Bot, or a login ending in "[bot]"
}

// AccountRole is what one of our own accounts is for.
type AccountRole string

// The roles of an account.
const (
	RoleOperator AccountRole = "operator" // as whom gh is logged in
	RoleReviewer AccountRole = "reviewer" // as whom a reviewer speaks, and nobody else
)

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

// longestName bounds a host's name, as DNS does, and those of owners and repositories, which GitHub
// bounds further. Keys of the database are made of them.
const longestName = 253

func validNamePart(s string) bool {
	if s == "" || len(s) > longestName || strings.HasPrefix(s, "-") {
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
	NamedBy       string    // path of the config that last named it; with its machine where several have the database
	Machine       string    // that last claimed a turn in it, and so has its mirror and agents' sessions
	ServedAt      time.Time // when it did
	PlanningEpoch string    // of the pass that last planned something for it; see store.Claim

	IssuesSince         time.Time // "since" parameter for issues
	CommentsSince       time.Time // "since" parameter for issues/comments
	ReviewCommentsSince time.Time // "since" parameter for pulls/comments

	HeartbeatAt time.Time // end of the last completed ingest
	Newest      Stamps    // what GitHub showed when the repository was last read whole as one of many
	NotBefore   time.Time // no request before: a rate limit, or backoff after failures
	Failures    int       // consecutive failed ingests
	LastError   string    // why the last ingest failed; empty: it did not
}

// Stamps are the newest changes of a repository's issues and of its pull requests; zero: it has none, or
// they are not known.
type Stamps struct{ Issues, Pulls time.Time }

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

// RepoKey identifies a repository permanently: its host and node id. A name does not, because
// another repository can take it, and it may exist on two hosts.
type RepoKey string

// Key returns the repository's key. Until GitHub has reported the node id, it is the name.
func (r Repo) Key() RepoKey {
	if r.NodeID == "" {
		return RepoKey(strings.ToLower(r.Name.String()))
	}
	return RepoKey(strings.ToLower(r.Name.Host) + " " + r.NodeID)
}

// Folder returns the key as part of a path. It is readable, and works on file systems that ignore
// case and allow only simple characters.
func (r Repo) Folder() string {
	name := r.NodeID
	if name == "" {
		name = r.Name.Owner + "." + r.Name.Name
	}
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '.' {
			return c
		}
		return '-'
	}, name)
	return plain[:min(len(plain), longestFolder)] + "-" + digest("folder", string(r.Key()))[:8]
}

// longestFolder is how much of a node id a folder's name shows, because some systems limit paths.
const longestFolder = 40

// FirstLookDone is stored once all that was open in a repository was listed.
const FirstLookDone = "done"

// History is one line of an item's history, for people.
type History struct {
	RepoID int64
	ItemID int64 // 0: it belongs to no item
	Number int
	At     time.Time
	What   string
	Detail string
}

// Limit is a rate limit of a host that was reached.
type Limit struct {
	Host      string
	Resource  string
	NotBefore time.Time
	Reason    string
}

// Validator is the ETag of one page of a GitHub list, and the URL of the next page. RepoID 0 is the
// host itself.
type Validator struct {
	RepoID int64
	URL    string
	ETag   string
	Next   string
	SeenAt time.Time
}

// CloneProgress is a file in the mirror of a repository while that is cloned. It has what git says of the
// step, for people: "41 % (receiving objects)".
const CloneProgress = "mergexo-progress"

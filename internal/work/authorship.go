package work

// Commit is a commit of a pull request, as GitHub lists it. An account is empty if GitHub knows
// none for the address in the commit.
type Commit struct {
	OID       string
	Message   string
	Author    Account
	Committer Account
	Parents   int
}

// webFlow is the login of GitHub's own committer, for merges by its button and edits in the
// browser.
const webFlow = "web-flow"

// Authorship decides who made a commit. Ours reports whether gh mergexo used an account, Known
// whether a turn stored a commit.
type Authorship struct {
	Ours  func(account int64) bool
	Known func(oid string) bool
}

// ByUs reports whether a turn made the commit, or GitHub merged the base in for us. A commit that
// somebody else committed again is theirs, regardless of its message.
func (m Authorship) ByUs(c Commit) bool {
	if m.Known(c.OID) {
		return true
	}
	if m.foreign(c.Author) || m.foreign(c.Committer) {
		return false
	}
	turn, _ := TrailersOf(c.Message)
	updated := c.Parents == 2 && c.Author.ID != 0 && c.Committer.Login == webFlow
	return turn != "" || updated
}

func (m Authorship) foreign(a Account) bool { return a.ID != 0 && a.Login != webFlow && !m.Ours(a.ID) }

// DependencyState is the last known state of an issue that an item waits for.
type DependencyState string

// The states of a dependency. Empty: it was never read.
const (
	DependencyOpen    DependencyState = "open"
	DependencyClosed  DependencyState = "closed"
	DependencyDropped DependencyState = "dropped" // closed as not planned, or as a duplicate
	DependencyRefused DependencyState = "refused" // GitHub reports that we may not see it
	DependencyMissing DependencyState = "missing" // it does not exist, or we may not see it
)

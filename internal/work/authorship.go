package work

// Commit is a commit of a pull request, as GitHub lists it. An account is empty where GitHub
// knows none by the address in the commit.
type Commit struct {
	OID       string
	Message   string
	Author    Account
	Committer Account
	Parents   int
}

// webFlow is the login of GitHub's own committer: of merges by its button, and of what people
// edit in a browser.
const webFlow = "web-flow"

// Made says who a commit comes from: ours are the accounts that this tool used, known tells
// whether a turn stored the commit.
type Authorship struct {
	Ours  func(account int64) bool
	Known func(oid string) bool
}

// ByUs reports whether a commit is one that a turn made, or the base merged in by GitHub for
// us. A commit that somebody else committed again is theirs, whatever its message says.
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

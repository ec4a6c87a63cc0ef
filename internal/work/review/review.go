// Package review decides how the reviews of a pull request go on: who is asked next,
// what is to be fixed, when it is approved and when people have to take over. It knows
// nothing of GitHub and stores nothing: the same facts and policy give the same choice.
package review

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// StatusContext is the name of the commit status that tells what the reviews of a head
// have come to.
const StatusContext = "mergexo/review"

// Decision is a reviewer's verdict in one word.
type Decision string

// The decisions.
const (
	Approve        Decision = "approve"
	RequestChanges Decision = "request_changes"
)

// Severity is how bad a finding is.
type Severity string

// The severities, the worst first.
const (
	Critical Severity = "critical"
	Major    Severity = "major"
	Minor    Severity = "minor"
	Nit      Severity = "nit"
)

// Severities lists them, the worst first.
func Severities() []Severity { return []Severity{Critical, Major, Minor, Nit} }

// AtLeast reports whether a severity is as bad as another or worse. One that does not
// exist is not.
func (s Severity) AtLeast(o Severity) bool {
	i := slices.Index(Severities(), s)
	return i >= 0 && i <= slices.Index(Severities(), o)
}

// Reviewer is one of a repository's config.
type Reviewer struct {
	Name       string // lower-case letters, digits and single hyphens
	Human      bool
	Login      string   // of a person
	LoginID    int64    // the account that has the login; 0 while it was never seen
	Account    string   // as whom gh is to speak for an agent; empty: as the author
	MayCallIn  []string // reviewers by name
	ConfigLine int      // 1 or more; 0: built in
}

// Policy is what the config says about the reviews of one pull request today. It is
// made again in every pass and never stored.
type Policy struct {
	Order           []Reviewer          // empty: nobody reviews
	Pool            map[string]Reviewer // by name: who may be called in
	MaxFixCycles    int
	RequireHuman    bool // an approval by a person who is not the author, beside the reviewers'
	HearPeople      bool // approvals of people who are no reviewers are noted: merging may ask for one
	KeepOnBaseMerge bool // approvals, when the base was merged in and changed nothing
	WithoutChecks   bool // neither running checks nor red ones hold a review back
	Blocking        Severity
	Author          string // the login of the author's account, who is sent no request
}

// Off reports that nothing is reviewed.
func (p Policy) Off() bool { return len(p.Order) == 0 && !p.RequireHuman }

// Agents reports whether an account is one of its own as which a reviewer speaks that is
// an agent: where a person's word is asked for, what is said with it is nobody's.
func (p Policy) Agents(who work.Account) bool {
	for _, r := range p.Pool {
		if !r.Human && r.Account != "" && strings.EqualFold(r.Account, who.Login) && !strings.EqualFold(r.Account, p.Author) {
			return true
		}
	}
	return false
}

// Validity says whether a verdict still stands, whatever the head is.
type Validity string

// The validities.
const (
	Counts    Validity = "counts"
	Moved     Validity = "moved"      // when it was posted, the head was another already; it counts should the head come back
	TakenBack Validity = "taken_back" // dismissed by a person
)

// Verdict is what a reviewer said about a head. An agent has one for each head, a
// person as many as they give.
type Verdict struct {
	ID        int64 // the database's
	PullID    int64
	ReviewID  int64  // GitHub's; 0: a command gave it
	CommentID int64  // of the command; 0: a review gave it
	Reviewer  string // empty: a person who is no reviewer; counts for Policy.RequireHuman, and for merging
	Human     bool
	Head      string // the commit that was looked at
	KeptFrom  string // the commit that was approved, where only the base was merged in since
	Epoch     int    // as Record.Epoch then
	Cycle     int    // as FixCycle then
	Decision  Decision
	Validity  Validity
	By        work.Account
	TurnID    int64
	CalledIn  []string // reviewers whom it names, allowed or not
	Highest   Severity // of its findings; empty: it has none
	Count     int      // of findings
	Body      string
	URL       string
	At        time.Time
}

// Finding is one thing that a reviewer found.
type Finding struct {
	ID         string // the beginning of its token: the same after the database is lost
	PullID     int64
	VerdictID  int64 // of the verdict that came with it
	Reviewer   string
	Head       string
	Cycle      int
	Path       string
	Line       int // 0: of the file as a whole
	Severity   Severity
	Confidence string // high, medium or low
	Body       string
	CommentID  int64  // 0: it stands in the review's own text
	ThreadNode string // GitHub's node id of the thread
	Answer     string // the author's
	ResolvedBy int64  // the verdict in which its reviewer says that it is done; 0: it is open
}

// Open reports whether nobody has said yet that it is done.
func (x Finding) Open() bool { return x.ResolvedBy == 0 }

// FixOutcome is how a fix ended.
type FixOutcome string

// The outcomes of a fix.
const (
	FixPushed    FixOutcome = "pushed"
	FixUnchanged FixOutcome = "unchanged"
	FixAsked     FixOutcome = "asked" // the agent asks a person
)

// Fix is a turn that was to do what a reviewer asked for.
type Fix struct {
	PullID   int64
	Reviewer string
	ReviewID int64 // GitHub's number of the review
	Epoch    int
	Cycle    int // 0 for the first
	TurnID   int64
	Head     string // that was reviewed
	Commit   string // that was pushed
	Outcome  FixOutcome
	At       time.Time
}

// Insertion is a reviewer who was called in by another.
type Insertion struct {
	PullID int64
	Name   string
	By     string
	At     time.Time
}

// Record is what is stored about the reviews of a pull request beside verdicts,
// findings, fixes and insertions. The plan alone writes it.
type Record struct {
	PullID    int64
	State     State
	Since     time.Time   // of the state
	Head      string      // when the state was decided
	Reviewer  string      // who is asked, or whose demands are fixed
	Epoch     int         // how often a person had it begin again
	Cycle     int         // FixCycle when the state was decided
	Why       work.Reason // of error and human_review_required
	MergeType MergeType
	FailedKey string      // the event for which a turn failed for good
	FailedWhy work.Reason // and why
	Retries   int         // attempts that failed
	LastError string
}

// Held is a hold that a person set.
type Held struct {
	By string
	At time.Time
}

// Package review decides how the reviews of a pull request continue: who reviews next, what must be
// fixed, when the pull request is approved and when a person must take over. It does not call
// GitHub and stores nothing: the same facts and policy give the same choice.
package review

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// StatusContext is the name of the commit status with the result of a head's reviews.
const StatusContext = "mergexo/review"

// Decision is a reviewer's verdict.
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

// Severities lists the severities, the worst first.
func Severities() []Severity { return []Severity{Critical, Major, Minor, Nit} }

// AtLeast reports whether s is as bad as o or worse. An unknown severity is not.
func (s Severity) AtLeast(o Severity) bool {
	i := slices.Index(Severities(), s)
	return i >= 0 && i <= slices.Index(Severities(), o)
}

// Reviewer is a reviewer from a repository's config.
type Reviewer struct {
	Name       string // lower-case letters, digits and single hyphens
	Human      bool
	Login      string   // of a person
	LoginID    int64    // id of the account with that login; 0: never seen
	Level      string   // GitHub's word for what the person may do, if their review does not count; empty: it does
	Account    string   // the account gh uses for an agent's reviews; empty: the author's
	MayCallIn  []string // names of reviewers it may call in
	ConfigLine int      // 1 or more; 0: built in
}

// Policy is the config's review settings for one pull request. Each pass builds it again; it is
// never stored.
type Policy struct {
	Order        []Reviewer          // empty: no reviewers
	Pool         map[string]Reviewer // reviewers that may be called in, by name
	MaxFixCycles int
	RequireHuman bool // also needs the approval of a person who is not the author
	HearPeople   bool // record approvals of people who are not reviewers, because merging may need one
	Blocking     Severity
	Author       string // login of the author's account; GitHub refuses review requests to the author
}

// Off reports whether nothing is reviewed.
func (p Policy) Off() bool { return len(p.Order) == 0 && !p.RequireHuman }

// Agents reports whether the account is one that only a reviewing agent uses. Its approvals never
// count as a person's.
func (p Policy) Agents(who work.Account) bool {
	for _, r := range p.Pool {
		if !r.Human && r.Account != "" && strings.EqualFold(r.Account, who.Login) && !strings.EqualFold(r.Account, p.Author) {
			return true
		}
	}
	return false
}

// Validity says whether a verdict still counts, regardless of the current head.
type Validity string

// The validities.
const (
	Counts    Validity = "counts"
	Moved     Validity = "moved"      // the head had already changed when the review was posted; it counts if the head returns
	TakenBack Validity = "taken_back" // dismissed by a person
	BaseMoved Validity = "base_moved" // the base may have been changed after a person's review: nobody can tell which commits they saw
)

// Verdict is a reviewer's verdict about a head. An agent gives one for each head, a person any
// number.
type Verdict struct {
	ID        int64 // the database's
	PullID    int64
	ReviewID  int64  // GitHub's; 0: a command gave it
	CommentID int64  // id of the command's comment; 0: a review gave it
	Reviewer  string // empty: a person who is not a reviewer; such a verdict counts for Policy.RequireHuman and for merging
	Human     bool
	Head      string // the reviewed commit
	MergeBase string // merge bases of the head and its base then, as in work.PullRequest; the verdict is about the commits in between
	KeptFrom  string // the approved commit, if only the base was merged in since
	Epoch     int    // Record.Epoch at that time
	Cycle     int    // FixCycle at that time
	Decision  Decision
	Validity  Validity
	By        work.Account
	TurnID    int64
	CalledIn  []string // reviewers it names, allowed or not
	Highest   Severity // highest severity of its findings; empty: no findings
	Count     int      // number of findings
	Unread    []string // paths of the change that the reviewer was not shown whole
	Body      string
	URL       string
	At        time.Time
}

// Finding is one problem that a reviewer reported.
type Finding struct {
	ID         string // prefix of its token, so that it is the same after a loss of the database
	PullID     int64
	VerdictID  int64 // the verdict that reported it
	Reviewer   string
	Head       string
	Cycle      int
	Path       string
	Line       int // 0: the finding is about the whole file
	Severity   Severity
	Confidence string // high, medium or low
	Body       string
	CommentID  int64  // 0: the finding is in the body of the review
	ThreadNode string // GitHub's node id of the thread
	Answer     string // the author's answer
	ResolvedBy int64  // the verdict in which the reviewer marked it as resolved; 0: open
}

// Open reports whether the reviewer has not marked the finding as resolved.
func (x Finding) Open() bool { return x.ResolvedBy == 0 }

// FixOutcome is how a fix ended.
type FixOutcome string

// The outcomes of a fix.
const (
	FixPushed    FixOutcome = "pushed"
	FixUnchanged FixOutcome = "unchanged"
	FixAsked     FixOutcome = "asked" // the agent asks a person
)

// Fix is a turn that fixes a reviewer's findings.
type Fix struct {
	PullID   int64
	Reviewer string
	ReviewID int64 // GitHub's id of the review
	Epoch    int
	Cycle    int // 0 for the first
	TurnID   int64
	Head     string // the reviewed commit
	Commit   string // the pushed commit
	Outcome  FixOutcome
	At       time.Time
}

// Insertion is a reviewer that another reviewer called in.
type Insertion struct {
	PullID int64
	Name   string
	By     string
	At     time.Time
}

// Record is the stored state of a pull request's reviews, without verdicts, findings, fixes and
// insertions. Only the plan writes it.
type Record struct {
	PullID    int64
	State     State
	Since     time.Time   // when the state began
	Head      string      // when the state was decided
	Reviewer  string      // who reviews next, or whose findings are being fixed
	Epoch     int         // how often a person restarted the reviews
	Cycle     int         // FixCycle when the state was decided
	Why       work.Reason // for error and human_review_required
	MergeType MergeType
	FailedKey string      // the event whose turn failed for good
	FailedWhy work.Reason // why that turn failed
	Retries   int         // failed attempts
	LastError string
}

// Held is a person's hold.
type Held struct {
	By       string
	At       time.Time
	Labelled bool // the label was on the pull request; once it is not, the hold is over
}

// PeopleLabel plans to set or remove the label that says that only people review a pull request.
func PeopleLabel(repo work.Repo, item int64, number int, name string, has bool) work.Action {
	l := work.Labelling{Without: []string{name}}
	if has {
		l = work.Labelling{With: []work.Label{work.HumanReviewLabel(name)}}
	}
	return l.Action(repo, item, number, "review")
}

// Remarks are the line comments of a review, as its action stores them.
type Remarks struct {
	OnLines []Remark `json:"on_lines"`
	Whole   string   `json:"whole"` // the body of the review with all of them in it, should GitHub take none on its line
}

// Remark is a comment on a line of a file.
type Remark struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Body string `json:"body"` // with its markers
}

// Encode returns the form that an action stores; empty: no comments.
func (r Remarks) Encode() string {
	if len(r.OnLines) == 0 {
		return ""
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err) // plain fields
	}
	return string(b)
}

// DecodeRemarks parses what Encode returned.
func DecodeRemarks(s string) (r Remarks, err error) {
	if s == "" {
		return Remarks{}, nil
	}
	if err := json.Unmarshal([]byte(s), &r); err != nil {
		return Remarks{}, fmt.Errorf("decode the comments of a review: %w", err)
	}
	return r, nil
}

// EventOf returns how a verdict is posted, in the API's word. GitHub refuses verdicts on one's own pull
// request. An account that may not approve must not request changes either, because it could never
// clear that: only the commit status shows its verdict.
func EventOf(authorID, reviewerID int64, mayApprove bool, d Decision) string {
	switch {
	case authorID == reviewerID || !mayApprove:
		return "COMMENT"
	case d == Approve:
		return "APPROVE"
	}
	return "REQUEST_CHANGES"
}

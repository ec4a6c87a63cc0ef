// Package merging decides whether a pull request may be merged now, and how: which gates are open,
// which closed gate is reported, and which of several pull requests goes first. It does not call
// GitHub and stores nothing: the same facts and policy give the same choice.
package merging

import (
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Method is how GitHub merges a pull request.
type Method string

// The methods.
const (
	Squash      Method = "squash"
	MergeCommit Method = "merge"
	Rebase      Method = "rebase"
)

// Methods lists the methods, the preferred one first.
func Methods() []Method { return []Method{Squash, MergeCommit, Rebase} }

// Policy is the config's merge settings for one pull request. Each pass builds it again; it is
// never stored.
type Policy struct {
	Auto          bool
	Method        Method        // empty: the first that the repository allows
	Required      []string      // checks that must be green, in addition to GitHub's required ones
	ChecksTimeout time.Duration // how long to wait for checks and approvals that nobody here can give
	Critical      []string      // globs of paths whose changes need a person's approval
	RequireHuman  bool
	Unread        []string // globs of paths that reviewers need not be shown whole
	Approvers     []string // logins of configured reviewers whose approvals GitHub counts; "" is any person
	Unable        []string // logins of those whose approvals it does not count
	Freeze        string   // label; while an open issue has it, nothing is merged
	Hold          string   // label that holds a pull request
	Ignore        string   // label, on a pull request or its issue, with which people take the work over

	Match func(glob, path string) bool `json:"-"` // reports whether a path is one that a glob means
}

// Check is one check of a head, its runs combined.
type Check struct {
	Name     string     `json:"name"`
	State    CheckState `json:"state"`
	Required bool       `json:"required,omitempty"` // by GitHub's rules for this pull request
	Ended    time.Time  `json:"ended,omitzero"`     // zero: it has not, or is green
	Lapsed   bool       `json:"lapsed,omitempty"`   // it ended and says nothing: it was cancelled, or nobody runs it any more

	Unstarted bool `json:"unstarted,omitempty"` // GitHub could not start it
}

// CheckState is the result of a check.
type CheckState string

// The states of a check.
const (
	Green CheckState = "green"
	Runs  CheckState = "pending"
	Red   CheckState = "red"
)

// Review is a review as GitHub counts it.
type Review struct {
	ID    int64        `json:"id"`
	State string       `json:"state"` // APPROVED, CHANGES_REQUESTED, COMMENTED, DISMISSED
	Head  string       `json:"head"`
	By    work.Account `json:"by"`
	At    time.Time    `json:"-"`
}

// Queue is the place of a pull request in its base's merge queue.
type Queue struct {
	Required bool   `json:"required,omitempty"` // merges into the base go through it
	In       bool   `json:"in,omitempty"`
	State    string `json:"state,omitempty"` // QUEUED, AWAITING_CHECKS, MERGEABLE, UNMERGEABLE, LOCKED
	Position int    `json:"position,omitempty"`
	Group    string `json:"group,omitempty"` // the commit whose checks decide

	By   work.Account `json:"by,omitzero"`   // who put it there
	Left time.Time    `json:"left,omitzero"` // when a pass first saw the pull request that we queued outside the queue and not merged
	Out  *QueueExit   `json:"-"`             // how it left it last; nil: it did not, or was merged
}

// QueueExit is when and by whom a pull request left its base's merge queue, from its timeline.
type QueueExit struct {
	Put   time.Time // when it was queued
	PutBy work.Account
	At    time.Time
	By    work.Account

	Group  string // the commit whose checks decided; empty: none was built
	Reason string // in GitHub's words
}

// FellOutOfQueue returns how this head fell out of the merge queue: it was queued by one of
// accounts, and none of them took it out. Otherwise it returns nil. A push also removes a pull
// request from the queue, so only a head that was reviewed before it was queued counts.
func (b Box) FellOutOfQueue(accounts []int64) *QueueExit {
	out := b.Queue.Out
	if out == nil || b.State != work.PullOpen || !slices.Contains(accounts, out.PutBy.ID) || slices.Contains(accounts, out.By.ID) {
		return nil
	}
	if !slices.ContainsFunc(b.Reviews, func(r Review) bool { return r.Head == b.Head && !r.At.After(out.Put) }) {
		return nil
	}
	return out
}

// Rules are the requirements of a base branch that GitHub shows to accounts with read access.
type Rules struct {
	Known     bool     `json:"known,omitempty"` // false: GitHub does not show them; there may be some
	Checks    []string `json:"checks,omitempty"`
	Strict    bool     `json:"strict,omitempty"` // the head has to be up to date with the base
	Approvals int      `json:"approvals,omitempty"`
	LastPush  bool     `json:"last_push,omitempty"` // somebody else than the last pusher has to approve
	Threads   bool     `json:"threads,omitempty"`   // conversations have to be resolved
	Methods   []Method `json:"methods,omitempty"`   // empty: any that the repository allows
	Linear    bool     `json:"linear,omitempty"`    // no merge commits
	Queue     bool     `json:"queue,omitempty"`
	Other     []string `json:"other,omitempty"` // rules of kinds that are not judged here

	ETags map[string]string `json:"etags,omitempty"` // of the answers that the rules come from, by address; if there is none, the next pass reads the rules without ETags
}

// Opinions returns each account's last review that approves, requests changes or was dismissed, the
// oldest first. A comment changes nobody's opinion.
func (b Box) Opinions() (all []Review) {
	said := map[int64]bool{}
	for _, r := range slices.Backward(b.Reviews) {
		if r.State == "COMMENTED" || r.By.ID == 0 || said[r.By.ID] {
			continue
		}
		said[r.By.ID] = true
		all = append(all, r)
	}
	slices.Reverse(all)
	return all
}

// Issue is the issue of a pull request's work item.
type Issue struct {
	Number    int       `json:"number"`
	Wanted    bool      `json:"wanted,omitempty"` // it is open, or closed as completed: a merge may close it too early
	Labels    []string  `json:"labels,omitempty"`
	UpdatedAt time.Time `json:"-"`
}

// BoxOf names the pull request whose merge box is read.
type BoxOf struct {
	PullNodeID string
	Number     int
	Issue      int    // of its work item; 0: not read
	Freeze     string // label; empty: no issue is looked for
}

// Change is what merging a head changes, read from its commits.
type Change struct {
	From    string   `json:"from,omitempty"`   // the merge base from which the rest is read; empty: nothing is known
	Paths   []string `json:"paths,omitempty"`  // that the head changes
	Obeyed  []string `json:"obeyed,omitempty"` // some of Paths that agents obey, also those that only files of the base's tip import
	Deletes Deletion `json:"deletes,omitzero"`
}

// Deletion is what a change deletes, if it is so much that a person must approve it.
type Deletion struct {
	Folder string `json:"folder,omitempty"` // at the top, of which nothing is left; empty: more than half of all files are deleted
	Files  int    `json:"files,omitempty"`  // that are deleted of these
	Of     int    `json:"of,omitempty"`
}

// wholeFolder is how many files a top folder has at most that agents may delete.
const wholeFolder = 20

// Deletes judges which of the tracked files are deleted. A renamed file is not.
func Deletes(tracked, deleted []string) Deletion {
	if 2*len(deleted) > len(tracked) {
		return Deletion{Files: len(deleted), Of: len(tracked)}
	}
	had, gone := map[string]int{}, map[string]int{}
	for _, path := range tracked {
		top, _, _ := strings.Cut(path, "/")
		had[top]++
	}
	for _, path := range deleted {
		top, _, _ := strings.Cut(path, "/")
		if gone[top]++; gone[top] == had[top] && had[top] > wholeFolder {
			return Deletion{Folder: top, Files: had[top], Of: had[top]}
		}
	}
	return Deletion{}
}

// Box is GitHub's merge box of one pull request, with the rules and settings of its repository.
type Box struct {
	At          time.Time      `json:"-"` // when it was read
	State       work.PullState `json:"state"`
	Draft       bool           `json:"draft,omitempty"`
	Head        string         `json:"head"`
	Base        string         `json:"base"`
	BaseTip     string         `json:"base_tip"`
	Found       work.Reason    `json:"found,omitzero"` // what kept the last merge of this head, which the plan had chosen, from being sent; none: nothing did
	Mergeable   string         `json:"mergeable"`      // MERGEABLE, CONFLICTING or UNKNOWN
	Status      string         `json:"status"`         // GitHub's own word: CLEAN, BEHIND, BLOCKED, UNSTABLE, …
	Decision    string         `json:"decision"`       // GitHub's sum of reviews; empty: it demands none
	MergedBy    work.Account   `json:"merged_by"`
	MergeCommit string         `json:"merge_commit"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Looked      time.Time      `json:"-"`                // when the look began that read it last; zero: it is no last look
	Labels      []string       `json:"labels,omitempty"` // of the pull request
	Issue       Issue          `json:"issue,omitzero"`
	Closes      bool           `json:"closes,omitempty"` // the pull request's text says that its merge closes that issue
	Change
	Threads     int       `json:"threads,omitempty"` // conversations on the diff that are not resolved
	Reviews     []Review  `json:"reviews,omitempty"` // the oldest first
	Checks      []Check   `json:"checks,omitempty"`
	ChecksKnown bool      `json:"checks_known"`          // false: the token may not see them
	Expected    []string  `json:"expected,omitempty"`    // checks that GitHub shows as required and nobody has reported, even if no visible rule requires them
	StatusText  string    `json:"status_text,omitempty"` // of the commit status of the reviews
	StatusAt    time.Time `json:"status_at,omitzero"`    // when that was set
	Queue       Queue     `json:"queue"`
	Rules       Rules     `json:"rules"`

	Methods      []Method `json:"methods"` // that the repository allows
	DeleteBranch bool     `json:"delete_branch,omitempty"`
	Permission   string   `json:"permission"`       // ADMIN, MAINTAIN, WRITE, TRIAGE, READ: ours; empty: not known
	Freeze       int      `json:"freeze,omitempty"` // an open issue with the freeze label
}

// Without returns the box without a label of the pull request and of its issue, and without what that kept from being
// merged.
func (b Box) Without(label string) Box {
	other := func(labels []string) []string {
		return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return strings.EqualFold(l, label) })
	}
	b.Labels, b.Issue.Labels = other(b.Labels), other(b.Issue.Labels)
	if b.Found.Kind == work.WhyMergeHeld {
		b.Found = work.Reason{}
	}
	return b
}

// Counted reports whether the box shows what merging the pull request changes: its Change was read
// from its merge bases.
func (b Box) Counted(p work.PullRequest) bool { return b.From != "" && b.From == p.MergeBase }

// Read reports whether the box was read.
func (b Box) Read() bool { return b.Head != "" }

// Fresh reports whether the pull request or its issue changed in or after the second in which the
// last look began.
func (b Box) Fresh() bool {
	second := b.Looked.Truncate(time.Second)
	return !b.Looked.IsZero() && (!b.UpdatedAt.Before(second) || !b.Issue.UpdatedAt.Before(second))
}

// Forbids reports whether GitHub denies the account the permission to merge. If the permission is
// unknown, the attempt to merge shows it.
func (b Box) Forbids() bool {
	return b.Permission == "READ" || b.Permission == "TRIAGE" || b.Permission == "NONE"
}

// queueBot is named as the merger of queued pull requests when GitHub does not name who queued
// them.
const queueBot = "github-merge-queue[bot]"

// ByUs reports whether one of accounts or a merge queue merged the pull request. If we requested a
// merge, it is ours.
func (b Box) ByUs(accounts []int64) bool {
	return b.MergedBy.Login == queueBot || b.MergedBy.ID != 0 && slices.Contains(accounts, b.MergedBy.ID)
}

// Facts are the inputs of a decision about one pull request.
type Facts struct {
	Pull           work.PullRequest
	Flow           work.Flow // of its item
	Issue          int       // of its item
	Box            Box
	Approved       bool        // all reviewers have approved this head
	Wanting        []string    // reviewers who have not
	Person         bool        // a person who is not the author approved this head
	Against        []string    // people who request changes, on any head
	Unread         []string    // paths of the change that a reviewer was not shown whole
	UntilGreen     work.Reason // why it is a draft of ours, which is marked as ready once it is green
	OtherCommits   bool        // a person approved this head when merging it brought other commits
	Asked          []string    // labels of which the issue must have one; empty: it needs none
	MergeApprovals []MergeApproval
	Unanswered     int // number of unanswered comments by people
	Held           *review.Held
	First          work.Reason // the turn, the command or the push that comes before the merge, or why a person must act first; zero: nothing does
	Answers        bool        // that turn answers people or changes the head
	Queued         bool        // we queued this head, and nobody has dequeued it since
	Trouble        work.Reason // why an earlier attempt to merge this head failed; zero: none did
	Faults         []string    // of the document of a roadmap's pull request at this head, each with its line
	Halt           *Halt       // of the repository; nil: merging is not halted
	Refused        work.Reason // what it waits for after GitHub refused to merge this head, until the merge is tried again
	Taken          bool        // GitHub merged or queued this head, and it was not read since
	Unclear        bool        // a merge of this head was sent, and its result is unknown
	Updated        time.Time   // when we last brought its branch up to date; zero: never
	Current        bool        // an update of this head found that it already contains the base's tip
	Now            time.Time
}

// MergeApproval is a person's approval to merge a head.
type MergeApproval struct {
	PullID    int64
	Head      string
	MergeBase string // of the head and its base when it was given
	By        work.Account
	CommentID int64 // the comment that gave it; below 0: given on the command line
	URL       string
	At        time.Time
}

// mergeApproved reports whether a person approved merging these commits.
func (f Facts) mergeApproved() bool {
	return slices.ContainsFunc(f.MergeApprovals, func(w MergeApproval) bool { return f.Pull.Brings(w.Head, w.MergeBase) })
}

// Halt stops merging in a repository until a person resumes it.
type Halt struct {
	Why      work.Reason
	At       time.Time
	Reported bool // a pass has ended with it
}

// Stage is how far one of our merges has come.
type Stage string

// The stages.
const (
	Intended Stage = "intended" // about to be sent, or sent
	Queued   Stage = "queued"
	Half     Stage = "half" // the commit is on the base, but the pull request is open
	Landed   Stage = "landed"
	Void     Stage = "void" // it did not happen; with a commit: somebody else merged the pull request as that commit
)

// Merge is one of our merges: the intent and the result.
type Merge struct {
	ID      int64
	RepoID  int64
	PullID  int64
	ItemID  int64
	Number  int
	Head    string // the approved head
	Base    string // base branch
	BaseOID string // tip of the base when the merge was planned
	Tree    string // the expected tree; empty: a merge queue chooses the base commit
	Method  Method
	Stage   Stage

	Commit  string // the landed commit
	Parent  string // parent of the landed commit
	Landed  string // tree of the landed commit
	Differs string // how the landed commit differs from the intended one; empty: not at all

	At       time.Time
	LandedAt time.Time
}

// Code names a gate. A released code never changes.
type Code string

// The gates, in GitHub's order.
const (
	gateDraft         Code = "draft"
	gateConflicts     Code = "conflicts"
	gateBehind        Code = "behind"
	gateChecks        Code = "checks"
	gateApprovals     Code = "approvals"
	gateReview        Code = "review_required"
	gateConversations Code = "conversations"
	gateComments      Code = "comments"
	gateHold          Code = "hold"
	gateAsked         Code = "asked_for"
	gateFreeze        Code = "freeze"
	gateDocument      Code = "document"
	gateHuman         Code = "human_approval"
	gateNotReviewed   Code = "not_all_reviewed"
	gateQueue         Code = "merge_queue"
	gateLastPush      Code = "last_push"
	gateBlocked       Code = "blocked"
	gateMethod        Code = "method"
	gatePermission    Code = "permission"
	gateMerging       Code = "merging"
	gateUnread        Code = "unread"
)

// Gate is one condition for merging a pull request.
type Gate struct {
	Code Code
	Open bool
	Stop bool        // nobody here can open it: a person must act
	Why  work.Reason // if closed: what it waits for
}

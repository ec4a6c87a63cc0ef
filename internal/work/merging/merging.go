// Package merging decides whether a pull request may be merged now, and how: which gates
// are open, which one holds it, which of several goes first. It knows nothing of GitHub
// and stores nothing: the same facts and policy give the same choice.
package merging

import (
	"slices"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// Method is how commits come onto the base.
type Method string

// The methods.
const (
	Squash      Method = "squash"
	MergeCommit Method = "merge"
	Rebase      Method = "rebase"
)

// Methods lists them in the order in which they are preferred.
func Methods() []Method { return []Method{Squash, MergeCommit, Rebase} }

// Setting is a config's yes or no; empty: the repository's own setting holds.
type Setting string

// The settings.
const (
	Yes Setting = "yes"
	No  Setting = "no"
)

// Policy is what the config says about merging one pull request today. It is made again
// in every pass and never stored.
type Policy struct {
	Auto          bool
	Method        Method        // empty: the first that the repository allows
	Required      []string      // checks that have to be green, beside GitHub's
	ChecksTimeout time.Duration // how long what nobody here may bring about is waited for
	Critical      []string      // globs of paths that a person has to judge
	MaxLines      int           // a person has to judge what changes more lines; 0: no limit
	RequireHuman  bool
	Mends         bool // a turn mends checks that failed
	Approvers     int  // how many of those who are configured give approvals that GitHub counts
	DeleteBranch  Setting
	Watch         time.Duration // how long the base's checks are watched after a merge
	Revert        bool          // a red base is answered with a revert for people to judge
	Freeze        string        // label of an issue that stops merging while it is open

	Match func(glob, path string) bool `json:"-"` // reports whether a path is one that a glob means
}

// Check is one of a head's checks, all its runs taken together.
type Check struct {
	Name     string     `json:"name"`
	State    CheckState `json:"state"`
	Required bool       `json:"required,omitempty"` // by GitHub's rules for this pull request
	Ended    time.Time  `json:"ended,omitzero"`     // zero: it has not, or is green
	Lapsed   bool       `json:"lapsed,omitempty"`   // it ended and says nothing: it was cancelled, or nobody runs it any more
}

// CheckState says what a check has come to.
type CheckState string

// The states of a check.
const (
	Green CheckState = "green"
	Runs  CheckState = "pending"
	Red   CheckState = "red"
)

// Review is what somebody's review counts for on GitHub.
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
	Left time.Time    `json:"left,omitzero"` // since when what we queued is seen out of it, and not merged
	Out  *Out         `json:"-"`             // how it left it last; nil: it did not, or was merged
}

// Out is that a pull request left its base's merge queue, as its timeline tells.
type Out struct {
	Put   time.Time // into it
	PutBy work.Account
	At    time.Time
	By    work.Account
}

// Fell is how the head fell out of the queue into which one of some accounts put it; nil: it
// did not, or one of them took it out. That head is meant if it was reviewed before it was
// queued: a push has its pull request leave the queue, too.
func (b Box) Fell(accounts []int64) *Out {
	out := b.Queue.Out
	if out == nil || b.State != work.PullOpen || !slices.Contains(accounts, out.PutBy.ID) || slices.Contains(accounts, out.By.ID) {
		return nil
	}
	if !slices.ContainsFunc(b.Reviews, func(r Review) bool { return r.Head == b.Head && !r.At.After(out.Put) }) {
		return nil
	}
	return out
}

// Rules are what a base branch demands, as far as a reader sees it.
type Rules struct {
	Known     bool     `json:"known,omitempty"` // false: GitHub does not say, which is not that there are none
	Checks    []string `json:"checks,omitempty"`
	Strict    bool     `json:"strict,omitempty"` // the head has to be up to date with the base
	Approvals int      `json:"approvals,omitempty"`
	LastPush  bool     `json:"last_push,omitempty"` // somebody else than the last pusher has to approve
	Threads   bool     `json:"threads,omitempty"`   // conversations have to be resolved
	Methods   []Method `json:"methods,omitempty"`   // empty: any that the repository allows
	Linear    bool     `json:"linear,omitempty"`    // no merge commits
	Queue     bool     `json:"queue,omitempty"`
	Other     []string `json:"other,omitempty"` // rules of kinds that are not judged here
}

// Box is GitHub's merge box of one pull request, with what its repository says.
type Box struct {
	At          time.Time      `json:"-"` // when it was read
	State       work.PullState `json:"state"`
	Draft       bool           `json:"draft,omitempty"`
	Head        string         `json:"head"`
	Base        string         `json:"base"`
	BaseTip     string         `json:"base_tip"`
	Onto        string         `json:"onto,omitempty"` // where the base stood when the approved head was first looked at, see Box.Pinned
	Mergeable   string         `json:"mergeable"`      // MERGEABLE, CONFLICTING or UNKNOWN
	Status      string         `json:"status"`         // GitHub's own word: CLEAN, BEHIND, BLOCKED, UNSTABLE, …
	Decision    string         `json:"decision"`       // GitHub's sum of reviews; empty: it demands none
	MergedBy    work.Account   `json:"merged_by"`
	MergeCommit string         `json:"merge_commit"`
	UpdatedAt   time.Time      `json:"updated_at"`
	Lines       int            `json:"lines"`             // added and deleted
	Paths       []string       `json:"paths,omitempty"`   // that the head changes, where the config asks; empty: not known
	Threads     int            `json:"threads,omitempty"` // conversations on the diff that are not resolved
	Reviews     []Review       `json:"reviews,omitempty"` // the oldest first
	Checks      []Check        `json:"checks,omitempty"`
	ChecksKnown bool           `json:"checks_known"` // false: the token may not see them
	Queue       Queue          `json:"queue"`
	Rules       Rules          `json:"rules"`

	Methods      []Method `json:"methods"` // that the repository allows
	DeleteBranch bool     `json:"delete_branch,omitempty"`
	Permission   string   `json:"permission"`       // ADMIN, MAINTAIN, WRITE, TRIAGE, READ: ours; empty: not known
	Freeze       int      `json:"freeze,omitempty"` // an open issue with the freeze label
}

// Read reports whether there is one.
func (b Box) Read() bool { return b.Head != "" }

// Pinned is the box with the base for which its head was approved, by the box as it was
// before. Where the base changes under the same head, what was approved is not what would
// land: an older one lacks commits that the head holds, and that were no part of the change.
func (b Box) Pinned(was Box) Box {
	if b.Onto = was.Onto; was.Head != b.Head || b.Onto == "" {
		b.Onto = b.BaseTip
	}
	return b
}

// Forbids reports whether GitHub says that the account may not merge. Where it does not say,
// the merge will.
func (b Box) Forbids() bool {
	return b.Permission == "READ" || b.Permission == "TRIAGE" || b.Permission == "NONE"
}

// QueueBot merges what was queued, where GitHub does not name whoever queued it.
const QueueBot = "github-merge-queue[bot]"

// ByUs reports whether it was merged by one of our accounts, or by a queue. Where a merge
// was asked for, that is ours.
func (b Box) ByUs(accounts []int64) bool {
	return b.MergedBy.Login == QueueBot || b.MergedBy.ID != 0 && slices.Contains(accounts, b.MergedBy.ID)
}

// With is the box with what its base demands. Checks that GitHub shows as expected are
// demanded, whether a rule that may be seen says so or not.
func (b Box) With(r Rules) Box {
	expected := b.Rules.Checks
	b.Rules = r
	b.Rules.Checks = slices.Compact(slices.Sorted(slices.Values(slices.Concat(r.Checks, expected))))
	return b
}

// Facts are what is known of one pull request that might be merged.
type Facts struct {
	Pull     work.PullRequest
	Box      Box
	Approved bool     // all reviewers have approved this head
	Wanting  []string // those that have not
	Verdicts []int64  // GitHub's numbers of the reviews that count
	Person   bool     // a person who is not the author approved this head
	Against  []string // people who request changes, of whichever head
	Words    []Word
	Said     int // what people wrote and nobody has answered
	Held     *review.Held
	Busy     bool        // a turn is under way, or something is to be done before
	Answers  bool        // that turn answers people, or changes the head
	Queued   bool        // we put this head into its base's queue, and nobody took it out since
	Trouble  work.Reason // of an earlier attempt with this head; none
	Halt     *Halt       // of the repository; nil: merging goes its way
	Refused  string      // GitHub's words, while what it refused for this head is not tried again; empty: nothing is
	Taken    bool        // GitHub took a merge of this head, or has queued it, and was not read since
	Unclear  bool        // a merge of this head was sent, and nobody knows yet what became of it
	Updated  time.Time   // when we last brought its branch up to date; zero: never
	Current  bool        // an update of this head found nothing of the base, as it is now, that it lacks
	Now      time.Time
}

// Word is a person's word that a head may be merged.
type Word struct {
	PullID    int64
	Head      string
	By        work.Account
	CommentID int64 // in which it stands; that of the command line is below 0
	URL       string
	At        time.Time
}

// Said reports whether a person has said that this head may be merged.
func (f Facts) said() bool {
	return slices.ContainsFunc(f.Words, func(w Word) bool { return w.Head == f.Pull.HeadOID })
}

// Halt is that nothing is merged in a repository until a person says so.
type Halt struct {
	Why  work.Reason
	At   time.Time
	Told bool // a pass ended with it
}

// Stage is how far a merge of ours has come.
type Stage string

// The stages.
const (
	Intended Stage = "intended" // about to be sent, or sent
	Queued   Stage = "queued"
	Half     Stage = "half" // the commit is on the base, and the pull request is open
	Landed   Stage = "landed"
	Void     Stage = "void" // nothing came of it; with a commit somebody else merged it by that one
)

// Merge is one merge of ours: what was meant, and what came of it.
type Merge struct {
	ID      int64
	RepoID  int64
	PullID  int64
	ItemID  int64
	Number  int
	Head    string // that was approved
	Base    string // branch
	BaseOID string // its head when the merge was meant
	Tree    string // that had to come of it; empty: a queue decides on which base
	Method  Method
	Stage   Stage

	Commit  string // that landed
	Parent  string // on which it landed
	Landed  string // its tree
	Differs string // in what it is not what was meant; empty: in nothing

	At         time.Time
	LandedAt   time.Time
	WatchUntil time.Time // checks of the base are watched until then
	Red        []string  // checks that turned red on the base
}

// Code names a gate. Once released it stays as it is.
type Code string

// The gates, in GitHub's order.
const (
	GateDraft         Code = "draft"
	GateConflicts     Code = "conflicts"
	GateBehind        Code = "behind"
	GateChecks        Code = "checks"
	GateApprovals     Code = "approvals"
	GateReview        Code = "review_required"
	GateConversations Code = "conversations"
	GateComments      Code = "comments"
	GateHold          Code = "hold"
	GateFreeze        Code = "freeze"
	GateHuman         Code = "human_approval"
	GateQueue         Code = "merge_queue"
	GateLastPush      Code = "last_push"
	GateBlocked       Code = "blocked"
	GateMethod        Code = "method"
	GatePermission    Code = "permission"
	GateMerging       Code = "merging"
	GateUnread        Code = "unread"
)

// Gate is one thing that has to be so before a pull request is merged.
type Gate struct {
	Code Code
	Open bool
	Stop bool        // nobody here opens it: a person has to act
	Why  work.Reason // of a closed one: what it waits for
}

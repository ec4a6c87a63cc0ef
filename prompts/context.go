package prompts

import (
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Context is the input of a turn. Its JSON form is the "context" of the command adapter's request;
// Render turns it into a prompt. Pass it through Prepare before it is stored or sent.
type Context struct {
	Task            Task         `json:"task"`
	Surroundings    Surroundings `json:"surroundings"`
	DecisionSummary string       `json:"decision_summary"` // the agent's own, from its last answer
	NewEvents       []NewEvent   `json:"new_events"`       // to be answered now
	Attachments     []Attachment `json:"attachments"`      // files that belong to the texts
	Unresolved      []Unresolved `json:"unresolved"`       // earlier threads, checks and conflicts that still stand
	Earlier         []Comment    `json:"earlier"`          // what was said on the pull request before and is answered
	Handoff         *Handoff     `json:"handoff"`          // the merged design to implement
	Parent          *Parent      `json:"parent"`           // the roadmap that the issue is a part of
	Checks          []Check      `json:"checks"`           // red checks of the head
	Conflict        *Conflict    `json:"conflict"`         // what keeps the head from merging into its base
	Specification   []SpecFile   `json:"specification"`    // files of the repository that specify the task
	Findings        []Finding    `json:"findings"`         // fix: findings to fix; review: the reviewer's earlier findings, to check again
	Roadmap         *Roadmap     `json:"roadmap"`          // a turn about a roadmap's document
	Review          *Review      `json:"review"`           // review: what is asked of the reviewer
	ReviewFix       *ReviewFix   `json:"review_fix"`       // fix: the review that asks for it
	Accepts         *Accepts     `json:"accepts"`          // of a pull request's title and text; null: the turn writes none
	ReadOnly        bool         `json:"read_only"`        // the agent only answers: its changes are not pushed
	Refused         []string     `json:"refused"`          // sentences: what will be refused before a push
	Previous        string       `json:"previous"`         // how an earlier attempt ended
	Waited          string       `json:"waited"`           // why the work waited for people; empty when it did not
	Partial         *Partial     `json:"partial"`          // what an earlier attempt left unfinished
}

// Partial is unfinished work of an earlier attempt, kept as a commit in the checkout's repository
// but not in the working tree.
type Partial struct {
	Commit       string   `json:"commit"`
	ChangedFiles []string `json:"changed_files"` // against the commit's parent
}

// Task is the work item and its state.
type Task struct {
	Repository   string        `json:"repository"` // owner/name
	Issue        Issue         `json:"issue"`
	PullRequest  *PullRequest  `json:"pull_request"`
	Branch       string        `json:"branch"`
	Base         string        `json:"base"`
	BaseSHA      string        `json:"base_sha"`
	Document     string        `json:"document"` // path of the design document or roadmap, empty when there is none
	ChangedFiles []string      `json:"changed_files"`
	Instructions *Instructions `json:"instructions"` // for contributors, in the tree that the turn stands on; null when it could not be listed
	TurnKey      string        `json:"turn_key"`
}

// Role is an author's authority.
type Role string

// The roles. Our own comments have none, nor do those of authors that could not be checked.
const (
	RoleWrite Role = "write" // may write to the repository, or is in allowed_users
	RoleNone  Role = "none"
)

// shown returns the role for the prompt, or nothing for an unknown one.
func (r Role) shown() string {
	if r == RoleWrite || r == RoleNone {
		return string(r)
	}
	return ""
}

// Issue is the source issue with its conversation, oldest comment first.
type Issue struct {
	Number   int       `json:"number"`
	Title    string    `json:"title"`
	Body     string    `json:"body"`
	Author   string    `json:"author"`
	Role     Role      `json:"role"`
	URL      string    `json:"url"`
	Comments []Comment `json:"comments"`
}

// PullRequest is the task's pull request, once it exists.
type PullRequest struct {
	Number  int    `json:"number"`
	URL     string `json:"url"`
	HeadSHA string `json:"head_sha"`
	Base    string `json:"base"`
	Title   string `json:"title"`   // of a turn about red checks
	Text    string `json:"text"`    // without what we add below it
	Version string `json:"version"` // a hash of both, before they were cut; empty: they were not read, and cannot be replaced
}

// Comment is one comment of a conversation.
type Comment struct {
	ID        int64     `json:"id"`
	Author    string    `json:"author"`
	Role      Role      `json:"role"`
	Body      string    `json:"body"`
	URL       string    `json:"url"`
	CreatedAt time.Time `json:"created_at"`
	Turn      string    `json:"-"` // the key of the turn that answered it, or whose answer it is; empty: unknown
}

// NewEvent is an event that needs an answer. For kind review, ID is the id of the review comment,
// which a reply names. For the other kinds it is GitHub's id as text, if there is one.
type NewEvent struct {
	ID        string         `json:"id"`
	Kind      work.EventKind `json:"kind"`
	State     string         `json:"state"` // summary: COMMENTED, CHANGES_REQUESTED or APPROVED
	Author    string         `json:"author"`
	Role      Role           `json:"role"`
	URL       string         `json:"url"`
	Path      string         `json:"path"`
	Line      int            `json:"line"`
	DiffHunk  string         `json:"diff_hunk"`
	Body      string         `json:"body"`
	CreatedAt time.Time      `json:"created_at"`
	InReplyTo int64          `json:"in_reply_to"` // id of the thread's first comment; 0: this comment is the first
}

// Unresolved is an open earlier problem: a review thread, a red check, a conflict.
type Unresolved struct {
	Kind     string    `json:"kind"` // thread, check, conflict
	Title    string    `json:"title"`
	Path     string    `json:"path"`
	Line     int       `json:"line"`
	URL      string    `json:"url"`
	Comments []Comment `json:"comments"`
}

// Handoff is the merged design given to an implementation.
type Handoff struct {
	DocumentPath string   `json:"document_path"`
	Document     string   `json:"document"`     // its text as it was merged
	MergeCommit  string   `json:"merge_commit"` // of the design's pull request
	Base         string   `json:"base"`
	BaseSHA      string   `json:"base_sha"`
	Decisions    []string `json:"decisions"` // accepted
	NonGoals     []string `json:"non_goals"`
	Criteria     []string `json:"criteria"` // by which it is accepted
	TouchPaths   []string `json:"touch_paths"`
	Risks        []string `json:"risks"`
}

// Parent is the roadmap of an issue, and what was merged for the issues that blocked it.
type Parent struct {
	Number int           `json:"number"` // of the roadmap's issue
	Title  string        `json:"title"`
	Goal   string        `json:"goal"`   // of the whole roadmap
	Before []Predecessor `json:"before"` // the issues that had to be closed first
}

// Predecessor is an issue that blocked this one, with its merged pull request.
type Predecessor struct {
	Issue        string   `json:"issue"` // #12, or owner/name#12
	Title        string   `json:"title"`
	PullRequest  string   `json:"pull_request"` // its URL; empty: none is known
	Summary      string   `json:"summary"`      // of the pull request: its title and body
	MergeCommit  string   `json:"merge_commit"`
	ChangedFiles []string `json:"changed_files"`
	Decisions    []string `json:"decisions"`
}

// Check is a red check of a head.
type Check struct {
	Name        string       `json:"name"`
	Conclusion  string       `json:"conclusion"` // as GitHub says it: failure, timed_out, …
	URL         string       `json:"url"`
	Summary     string       `json:"summary"`
	Annotations []Annotation `json:"annotations"`
	Log         string       `json:"log"` // its end
}

// Annotation is a check's message about a line.
type Annotation struct {
	Path    string `json:"path"`
	Line    int    `json:"line"`
	Level   string `json:"level"` // failure, warning or notice
	Message string `json:"message"`
}

// Conflict is why a head does not merge. The checkout is in the middle of that merge, with conflict
// markers in the listed files.
type Conflict struct {
	Base    string   `json:"base"`
	BaseSHA string   `json:"base_sha"`
	HeadSHA string   `json:"head_sha"`
	Paths   []string `json:"paths"`
	Log     string   `json:"log"` // what the merge said
}

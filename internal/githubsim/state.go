package githubsim

import (
	"slices"
	"time"
)

// user is an account: a person, a bot or an organisation.
type user struct {
	id      int64
	nodeID  string
	login   string // bots carry the "[bot]" suffix
	name    string
	kind    string // "User", "Bot" or "Organization"
	deleted bool   // answers then carry null in its place
	created time.Time
	limits  map[string]*bucket // by resource: "core", "graphql", "search"
	token   tokenFacts
}

// Repo is one repository; its exported methods are the control API.
type Repo struct {
	hub           *Hub
	id            int64
	nodeID        string
	place         int64 // among the repositories, from 0
	made          map[kind]int64
	owner         *user
	name          string
	description   string
	private       bool
	archived      bool
	hidden        string // why GraphQL does not give it by its id; empty: it does
	fork          *Repo  // the repository that this one was forked from
	defaultBranch string
	created       time.Time
	updated       time.Time
	pushed        time.Time
	perms         map[int64]string // user id → admin, maintain, write, triage, read
	labels        []*label
	issues        []*issue // by number-1; pulls are issues too; a deleted issue stays, marked
	comments      []*comment
	diffComments  []*reviewComment
	events        []*event // all issue events, oldest first
	checkRuns     map[string][]*checkRun
	checkSuites   map[string][]*checkSuite
	statuses      map[string][]*status
	releases      []*release // oldest first
	mergeSettings
	git    *gitDir
	seen   map[string]string // heads as of the last refresh
	pusher *user             // while a push of known author is taken in
}

// mergeSettings are what a repository says of merges.
type mergeSettings struct {
	protected     map[string]Rules // by branch: classic protections
	rulesets      []*ruleset
	refused       []string // methods that are not allowed
	deleteOnMerge bool
	mergeRefusal  string          // when set, PUT merge answers 405 with it
	troubles      []*mergeTrouble // of merges to come, in their order
	keepsIssues   bool            // closing words close nothing
	lateUpdates   bool            // update-branch takes effect only when told
	updates       []func()        // that are late
	queue         []*queueEntry
}

func (r *Repo) fullName() string { return r.owner.login + "/" + r.name }

// label is one label of a repository.
type label struct {
	id          int64
	nodeID      string
	name        string
	color       string
	description string
}

// issue is an issue; when pull is set it is the conversation side of a pull request.
type issue struct {
	repo        *Repo
	id          int64
	nodeID      string
	number      int
	title       string
	body        string
	author      *user
	state       string // "open" or "closed"
	stateReason string // "", "completed", "not_planned", "reopened"
	locked      bool
	lockReason  string
	deleted     bool
	labels      []*label
	assignees   []*user
	created     time.Time
	updated     time.Time
	bodyEdited  time.Time // zero when never edited
	closed      time.Time // zero while open
	closedBy    *user
	comments    []*comment
	timeline    []*event
	reactions   []*reaction
	blockedBy   []*issue
	blocking    []*issue
	parent      *issue
	children    []*issue // sub-issues, in their order
	movedTo     *issue   // deleted here: it was transferred
	pull        *pull
	lag         lag
}

// pull is what a pull request has beyond its issue.
type pull struct {
	*issue
	id           int64 // of the pull request; the issue has its own
	nodeID       string
	draft        bool
	headRepo     *Repo // nil when the fork was deleted
	headRef      string
	headSHA      string // as last seen; frozen once closed
	baseRef      string
	baseSHA      string // as last seen; frozen once closed
	canModify    bool
	merged       time.Time // zero when not merged
	mergedBy     *user
	mergeSHA     string
	reviews      []*review
	threads      []*thread
	diffComments []*reviewComment
	reviewers    []*user // requested
	pushed       *user   // who pushed the head; nil: who opened it
	half         *halfMerge
}

// wording is who wrote which version of a text, and whether it is hidden.
type wording struct {
	edited    time.Time  // zero when never edited
	versions  []revision // oldest first, from the first one on; empty when never edited
	minimized string     // why it is hidden, as GraphQL answers; empty: it is shown
}

// revision is one version of a text.
type revision struct {
	by   *user
	body string
	at   time.Time
}

// edit records that an actor replaced the text that author wrote at a time.
func (w *wording) edit(author *user, written time.Time, was string, actor *user, now time.Time, body string) {
	if len(w.versions) == 0 {
		w.versions = append(w.versions, revision{author, was, written})
	}
	w.versions = append(w.versions, revision{actor, body, now})
	w.edited = now
}

// comment is a conversation comment on an issue or a pull request.
type comment struct {
	wording
	issue     *issue
	id        int64
	nodeID    string
	body      string
	author    *user
	created   time.Time
	updated   time.Time
	reactions []*reaction
	lag       lag
}

// review is a review of a pull request.
type review struct {
	wording
	pull      *pull
	id        int64
	nodeID    string
	body      string
	state     string // PENDING, COMMENTED, APPROVED, CHANGES_REQUESTED, DISMISSED
	author    *user
	commitSHA string
	created   time.Time
	submitted time.Time // zero while PENDING
	updated   time.Time
	comments  []*reviewComment
	reactions []*reaction
	lag       lag
}

// pending tells whether only its author can see it.
func (v *review) pending() bool { return v.state == "PENDING" }

// thread is a conversation on a line (or a file) of the diff.
type thread struct {
	pull       *pull
	id         int64
	nodeID     string
	path       string
	resolved   bool
	resolvedBy *user
	comments   []*reviewComment // the first one is the top comment
}

// top is the comment that opened the thread, nil when all were deleted.
func (t *thread) top() *reviewComment {
	if len(t.comments) == 0 {
		return nil
	}
	return t.comments[0]
}

// visibleTo tells whether any comment of the thread can be seen by viewer.
func (t *thread) visibleTo(viewer *user) bool {
	return slices.ContainsFunc(t.comments, func(c *reviewComment) bool { return c.visibleTo(viewer) })
}

// reviewComment is a comment on the diff.
type reviewComment struct {
	wording
	thread       *thread
	review       *review
	id           int64
	nodeID       string
	inReplyTo    *reviewComment // the thread's top comment; nil for the top itself
	body         string
	author       *user
	path         string
	side         string // LEFT or RIGHT
	subject      string // line or file
	originalLine int
	originalSHA  string
	startLine    int // 0 for a comment on one line
	diffHunk     string
	position     int // in the diff, as first posted
	created      time.Time
	updated      time.Time
	reactions    []*reaction
	lag          lag
}

func (c *reviewComment) pull() *pull { return c.thread.pull }

// visibleTo is false for the comments of other people's pending reviews.
func (c *reviewComment) visibleTo(viewer *user) bool {
	return !c.review.pending() || (viewer != nil && c.review.author == viewer)
}

// reaction is one user's reaction to something.
type reaction struct {
	id      int64
	nodeID  string
	user    *user
	content string // +1, -1, laugh, confused, heart, hooray, rocket, eyes
	created time.Time
}

// event is an entry of a timeline. Comments, reviews and line comments point at what was written;
// they have no entry in the repository's list of issue events.
type event struct {
	issue      *issue
	id         int64
	nodeID     string
	kind       string // GitHub's word: labeled, closed, commented, reviewed, …
	actor      *user
	created    time.Time
	label      *label // a copy: the label may be edited later
	commitSHA  string
	reason     string // state_reason of closed
	from, to   string // renamed; base_ref_changed
	user       *user  // assignee, requested reviewer
	comment    *comment
	review     *review
	lineThread *thread
	source     *issue // cross-referenced
	message    string // dismissal
	dismissed  *review
	wasState   string // the review's state before it was dismissed
	lockReason string
	group      string // a merge queue's commit
	lag        lag    // of timelines
}

// checkSuite groups the check runs of one app on one commit.
type checkSuite struct {
	repo    *Repo
	id      int64
	nodeID  string
	sha     string
	branch  string
	app     string
	reruns  int // of its failed jobs
	created time.Time
	updated time.Time
}

// checkRun is one run of one check.
type checkRun struct {
	repo       *Repo
	suite      *checkSuite
	id         int64
	nodeID     string
	sha        string
	name       string
	status     string // queued, in_progress, completed
	conclusion string // "" until completed
	detailsURL string
	externalID string
	title      string
	summary    string
	text       string
	started    time.Time
	completed  time.Time

	log         string
	annotations []annotation
}

// status is one commit status.
type status struct {
	repo        *Repo
	id          int64
	nodeID      string
	sha         string
	context     string
	state       string // pending, success, failure, error
	description string
	targetURL   string
	creator     *user
	created     time.Time
}

package githubsim

import (
	"slices"
	"strings"
	"time"
)

// Issue is what a reader sees of an issue, or of a pull request's conversation side.
type Issue struct {
	Number      int
	ID          int64
	NodeID      string
	Title, Body string
	Author      string
	State       string // open or closed
	StateReason string
	Labels      []string
	Assignees   []string
	Reactions   []string // login:content
	IsPull      bool
	Locked      bool
	CreatedAt   time.Time
	UpdatedAt   time.Time
	ClosedAt    time.Time
}

// Pull is what a reader sees of a pull request.
type Pull struct {
	Issue
	NodeID    string
	HeadRepo  string // "" when deleted
	Head      string
	HeadOID   string
	Base      string
	BaseOID   string
	Draft     bool
	Merged    bool
	MergeOID  string
	Mergeable string // MERGEABLE, CONFLICTING or UNKNOWN
}

// Comment is what a reader sees of a conversation comment.
type Comment struct {
	ID        int64
	NodeID    string
	Number    int
	Author    string
	Body      string
	Reactions []string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// ReviewComment is what a reader sees of a comment on the diff; drafts are shown, and marked.
type ReviewComment struct {
	Comment
	ReviewID  int64
	InReplyTo int64 // 0 for the top comment
	ThreadID  string
	Path      string
	Line      int // at the head; 0 when outdated
	Outdated  bool
	Resolved  bool // of the thread
	Pending   bool
}

// Review is what a reader sees of a review; drafts are shown.
type Review struct {
	ID          int64
	NodeID      string
	Author      string
	State       string
	Body        string
	CommitOID   string
	SubmittedAt time.Time
}

// Status is what a reader sees of a commit status.
type Status struct {
	Context     string
	State       string // pending, success, failure or error
	Description string
	TargetURL   string
	Creator     string
}

// TimelineEntry is one entry of a timeline; a pull request's commits are not among them.
type TimelineEntry struct {
	ID        int64
	Event     string
	Actor     string
	Label     string
	CommitOID string
	CreatedAt time.Time
}

// loginOf is the login, "" of a deleted account.
func loginOf(u *user) string {
	if u == nil || u.deleted {
		return ""
	}
	return u.login
}

func viewReactions(list []*reaction) []string {
	var out []string
	for _, re := range list {
		out = append(out, loginOf(re.user)+":"+re.content)
	}
	slices.Sort(out)
	return out
}

func viewIssue(is *issue) Issue {
	v := Issue{
		Number: is.number, ID: is.id, NodeID: is.nodeID, Title: is.title, Body: is.body, Author: loginOf(is.author), State: is.state,
		StateReason: is.stateReason, Reactions: viewReactions(is.reactions), IsPull: is.pull != nil, Locked: is.locked, CreatedAt: is.created,
		UpdatedAt: is.updated, ClosedAt: is.closed,
	}
	for _, l := range is.labels {
		v.Labels = append(v.Labels, l.name)
	}
	slices.Sort(v.Labels)
	for _, u := range is.assignees {
		v.Assignees = append(v.Assignees, loginOf(u))
	}
	return v
}

func viewPull(p *pull) Pull {
	v := Pull{
		Issue: viewIssue(p.issue), NodeID: p.nodeID, Head: p.headRef, HeadOID: p.headOID(), Base: p.baseRef, BaseOID: p.baseOID(), Draft: p.draft,
		Merged: !p.merged.IsZero(), MergeOID: p.mergeSHA, Mergeable: string(p.computeMergeable()),
	}
	if p.headRepo != nil {
		v.HeadRepo = p.headRepo.fullName()
	}
	return v
}

func viewComment(c *comment) Comment {
	return Comment{
		ID: c.id, NodeID: c.nodeID, Number: c.issue.number, Author: loginOf(c.author), Body: c.body, Reactions: viewReactions(c.reactions),
		CreatedAt: c.created, UpdatedAt: c.updated,
	}
}

func viewReviewComment(c *reviewComment) ReviewComment {
	v := ReviewComment{
		Comment: Comment{
			ID: c.id, NodeID: c.nodeID, Number: c.pull().number, Author: loginOf(c.author), Body: c.body, Reactions: viewReactions(c.reactions),
			CreatedAt: c.created, UpdatedAt: c.updated,
		},
		ReviewID: c.review.id, ThreadID: c.thread.nodeID, Path: c.path, Resolved: c.thread.resolved, Pending: c.review.pending(),
	}
	if c.inReplyTo != nil {
		v.InReplyTo = c.inReplyTo.id
	}
	line, current := c.line()
	v.Line, v.Outdated = line, !current
	return v
}

// Issue reads an issue or pull request; false when there is none.
func (r *Repo) Issue(number int) (Issue, bool) {
	defer r.hub.enter()()
	is := r.issue(number)
	if is == nil {
		return Issue{}, false
	}
	return viewIssue(is), true
}

// Issues reads all issues and pull requests, in the order of their numbers.
func (r *Repo) Issues() []Issue {
	defer r.hub.enter()()
	var out []Issue
	for _, is := range r.issues {
		if !is.deleted {
			out = append(out, viewIssue(is))
		}
	}
	return out
}

// Pull reads a pull request; false when there is none.
func (r *Repo) Pull(number int) (Pull, bool) {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil {
		return Pull{}, false
	}
	return viewPull(p), true
}

// Pulls reads all pull requests, in the order of their numbers.
func (r *Repo) Pulls() []Pull {
	defer r.hub.enter()()
	var out []Pull
	for _, p := range r.pulls() {
		out = append(out, viewPull(p))
	}
	return out
}

// Comments reads the conversation of an issue or pull request.
func (r *Repo) Comments(number int) []Comment {
	defer r.hub.enter()()
	is := r.issue(number)
	if is == nil {
		return nil
	}
	var out []Comment
	for _, c := range is.comments {
		out = append(out, viewComment(c))
	}
	return out
}

// ReviewComments reads the comments on a pull request's diff.
func (r *Repo) ReviewComments(number int) []ReviewComment {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil {
		return nil
	}
	var out []ReviewComment
	for _, c := range p.diffComments {
		out = append(out, viewReviewComment(c))
	}
	return out
}

// Reviews reads the reviews of a pull request.
func (r *Repo) Reviews(number int) []Review {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil {
		return nil
	}
	var out []Review
	for _, v := range p.reviews {
		out = append(out, Review{
			ID: v.id, NodeID: v.nodeID, Author: loginOf(v.author), State: v.state, Body: v.body, CommitOID: v.commitSHA, SubmittedAt: v.submitted,
		})
	}
	return out
}

// Requested reads whose review is asked for.
func (r *Repo) Requested(number int) []string {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil {
		return nil
	}
	return logins(p.reviewers)
}

func logins(list []*user) []string {
	var out []string
	for _, u := range list {
		out = append(out, loginOf(u))
	}
	slices.Sort(out)
	return out
}

// Statuses reads the newest status of each name on a commit, branch or tag.
func (r *Repo) Statuses(ref string) []Status {
	defer r.hub.enter()()
	sha, ok := r.git.resolve(ref)
	if !ok {
		return nil
	}
	var out []Status
	for _, s := range r.latestStatuses(sha) {
		out = append(out, Status{Context: s.context, State: s.state, Description: s.description, TargetURL: s.targetURL, Creator: loginOf(s.creator)})
	}
	return out
}

// Labels reads the labels of an issue or pull request, sorted.
func (r *Repo) Labels(number int) []string {
	is, _ := r.Issue(number)
	return is.Labels
}

// RepoLabels reads the labels of the repository, each as "name color description", sorted.
func (r *Repo) RepoLabels() []string {
	defer r.hub.enter()()
	var out []string
	for _, l := range r.labels {
		out = append(out, strings.TrimRight(l.name+" "+l.color+" "+l.description, " "))
	}
	slices.Sort(out)
	return out
}

// Reactions reads the reactions to an issue's or pull request's description as login:content,
// sorted.
func (r *Repo) Reactions(number int) []string {
	is, _ := r.Issue(number)
	return is.Reactions
}

// Timeline reads the entries of an issue or pull request.
func (r *Repo) Timeline(number int) []TimelineEntry {
	defer r.hub.enter()()
	is := r.issue(number)
	if is == nil {
		return nil
	}
	var out []TimelineEntry
	for _, e := range is.timeline {
		v := TimelineEntry{ID: e.id, Event: e.kind, Actor: loginOf(e.actor), CommitOID: e.commitSHA, CreatedAt: e.created}
		if e.label != nil {
			v.Label = e.label.name
		}
		out = append(out, v)
	}
	return out
}

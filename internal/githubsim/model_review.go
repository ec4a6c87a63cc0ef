package githubsim

import (
	"fmt"
	"slices"
	"strings"
)

// newReview is what a person fills in to review.
type newReview struct {
	event    string // COMMENT, APPROVE, REQUEST_CHANGES; "" makes a draft
	body     string
	commit   string
	comments []newDiffComment
}

// newDiffComment is a comment on one line of the diff, or on a file.
type newDiffComment struct {
	path, body string
	commit     string
	side       string
	line       int
	startLine  int
	position   int // the old way to name a line
	file       bool
}

var reviewStates = map[string]string{"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}

const onePending = "User can only have one pending review per pull request"

// addReview reviews a pull request, or begins a draft.
func (r *Repo) addReview(actor *user, p *pull, in newReview) (*review, *apiError) {
	if e := p.mayTalk(actor); e != nil {
		return nil, e
	}
	if in.event == "PENDING" {
		in.event = ""
	}
	if in.event != "" && reviewStates[in.event] == "" {
		return nil, unprocessable("Variable $event of type PullRequestReviewEvent was provided invalid value")
	}
	if e := p.checkVerdict(actor, in.event, in.body, len(in.comments)); e != nil {
		return nil, e
	}
	if p.pendingReview(actor) != nil {
		return nil, unprocessable(onePending)
	}
	if in.commit != "" && !p.has(in.commit) {
		return nil, unprocessable("commit_id is not part of the pull request")
	}
	var hunks []place
	for i := range in.comments {
		c := &in.comments[i]
		if strings.TrimSpace(c.body) == "" {
			return nil, unprocessable("Body can't be blank")
		}
		if c.commit == "" {
			c.commit = in.commit
		}
		at, e := p.place(*c)
		if e != nil {
			return nil, unprocessable(e.items[0].Message)
		}
		hunks = append(hunks, at)
	}
	v := p.makeReview(actor, in.body, in.commit)
	v.lag = r.hub.newLag("reviews")
	for i, c := range in.comments {
		p.makeDiffComment(actor, v, nil, c, hunks[i])
	}
	if in.event != "" {
		p.submit(v, in.event)
	}
	return v, nil
}

// checkVerdict refuses what GitHub refuses of a verdict.
func (p *pull) checkVerdict(actor *user, event, body string, comments int) *apiError {
	if e := checkBody("PullRequestReview", body); e != nil {
		return unprocessable(e.items[0].Message)
	}
	switch {
	case event == "APPROVE" && actor == p.author:
		return unprocessable("Can not approve your own pull request")
	case event == "REQUEST_CHANGES" && actor == p.author:
		return unprocessable("Can not request changes on your own pull request")
	case event == "REQUEST_CHANGES" && strings.TrimSpace(body) == "", event == "COMMENT" && strings.TrimSpace(body) == "" && comments == 0:
		return unprocessable("Body can't be blank")
	}
	return nil
}

// makeReview makes a draft.
func (p *pull) makeReview(actor *user, body, commit string) *review {
	h := p.repo.hub
	if commit == "" {
		commit = p.headOID()
	}
	id, node := p.repo.newID(kindReview)
	v := &review{pull: p, id: id, nodeID: node, body: body, state: "PENDING", author: actor, commitSHA: commit, created: h.now(), updated: h.now()}
	p.reviews = append(p.reviews, v)
	h.nodes[node] = v
	return v
}

// submit makes a draft public.
func (p *pull) submit(v *review, verdict string) {
	at := p.repo.hub.now()
	v.state, v.submitted, v.updated = reviewStates[verdict], at, at
	for _, c := range v.comments {
		c.created, c.updated = at, at
	}
	p.reviewers = without(p.reviewers, v.author)
	p.record(v.author, "reviewed", func(e *event) { e.review = v })
	for _, c := range v.comments {
		if c.inReplyTo == nil {
			p.record(v.author, "line-commented", func(e *event) { e.lineThread = c.thread })
		}
	}
	p.touch()
	p.repo.refer(v.author, p.issue, v.body)
}

// submitReview ends a draft with a verdict; an empty body keeps the draft's.
func (r *Repo) submitReview(actor *user, v *review, event, body string) *apiError {
	if v.author != actor {
		return notFound()
	}
	if !v.pending() {
		return unprocessable("Can not submit a review that is not pending")
	}
	if reviewStates[event] == "" {
		return unprocessable("Variable $event of type PullRequestReviewEvent was provided invalid value")
	}
	if body == "" {
		body = v.body
	}
	if e := v.pull.checkVerdict(actor, event, body, len(v.comments)); e != nil {
		return e
	}
	v.body = body
	v.pull.submit(v, event)
	return nil
}

// editReview changes the summary.
func (r *Repo) editReview(actor *user, v *review, body string) *apiError {
	if e := r.mayEdit(actor, v.author); e != nil {
		return e
	}
	if e := checkBody("PullRequestReview", body); e != nil {
		return unprocessable(e.items[0].Message)
	}
	if body != v.body {
		v.edit(v.author, v.created, v.body, actor, r.hub.now(), body)
		v.body, v.updated = body, r.hub.now()
		v.pull.touch()
	}
	return nil
}

// has tells whether a commit is one of the pull request's.
func (p *pull) has(oid string) bool {
	g := p.repo.git
	return g.isAncestor(oid, p.headOID()) && !g.isAncestor(oid, p.baseOID())
}

// place is where a diff comment stands.
type place struct {
	commit, hunk string
	line         int
	position     int
}

// place finds the line in the diff and refuses one that is not there.
func (p *pull) place(c newDiffComment) (place, *apiError) {
	bad := func(field, why string) *apiError {
		return invalid(errorItem{Resource: "PullRequestReviewComment", Field: "pull_request_review_thread." + field, Code: "custom", Message: "pull_request_review_thread." + field + " " + why})
	}
	if c.commit == "" {
		c.commit = p.headOID()
	}
	base, err := p.repo.git.mergeBase(p.baseOID(), c.commit)
	if err != nil || base == "" {
		return place{}, bad("commit_id", "is not part of the pull request")
	}
	files, err := p.repo.git.files(base, c.commit)
	i := slices.IndexFunc(files, func(f fileDiff) bool { return f.path == c.path })
	if err != nil || i < 0 {
		return place{}, bad("path", "could not be resolved")
	}
	if c.file {
		return place{commit: c.commit}, nil
	}
	if c.line == 0 && c.position > 0 {
		c.line, c.side = lineAt(files[i].patch(), c.position)
	}
	hunk, position, ok := locate(files[i].patch(), c.side, c.line)
	if !ok {
		return place{}, bad("line", "must be part of the diff")
	}
	return place{commit: c.commit, hunk: hunk, line: c.line, position: position}, nil
}

// lineAt turns a position in the diff into a line and its side.
func lineAt(patch string, position int) (int, string) {
	for line := 1; line <= 1<<16; line++ {
		for _, side := range []string{"RIGHT", "LEFT"} {
			if _, at, ok := locate(patch, side, line); ok && at == position {
				return line, side
			}
		}
	}
	return 0, ""
}

// makeDiffComment makes the record of a diff comment: a new thread, or a reply to top.
func (p *pull) makeDiffComment(actor *user, v *review, top *reviewComment, in newDiffComment, at place) *reviewComment {
	h := p.repo.hub
	id, node := p.repo.newID(kindDiff)
	c := &reviewComment{
		review: v, id: id, nodeID: node, body: in.body, author: actor, path: in.path, side: in.side, subject: "line",
		originalLine: at.line, originalSHA: at.commit, startLine: in.startLine, diffHunk: at.hunk, position: at.position,
		created: h.now(), updated: h.now(), lag: h.newLag("review-comments"),
	}
	if c.side == "" {
		c.side = "RIGHT"
	}
	if in.file {
		c.subject = "file"
	}
	if top == nil {
		tid, tnode := p.repo.newID(kindThread)
		c.thread = &thread{pull: p, id: tid, nodeID: tnode, path: in.path}
		p.threads = append(p.threads, c.thread)
		h.nodes[tnode] = c.thread
	} else {
		c.thread, c.inReplyTo = top.thread, top
	}
	c.thread.comments = append(c.thread.comments, c)
	v.comments = append(v.comments, c)
	p.diffComments = append(p.diffComments, c)
	p.repo.diffComments = append(p.repo.diffComments, c)
	h.nodes[node] = c
	return c
}

// addDiffComment comments on the diff by a review of its own, as GitHub makes one for every single
// comment.
func (r *Repo) addDiffComment(actor *user, p *pull, in newDiffComment) (*reviewComment, *apiError) {
	if e := r.mayCommentDiff(actor, p, in.body); e != nil {
		return nil, e
	}
	at, e := p.place(in)
	if e != nil {
		return nil, e
	}
	v := p.makeReview(actor, "", at.commit)
	c := p.makeDiffComment(actor, v, nil, in, at)
	p.submit(v, "COMMENT")
	return c, nil
}

// addReply answers in a thread; only its top comment can be answered.
func (r *Repo) addReply(actor *user, p *pull, top *reviewComment, body string) (*reviewComment, *apiError) {
	if e := r.mayCommentDiff(actor, p, body); e != nil {
		return nil, e
	}
	if top.inReplyTo != nil {
		return nil, invalid(errorItem{Resource: "PullRequestReviewComment", Field: "in_reply_to", Code: "invalid"})
	}
	v := p.makeReview(actor, "", top.originalSHA)
	c := p.reply(actor, v, top, body)
	p.submit(v, "COMMENT")
	return c, nil
}

// reply adds an answer to a thread as part of the review v.
func (p *pull) reply(actor *user, v *review, top *reviewComment, body string) *reviewComment {
	in := newDiffComment{path: top.path, body: body, side: top.side, startLine: top.startLine, file: top.subject == "file"}
	at := place{commit: top.originalSHA, hunk: top.diffHunk, line: top.originalLine, position: top.position}
	return p.makeDiffComment(actor, v, top, in, at)
}

func (r *Repo) mayCommentDiff(actor *user, p *pull, body string) *apiError {
	if e := p.mayTalk(actor); e != nil {
		return e
	}
	if e := needBody("PullRequestReviewComment", body); e != nil {
		return e
	}
	if p.pendingReview(actor) != nil {
		return invalid(errorItem{Resource: "PullRequestReview", Field: "user_id", Code: "custom", Message: "user_id can only have one pending review per pull request"})
	}
	return nil
}

// editDiffComment changes the words.
func (r *Repo) editDiffComment(actor *user, c *reviewComment, body string) *apiError {
	if e := r.mayEdit(actor, c.author); e != nil {
		return e
	}
	if e := needBody("PullRequestReviewComment", body); e != nil {
		return e
	}
	if body != c.body {
		c.edit(c.author, c.created, c.body, actor, r.hub.now(), body)
		c.body, c.updated = body, r.hub.now()
		c.pull().touch()
	}
	return nil
}

// deleteDiffComment takes a comment away; an empty thread goes with it.
func (r *Repo) deleteDiffComment(actor *user, c *reviewComment) *apiError {
	if e := r.mayEdit(actor, c.author); e != nil {
		return e
	}
	r.dropDiffComment(c)
	c.pull().touch()
	return nil
}

func (r *Repo) dropDiffComment(c *reviewComment) {
	p, t := c.pull(), c.thread
	t.comments = without(t.comments, c)
	c.review.comments = without(c.review.comments, c)
	p.diffComments = without(p.diffComments, c)
	r.diffComments = without(r.diffComments, c)
	delete(r.hub.nodes, c.nodeID)
	if len(t.comments) == 0 {
		p.threads = without(p.threads, t)
		p.timeline = slices.DeleteFunc(p.timeline, func(e *event) bool { return e.lineThread == t })
		delete(r.hub.nodes, t.nodeID)
	}
}

// resolve resolves a thread, or opens it again. It bumps no stamp.
func (r *Repo) resolve(actor *user, t *thread, resolved bool) *apiError {
	if e := r.writable(); e != nil {
		return e
	}
	if actor != t.pull.author && !r.can(actor, "write") {
		return forbidden(fmt.Sprintf("%s does not have the correct permissions to resolve this thread", actor.login))
	}
	t.resolved, t.resolvedBy = resolved, nil
	if resolved {
		t.resolvedBy = actor
	}
	return nil
}

// line is where the comment's line is at the pull request's head; false when it is outdated.
func (c *reviewComment) line() (int, bool) {
	if c.subject == "file" {
		return 0, true
	}
	p := c.pull()
	if c.side == "LEFT" {
		return c.originalLine, true
	}
	return p.repo.git.follow(c.originalSHA, p.headOID(), c.path, c.originalLine)
}

// outdated tells whether the thread's line was changed since.
func (t *thread) outdated() bool {
	top := t.top()
	if top == nil {
		return false
	}
	_, ok := top.line()
	return !ok
}

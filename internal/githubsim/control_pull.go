package githubsim

import (
	"fmt"
	"net/http"
)

// onPull runs a deed of a person's on a pull request.
func (r *Repo) onPull(number int, login string, deed func(*user, *pull) *apiError) error {
	return r.onIssue(number, login, func(u *user, is *issue) *apiError {
		if is.pull == nil {
			return refusal(http.StatusNotFound, fmt.Sprintf("%d is no pull request", number))
		}
		return deed(u, is.pull)
	})
}

// NewPull says what OpenPull opens.
type NewPull struct {
	Title, Body string
	Head        string // branch, or owner:branch of a fork
	Base        string // "" for the default branch
	Draft       bool
}

// OpenPull opens a pull request and returns its number.
func (r *Repo) OpenPull(author string, in NewPull) (int, error) {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return 0, err
	}
	if in.Base == "" {
		in.Base = r.defaultBranch
	}
	p, e := r.addPull(who, newPull{title: in.Title, body: in.Body, head: in.Head, base: in.Base, draft: in.Draft})
	if e != nil {
		return 0, e
	}
	return p.number, nil
}

// Merge merges a pull request by merge, squash or rebase ("" is merge) and returns the commit.
func (r *Repo) Merge(number int, actor, method string) (oid string, err error) {
	err = r.onPull(number, actor, func(u *user, p *pull) *apiError {
		var e *apiError
		oid, e = r.mergePull(u, p, mergeOrder{method: method})
		return e
	})
	return oid, err
}

// ReviewComment comments on a line of the diff (of the new file) and returns the comment's id.
func (r *Repo) ReviewComment(number int, author, path string, line int, body string) (id int64, err error) {
	err = r.onPull(number, author, func(u *user, p *pull) *apiError {
		c, e := r.addDiffComment(u, p, newDiffComment{path: path, line: line, body: body})
		if e == nil {
			id = c.id
		}
		return e
	})
	return id, err
}

// ReplyTo answers the top comment of a thread and returns the answer's id.
func (r *Repo) ReplyTo(top int64, author, body string) (id int64, err error) {
	err = r.onDiffComment(top, author, func(u *user, c *reviewComment) *apiError {
		made, e := r.addReply(u, c.pull(), c, body)
		if e == nil {
			id = made.id
		}
		return e
	})
	return id, err
}

// onDiffComment runs a deed on a review comment; actor "" is its author.
func (r *Repo) onDiffComment(id int64, actor string, deed func(*user, *reviewComment) *apiError) error {
	defer r.hub.enter()()
	c := r.diffComment(id)
	if c == nil {
		return fmt.Errorf("there is no review comment %d in %s", id, r.fullName())
	}
	who, err := r.actorOr(actor, c.author)
	if err != nil {
		return err
	}
	return asError(deed(who, c))
}

// EditReviewComment changes a review comment's words; actor "" is its author.
func (r *Repo) EditReviewComment(id int64, actor, body string) error {
	return r.onDiffComment(id, actor, func(u *user, c *reviewComment) *apiError { return r.editDiffComment(u, c, body) })
}

// DeleteReviewComment deletes a review comment; actor "" is its author.
func (r *Repo) DeleteReviewComment(id int64, actor string) error {
	return r.onDiffComment(id, actor, func(u *user, c *reviewComment) *apiError { return r.deleteDiffComment(u, c) })
}

// ReactToReviewComment reacts to a review comment.
func (r *Repo) ReactToReviewComment(id int64, actor, content string) error {
	return r.onDiffComment(id, actor, func(u *user, c *reviewComment) *apiError {
		_, _, e := r.hub.react(u, &c.reactions, content)
		return e
	})
}

// LineComment is a comment of a review on a line of the new file.
type LineComment struct {
	Path string
	Line int
	Body string
}

// Review reviews a pull request: verdict is COMMENT, APPROVE, REQUEST_CHANGES, or PENDING for a
// draft. It returns the review's id.
func (r *Repo) Review(number int, author, verdict, body string, comments ...LineComment) (id int64, err error) {
	return r.ReviewAt(number, author, "", verdict, body, comments...)
}

// ReviewAt is Review of another commit than the head; "" is the head.
func (r *Repo) ReviewAt(number int, author, commit, verdict, body string, comments ...LineComment) (id int64, err error) {
	err = r.onPull(number, author, func(u *user, p *pull) *apiError {
		in := newReview{event: verdict, body: body}
		if commit != "" {
			oid, ok := r.git.resolve(commit)
			if !ok {
				return refusal(http.StatusNotFound, fmt.Sprintf("there is no commit %q", commit))
			}
			in.commit = oid
		}
		for _, c := range comments {
			in.comments = append(in.comments, newDiffComment{path: c.Path, line: c.Line, body: c.Body})
		}
		v, e := r.addReview(u, p, in)
		if e == nil {
			id = v.id
		}
		return e
	})
	return id, err
}

// SubmitPending submits the author's draft review with a verdict.
func (r *Repo) SubmitPending(number int, author, verdict, body string) error {
	return r.onPull(number, author, func(u *user, p *pull) *apiError {
		v := p.pendingReview(u)
		if v == nil {
			return refusal(http.StatusNotFound, author+" has no pending review")
		}
		return r.submitReview(u, v, verdict, body)
	})
}

// Dismiss takes a review's verdict back.
func (r *Repo) Dismiss(number int, review int64, actor, message string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError {
		v := p.reviewByID(review)
		if v == nil {
			return refusal(http.StatusNotFound, fmt.Sprintf("there is no review %d of %d", review, number))
		}
		return r.dismissReview(u, v, message)
	})
}

// RequestReview asks people for their review.
func (r *Repo) RequestReview(number int, actor string, logins ...string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError { return r.requestReview(u, p, logins) })
}

// MarkReady calls a draft ready for review.
func (r *Repo) MarkReady(number int, actor string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError { return r.setDraft(u, p, false) })
}

// ConvertToDraft makes a draft of a pull request.
func (r *Repo) ConvertToDraft(number int, actor string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError { return r.setDraft(u, p, true) })
}

// ChangeBase aims a pull request at another branch.
func (r *Repo) ChangeBase(number int, actor, base string) error {
	return r.onPull(number, actor, func(u *user, p *pull) *apiError { return r.setBase(u, p, base) })
}

// EditReview changes a review's summary, as its author.
func (r *Repo) EditReview(number int, review int64, actor, body string) error {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil || p.reviewByID(review) == nil {
		return fmt.Errorf("there is no review %d of %d", review, number)
	}
	v := p.reviewByID(review)
	who, err := r.actorOr(actor, v.author)
	if err != nil {
		return err
	}
	return asError(r.editReview(who, v, body))
}

// Resolve resolves the thread that a review comment is in.
func (r *Repo) Resolve(comment int64, actor string) error {
	return r.onDiffComment(comment, actor, func(u *user, c *reviewComment) *apiError { return r.resolve(u, c.thread, true) })
}

// Unresolve opens the thread that a review comment is in again.
func (r *Repo) Unresolve(comment int64, actor string) error {
	return r.onDiffComment(comment, actor, func(u *user, c *reviewComment) *apiError { return r.resolve(u, c.thread, false) })
}

// SetCheck reports a check run of GitHub Actions on a commit, branch or tag; a conclusion
// ("success", "failure", …) completes it. It returns the run's id.
func (r *Repo) SetCheck(ref, name, status, conclusion string) (int64, error) {
	defer r.hub.enter()()
	sha, ok := r.git.resolve(ref)
	if !ok {
		return 0, fmt.Errorf("there is no commit %q", ref)
	}
	return r.addCheck(newCheck{sha: sha, name: name, status: status, conclusion: conclusion}).id, nil
}

// SetStatus sets a commit status: pending, success, failure or error; or expected, as GraphQL shows
// one that a branch requires and nobody has reported.
func (r *Repo) SetStatus(ref, context, state, description string) error {
	defer r.hub.enter()()
	sha, ok := r.git.resolve(ref)
	if !ok {
		return fmt.Errorf("there is no commit %q", ref)
	}
	r.addStatus(r.owner, newStatus{sha: sha, context: context, state: state, description: description})
	return nil
}

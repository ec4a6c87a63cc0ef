package githubsim

import (
	"fmt"
	"net/http"
)

// asError keeps a nil *apiError from becoming an error.
func asError(e *apiError) error {
	if e == nil {
		return nil
	}
	return e
}

// onIssue runs a deed of a person's on an issue or pull request.
func (r *Repo) onIssue(number int, login string, deed func(*user, *issue) *apiError) error {
	defer r.hub.enter()()
	who, err := r.actor(login)
	if err != nil {
		return err
	}
	is := r.issue(number)
	if is == nil {
		return fmt.Errorf("there is no issue %d in %s", number, r.fullName())
	}
	return asError(deed(who, is))
}

// OpenIssue opens an issue and returns its number.
func (r *Repo) OpenIssue(author, title, body string, labels ...string) (int, error) {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return 0, err
	}
	is, e := r.addIssue(who, newIssue{title: title, body: body, labels: labels})
	if e != nil {
		return 0, e
	}
	return is.number, nil
}

// OpenIssueByForm opens an issue through a form that sets labels, as a repository's issue templates
// can: GitHub sets them whoever the author is, and names the author as the one who did.
func (r *Repo) OpenIssueByForm(author, title, body string, labels ...string) (int, error) {
	n, err := r.OpenIssue(author, title, body)
	if err != nil {
		return 0, err
	}
	return n, r.onIssue(n, author, func(u *user, is *issue) *apiError {
		r.setLabels(u, is, labels, nil)
		return nil
	})
}

// EditIssue changes the title and the body of an issue or pull request; nil leaves one as it is.
func (r *Repo) EditIssue(number int, actor string, title, body *string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError { return r.editIssue(u, is, title, body) })
}

// DeleteIssue deletes an issue for good; its number answers 410.
func (r *Repo) DeleteIssue(number int, actor string) error {
	return r.onIssue(number, actor, func(_ *user, is *issue) *apiError {
		if is.pull != nil {
			return refusal(http.StatusUnprocessableEntity, "a pull request cannot be deleted")
		}
		is.deleted = true
		for _, c := range is.comments {
			r.comments = without(r.comments, c)
		}
		delete(r.hub.nodes, is.nodeID)
		return nil
	})
}

// TransferIssue moves an issue to another repository, where it gets the next number; its old address
// redirects. It keeps its sub-issues, its parent and the labels that the other repository has too.
func (r *Repo) TransferIssue(number int, actor, to string) (n int, err error) {
	err = r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		home := r.hub.repo(to)
		switch {
		case home == nil:
			return notFound()
		case is.pull != nil:
			return refusal(http.StatusUnprocessableEntity, "a pull request cannot be transferred")
		}
		for _, e := range []*apiError{r.need(u, "write"), home.need(u, "write")} {
			if e != nil {
				return e
			}
		}
		for _, c := range is.comments {
			r.comments, home.comments = without(r.comments, c), append(home.comments, c)
		}
		var labels []*label
		for _, l := range is.labels {
			if there := home.label(l.name); there != nil {
				labels = append(labels, there)
			}
		}
		r.issues[number-1] = &issue{repo: r, number: number, deleted: true, movedTo: is}
		is.repo, is.number, is.labels = home, len(home.issues)+1, labels
		home.issues = append(home.issues, is)
		is.record(u, "transferred", nil)
		is.touch()
		n = is.number
		return nil
	})
	return n, err
}

// MakeLabel makes a label of the repository, as a person does in its settings.
func (r *Repo) MakeLabel(name, color, description string) {
	defer r.hub.enter()()
	if r.label(name) == nil {
		r.makeLabel(name, color, description)
	}
}

// Label adds labels; unknown ones are made.
func (r *Repo) Label(number int, actor string, labels ...string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		if e := r.need(u, "triage"); e != nil {
			return e
		}
		r.setLabels(u, is, labels, nil)
		return nil
	})
}

// Unlabel takes labels away.
func (r *Repo) Unlabel(number int, actor string, labels ...string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		if e := r.need(u, "triage"); e != nil {
			return e
		}
		r.setLabels(u, is, nil, labels)
		return nil
	})
}

// Close closes an issue or pull request; reason is completed, not_planned or "".
func (r *Repo) Close(number int, actor, reason string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError { return r.setState(u, is, "closed", reason) })
}

// Reopen opens it again.
func (r *Repo) Reopen(number int, actor string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError { return r.setState(u, is, "open", "") })
}

// Lock locks the conversation to those who can write.
func (r *Repo) Lock(number int, actor string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError { return r.setLock(u, is, true, "") })
}

// Unlock opens the conversation to all.
func (r *Repo) Unlock(number int, actor string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError { return r.setLock(u, is, false, "") })
}

// Comment writes on an issue or pull request and returns the comment's id.
func (r *Repo) Comment(number int, author, body string) (id int64, err error) {
	err = r.onIssue(number, author, func(u *user, is *issue) *apiError {
		c, e := r.addComment(u, is, body)
		if e == nil {
			id = c.id
		}
		return e
	})
	return id, err
}

// onComment runs a deed on a conversation comment; actor "" is its author.
func (r *Repo) onComment(id int64, actor string, deed func(*user, *comment) *apiError) error {
	defer r.hub.enter()()
	c := r.comment(id)
	if c == nil {
		return fmt.Errorf("there is no comment %d in %s", id, r.fullName())
	}
	who, err := r.actorOr(actor, c.author)
	if err != nil {
		return err
	}
	return asError(deed(who, c))
}

// EditComment changes a comment's words; actor "" is its author.
func (r *Repo) EditComment(id int64, actor, body string) error {
	return r.onComment(id, actor, func(u *user, c *comment) *apiError { return r.editComment(u, c, body) })
}

// Hide hides a comment, a comment on the diff or a review, as people do who may write; an empty
// reason shows it again. No stamp changes.
func (r *Repo) Hide(id int64, reason string) error {
	defer r.hub.enter()()
	var w *wording
	if c := r.comment(id); c != nil {
		w = &c.wording
	} else if c := r.diffComment(id); c != nil {
		w = &c.wording
	}
	for _, is := range r.issues {
		if w == nil && is.pull != nil && is.pull.reviewByID(id) != nil {
			w = &is.pull.reviewByID(id).wording
		}
	}
	if w == nil {
		return fmt.Errorf("there is no comment and no review %d in %s", id, r.fullName())
	}
	w.minimized = reason
	return nil
}

// DeleteComment deletes a comment; actor "" is its author.
func (r *Repo) DeleteComment(id int64, actor string) error {
	return r.onComment(id, actor, func(u *user, c *comment) *apiError { return r.deleteComment(u, c) })
}

// React reacts to an issue's or pull request's description.
func (r *Repo) React(number int, actor, content string) error {
	return r.onIssue(number, actor, func(u *user, is *issue) *apiError {
		_, _, e := r.hub.react(u, &is.reactions, content)
		return e
	})
}

// ReactToComment reacts to a conversation comment.
func (r *Repo) ReactToComment(id int64, actor, content string) error {
	return r.onComment(id, actor, func(u *user, c *comment) *apiError {
		_, _, e := r.hub.react(u, &c.reactions, content)
		return e
	})
}

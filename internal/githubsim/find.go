package githubsim

import (
	"slices"
	"strings"
)

// issue finds an issue or pull request by number; nil when there is none (any more).
func (r *Repo) issue(number int) *issue {
	if number < 1 || number > len(r.issues) || r.issues[number-1].deleted {
		return nil
	}
	return r.issues[number-1]
}

// pull finds a pull request by number; nil when there is none.
func (r *Repo) pull(number int) *pull {
	is := r.issue(number)
	if is == nil {
		return nil
	}
	return is.pull
}

// pulls lists the pull requests, in the order of their numbers.
func (r *Repo) pulls() []*pull {
	var out []*pull
	for _, is := range r.issues {
		if is.pull != nil && !is.deleted {
			out = append(out, is.pull)
		}
	}
	return out
}

// label finds a label by name, ignoring case.
func (r *Repo) label(name string) *label {
	i := slices.IndexFunc(r.labels, func(l *label) bool { return strings.EqualFold(l.name, name) })
	if i < 0 {
		return nil
	}
	return r.labels[i]
}

// comment finds a conversation comment by id; nil when it was deleted.
func (r *Repo) comment(id int64) *comment {
	i, ok := slices.BinarySearchFunc(r.comments, id, func(c *comment, id int64) int { return compareID(c.id, id) })
	if !ok {
		return nil
	}
	return r.comments[i]
}

// diffComment finds a review comment by id; nil when it was deleted.
func (r *Repo) diffComment(id int64) *reviewComment {
	i, ok := slices.BinarySearchFunc(r.diffComments, id, func(c *reviewComment, id int64) int { return compareID(c.id, id) })
	if !ok {
		return nil
	}
	return r.diffComments[i]
}

// reviewByID finds a review of the pull request; nil when there is none.
func (p *pull) reviewByID(id int64) *review {
	i := slices.IndexFunc(p.reviews, func(v *review) bool { return v.id == id })
	if i < 0 {
		return nil
	}
	return p.reviews[i]
}

// pendingReview is the draft review that the user holds on the pull request, if any.
func (p *pull) pendingReview(u *user) *review {
	i := slices.IndexFunc(p.reviews, func(v *review) bool { return v.pending() && v.author == u })
	if i < 0 {
		return nil
	}
	return p.reviews[i]
}

// stateWord is GraphQL's word for the state: OPEN, CLOSED or MERGED.
func (p *pull) stateWord() string {
	switch {
	case !p.merged.IsZero():
		return "MERGED"
	case p.state == "closed":
		return "CLOSED"
	}
	return "OPEN"
}

// sameRepo is false for pull requests that come from a fork.
func (p *pull) sameRepo() bool { return p.headRepo == p.repo }

// headOID is the head commit: the branch's for an open pull request, the last one seen for a closed
// one.
func (p *pull) headOID() string {
	if p.state == "open" && p.headRepo != nil {
		if oid, ok := p.headRepo.git.head(p.headRef); ok {
			return oid
		}
	}
	return p.headSHA
}

// baseOID is the base commit: the base branch's for an open pull request, the last one seen for a
// closed one.
func (p *pull) baseOID() string {
	if p.state == "open" {
		if oid, ok := p.repo.git.head(p.baseRef); ok {
			return oid
		}
	}
	return p.baseSHA
}

func compareID(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

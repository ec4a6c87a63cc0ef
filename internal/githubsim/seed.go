package githubsim

import (
	"errors"
	"fmt"
)

// Bulk says how much SeedPulls makes.
type Bulk struct {
	Pulls    int
	Comments int    // per pull request; every other one is on the diff
	Author   string // of the pull requests
	Reviewer string // of the comments
	Branch   string // the branches' common prefix; "" is "bulk/"

	Each func(i int) (branch, body string) // of the ith pull request, instead of that
}

// SeedIssues opens many issues at once, for measuring.
func (r *Repo) SeedIssues(author, body string, n int, labels ...string) error {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return err
	}
	for range n {
		if _, e := r.addIssue(who, newIssue{title: fmt.Sprintf("Issue %d", len(r.issues)+1), body: body, labels: labels}); e != nil {
			return e
		}
	}
	return nil
}

// SeedPulls makes many open pull requests at once, for measuring. All branches share one commit, so
// that git is asked only a few times whatever the numbers. It returns the first number.
func (r *Repo) SeedPulls(in Bulk) (first int, err error) {
	defer r.hub.enter()()
	author, err := r.actor(in.Author)
	if err != nil {
		return 0, err
	}
	reviewer, err := r.actor(in.Reviewer)
	if err != nil {
		return 0, err
	}
	base, ok := r.git.head(r.defaultBranch)
	if !ok {
		return 0, errors.New("seed pull requests: the repository is empty")
	}
	if in.Branch == "" {
		in.Branch = "bulk/"
	}
	oid, err := r.git.commitFiles(base, map[string]string{"bulk.txt": "one\ntwo\nthree\n"}, "Bulk", author.signature(r.hub.now()))
	if err != nil {
		return 0, err
	}
	if in.Each == nil {
		in.Each = func(i int) (string, string) { return fmt.Sprintf("%s%d", in.Branch, i+1), "" }
	}
	first = len(r.issues) + 1
	refs := map[string]string{}
	for i := range in.Pulls {
		branch, _ := in.Each(i)
		refs["refs/heads/"+branch] = oid
		refs[fmt.Sprintf("refs/pull/%d/head", first+i)] = oid
	}
	if err := r.git.packRefs(refs); err != nil {
		return 0, err
	}
	r.notice()
	for i := range in.Pulls {
		branch, body := in.Each(i)
		p := r.makePull(author, newPull{title: fmt.Sprintf("Bulk %d", i+1), body: body, base: r.defaultBranch}, r, branch)
		r.refer(author, p.issue, body)
		if err := p.seedComments(reviewer, in.Comments); err != nil {
			return 0, err
		}
	}
	return first, nil
}

// seedComments writes comments, every other one on the diff.
func (p *pull) seedComments(reviewer *user, n int) error {
	for i := range n {
		body := fmt.Sprintf("Remark %d", i+1)
		var e *apiError
		if i%2 == 0 {
			_, e = p.repo.addComment(reviewer, p.issue, body)
		} else {
			_, e = p.repo.addDiffComment(reviewer, p, newDiffComment{path: "bulk.txt", line: 1 + i%3, body: body})
		}
		if e != nil {
			return e
		}
	}
	return nil
}

// SeedComments has somebody write many comments on pull requests at once, for measuring:
// as many on each, every other one on the diff.
func (r *Repo) SeedComments(author string, pulls []int, comments int) error {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return err
	}
	for i, n := range pulls {
		p := r.pull(n)
		if p == nil {
			return fmt.Errorf("seed comments: there is no pull request #%d", n)
		}
		share := comments / len(pulls)
		if i < comments%len(pulls) {
			share++
		}
		if err := p.seedComments(who, share); err != nil {
			return err
		}
	}
	return nil
}

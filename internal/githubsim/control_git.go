package githubsim

import (
	"errors"
	"fmt"
	"strings"
)

// PushCommit commits files (Removed takes one away) on top of a branch, as that person; a new
// branch starts at the default one. It returns the commit.
func (r *Repo) PushCommit(branch, author string, files map[string]string, message string) (string, error) {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return "", err
	}
	parent, ok := r.git.head(branch)
	if !ok {
		parent, _ = r.git.head(r.defaultBranch)
	}
	return r.push(who, branch, parent, files, message)
}

// ForcePush replaces a branch by one commit of files on top of another commit ("" for the default
// branch's head), as that person.
func (r *Repo) ForcePush(branch, author, onto string, files map[string]string, message string) (string, error) {
	defer r.hub.enter()()
	who, err := r.actor(author)
	if err != nil {
		return "", err
	}
	if onto == "" {
		onto = r.defaultBranch
	}
	parent, ok := r.git.resolve(onto)
	if !ok {
		return "", fmt.Errorf("force-push: there is no commit %q", onto)
	}
	return r.push(who, branch, parent, files, message)
}

// push commits and moves the branch.
func (r *Repo) push(who *user, branch, parent string, files map[string]string, message string) (string, error) {
	if message == "" {
		message = "Change"
	}
	oid, err := r.git.commitFiles(parent, files, message, who.signature(r.hub.now()))
	if err != nil {
		return "", err
	}
	if err := r.git.setRef("refs/heads/"+branch, oid, ""); err != nil {
		return "", fmt.Errorf("push to %s: %w", branch, err)
	}
	r.acceptPush(who)
	return oid, nil
}

// CreateBranch makes or moves a branch without a commit of its own; at is a branch, tag or commit.
func (r *Repo) CreateBranch(branch, at string) error {
	defer r.hub.enter()()
	oid, ok := r.git.resolve(at)
	if !ok {
		return fmt.Errorf("make branch %s: there is no commit %q", branch, at)
	}
	if err := r.git.setRef("refs/heads/"+branch, oid, ""); err != nil {
		return fmt.Errorf("make branch %s: %w", branch, err)
	}
	r.acceptPush(r.owner)
	return nil
}

// DeleteBranch deletes a branch, as that person; an open pull request from it is closed.
func (r *Repo) DeleteBranch(branch, actor string) error {
	defer r.hub.enter()()
	who, err := r.actor(actor)
	if err != nil {
		return err
	}
	if err := r.git.deleteRef("refs/heads/" + branch); err != nil {
		return fmt.Errorf("delete branch %s: %w", branch, err)
	}
	r.acceptPush(who)
	return nil
}

// RenameDefaultBranch renames the default branch; pull requests follow.
func (r *Repo) RenameDefaultBranch(to string) error {
	defer r.hub.enter()()
	from := r.defaultBranch
	oid, ok := r.git.head(from)
	if !ok {
		return errors.New("rename default branch: the repository is empty")
	}
	if err := r.git.setRef("refs/heads/"+to, oid, zeroOID); err != nil {
		return fmt.Errorf("rename default branch: %w", err)
	}
	for _, p := range r.pulls() {
		if p.baseRef == from {
			p.baseRef = to
		}
	}
	r.defaultBranch = to
	if _, err := r.git.run("symbolic-ref", "HEAD", "refs/heads/"+to); err != nil {
		return fmt.Errorf("rename default branch: %w", err)
	}
	if err := r.git.deleteRef("refs/heads/" + from); err != nil {
		return fmt.Errorf("rename default branch: %w", err)
	}
	r.acceptPush(r.owner)
	return nil
}

// Head is the commit of a branch.
func (r *Repo) Head(branch string) (oid string, ok bool) {
	defer r.hub.enter()()
	return r.git.head(branch)
}

// Branches are all branches with their commits.
func (r *Repo) Branches() map[string]string {
	defer r.hub.enter()()
	return union(nil, r.git.heads())
}

// File reads a file at a branch, tag or commit.
func (r *Repo) File(ref, path string) (content string, ok bool) {
	defer r.hub.enter()()
	oid, ok := r.git.resolve(ref)
	if !ok {
		return "", false
	}
	data, ok := r.git.file(oid, path)
	return string(data), ok
}

// Commit is one commit of a branch.
type Commit struct {
	OID     string
	Parents []string
	Author  string
	Message string
}

// Subject is the first line of the message.
func (c Commit) Subject() string {
	subject, _, _ := strings.Cut(c.Message, "\n")
	return subject
}

// Log lists the commits of a branch, newest first.
func (r *Repo) Log(ref string) ([]Commit, error) {
	defer r.hub.enter()()
	oid, ok := r.git.resolve(ref)
	if !ok {
		return nil, fmt.Errorf("there is no commit %q", ref)
	}
	list, err := r.git.log("--topo-order", oid)
	out := make([]Commit, len(list))
	for i, c := range list {
		out[i] = Commit{OID: c.oid, Parents: c.parents, Author: c.author.name, Message: c.message}
	}
	return out, err
}

// headName is the ref that keeps the pull request's head alive.
func (p *pull) headName() string { return fmt.Sprintf("refs/pull/%d/head", p.number) }

// actor finds who does a deed.
func (r *Repo) actor(login string) (*user, error) {
	u := r.hub.user(login)
	if u == nil {
		return nil, unknownUser(login)
	}
	return u, nil
}

// actorOr is the account of a login, or the author where no login is given.
func (r *Repo) actorOr(login string, author *user) (*user, error) {
	if login == "" {
		return author, nil
	}
	return r.actor(login)
}

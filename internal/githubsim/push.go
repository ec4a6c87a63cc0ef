package githubsim

import (
	"maps"
	"slices"
)

// notice compares the heads with those last seen and does what GitHub does about a push: pull
// requests follow their branches, are marked merged when their head has reached the base, or closed
// when their branch is gone; messages on the default branch close issues. Who pushed straight to
// the bare repository is not known: entries then name the pull request's author, or the
// repository's owner.
func (r *Repo) notice() {
	heads := r.git.heads()
	if maps.Equal(heads, r.seen) {
		return
	}
	before := r.seen
	r.seen = maps.Clone(heads)
	r.pushed, r.updated = r.hub.now(), r.hub.now()
	for _, branch := range slices.Sorted(maps.Keys(union(before, heads))) {
		if before[branch] != heads[branch] {
			r.branchMoved(branch, before[branch], heads[branch])
		}
	}
}

// acceptPush is notice for a push whose author is known.
func (r *Repo) acceptPush(actor *user) {
	r.pusher = actor
	r.notice()
	r.pusher = nil
}

// pusherOr is who pushed, or the fallback when that is not known.
func (r *Repo) pusherOr(fallback *user) *user {
	if r.pusher != nil {
		return r.pusher
	}
	return fallback
}

func union(a, b map[string]string) map[string]string {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]string{}
	}
	maps.Copy(out, b)
	return out
}

// branchMoved does what follows from one branch's move; "" stands for no branch.
func (r *Repo) branchMoved(branch, from, to string) {
	for _, target := range r.hub.repos {
		for _, p := range target.pulls() {
			if p.state != "open" {
				continue
			}
			if p.headRepo == r && p.headRef == branch {
				p.headMoved(from, to)
			}
			if target == r && p.baseRef == branch {
				p.baseMoved(from, to)
			}
		}
	}
	if branch == r.defaultBranch && from != "" && to != "" {
		r.closeByCommits(from, to)
	}
}

// headMoved follows the head branch. Without anything left to merge GitHub closes the pull request.
func (p *pull) headMoved(from, to string) {
	who := p.headRepo.pusherOr(p.author)
	if to == "" {
		p.headSHA = from
		p.close(who, "", "")
		p.record(who, "head_ref_deleted", nil)
		return
	}
	p.headSHA = to
	if err := p.keepHead(); err != nil {
		return // the fork's commit is gone again: the next move is noticed
	}
	if from != "" && !p.headRepo.git.isAncestor(from, to) {
		p.record(who, "head_ref_force_pushed", func(e *event) { e.commitSHA, e.from, e.to = to, from, to })
	}
	p.pushed = who
	p.dropStale(who)
	p.touch()
	p.leaveQueue(who)
	if p.repo.git.isAncestor(to, p.baseOID()) {
		p.freeze()
		p.close(who, "", "")
	}
}

// baseMoved marks the pull request merged when the base branch has taken its head in.
func (p *pull) baseMoved(from, to string) {
	if from == "" || to == "" {
		return
	}
	p.baseSHA = to
	if !p.repo.git.isAncestor(from, to) {
		p.record(p.repo.pusherOr(p.author), "base_ref_force_pushed", func(e *event) { e.from, e.to = from, to })
	}
	if p.half != nil {
		return
	}
	head := p.headOID()
	taken, err := p.repo.git.between(from, to)
	if err != nil || !slices.ContainsFunc(taken, func(c commitInfo) bool { return c.oid == head }) {
		return
	}
	who := p.repo.pusherOr(p.author)
	p.headSHA, p.baseSHA = head, from
	p.repo.markMerged(who, p, to)
	p.repo.closeBy(who, p, to)
}

// closeByCommits closes the issues that new commits on the default branch say they fix.
func (r *Repo) closeByCommits(from, to string) {
	list, err := r.git.between(from, to)
	if err != nil || r.keepsIssues {
		return
	}
	for _, c := range slices.Backward(list) {
		for _, is := range r.closes(c.message) {
			if is.state == "open" {
				who := r.pusherOr(r.owner)
				is.record(who, "referenced", func(e *event) { e.commitSHA = c.oid })
				is.close(who, "completed", c.oid)
			}
		}
	}
}

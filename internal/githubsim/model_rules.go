package githubsim

import (
	"fmt"
	"slices"
	"strings"
)

// Rules are what a protection or a ruleset demands of merges into a branch.
type Rules struct {
	Checks        []string // contexts that must have passed
	Strict        bool     // on a head that holds the base; without checks it means nothing
	Approvals     int      // that a merge needs
	DismissStale  bool     // approvals, by a push
	LastPush      bool     // somebody else than who pushed last must approve
	Conversations bool     // must be resolved
	Linear        bool     // no merge commits
	Methods       []string // only these of merge, squash and rebase; none: any
	Queue         string   // merges through a queue, which lands by merge, squash or rebase; "" without one
}

// ruleset is one that is active for a branch. Other than a protection it is seen by everybody who
// reads the repository.
type ruleset struct {
	id     int64
	name   string
	branch string
	Rules
}

// rulesetsOf are those of a branch.
func (r *Repo) rulesetsOf(branch string) []*ruleset {
	var out []*ruleset
	for _, s := range r.rulesets {
		if s.branch == branch {
			out = append(out, s)
		}
	}
	return out
}

// demands are all rules of a branch, the protection's first.
func (r *Repo) demands(branch string) []Rules {
	var out []Rules
	if guard, ok := r.protected[branch]; ok {
		out = append(out, guard)
	}
	for _, s := range r.rulesetsOf(branch) {
		out = append(out, s.Rules)
	}
	return out
}

// anyDemand tells whether a rule of the branch says so.
func (r *Repo) anyDemand(branch string, says func(Rules) bool) bool {
	return slices.ContainsFunc(r.demands(branch), says)
}

// queueMethod is how the branch's merge queue lands, "" without a queue.
func (r *Repo) queueMethod(branch string) string {
	for _, d := range r.demands(branch) {
		if d.Queue != "" {
			return d.Queue
		}
	}
	return ""
}

// requires tells whether a check of that name must have passed before a merge into the branch.
func (r *Repo) requires(branch, name string) bool {
	return r.anyDemand(branch, func(d Rules) bool { return slices.Contains(d.Checks, name) })
}

// allows tells whether the repository allows a method.
func (r *Repo) allows(method string) bool { return !slices.Contains(r.refused, method) }

// behind tells whether the base has commits that the head does not hold.
func (p *pull) behind() bool { return !p.repo.git.isAncestor(p.baseOID(), p.headOID()) }

// lack is one demand that is not met.
type lack struct {
	text   string
	behind bool // it would be met by a head that holds the base
}

// unmet are the demands of the base branch that are not met; the texts of a ruleset's are those of
// unmetOf too.
func (p *pull) unmet() []lack {
	var out []lack
	for _, d := range p.repo.demands(p.baseRef) {
		out = append(out, p.unmetOf(d, false)...)
	}
	return out
}

// refusal is the message with which a merge is refused for what is not met, "" when all is: a
// protection's in a sentence, those of rulesets in GitHub's frame.
func (p *pull) refusal() string {
	if guard, ok := p.repo.protected[p.baseRef]; ok {
		if list := p.unmetOf(guard, false); len(list) > 0 {
			return list[0].text
		}
		if guard.Queue != "" {
			return throughQueue
		}
	}
	var texts []string
	for _, s := range p.repo.rulesetsOf(p.baseRef) {
		if s.Queue != "" {
			texts = append(texts, throughQueue)
		}
		for _, l := range p.unmetOf(s.Rules, true) {
			texts = append(texts, l.text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return "Repository rule violations found\n\n" + strings.Join(texts, "\n\n") + "\n\n"
}

const throughQueue = "Changes must be made through the merge queue"

// unmetOf are the demands of one set of rules that are not met. Some sentences differ between
// protections and rulesets.
func (p *pull) unmetOf(d Rules, inRuleset bool) []lack {
	var out []lack
	if l, ok := p.lacksChecks(d); ok {
		out = append(out, l)
	}
	approvers := p.approvers()
	if d.LastPush && !slices.ContainsFunc(approvers, func(u *user) bool { return u != p.pusher() }) {
		out = append(out, lack{text: "New changes require approval from someone other than the last pusher."})
	}
	if len(approvers) < d.Approvals {
		text := "At least 1 approving review is required by reviewers with write access."
		if d.Approvals > 1 {
			text = fmt.Sprintf("At least %d approving reviews are required by reviewers with write access.", d.Approvals)
		}
		out = append(out, lack{text: text})
	} else if d.Approvals > 0 && p.opposed() {
		out = append(out, lack{text: "Changes have been requested by reviewers with write access."})
	}
	if d.Conversations && slices.ContainsFunc(p.threads, func(t *thread) bool { return !t.resolved && t.visibleTo(nil) }) {
		text := "All comments must be resolved."
		if inRuleset {
			text = "A conversation must be resolved before this pull request can be merged."
		}
		out = append(out, lack{text: text})
	}
	return out
}

// lacksChecks tells what the required checks lack. On a head that is behind where that matters
// GitHub takes none of them to have been reported.
func (p *pull) lacksChecks(d Rules) (lack, bool) {
	if len(d.Checks) == 0 {
		return lack{}, false
	}
	var names, states []string
	for _, name := range d.Checks {
		if state := p.repo.checkState(p.headOID(), name); state != "" {
			names, states = append(names, name), append(states, state)
		}
	}
	behind := d.Strict && p.behind()
	switch {
	case behind && len(d.Checks) == 1:
		return lack{fmt.Sprintf("Required status check %q is expected.", d.Checks[0]), len(names) == 0}, true
	case behind:
		return lack{fmt.Sprintf("%d of %d required status checks are expected.", len(d.Checks), len(d.Checks)), len(names) == 0}, true
	case len(names) == 0:
		return lack{}, false
	case len(names) == 1:
		return lack{text: fmt.Sprintf("Required status check %q is %s.", names[0], states[0])}, true
	case !slices.ContainsFunc(states, func(s string) bool { return s != expected }):
		return lack{text: fmt.Sprintf("%d of %d required status checks are expected.", len(names), len(d.Checks))}, true
	}
	return lack{text: fmt.Sprintf("%d of %d required status checks have not succeeded: %s.", len(names), len(d.Checks), counted(states))}, true
}

// counted is "1 expected, and 2 failing".
func counted(states []string) string {
	var parts []string
	for _, word := range []string{expected, "failing", "pending"} {
		n := 0
		for _, s := range states {
			if s == word {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	return strings.Join(parts, ", and ")
}

const expected = "expected"

// checkState is what keeps a required check from being met: expected while nothing was reported,
// pending or failing; "" when it has passed.
func (r *Repo) checkState(sha, name string) string {
	state := expected
	for _, c := range r.latestChecks(sha) {
		switch {
		case c.name != name:
		case c.rollupState() == "SUCCESS":
			return ""
		case c.rollupState() == "PENDING":
			state = "pending"
		default:
			state = "failing"
		}
	}
	for _, s := range r.latestStatuses(sha) {
		switch {
		case s.context != name, s.state == expected:
		case s.state == "success":
			return ""
		case s.state == "pending":
			state = "pending"
		default:
			state = "failing"
		}
	}
	return state
}

// pusher is who pushed the head, as far as it is known.
func (p *pull) pusher() *user {
	if p.pushed != nil {
		return p.pushed
	}
	return p.author
}

// verdicts are the last words of people with write access that say yes or no.
func (p *pull) verdicts() map[*user]string {
	last := map[*user]string{}
	for _, v := range p.reviews {
		if (v.state == "APPROVED" || v.state == "CHANGES_REQUESTED" || v.state == "DISMISSED") && p.repo.can(v.author, "write") {
			last[v.author] = v.state
		}
	}
	return last
}

// approvers are the people with write access whose last word was an approval.
func (p *pull) approvers() []*user {
	var out []*user
	for u, state := range p.verdicts() {
		if state == "APPROVED" {
			out = append(out, u)
		}
	}
	return out
}

// opposed tells whether the last word of somebody with write access requests changes.
func (p *pull) opposed() bool {
	for _, state := range p.verdicts() {
		if state == "CHANGES_REQUESTED" {
			return true
		}
	}
	return false
}

// reviewDecision is GraphQL's: "" where no review is required.
func (p *pull) reviewDecision() string {
	need := 0
	for _, d := range p.repo.demands(p.baseRef) {
		need = max(need, d.Approvals)
		if d.LastPush {
			need = max(need, 1)
		}
	}
	switch {
	case need == 0:
		return ""
	case p.opposed():
		return "CHANGES_REQUESTED"
	case len(p.approvers()) < need:
		return "REVIEW_REQUIRED"
	}
	return "APPROVED"
}

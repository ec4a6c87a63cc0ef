package githubsim

import (
	"fmt"
	"maps"
	"slices"
)

// Protect demands green checks and approvals for merges into a branch, by a classic protection.
func (r *Repo) Protect(branch string, checks []string, approvals int) {
	r.ProtectBy(branch, Rules{Checks: checks, Approvals: approvals})
}

// ProtectBy is Protect with all that a protection can demand.
func (r *Repo) ProtectBy(branch string, rules Rules) {
	defer r.hub.enter()()
	r.protected[branch] = rules
}

// Unprotect takes a branch's protection away.
func (r *Repo) Unprotect(branch string) {
	defer r.hub.enter()()
	delete(r.protected, branch)
}

// PushRule is what a protected branch demands of a pull request that was pushed to.
type PushRule string

// The rules.
const (
	DismissStale PushRule = "dismiss stale approvals"
	LastPush     PushRule = "approval of the most recent push"
)

// ProtectPushes adds rules to a branch's protection.
func (r *Repo) ProtectPushes(branch string, rules ...PushRule) {
	defer r.hub.enter()()
	p := r.protected[branch]
	p.DismissStale = p.DismissStale || slices.Contains(rules, DismissStale)
	p.LastPush = p.LastPush || slices.Contains(rules, LastPush)
	r.protected[branch] = p
}

// kindRuleset numbers rulesets.
const kindRuleset kind = "RRS"

// SetRuleset makes the ruleset of that name for a branch, or changes it.
func (r *Repo) SetRuleset(name, branch string, rules Rules) {
	defer r.hub.enter()()
	i := slices.IndexFunc(r.rulesets, func(s *ruleset) bool { return s.name == name })
	if i < 0 {
		id, _ := r.hub.newID(kindRuleset)
		i, r.rulesets = len(r.rulesets), append(r.rulesets, &ruleset{id: id, name: name})
	}
	r.rulesets[i].branch, r.rulesets[i].Rules = branch, rules
}

// RemoveRuleset removes the ruleset of that name.
func (r *Repo) RemoveRuleset(name string) error {
	defer r.hub.enter()()
	i := slices.IndexFunc(r.rulesets, func(s *ruleset) bool { return s.name == name })
	if i < 0 {
		return fmt.Errorf("there is no ruleset %q", name)
	}
	r.rulesets = slices.Delete(r.rulesets, i, i+1)
	return nil
}

// AllowMethods allows only these of merge, squash and rebase.
func (r *Repo) AllowMethods(methods ...string) error {
	for _, m := range methods {
		if methodNames[m] == "" {
			return fmt.Errorf("there is no merge method %q", m)
		}
	}
	defer r.hub.enter()()
	r.refused = nil
	for _, m := range slices.Sorted(maps.Keys(methodNames)) {
		if !slices.Contains(methods, m) {
			r.refused = append(r.refused, m)
		}
	}
	return nil
}

// DeleteOnMerge has GitHub delete the branch of a pull request that was merged.
func (r *Repo) DeleteOnMerge(yes bool) {
	defer r.hub.enter()()
	r.deleteOnMerge = yes
}

// RefuseMerges makes every merge answer 405 with that message; "" ends it.
func (r *Repo) RefuseMerges(message string) {
	defer r.hub.enter()()
	r.mergeRefusal = message
}

// RefuseNextMerges makes so many merges answer with that status and message, and do nothing.
func (r *Repo) RefuseNextMerges(times, status int, message string) {
	r.trouble(&mergeTrouble{times: times, refuse: refusal(status, message)})
}

// HalveNextMerges leaves so many merges half done: the commit is on the base, the pull request
// open, the answer a 500.
func (r *Repo) HalveNextMerges(times int) { r.trouble(&mergeTrouble{times: times, half: true}) }

// AlterNextMerges has so many merges land a file that nobody sent.
func (r *Repo) AlterNextMerges(times int, path, content string) {
	r.trouble(&mergeTrouble{times: times, files: map[string]string{path: content}})
}

func (r *Repo) trouble(t *mergeTrouble) {
	defer r.hub.enter()()
	r.troubles = append(r.troubles, t)
}

// CompleteMerge finishes a merge that was left half done.
func (r *Repo) CompleteMerge(number int) error {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil || p.half == nil {
		return fmt.Errorf("%d was not left half merged", number)
	}
	r.finishMerge(p, *p.half)
	return nil
}

// Box is what the merge box of a pull request says.
type Box struct {
	State    string // GraphQL's mergeStateStatus
	Decision string // GraphQL's reviewDecision; "" for null
	Missing  []string
}

// Box reads the merge box, at once: mergeability does not lag.
func (r *Repo) Box(number int) (Box, bool) {
	defer r.hub.enter()()
	p := r.pull(number)
	if p == nil {
		return Box{}, false
	}
	b := Box{State: p.mergeState(p.computeMergeable()), Decision: p.reviewDecision()}
	for _, l := range p.unmet() {
		b.Missing = append(b.Missing, l.text)
	}
	return b, true
}

// KeepIssues lets closing words close nothing.
func (r *Repo) KeepIssues(keep bool) {
	defer r.hub.enter()()
	r.keepsIssues = keep
}

// DelayUpdates has update-branch take effect only when FinishUpdates is called.
func (r *Repo) DelayUpdates(late bool) {
	defer r.hub.enter()()
	r.lateUpdates = late
}

// FinishUpdates lets what update-branch was asked to do take effect.
func (r *Repo) FinishUpdates() {
	defer r.hub.enter()()
	for _, do := range r.updates {
		do()
	}
	r.updates = nil
}

package doctor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// rules compares the rules of the default branch with the config.
func rules(a *about, r Repo) {
	switch {
	case r.Rules == nil:
		return
	case !r.Rules.Known:
		a.warn(CodeRules, "GitHub does not tell this token what "+r.DefaultBranch+" demands of merges", "a merge that it refuses stops with its words")
	default:
		a.ok(CodeRules, r.DefaultBranch+": "+demands(*r.Rules, r.Gates))
	}
	approvals(a, r)
	method(a, r)
	signOff(a, r)
	if other := slices.DeleteFunc(slices.Clone(r.Rules.Other), signingOff); len(other) > 0 {
		a.warn(CodeOtherRules, r.DefaultBranch+" has rules that are left to GitHub to judge: "+strings.Join(other, ", "), "where one refuses a merge, it stops with GitHub's words")
	}
	if len(r.WorkRules) > 0 {
		a.fail(CodeWorkBranches, "rules hold for the branches that gh mergexo pushes, agent/…: "+strings.Join(r.WorkRules, ", "),
			"leave agent/** out of that ruleset: https://"+r.Host+"/"+r.Current+"/settings/rules")
	}
}

// demands describes the rules.
func demands(of merging.Rules, gates Gates) string {
	var all []string
	if of.Approvals > 0 {
		all = append(all, count(of.Approvals, "approval", "approvals"))
	}
	if of.LastPush {
		all = append(all, "an approval by somebody else than who pushed last")
	}
	if len(of.Checks) > 0 {
		all = append(all, "the checks "+strings.Join(of.Checks, ", "))
	}
	if of.Threads {
		all = append(all, "resolved conversations")
	}
	if of.Linear {
		all = append(all, "linear history")
	}
	if of.Queue {
		all = append(all, "the merge queue")
	}
	if own := slices.DeleteFunc(slices.Clone(gates.Checks), func(name string) bool { return slices.Contains(of.Checks, name) }); len(own) > 0 {
		all = append(all, "by the config the checks "+strings.Join(own, ", "))
	}
	if len(all) == 0 {
		return "nothing is demanded of merges"
	}
	return "merges need " + strings.Join(all, "; ")
}

// approvals checks that somebody can approve: GitHub does not count approvals from a pull request's
// author or last pusher. Without automatic merging people approve and merge; with it there must be
// an approver.
func approvals(a *about, r Repo) {
	const do = `name somebody else: a person in [[repo.reviewers]] (type = "human"), a reviewer with an account of its own, or require_human_approval = true; docs/review.md has it`
	speaker := r.Gates.Speaker
	if speaker == "" {
		speaker = "the account that opens it"
	}
	if !r.Gates.AutoMerge {
		return
	}
	if lack := r.Rules.Approvals - r.Gates.Approvers; lack > 0 {
		a.fail(CodeApprovals, fmt.Sprintf("auto_merge is on and %s wants %s, of which GitHub counts none by %s; the config names %d who could give one: nothing can be merged by itself",
			r.DefaultBranch, count(r.Rules.Approvals, "approval", "approvals"), speaker, r.Gates.Approvers), do)
	}
	if r.Rules.LastPush && r.Gates.Approvers == 0 {
		a.fail(CodeLastPush, fmt.Sprintf("auto_merge is on and %s wants somebody else than who pushed last to approve, which is %s; the config names nobody else", r.DefaultBranch, speaker), do)
	}
}

// method checks that the config's merge method is allowed by the repository and the rules.
func method(a *about, r Repo) {
	allowed := slices.DeleteFunc(slices.Clone(r.Methods), func(m merging.Method) bool {
		return len(r.Rules.Methods) > 0 && !slices.Contains(r.Rules.Methods, m) || r.Rules.Linear && m == merging.MergeCommit
	})
	wanted := r.Gates.Method
	switch {
	case !r.Gates.AutoMerge || len(r.Methods) == 0:
		return
	case r.Rules.Queue && wanted != "":
		a.warn(CodeMergeQueue, fmt.Sprintf("%s merges through a queue, which has a method of its own; merge_method = %q does nothing", r.DefaultBranch, wanted), "take merge_method out of [repo.review]")
	case r.Rules.Queue:
		a.ok(CodeMergeQueue, "what is approved is put into the queue of "+r.DefaultBranch)
	case len(allowed) == 0:
		a.fail(CodeMergeMethod, "the repository and its rules allow no method of merging in common", "allow one: https://"+r.Host+"/"+r.Current+"/settings")
	case wanted != "" && !slices.Contains(allowed, wanted):
		a.fail(CodeMergeMethod, fmt.Sprintf("merge_method = %q is not allowed there; allowed: %s", wanted, list(allowed)), fmt.Sprintf("write merge_method = %q in [repo.review], or take it out", allowed[0]))
	}
}

func list[T ~string](names []T) string {
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = string(n)
	}
	return strings.Join(all, ", ")
}

// signingOff reports a kind of rule that mostly enforces a sign-off.
func signingOff(kind string) bool { return kind == "commit_message_pattern" }

func signOff(a *about, r Repo) {
	if r.Gates.SignOff {
		return
	}
	why := ""
	switch {
	case slices.ContainsFunc(r.Rules.Checks, func(name string) bool { return strings.EqualFold(name, "dco") }):
		why = "the check DCO is required"
	case slices.ContainsFunc(r.Rules.Other, signingOff):
		why = "a rule says what messages of commits have to be like"
	case r.WebSignOff:
		why = "the repository wants commits to be signed off"
	default:
		return
	}
	a.warn(CodeSignOff, why+", and sign_off is false", "write sign_off = true in [repo.voice]")
}

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
		a.warn(CodeRules, "GitHub does not show this token what "+r.DefaultBranch+" requires for a merge", "if GitHub refuses a merge, the stop quotes the message")
	default:
		a.ok(CodeRules, r.DefaultBranch+": "+demands(*r.Rules, r.Gates))
	}
	approvals(a, r)
	method(a, r)
	signOff(a, r)
	if other := slices.DeleteFunc(slices.Clone(r.Rules.Other), signingOff); len(other) > 0 {
		a.warn(CodeOtherRules, r.DefaultBranch+" has rules that only GitHub checks: "+strings.Join(other, ", "), "if GitHub refuses a merge, the stop quotes the message")
	}
	if len(r.WorkRules) > 0 {
		a.fail(CodeWorkBranches, "rules apply to the branches that gh mergexo pushes, agent/…: "+strings.Join(r.WorkRules, ", "),
			"exclude agent/** from that ruleset: https://"+r.Host+"/"+r.Current+"/settings/rules")
	}
}

// demands describes the rules.
func demands(of merging.Rules, gates Gates) string {
	var all []string
	if of.Approvals > 0 {
		all = append(all, count(of.Approvals, "approval", "approvals"))
	}
	if of.LastPush {
		all = append(all, "an approval by somebody other than the last pusher")
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
		all = append(all, "the checks of the config "+strings.Join(own, ", "))
	}
	if len(all) == 0 {
		return "nothing is required for a merge"
	}
	return "merges need " + strings.Join(all, "; ")
}

// approvals checks that somebody can approve: GitHub does not count approvals from a pull request's
// author or last pusher. Without automatic merging people approve and merge; with it there must be
// an approver.
func approvals(a *about, r Repo) {
	const do = `name another approver: a person in [[repo.reviewers]] (type = "human"), a reviewer with an account of its own, or require_human_approval = true; docs/review.md has it`
	speaker := r.Gates.Speaker
	if speaker == "" {
		speaker = "the account that opens it"
	}
	if !r.Gates.AutoMerge {
		return
	}
	if lack := r.Rules.Approvals - r.Gates.Approvers; lack > 0 {
		a.fail(CodeApprovals, fmt.Sprintf("auto_merge is on and %s requires %s, and GitHub counts none by %s; approvers in the config: %d; nothing can be merged automatically",
			r.DefaultBranch, count(r.Rules.Approvals, "approval", "approvals"), speaker, r.Gates.Approvers), do)
	}
	if r.Rules.LastPush && r.Gates.Approvers == 0 {
		a.fail(CodeLastPush, fmt.Sprintf("auto_merge is on and %s requires an approval by somebody other than the last pusher, which is %s; the config names nobody else", r.DefaultBranch, speaker), do)
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
		a.warn(CodeMergeQueue, fmt.Sprintf("%s has a merge queue with its own method; merge_method = %q has no effect", r.DefaultBranch, wanted), "remove merge_method from [repo.review]")
	case r.Rules.Queue:
		a.ok(CodeMergeQueue, "approved pull requests go into the merge queue of "+r.DefaultBranch)
	case len(allowed) == 0:
		a.fail(CodeMergeMethod, "no merge method is allowed by both the repository and its rules", "allow one: https://"+r.Host+"/"+r.Current+"/settings")
	case wanted != "" && !slices.Contains(allowed, wanted):
		a.fail(CodeMergeMethod, fmt.Sprintf("merge_method = %q is not allowed there; allowed: %s", wanted, list(allowed)), fmt.Sprintf("write merge_method = %q in [repo.review], or remove it", allowed[0]))
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
		why = "a rule restricts commit messages"
	case r.WebSignOff:
		why = "the repository requires signed-off commits"
	default:
		return
	}
	a.warn(CodeSignOff, why+", and sign_off is false", "write sign_off = true in [repo.voice]")
}

package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

func repository(r Repo) []Check {
	switch {
	case r.Unasked != "":
		return warn("not checked: "+r.Unasked, "fix that first: gh auth status")
	case r.Trouble != nil:
		return fail(r.Trouble.Says, cmp.Or(r.Trouble.Do, "see whether gh can read it: gh repo view "+r.Name))
	case strings.EqualFold(r.Current, r.Name) || strings.EqualFold(r.Host+"/"+r.Current, r.Name):
		return ok("its default branch is " + r.DefaultBranch)
	}
	return warn("its name on GitHub is "+r.Current+" now", fmt.Sprintf("write name = %q in its [[repo]]", r.typed()))
}

func archived(r Repo) []Check {
	switch {
	case r.Archived:
		return fail("it is archived: nobody can write to it", fmt.Sprintf("gh repo unarchive %s, or leave it out of the config", r.typed()))
	case r.Disabled:
		return fail("GitHub has disabled it", "leave it out of the config, or ask GitHub")
	}
	return nil
}

func write(r Repo) []Check {
	switch {
	case r.Archived || r.Disabled:
		return nil
	case !r.CanPush:
		return fail("the account may not push to it", "ask for write permission, or log in as somebody who has it: gh auth login --hostname "+r.Host)
	}
	return ok("the account may push")
}

// typed returns the repository as a command or the config takes it: without its host, another one
// with the same name could be meant.
func (r Repo) typed() string {
	if r.Host == "github.com" && !strings.HasPrefix(strings.ToLower(r.Name), "github.com/") {
		return r.Current
	}
	return r.Host + "/" + r.Current
}

func remote(r Repo) []Check {
	switch {
	case !r.AsksGit:
		return nil
	case r.Git != nil:
		return fail(r.Git.Says, r.Git.Do)
	}
	return ok("git reaches it")
}

func reads(r Repo) []Check {
	var all []Check
	if r.NoIssues {
		all = fail("issues are switched off, and work starts from an issue", fmt.Sprintf("gh repo edit %s --enable-issues", r.typed()))
	}
	for _, u := range r.Unreadable {
		level := Warning
		if u.Needed {
			level = Failure
		}
		all = append(all, Check{
			Level: level, Says: fmt.Sprintf("the token may not read %s: %s", u.What, u.For),
			Do: "give it that permission; docs/setup.md#accounts lists what each kind of token needs",
		})
	}
	if len(all) == 0 {
		return ok("files, issues, pull requests, checks and statuses")
	}
	return all
}

// answers reports the reads that GitHub does not answer. A pass that makes one fails.
func answers(r Repo) []Check {
	var all []Check
	for _, says := range r.Unanswered {
		all = append(all, fail(says, "see whether gh gets an answer: gh api --hostname "+r.Host+" rate_limit; if the host refuses a query, update GitHub Enterprise Server or gh mergexo")...)
	}
	if len(all) == 0 {
		return ok("GitHub answers each query of a pass")
	}
	return all
}

func labels(r Repo) []Check {
	switch {
	case r.Labels == nil:
		return nil
	case len(r.Labels.Missing) == 0:
		return ok(fmt.Sprintf("all %d exist", r.Labels.Wanted))
	case r.Archived:
		return nil
	}
	return warn("missing: "+strings.Join(r.Labels.Missing, ", "), "gh mergexo tick creates them")
}

func otherInstallations(r Repo) []Check {
	var all []Check
	for _, o := range r.Others {
		all = append(all, warn(fmt.Sprintf("another installation wrote as %s, last at %s: both answer the same comments", o.Account, o.At.UTC().Format(time.RFC3339)),
			"remove its [[repo]] from the config of one of them")...)
	}
	return all
}

func rules(r Repo) []Check {
	if !r.Rules.Known {
		return warn("GitHub does not show this token what "+r.DefaultBranch+" requires for a merge", "if GitHub refuses a merge, the stop quotes the message")
	}
	return ok(r.DefaultBranch + ": " + demands(*r.Rules, r.Gates))
}

func otherRules(r Repo) []Check {
	other := slices.DeleteFunc(slices.Clone(r.Rules.Other), signingOff)
	if len(other) == 0 {
		return nil
	}
	return warn(r.DefaultBranch+" has rules that only GitHub checks: "+strings.Join(other, ", "), "if GitHub refuses a merge, the stop quotes the message")
}

func workBranches(r Repo) []Check {
	if len(r.WorkRules) == 0 {
		return nil
	}
	return fail("rules apply to the branches that gh mergexo pushes, agent/…: "+strings.Join(r.WorkRules, ", "),
		"exclude agent/** from that ruleset: https://"+r.Host+"/"+r.Current+"/settings/rules")
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

// anotherApprover is the remedy where nobody can give an approval that GitHub counts.
const anotherApprover = `name another approver: a person in [[repo.reviewers]] (type = "human"), a reviewer with an account of its own, or require_human_approval = true; docs/review.md has it`

// speaker names the account that opens pull requests. GitHub does not count its approvals.
func (r Repo) speaker() string { return cmp.Or(r.Gates.Speaker, "the account that opens it") }

// approvals checks that somebody can approve: GitHub does not count approvals from a pull request's
// author or last pusher. Without automatic merging people approve and merge; with it there must be
// an approver.
func approvals(r Repo) []Check {
	if !r.Gates.AutoMerge || r.Rules.Approvals <= r.Gates.Approvers {
		return nil
	}
	return fail(fmt.Sprintf("auto_merge is on and %s requires %s, and GitHub counts none by %s; approvers in the config: %d; nothing can be merged automatically",
		r.DefaultBranch, count(r.Rules.Approvals, "approval", "approvals"), r.speaker(), r.Gates.Approvers), anotherApprover)
}

func lastPush(r Repo) []Check {
	if !r.Gates.AutoMerge || !r.Rules.LastPush || r.Gates.Approvers > 0 {
		return nil
	}
	return fail(fmt.Sprintf("auto_merge is on and %s requires an approval by somebody other than the last pusher, which is %s; the config names nobody else", r.DefaultBranch, r.speaker()), anotherApprover)
}

func mergeQueue(r Repo) []Check {
	switch wanted := r.Gates.Method; {
	case !r.Gates.AutoMerge || len(r.Methods) == 0 || !r.Rules.Queue:
		return nil
	case wanted != "":
		return warn(fmt.Sprintf("%s has a merge queue with its own method; merge_method = %q has no effect", r.DefaultBranch, wanted), "remove merge_method from [repo.review]")
	}
	return ok("approved pull requests go into the merge queue of " + r.DefaultBranch)
}

// mergeMethod checks that the config's merge method is allowed by the repository and the rules.
func mergeMethod(r Repo) []Check {
	allowed := slices.DeleteFunc(slices.Clone(r.Methods), func(m merging.Method) bool {
		return len(r.Rules.Methods) > 0 && !slices.Contains(r.Rules.Methods, m) || r.Rules.Linear && m == merging.MergeCommit
	})
	switch wanted := r.Gates.Method; {
	case !r.Gates.AutoMerge || len(r.Methods) == 0 || r.Rules.Queue:
	case len(allowed) == 0:
		return fail("no merge method is allowed by both the repository and its rules", "allow one: https://"+r.Host+"/"+r.Current+"/settings")
	case wanted != "" && !slices.Contains(allowed, wanted):
		return fail(fmt.Sprintf("merge_method = %q is not allowed there; allowed: %s", wanted, list(allowed)), fmt.Sprintf("write merge_method = %q in [repo.review], or remove it", allowed[0]))
	}
	return nil
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

func signOff(r Repo) []Check {
	why := ""
	switch {
	case r.Gates.SignOff:
		return nil
	case slices.ContainsFunc(r.Rules.Checks, func(name string) bool { return strings.EqualFold(name, "dco") }):
		why = "the check DCO is required"
	case slices.ContainsFunc(r.Rules.Other, signingOff):
		why = "a rule restricts commit messages"
	case r.WebSignOff:
		why = "the repository requires signed-off commits"
	default:
		return nil
	}
	return warn(why+", and sign_off is false", "write sign_off = true in [repo.voice]")
}

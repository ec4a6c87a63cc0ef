package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// demand is what a default branch requires for a merge, and what the config does for it.
type demand struct {
	merging.Rules
	of        github.Repository
	auto      bool // the config merges automatically
	method    merging.Method
	checks    []string // required by the config
	signOff   bool
	approvers int    // who can give approvals that GitHub counts, in the flow with the fewest
	speaker   string // the account that opens pull requests
}

func rules(ctx context.Context, _ *exam, r *repo) []Result {
	if r.read() != nil {
		return nil
	}
	found, err := r.host.client.Rules(ctx, r.now.Current, r.now.DefaultBranch)
	if err != nil {
		return r.unanswered(err)
	}
	d := demand{Rules: found, of: r.now, signOff: r.settings.Voice.SignOff, speaker: cmp.Or(r.host.who.Login, "the account that opens it")}
	may := map[string]bool{} // whose approvals GitHub counts
	for _, flow := range work.Flows() {
		p := r.settings.MergePolicy(flow)
		if !p.Auto {
			continue
		}
		able := 0
		for _, login := range p.Approvers {
			counts, asked := may[login]
			if !asked && (d.Approvals > 0 || d.LastPush) {
				counts = r.mayApprove(ctx, login)
				may[login] = counts
			}
			if counts {
				able++
			}
		}
		if !d.auto || able < d.approvers {
			d.approvers = able
		}
		d.auto, d.method, d.checks = true, p.Method, p.Required
	}
	return slices.Concat(d.required(), d.approval(), d.way(), d.signedOff(), d.others())
}

// mayApprove reports whether GitHub counts approvals by an account, or by any person: not the author's,
// and nobody's who may not write. An account that it does not tell about counts, as in a pass.
func (r *repo) mayApprove(ctx context.Context, login string) bool {
	if login == "" || strings.EqualFold(login, r.host.who.Login) {
		return login == ""
	}
	level, err := r.host.client.Permission(ctx, r.now.Current, work.Account{Login: login})
	return err != nil || work.MayWrite(level)
}

const messageQuoted = "if GitHub refuses a merge, the stop quotes the message"

// required says what merges need.
func (d demand) required() []Result {
	if !d.Known {
		return warn("GitHub does not show this token what "+d.of.DefaultBranch+" requires for a merge", messageQuoted)
	}
	var all []string
	if d.Approvals > 0 {
		all = append(all, work.Count(d.Approvals, "approval"))
	}
	if d.LastPush {
		all = append(all, "an approval by somebody other than the last pusher")
	}
	if len(d.Checks) > 0 {
		all = append(all, "the checks "+strings.Join(d.Checks, ", "))
	}
	if d.Threads {
		all = append(all, "resolved conversations")
	}
	if d.Linear {
		all = append(all, "linear history")
	}
	if d.Queue {
		all = append(all, "the merge queue")
	}
	if own := slices.DeleteFunc(slices.Clone(d.checks), func(name string) bool { return slices.Contains(d.Checks, name) }); len(own) > 0 {
		all = append(all, "the checks of the config "+strings.Join(own, ", "))
	}
	if len(all) == 0 {
		return ok(d.of.DefaultBranch + ": nothing is required for a merge")
	}
	return ok(d.of.DefaultBranch + ": merges need " + strings.Join(all, "; "))
}

// approval checks that somebody can approve: GitHub does not count approvals from a pull request's
// author or last pusher. Without automatic merging people approve and merge; with it there must be
// an approver.
func (d demand) approval() (all []Result) {
	const another = `name another approver: a person in [[repo.reviewers]] (type = "human"), a reviewer with an account of its own, or require_human_approval = true; docs/review.md has it`
	if d.auto && d.Approvals > d.approvers {
		all = append(all, fail(fmt.Sprintf("auto_merge is on and %s requires %s, and GitHub counts none by %s; approvers in the config who may write: %d; nothing can be merged automatically",
			d.of.DefaultBranch, work.Count(d.Approvals, "approval"), d.speaker, d.approvers), another)...)
	}
	if d.auto && d.LastPush && d.approvers == 0 {
		all = append(all, fail(fmt.Sprintf("auto_merge is on and %s requires an approval by somebody other than the last pusher, which is %s; the config names nobody else who may write",
			d.of.DefaultBranch, d.speaker), another)...)
	}
	return all
}

// way checks that the config's merge method is allowed by the repository and the rules.
func (d demand) way() []Result {
	allowed := slices.DeleteFunc(slices.Clone(d.of.Methods), func(m merging.Method) bool {
		return len(d.Methods) > 0 && !slices.Contains(d.Methods, m) || d.Linear && m == merging.MergeCommit
	})
	settings := "https://" + d.of.Current.Host + "/" + d.of.Current.FullName() + "/settings"
	switch {
	case !d.auto || len(d.of.Methods) == 0:
		return nil
	case d.Queue && d.method != "":
		return warn(fmt.Sprintf("%s has a merge queue with its own method; merge_method = %q has no effect", d.of.DefaultBranch, d.method), "remove merge_method from [repo.review]")
	case d.Queue:
		return ok("approved pull requests go into the merge queue of " + d.of.DefaultBranch)
	case len(allowed) == 0:
		return fail("no merge method is allowed by both the repository and its rules", "allow one: "+settings)
	case d.method != "" && !slices.Contains(allowed, d.method):
		return fail(fmt.Sprintf("merge_method = %q is not allowed there; allowed: %s", d.method, strings.Join(terminal.Each(allowed, func(m merging.Method) string { return string(m) }), ", ")),
			fmt.Sprintf("write merge_method = %q in [repo.review], or remove it", allowed[0]))
	}
	return nil
}

// restrictsMessages is a kind of rule that mostly enforces a sign-off.
const restrictsMessages = "commit_message_pattern"

func (d demand) signedOff() []Result {
	why := ""
	switch {
	case d.signOff:
		return nil
	case slices.ContainsFunc(d.Checks, func(name string) bool { return strings.EqualFold(name, "dco") }):
		why = "the check DCO is required"
	case slices.Contains(d.Other, restrictsMessages):
		why = "a rule restricts commit messages"
	case d.of.WebSignOff: // GitHub signs off commits made in the browser, and expects it of others
		why = "the repository requires signed-off commits"
	default:
		return nil
	}
	return warn(why+", and sign_off is false", "write sign_off = true in [repo.voice]")
}

func (d demand) others() []Result {
	other := slices.DeleteFunc(slices.Clone(d.Other), func(kind string) bool { return kind == restrictsMessages })
	if len(other) == 0 {
		return nil
	}
	return warn(d.of.DefaultBranch+" has rules that only GitHub checks: "+strings.Join(other, ", "), messageQuoted)
}

// harmless are the kinds of rules that do not hinder our branches. We create, push to and delete
// branches, and never rewrite their history.
var harmless = []string{"non_fast_forward", "required_linear_history", "copilot_code_review", "deletion"}

// workBranches is about rules that would hinder a branch named like ours.
func workBranches(ctx context.Context, _ *exam, r *repo) []Result {
	if r.read() != nil {
		return nil
	}
	kinds, told, err := r.host.client.RuleKinds(ctx, r.now.Current, work.BranchPrefix(work.FlowBugfix, 1)+"an-issue")
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return slices.Contains(harmless, kind) })
	if err != nil || !told || len(kinds) == 0 {
		return nil
	}
	return fail("rules apply to the branches that gh mergexo pushes, agent/…: "+strings.Join(kinds, ", "),
		"exclude agent/** from that ruleset: https://"+r.host.name+"/"+r.now.Current.FullName()+"/settings/rules")
}

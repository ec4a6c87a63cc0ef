package hubscript

import (
	"net/http"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// What a branch demands is said in rules, of a protection (which administrators see) or of a
// ruleset (which all do):
//
//	--check C…        that must have passed           --strict          on a head that holds the base
//	--approvals N     of people with write access     --last-push       of somebody else than who pushed last
//	--dismiss-stale   approvals, by a push            --conversations   must be resolved
//	--linear          no merge commits                --method M…       only these methods
//	--queue METHOD    merges through a queue
//
// The same ruleset again changes it. A queue's entry is taken on by step-queue: its commit is
// built, its checks are judged, it lands; with a conflict or a failed check it falls out.
var mergeDeeds = map[string]subcommand{
	"protect":         {1, protect},
	"unprotect":       {1, func(c *command) error { c.repo.Unprotect(c.args[0]); return nil }},
	"ruleset":         {2, ruleset},
	"remove-ruleset":  {1, func(c *command) error { return c.repo.RemoveRuleset(c.args[0]) }},
	"merge-methods":   {1, func(c *command) error { return c.repo.AllowMethods(c.args...) }},
	"delete-on-merge": {0, func(c *command) error { c.repo.DeleteOnMerge(true); return nil }},
	"refuse-merges":   {1, refuseMerges},
	"half-merges":     {0, func(c *command) error { return c.times(c.repo.HalveNextMerges) }},
	"complete-merge":  {1, byNumber((*githubsim.Repo).CompleteMerge)},
	"alter-merges":    {2, alterMerges},
	"keep-issues":     {0, func(c *command) error { c.repo.KeepIssues(true); return nil }},
	"delay-updates":   {0, func(c *command) error { c.repo.DelayUpdates(true); return nil }},
	"finish-updates":  {0, func(c *command) error { c.repo.FinishUpdates(); return nil }},
	"enqueue":         {1, byActor(func(c *command, n int, who string) error { return c.repo.Enqueue(n, who) })},
	"dequeue":         {1, byActor(func(c *command, n int, who string) error { return c.repo.Dequeue(n, who) })},
	"step-queue":      {1, byNumber((*githubsim.Repo).StepQueue)},
	"queue-state":     {2, queueState},
}

// byNumber is a deed on a pull request that nobody in particular does.
func byNumber(deed func(r *githubsim.Repo, number int) error) func(*command) error {
	return func(c *command) error {
		n, err := c.number()
		if err != nil {
			return err
		}
		return deed(c.repo, n)
	}
}

// rules are those of the flags.
func (c *command) rules() (githubsim.Rules, error) {
	approvals, err := c.count("approvals", 0)
	return githubsim.Rules{
		Checks: c.flags["check"], Strict: c.has("strict"), Approvals: approvals, DismissStale: c.has("dismiss-stale"), LastPush: c.has("last-push"),
		Conversations: c.has("conversations"), Linear: c.has("linear"), Methods: c.flags["method"], Queue: c.flag("queue", ""),
	}, err
}

func protect(c *command) error {
	rules, err := c.rules()
	if err == nil {
		c.repo.ProtectBy(c.args[0], rules)
	}
	return err
}

func ruleset(c *command) error {
	rules, err := c.rules()
	if err == nil {
		c.repo.SetRuleset(c.args[0], c.args[1], rules)
	}
	return err
}

// refuseMerges refuses all merges, as the merge box tells; or only the next ones, which it does
// not.
func refuseMerges(c *command) error {
	if !c.has("times") && !c.has("code") {
		c.repo.RefuseMerges(text(c.args[0]))
		return nil
	}
	code, err := c.count("code", http.StatusMethodNotAllowed)
	if err != nil {
		return err
	}
	return c.times(func(n int) { c.repo.RefuseNextMerges(n, code, text(c.args[0])) })
}

func alterMerges(c *command) error {
	return c.times(func(n int) { c.repo.AlterNextMerges(n, c.args[0], text(c.args[1])) })
}

// times is --times, once if not given.
func (c *command) times(do func(int)) error {
	n, err := c.count("times", 1)
	if err == nil {
		do(n)
	}
	return err
}

func queueState(c *command) error {
	n, err := c.number()
	if err != nil {
		return err
	}
	return c.repo.SetQueueState(n, c.args[1])
}

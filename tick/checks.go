package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// checks is what is read of red checks.
type checks interface {
	CheckRun(ctx context.Context, repo work.RepoName, id string) (github.CheckRun, error)
	Annotations(ctx context.Context, repo work.RepoName, id string) ([]github.Annotation, error)
	JobLog(ctx context.Context, repo work.RepoName, job string) (string, error)
	WorkflowRuns(ctx context.Context, repo work.RepoName, commit string) ([]github.WorkflowRun, error)
}

// red picks the checks that failed; none while the policy has us wait for
// others. One that was cancelled or waits for a person says nothing of the change.
func red(all []github.Check, policy work.ChecksPolicy) []github.Check {
	var failed []github.Check
	for _, c := range all {
		switch c.Conclusion {
		case "":
			if policy != work.ChecksFirst {
				return nil
			}
		case "FAILURE", "ERROR", "TIMED_OUT", "STARTUP_FAILURE":
			failed = append(failed, c)
		}
	}
	if policy == work.ChecksNever {
		return nil
	}
	return failed
}

// halfRed reports whether some checks have ended badly and others have not ended. The
// sweep shows only that the whole is red, which it stays.
func halfRed(all []github.Check) bool {
	bad := func(c github.Check) bool {
		return !slices.Contains([]string{"", "SUCCESS", "SKIPPED", "NEUTRAL"}, c.Conclusion)
	}
	runs := func(c github.Check) bool { return c.Conclusion == "" }
	return slices.ContainsFunc(all, bad) && slices.ContainsFunc(all, runs)
}

// redChecks names the red checks of a head by id and name; empty for none.
func redChecks(all []github.Check, policy work.ChecksPolicy) string {
	var lines []string
	for _, c := range red(all, policy) {
		lines = append(lines, c.ID+" "+c.Name)
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// redSince is when the last of the red checks of a head failed.
func redSince(all []github.Check, policy work.ChecksPolicy) (at time.Time) {
	for _, c := range red(all, policy) {
		if c.EndedAt.After(at) {
			at = c.EndedAt
		}
	}
	return at
}

// about reports whether one of the turn's events is of a kind.
func (l *lease) about(kind work.EventKind) bool {
	return slices.ContainsFunc(l.events, func(e work.Event) bool { return e.Kind == kind })
}

// prepareFix looks, before the agent is paid, whether there is anything to be
// mended still, and by it. The head is known and fetched.
func (p *Briefs) prepareFix(ctx context.Context, l *lease) error {
	switch {
	case l.committed():
		return nil
	case l.turn.Kind != work.KindFix:
		return p.readRedBeside(ctx, l)
	}
	for _, e := range l.events {
		if (e.Kind == work.EventCheck || e.Kind == work.EventConflict) && e.Source != l.turn.Head {
			return &work.CancelledError{Reason: "the head moved on"}
		}
	}
	if err := p.notForEver(ctx, l); err != nil {
		return err
	}
	if l.about(work.EventConflict) {
		if err := p.beginMerge(ctx, l); err != nil {
			return err
		}
	}
	if l.about(work.EventCheck) {
		return p.readRed(ctx, l)
	}
	return nil
}

// notForEver stops checks that are red again after their failed jobs ran again.
func (p *Briefs) notForEver(ctx context.Context, l *lease) error {
	if !l.about(work.EventCheck) {
		return nil
	}
	var sent []work.Action
	err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
		sent, err = tx.ListItemActions(ctx, l.item.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("read what was tried before: %w", err)
	}
	for _, a := range sent {
		if a.Kind == work.ActionRerun && a.Head == l.turn.Head && a.State == work.ActionApplied {
			l.spent = true
			return &work.BlockedError{
				Reason: fmt.Sprintf("the checks of %s are red again, although their failed jobs were run again for a test that looked flaky", work.Short(l.turn.Head)),
				Hint:   "mend the test, or say in a comment on the pull request what is to be done",
			}
		}
	}
	return nil
}

// readRed reads the head's red checks and the workflow runs that they belong
// to, as they are now.
func (p *Briefs) readRed(ctx context.Context, l *lease) error {
	pull, err := p.itemPull(ctx, l)
	if err != nil {
		return err
	}
	details, _, err := l.remote.GitHub.Details(ctx, []string{pull.NodeID})
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) == 0 || details[0].HeadOID != l.turn.Head {
		return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: "GitHub does not show the newest head yet"}
	}
	checks := details[0].Checks
	policy := patient(checks, l.remote.Settings.Checks, p.Now())
	if l.red = red(checks, policy); len(l.red) == 0 {
		switch {
		case l.merge != nil:
			return nil
		case policy != work.ChecksNever && len(red(checks, work.ChecksFirst)) > 0: // another one has begun meanwhile
			return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: "checks are running"}
		}
		return &work.CancelledError{Reason: "the checks are not red any more"}
	}
	return p.readRuns(ctx, l)
}

// readRuns reads the workflow runs of the red checks.
func (p *Briefs) readRuns(ctx context.Context, l *lease) error {
	if !slices.ContainsFunc(l.red, isRun) {
		return nil
	}
	runs, err := l.remote.GitHub.WorkflowRuns(ctx, l.remote.repo.Current, l.turn.Head)
	if err = unlessHidden(err); err != nil {
		return err
	}
	for _, run := range runs {
		if !slices.Contains([]string{"", "success", "skipped", "neutral", "cancelled", "action_required"}, run.Conclusion) {
			l.runs = append(l.runs, run)
		}
	}
	return nil
}

func isRun(c github.Check) bool { return c.Kind == "CheckRun" }

// unlessHidden forgives that something is not there or may not be seen: an
// agent is better told a part than nothing.
func unlessHidden(err error) error {
	if _, wait := errors.AsType[*work.WaitError](err); !wait && github.IsStatus(err, 403, 404, 410) {
		return nil
	}
	return err
}

// mostDescribed is how many red checks are read in detail.
const mostDescribed = 20

// describeRed is what the agent is told of the red checks.
func (p *Briefs) describeRed(ctx context.Context, l *lease) ([]prompts.Check, error) {
	var all []prompts.Check
	for i, c := range l.red {
		check := prompts.Check{Name: c.Name, Conclusion: strings.ToLower(c.Conclusion), URL: c.URL, Summary: c.Summary, Annotations: []prompts.Annotation{}}
		if isRun(c) && i < mostDescribed {
			if err := p.describeRun(ctx, l, c.ID, &check); err != nil {
				return nil, fmt.Errorf("read the check %q: %w", c.Name, err)
			}
		}
		all = append(all, check)
	}
	return all, nil
}

// describeRun reads what a check run says: its summary, its remarks about lines,
// and the end of its job's log.
func (p *Briefs) describeRun(ctx context.Context, l *lease, id string, into *prompts.Check) error {
	hub, repo := l.remote.GitHub, l.remote.repo.Current
	run, err := hub.CheckRun(ctx, repo, id)
	if err = unlessHidden(err); err != nil {
		return err
	}
	into.Summary = strings.TrimSpace(run.Title + "\n\n" + run.Summary)
	if run.Annotations > 0 {
		said, err := hub.Annotations(ctx, repo, id)
		if err = unlessHidden(err); err != nil {
			return err
		}
		for _, a := range said {
			into.Annotations = append(into.Annotations, prompts.Annotation(a))
		}
	}
	if into.Log, err = hub.JobLog(ctx, repo, id); err != nil && ctx.Err() == nil {
		// Logs lie with another host, which a firewall may not let through.
		p.Log.WarnContext(ctx, "the log of a red check is not to be had", p.turnAttrs(l, "check", id, "error", err)...)
	}
	return ctx.Err()
}

// flaky plans what an answer about a flaky test asks for: an issue for it, and
// one more run of the jobs that failed, unless a change makes new ones run.
func (c *composer) flaky() {
	f, t := c.answer.FlakyTest, c.l.turn
	if f == nil || len(c.l.red) == 0 {
		return
	}
	name := prompts.CleanTitle(f.Name)
	var seen strings.Builder
	for _, check := range c.l.red[:min(len(c.l.red), mostDescribed)] {
		fmt.Fprintf(&seen, "- %s (%s)\n", prompts.CleanBehind(check.Name), check.URL)
	}
	token := work.IssueToken(c.l.remote.repo.Key(), t.Number, t.Head, f.Name)
	body := fmt.Sprintf("%s\n\nSeen in the checks of #%d at %s:\n%s", prompts.CleanBody(f.Reason), t.Number, t.Head, seen.String())
	c.add(work.Action{
		Kind: work.ActionIssue, Need: work.NeedRequired, Token: token, Number: t.Number, Title: prompts.NoClosing(prompts.CleanTitle("Flaky test: " + name)),
		Body: prompts.Bounded(prompts.NoClosing(body), c.l.disclosedAside, work.Marks{Token: token}), Why: t.Reason,
	})
	for _, run := range c.l.rerunnable() {
		id := strconv.FormatInt(run.ID, 10)
		c.add(work.Action{
			Kind: work.ActionRerun, Need: work.NeedRequired, Token: work.RerunToken(c.l.remote.repo.Key(), t.Number, t.Head, id), Number: t.Number,
			Target: id, Base: strconv.Itoa(run.Attempt), Head: t.Head, Why: t.Reason,
		})
	}
}

// rerunnable are the red workflow runs that may run once more. Whoever had one
// run again has seen it red twice: that is for people.
func (l *lease) rerunnable() []github.WorkflowRun {
	if l.turn.Commit != "" || l.committed() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(l.runs), func(r github.WorkflowRun) bool { return r.Attempt > 1 })
}

// flakyText tells people about a flaky test.
func (c *composer) flakyText() string {
	f := c.answer.FlakyTest
	if f == nil {
		return ""
	}
	text := fmt.Sprintf("A test looks flaky: %s. %s", prompts.CleanBehind(f.Name), prompts.CleanBehind(f.Reason))
	switch {
	case len(c.l.red) == 0 || c.l.turn.Commit != "":
		return text
	case len(c.l.rerunnable()) > 0:
		return text + "\n\nIts failed jobs run again, once."
	}
	return text + "\n\nIts checks cannot be run again from here. Please have them run again, or say what is to be done."
}

// stuck says why people must go on after a turn that was to mend something and
// changed nothing, nor will have the checks run again: red they stay.
func stuck(ctx context.Context, tx *store.Tx, l *lease, a prompts.Answer) (string, error) {
	if l.turn.Kind != work.KindFix || l.turn.Commit != "" || l.committed() {
		return "", nil
	}
	planned, err := tx.ListTurnActions(ctx, l.turn.ID)
	if err != nil {
		return "", err
	}
	helps := func(a work.Action) bool { return a.Kind == work.ActionRerun || a.Kind == work.ActionPush } // a push that is void: somebody made the same
	red := work.Findings(l.events)
	switch {
	case slices.ContainsFunc(planned, helps):
		return "", nil
	case len(red) == 0:
		return fmt.Sprintf("no progress: nothing was changed, and it conflicts with %s as before", l.turn.Base), nil
	case a.FlakyTest != nil:
		return fmt.Sprintf("the test %s looks flaky, and its checks cannot be run again from here", a.FlakyTest.Name), nil
	}
	return "no progress: nothing was changed, and these checks are as red as before: " + strings.Join(red, ", "), nil
}

package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// PrepareFix checks, before an agent is paid, that there is still something to fix and that the
// agent may fix it. The head is known and fetched.
func (p *briefs) PrepareFix(ctx context.Context, l *env.Lease) error {
	switch {
	case l.Turn.Kind == work.KindReview:
		return p.readResults(ctx, l)
	case l.Committed(), l.Turn.Reviewer != "":
		return nil
	case l.Turn.Kind != work.KindFix:
		return p.readRedBeside(ctx, l)
	}
	for _, e := range l.Events {
		if (e.Kind == work.EventCheck || e.Kind == work.EventConflict) && e.Source != l.Turn.Head {
			return &work.CancelledError{Reason: "the head moved on"}
		}
	}
	if err := p.limitReruns(ctx, l); err != nil {
		return err
	}
	if l.About(work.EventConflict) {
		if err := p.beginMerge(ctx, l); err != nil {
			return err
		}
	}
	if group := groupOf(l); group != "" {
		return p.readGroup(ctx, l, group)
	}
	if l.About(work.EventCheck) {
		return p.readRed(ctx, l)
	}
	return nil
}

// groupOf returns the commit of the merge queue's group whose checks the turn is about; empty:
// none.
func groupOf(l *env.Lease) string {
	for _, e := range l.Events {
		if e.Kind == work.EventCheck && e.State != "" {
			return e.State
		}
	}
	return ""
}

// readGroup reads the red checks of a merge queue's group: the base with this change and perhaps
// others. Their jobs cannot be run again.
func (p *briefs) readGroup(ctx context.Context, l *env.Lease, group string) error {
	red, err := l.Repo.GitHub.FailedChecks(ctx, l.Repo.Row.Current, group)
	if err != nil {
		return fmt.Errorf("read the checks of the merge group: %w", err)
	}
	for _, c := range red {
		said := fmt.Sprintf("It failed in the merge queue, on %s: the base with this change, and with those before it in the queue.", work.Short(group))
		c.Summary = strings.TrimSpace(said + "\n\n" + c.Summary)
		l.Red = append(l.Red, c)
	}
	if len(l.Red) == 0 && l.Merge == nil {
		return &work.CancelledError{Reason: "the checks are not red any more"}
	}
	return nil
}

// mostPullEdits is how often title and text of a pull request are replaced at one head.
const mostPullEdits = 2

// limitReruns blocks the turn if checks are red again after their failed jobs were rerun, or after title
// and text of the pull request were replaced often enough.
func (p *briefs) limitReruns(ctx context.Context, l *env.Lease) error {
	if !l.About(work.EventCheck) {
		return nil
	}
	sent, err := store.Read(ctx, p.Store, func(tx *store.Tx) ([]work.Action, error) { return tx.ListItemActions(ctx, l.Item.ID) })
	if err != nil {
		return fmt.Errorf("read what was tried before: %w", err)
	}
	edits := 0
	for _, a := range sent {
		if a.Kind == work.ActionEditPull && a.Head == l.Turn.Head && a.State == work.ActionApplied {
			edits++
		}
		if edits == mostPullEdits || a.Kind == work.ActionRerun && a.Head == l.Turn.Head && a.State == work.ActionApplied {
			l.EventsExhausted = true
			return &work.BlockedError{Reason: work.Reason{Kind: work.WhyStillRed, Commit: l.Turn.Head}}
		}
	}
	return nil
}

// readChecks reads a pull request's details without its earlier reviews and threads.
func readChecks(ctx context.Context, l *env.Lease, pull work.PullRequest) ([]github.PullDetail, []string, error) {
	ids := []string{pull.NodeID}
	return l.Repo.GitHub.DetailsSince(ctx, ids, map[string]time.Time{pull.NodeID: l.Repo.GitHub.Now()})
}

// readRed reads the head's current red checks and their workflow runs.
func (p *briefs) readRed(ctx context.Context, l *env.Lease) error {
	pull, err := p.ItemPull(ctx, l)
	if err != nil {
		return err
	}
	details, _, err := readChecks(ctx, l, pull)
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) == 0 || details[0].HeadOID != l.Turn.Head {
		return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyHeadNotShown}}
	}
	l.Shown = details[0].Pull
	checks := details[0].Checks
	if l.Red = github.Red(checks, p.Now()); len(l.Red) == 0 {
		switch {
		case l.Merge != nil:
			return nil
		case len(github.Failed(checks)) > 0: // another check has started
			return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyChecksRun}}
		}
		return &work.CancelledError{Reason: "the checks are not red any more"}
	}
	return p.readRuns(ctx, l)
}

// readRuns reads the workflow runs of the red checks.
func (p *briefs) readRuns(ctx context.Context, l *env.Lease) error {
	if !slices.ContainsFunc(l.Red, isRun) {
		return nil
	}
	runs, err := l.Repo.GitHub.WorkflowRuns(ctx, l.Repo.Row.Current, l.Turn.Head)
	if err = unlessHidden(err); err != nil {
		return err
	}
	for _, run := range runs {
		if !slices.Contains([]string{"", "success", "skipped", "neutral", "cancelled", "action_required"}, run.Conclusion) {
			l.Runs = append(l.Runs, run)
		}
	}
	return nil
}

func isRun(c github.Check) bool { return c.Kind == "CheckRun" }

// unlessHidden ignores errors about things that are gone or not visible: a partial prompt is better
// than none.
func unlessHidden(err error) error {
	if _, wait := errors.AsType[*work.WaitError](err); !wait && github.IsStatus(err, 403, 404, 410) {
		return nil
	}
	return err
}

// describeRed returns the red checks for the prompt.
func (p *briefs) describeRed(ctx context.Context, l *env.Lease) ([]prompts.Check, error) {
	var all []prompts.Check
	for i, c := range l.Red {
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

// describeRun reads a check run's summary, annotations and the end of its job's log.
func (p *briefs) describeRun(ctx context.Context, l *env.Lease, id string, into *prompts.Check) error {
	hub, repo := l.Repo.GitHub, l.Repo.Row.Current
	run, err := hub.CheckRun(ctx, repo, id)
	if err = unlessHidden(err); err != nil {
		return err
	}
	into.Summary = strings.TrimSpace(strings.TrimSpace(into.Summary+"\n\n"+run.Title) + "\n\n" + run.Summary)
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
		// Logs are on another host, which a firewall may block.
		p.Log.WarnContext(ctx, "the log of a red check is not available", p.TurnAttrs(l, "check", id, "error", err)...)
	}
	return ctx.Err()
}

// readRedBeside reads the head's red checks for a turn that answers people: they may ask about
// them, and the push may fix them. No turn waits for this.
func (p *briefs) readRedBeside(ctx context.Context, l *env.Lease) error {
	if l.Turn.Kind.Start() || l.Turn.Kind == work.KindFix {
		return nil
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil || !slices.Contains([]string{"FAILURE", "ERROR"}, pull.Rollup) {
		return err
	}
	details, _, err := readChecks(ctx, l, pull)
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) == 1 && details[0].HeadOID == l.Turn.Head {
		l.Red, l.Shown = github.Failed(details[0].Checks), details[0].Pull
	}
	return p.readRuns(ctx, l)
}

// readResults reads what checks and required tests said on the head that a turn reviews. No turn waits
// for this.
func (p *briefs) readResults(ctx context.Context, l *env.Lease) error {
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		turns, err := tx.ListTurns(ctx, l.Item.ID)
		for _, t := range turns {
			if t.Commit == l.Turn.Head && t.Tested != "" {
				l.TestedHead = t.Tested
			}
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("read what was tested: %w", err)
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil || pull.Rollup == "" {
		return err
	}
	details, _, err := readChecks(ctx, l, pull)
	if err != nil {
		return fmt.Errorf("read the checks: %w", err)
	}
	if len(details) != 1 || details[0].HeadOID != l.Turn.Head {
		return nil
	}
	l.Checks = slices.DeleteFunc(slices.Clone(details[0].Checks), github.IsOurStatus)
	l.Red = github.Failed(l.Checks)
	return p.readRuns(ctx, l)
}

package turn

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// maxDiff limits the diff that a reviewer is shown, in bytes; the prompt's own limit is lower.
const maxDiff = 1 << 20

// reviewContext adds what a reviewer needs. The author's agent's own view of its work is left out.
func (p *briefs) reviewContext(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	who, known := l.Repo.Settings.Reviewer(l.Turn.Reviewer)
	due, asked := l.Due()
	if !known || who.Human || !asked {
		return &work.SupersededError{Reason: fmt.Sprintf("the config has no reviewer %s that is an agent any more", l.Turn.Reviewer)}
	}
	_, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return err
	}
	policy := l.ReviewPolicy()
	given := slices.DeleteFunc(slices.Clone(stored.Verdicts), func(v review.Verdict) bool { return v.Reviewer != who.Name || v.KeptFrom != "" })
	r := &prompts.Review{
		Reviewer: who.Name, Persona: who.Persona, Round: len(given) + 1, Cycle: due.Cycle, Blocking: policy.Blocking, Theirs: l.Item.Flow == work.FlowReview, Guarded: len(l.Guarded.Paths) > 0,
		Escalations: mayCallIn(policy, who.Name, stored.Inserted),
	}
	for _, one := range review.Line(policy, stored.Inserted) {
		if one.Name != who.Name {
			r.Coming = append(r.Coming, one.Name)
		}
	}
	if r.MergeBase, err = mergeBases(ctx, l); err != nil {
		return err
	}
	own, others := openFindings(stored.Findings, who.Name)
	c.Findings, r.Others, c.Review = promptFindings(own), promptFindings(others), r
	c.DecisionSummary, c.Unresolved = "", nil
	for i := range c.Earlier {
		if c.Earlier[i].Author == ourAgent {
			c.Earlier[i].Author = "the author, an agent"
		}
	}
	if err := p.showDiff(ctx, l, c, given); err != nil {
		return err
	}
	return p.specify(ctx, l, c)
}

// showDiff adds the diff since the reviewer's last verdict, or else the whole diff.
func (p *briefs) showDiff(ctx context.Context, l *env.Lease, c *prompts.Context, given []review.Verdict) error {
	m := l.Repo.Git()
	from := c.Task.BaseSHA
	if n := len(given); n > 0 && given[n-1].Head != l.Turn.Head && m.Has(ctx, given[n-1].Head) {
		from = given[n-1].Head
		c.Review.Since = from
	}
	diff, cut, err := m.Diff(ctx, from, l.Turn.Head, maxDiff)
	if err != nil {
		return fmt.Errorf("show what changed: %w", err)
	}
	if cut {
		diff += "[… the rest is left out]\n"
	}
	c.Review.Diff = diff
	return nil
}

// mergeBases returns the merge bases of the reviewed head and its base, as work.PullRequest has
// them.
func mergeBases(ctx context.Context, l *env.Lease) (string, error) {
	m := l.Repo.Git()
	tip, ok, err := m.Head(ctx, l.Turn.Base)
	if err != nil || !ok {
		return "", err
	}
	return m.MergeBases(ctx, tip, l.Turn.Head)
}

// openFindings returns the unresolved findings of a reviewer and of the others.
func openFindings(all []review.Finding, reviewer string) (own, others []review.Finding) {
	for _, x := range all {
		switch {
		case !x.Open():
		case x.Reviewer == reviewer:
			own = append(own, x)
		default:
			others = append(others, x)
		}
	}
	return own, others
}

// promptFindings converts findings for a prompt.
func promptFindings(all []review.Finding) []prompts.Finding {
	var out []prompts.Finding
	for _, x := range all {
		out = append(out, prompts.Finding{
			ID: x.ID, CommentID: x.CommentID, Reviewer: x.Reviewer, Cycle: x.Cycle, Path: x.Path, Line: x.Line,
			Severity: x.Severity, Confidence: x.Confidence, Body: x.Body, Answer: x.Answer,
		})
	}
	return out
}

// mayCallIn returns the reviewers that a reviewer may still call in.
func mayCallIn(p review.Policy, reviewer string, before []review.Insertion) []string {
	who, _ := p.ReviewerOf(reviewer)
	in, _ := review.CallIn(p, review.Verdict{Reviewer: reviewer, CalledIn: who.MayCallIn}, before)
	var names []string
	for _, i := range in {
		names = append(names, i.Name)
	}
	return names
}

// ofRole returns the turns of one role: the author's, or one reviewer's.
func ofRole(turns []work.Turn, role string) []work.Turn {
	return slices.DeleteFunc(slices.Clone(turns), func(t work.Turn) bool { return t.Role() != role })
}

// fixContext adds the findings of reviewers for the author's agent.
func (p *briefs) fixContext(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	due, _ := l.FixDue()
	_, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(stored.Verdicts, func(v review.Verdict) bool { return v.ReviewID == due.ReviewID })
	if at < 0 {
		return &work.SupersededError{Reason: "the review that asked for it is not known any more"}
	}
	v := stored.Verdicts[at]
	open, earlier := blockingFindings(stored, v, l.ReviewPolicy().Blocking)
	c.Findings = promptFindings(open)
	c.ReviewFix = &prompts.ReviewFix{
		Reviewer: v.Reviewer, URL: v.URL, Body: v.Body, Cycle: due.Cycle, Again: fixedBefore(stored, v), Earlier: promptFindings(earlier),
	}
	return p.specify(ctx, l, c)
}

// blockingFindings returns the findings, open and resolved, that block a head: of the reviewers
// that request changes on it.
func blockingFindings(s store.Reviews, v review.Verdict, blocking review.Severity) (open, earlier []review.Finding) {
	against := map[string]bool{}
	for _, other := range s.Verdicts {
		if other.Head == v.Head && other.Validity != review.TakenBack {
			against[other.Reviewer] = other.Decision == review.RequestChanges
		}
	}
	for _, x := range s.Findings {
		switch {
		case !against[x.Reviewer] || x.Severity != "" && !x.Severity.AtLeast(blocking): // people's findings have no severity
		case x.Open():
			open = append(open, x)
		default:
			earlier = append(earlier, x)
		}
	}
	return open, earlier
}

// fixedBefore reports whether a fix was pushed for the same reviewer since a person last restarted
// the reviews.
func fixedBefore(s store.Reviews, v review.Verdict) bool {
	return slices.ContainsFunc(s.Fixes, func(f review.Fix) bool {
		return f.Reviewer == v.Reviewer && f.Epoch == s.Record.Epoch && f.Outcome == review.FixPushed
	})
}

package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// reviewContext adds what a reviewer needs. The author's agent's own view of its work is left out.
func (p *briefs) reviewContext(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	who, known := l.Repo.Settings.Reviewer(l.Turn.Reviewer)
	due, asked := l.Due()
	switch {
	case l.Turn.Reviewer == "", known && !asked:
		return &work.SupersededError{Reason: "no review is due"}
	case !known || who.Human:
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
	r.Results = p.results(l, c)
	return p.specify(ctx, l, c)
}

// showDiff shares the diff since the reviewer's last verdict, or else the whole diff, among the
// runs of the review.
func (p *briefs) showDiff(ctx context.Context, l *env.Lease, c *prompts.Context, given []review.Verdict) error {
	m, r := l.Repo.Git(), c.Review
	change, err := p.changeOf(ctx, l, c.Task.BaseSHA)
	if err != nil {
		return err
	}
	if n := len(given); n > 0 && !strings.Contains(r.MergeBase, "-") && seenBefore(ctx, m, given[n-1], l.Turn.Head) {
		last := given[n-1]
		moved, err := m.ChangedFiles(ctx, last.MergeBase, c.Task.BaseSHA)
		if err != nil {
			return fmt.Errorf("show what changed: %w", err)
		}
		since, err := m.Changes(ctx, last.Head, l.Turn.Head, c.Task.BaseSHA)
		if err != nil {
			return fmt.Errorf("show what changed: %w", err)
		}
		r.Since, change = last.Head, toSee(change, since, slices.Concat(last.Unread, moved))
	}
	files := make([]prompts.DiffFile, len(change))
	for i, f := range change {
		files[i] = prompts.DiffFile{Path: f.Path, Text: f.Text, Size: f.Size, Lines: f.Lines, Generated: f.Generated}
	}
	shares, unread := prompts.ShareDiff(files)
	switch len(shares) {
	case 0:
	case 1:
		r.Diff, r.Cut = shares[0].Text, shares[0].Cut
	default:
		r.Shares, r.Parts = shares, len(shares)
	}
	r.Unread, r.Beside = mostUnread(l.Repo.Settings, unread), git.Beside
	return nil
}

// seenBefore reports whether it is known what a reviewer saw before it gave a verdict on another
// head: both sides of the diff are there, and the list of what was not shown is not full.
func seenBefore(ctx context.Context, m env.Mirror, last review.Verdict, head string) bool {
	return last.Head != head && len(last.Unread) < maxUnread && m.Has(ctx, last.Head) && m.Has(ctx, last.MergeBase)
}

// toSee returns what a reviewer has to be shown of a whole change of which it saw an earlier state:
// what changed since. Files that it did not see, because it was not shown them whole or because the
// base had something else in their place, are shown from the base, also if they were renamed since:
// else a push would hide them from it that only renames them, or takes back what the base did.
func toSee(whole, since []git.FileChange, unseen []string) (change []git.FileChange) {
	again := map[string]bool{}
	for _, path := range unseen {
		again[prompts.UnreadPath(path)] = true
	}
	for _, f := range slices.Concat(since, whole) {
		if f.From != "" && again[prompts.UnreadPath(f.From)] {
			again[prompts.UnreadPath(f.Path)] = true
		}
	}
	for _, f := range since {
		if !again[prompts.UnreadPath(f.Path)] {
			change = append(change, f)
		}
	}
	for _, f := range whole {
		if again[prompts.UnreadPath(f.Path)] {
			change = append(change, f)
		}
	}
	return change
}

// changeOf returns what the reviewed head changes since the base. A turn's checkout was laid out
// with it.
func (p *briefs) changeOf(ctx context.Context, l *env.Lease, base string) ([]git.FileChange, error) {
	if l.Change != nil {
		return l.Change, nil
	}
	from, err := mergeBases(ctx, l)
	if err != nil {
		return nil, err
	}
	if !strings.Contains(from, "-") { // base is the only one
		from = base
	}
	change, err := l.Repo.Git().Changes(ctx, from, l.Turn.Head, base)
	if err != nil {
		return nil, fmt.Errorf("show what changed: %w", err)
	}
	return change, nil
}

// maxUnread is how many paths a verdict keeps of those that its reviewer was not shown whole.
const maxUnread = 100

// mostUnread returns the paths to keep with a verdict, first those that ask for a person. If there
// are more of these than are kept, the last entry is a path that no file has, so that it asks for a
// person under any later config.
func mostUnread(r config.Repo, unread []string) []string {
	var all, exempt []string
	for _, path := range unread {
		if r.MayStayUnread(path) {
			exempt = append(exempt, path)
		} else {
			all = append(all, path)
		}
	}
	if n := len(all); n > maxUnread {
		return append(all[:maxUnread-1], fmt.Sprintf("and %d more files", n-maxUnread+1))
	}
	all = append(all, exempt...)
	return all[:min(len(all), maxUnread)]
}

// results returns what checks and required tests said on the reviewed head. The output of those that
// failed is in the context already.
func (p *briefs) results(l *env.Lease, c *prompts.Context) (all []prompts.Result) {
	for _, check := range l.Checks {
		result := strings.ToLower(check.Conclusion)
		if result == "" {
			result = "has not ended yet"
		}
		all = append(all, prompts.Result{Name: "check " + check.Name, Result: result})
	}
	command := p.Secrets.Redact(strings.Join(l.Repo.Settings.RequiredTests, " "))
	switch {
	case l.TestedHead != "":
		all = append(all, prompts.Result{Name: "required tests " + l.TestedHead, Result: "passed on this commit before it was pushed"})
	case command != "" && !c.Review.Theirs:
		all = append(all, prompts.Result{Name: "required tests " + command, Result: "did not run on this commit"})
	}
	return all
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

package demo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// The demo tells nothing that it has not looked up. What follows are the looks.

// items are the work items as status knows them, in the order of the issues.
func (d witness) items(ctx context.Context) ([]item, error) {
	var status struct {
		Items []item `json:"items"`
	}
	if err := d.ask(ctx, &status, "status", "--all", "--json", "items"); err != nil {
		return nil, err
	}
	slices.SortFunc(status.Items, func(a, b item) int { return a.Number - b.Number })
	for _, it := range status.Items {
		if it.PullRequest == nil {
			return nil, fmt.Errorf("status knows no pull request of #%d", it.Number)
		}
	}
	return status.Items, nil
}

// inState checks the states of all work items, by issue.
func (d witness) inState(ctx context.Context, want map[int]work.State) error {
	items, err := d.items(ctx)
	if err != nil {
		return err
	}
	got := map[int]work.State{}
	for _, it := range items {
		got[it.Number] = work.State(it.State)
	}
	if !maps.Equal(got, want) {
		return fmt.Errorf("the work items are %v, not %v", got, want)
	}
	return nil
}

// findPulls checks that each issue has exactly one pull request, and notes it.
func (d witness) findPulls(want int) error {
	clear(d.pulls)
	for _, p := range d.repo.Pulls() {
		_, issue, ok := work.ParseBranch(p.Head)
		switch {
		case !ok:
			return fmt.Errorf("#%d has the branch %s, which gh mergexo did not create", p.Number, p.Head)
		case d.pulls[issue] != 0:
			return fmt.Errorf("#%d has two pull requests, #%d and #%d", issue, d.pulls[issue], p.Number)
		case p.State != "open" || p.Author != operator:
			return fmt.Errorf("#%d is %s, by %s", p.Number, p.State, p.Author)
		}
		d.pulls[issue] = p.Number
		if n := len(d.ours(issue)); n != 1 {
			return fmt.Errorf("#%d was told %d times about its pull request", issue, n)
		}
	}
	if len(d.pulls) != want {
		return fmt.Errorf("%d pull requests were opened, not %d", len(d.pulls), want)
	}
	return nil
}

// findImplementation notes the one pull request that implements the design.
func (d witness) findImplementation() error {
	var found []int
	for _, p := range d.repo.Pulls() {
		if flow, issue, ok := work.ParseBranch(p.Head); ok && flow == work.FlowImplementation && issue == designIssue {
			found = append(found, p.Number)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("the design has %d pull requests that implement it, not one", len(found))
	}
	d.pulls[designIssue] = found[0]
	return nil
}

// ours are the bodies of the comments of ours on an issue or pull request, replies
// to comments on lines included. What a reviewer finds is no reply.
func (d witness) ours(number int) []string {
	var bodies []string
	for _, c := range d.repo.ReviewComments(number) {
		if c.Author == operator && c.InReplyTo != 0 {
			bodies = append(bodies, visible(c.Body))
		}
	}
	for _, c := range d.repo.Comments(number) {
		if c.Author == operator {
			bodies = append(bodies, visible(c.Body))
		}
	}
	return bodies
}

// commits counts the commits of a pull request.
func (d witness) commits(ctx context.Context, pull int) (int, error) {
	p, _ := d.repo.Pull(pull)
	base := p.Base
	if p.Merged {
		base = p.MergeOID + "^"
	}
	out, err := d.gitOutput(ctx, "rev-list", "--count", fmt.Sprintf("%s..refs/pull/%d/head", base, pull), "--")
	if err != nil {
		return 0, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil {
		return 0, fmt.Errorf("count the commits of #%d: %w", pull, err)
	}
	return n, nil
}

// stands checks how many commits and comments of ours a pull request has.
func (d witness) stands(ctx context.Context, pull, commits, comments int) error {
	n, err := d.commits(ctx, pull)
	switch {
	case err != nil:
		return err
	case n != commits:
		return fmt.Errorf("#%d has %s, not %d", pull, work.Count(n, "commit"), commits)
	}
	if ours := d.ours(pull); len(ours) != comments {
		return fmt.Errorf("#%d has %s of ours, not %d: %q", pull, work.Count(len(ours), "comment"), comments, ours)
	}
	return nil
}

// paidOnce checks that the agent ran for so many turns, and once for each.
func (d witness) paidOnce(turns int) error {
	runs, err := d.agentRuns()
	if err != nil {
		return err
	}
	for turn, n := range runs {
		if n != 1 {
			return fmt.Errorf("the agent ran %d times for one turn (%s)", n, turn)
		}
	}
	if len(runs) != turns {
		return fmt.Errorf("the agent ran for %s, not %d", work.Count(len(runs), "turn"), turns)
	}
	return nil
}

// planned checks that a plan has exactly these turns, each as "#number kind", in any order.
func planned(lines []planLine, what string, want ...string) error {
	var got []string
	for _, l := range lines {
		if l.What == what {
			got = append(got, fmt.Sprintf("#%d %s", l.Number, l.Kind))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the plan is to %s %q, not %q", what, got, want)
	}
	return nil
}

// outcome is what became of the one comment of somebody's on a work item.
func (d witness) outcome(ctx context.Context, issue int, author string) (string, error) {
	var shown struct {
		Events []event `json:"events"`
	}
	if err := d.ask(ctx, &shown, "show", strconv.Itoa(issue), "--json", "events"); err != nil {
		return "", err
	}
	for _, e := range shown.Events {
		if e.Author == author {
			return e.Outcome, nil
		}
	}
	return "", fmt.Errorf("show %d knows nothing of %s's comment", issue, author)
}

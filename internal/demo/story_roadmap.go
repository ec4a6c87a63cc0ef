package demo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
)

// withRoadmap plays what is too large for one pull request.
type withRoadmap struct{ withReviews }

func (d withRoadmap) plan(ctx context.Context) (err error) {
	d.chapter("Something larger: a roadmap")
	const title, body, label = "Say goodbye, too", "To one person, to several, and the README should say how.", "agent:roadmap"
	if d.roadmap, err = d.repo.OpenIssue("ann", title, body, label); err != nil {
		return err
	}
	d.did("ann", fmt.Sprintf("opens #%d %s  %s", d.roadmap, title, bracketed(label)), body)
	d.passChapter("the issue becomes a document with three nodes")
	plan, err := d.sees().preview(ctx)
	if err != nil {
		return err
	}
	if err := planned(plan, "turn", fmt.Sprintf("#%d roadmap_start", d.roadmap)); err != nil {
		return err
	}
	rep, err := d.pass(ctx, "a roadmap")
	if err != nil {
		return err
	}
	if err := errors.Join(d.sees().paidOnce(12), d.sees().findOpened(ctx, rep.Turns)); err != nil {
		return err
	}
	p, _ := d.repo.Pull(d.pulls[d.roadmap])
	d.say("\n  #%d: %s", p.Number, d.out.Bold(p.Title))
	d.comment(githubsim.Comment{Author: p.Author, Body: p.Body}, "  as its first comment")
	return d.merge("bob", p.Number)
}

func (d withRoadmap) unfold(ctx context.Context) error {
	d.passChapter("each node becomes a sub-issue")
	if _, err := d.sees().preview(ctx); err != nil {
		return err
	}
	if _, err := d.pass(ctx, "three sub-issues"); err != nil {
		return err
	}
	if err := d.sees().unfolded(opened); err != nil {
		return err
	}
	d.passChapter("GitHub hears what blocks what; a label comes last, so that nothing begins half linked")
	if _, err := d.pass(ctx, "two edges"); err != nil {
		return err
	}
	return errors.Join(d.sees().unfolded(linked), d.sees().paidOnce(12))
}

func (d withRoadmap) first(ctx context.Context) error {
	d.passChapter("work begins on what waits for nothing")
	if err := d.begin(ctx, "the first node", 0); err != nil {
		return err
	}
	if err := d.sees().unfolded(labelled); err != nil {
		return err
	}
	return d.mergeNodes(ctx, 0)
}

func (d withRoadmap) others(ctx context.Context) error {
	d.passChapter("the first is merged, and what waited for it begins")
	if err := d.begin(ctx, "a merge, two nodes", 1, 2); err != nil {
		return err
	}
	if err := d.sees().roadmapStands(ctx, "followed", "done", "in_review", "in_review"); err != nil {
		return err
	}
	return d.mergeNodes(ctx, 1, 2)
}

// begin makes a pass that begins nodes, and nothing else.
func (d withRoadmap) begin(ctx context.Context, what string, nodes ...int) error {
	list, err := d.sees().children()
	if err != nil {
		return err
	}
	rep, err := d.pass(ctx, what)
	if err != nil {
		return err
	}
	var got, want []int
	for _, t := range rep.Turns {
		got = append(got, t.Number)
	}
	for _, n := range nodes {
		want = append(want, list[n].Number)
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("the pass worked on %d, not %d", got, want)
	}
	return d.sees().findOpened(ctx, rep.Turns)
}

// mergeNodes shows what pull requests of nodes change; people merge them.
func (d withRoadmap) mergeNodes(ctx context.Context, nodes ...int) error {
	list, err := d.sees().children()
	if err != nil {
		return err
	}
	for _, n := range nodes {
		if err := d.lastCommit(ctx, d.pulls[list[n].Number]); err != nil {
			return err
		}
	}
	for _, n := range nodes {
		if err := d.merge("ann", d.pulls[list[n].Number]); err != nil {
			return err
		}
	}
	return nil
}

func (d withRoadmap) end(ctx context.Context) error {
	d.passChapter("all of it is merged")
	if _, err := d.pass(ctx, "two merges"); err != nil {
		return err
	}
	if err := d.sees().roadmapStands(ctx, "followed", "done", "done", "done"); err != nil {
		return err
	}
	d.passChapter("the roadmap ends with a summary")
	if _, err := d.pass(ctx, "the summary"); err != nil {
		return err
	}
	is, _ := d.repo.Issue(d.roadmap)
	said := d.repo.Comments(d.roadmap)
	last := said[len(said)-1]
	if is.State != "closed" || !strings.Contains(last.Body, "all of its sub-issues were completed") {
		return fmt.Errorf("#%d is %s, and its last comment is %q", d.roadmap, is.State, last.Body)
	}
	d.say("  #%d on the GitHub now, %s:", d.roadmap, is.State)
	d.comment(last, "")
	if _, err := d.pass(ctx, "its end"); err != nil { // the pass that sees it closed sets its label
		return err
	}
	return d.sees().paidOnce(15)
}

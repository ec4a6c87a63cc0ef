package demo

import (
	"context"
	"errors"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
)

// What the reviewer of code says that the program brings along. Designs are left to
// people.
const (
	approves = "quinn approves"
	rejects  = "quinn requests changes"
)

// withReviews plays the second half of the story: what people and a reviewer look at.
type withReviews struct{ *demo }

func (d withReviews) demands(context.Context) error {
	d.chapter("People look at the design, and label the third issue")
	design := d.pulls[designIssue]
	const demand = "What happens with a language that is not in the file? Please decide that here, not in the code."
	_, err := d.repo.Review(design, "bob", "REQUEST_CHANGES", demand)
	d.did("bob", fmt.Sprintf("requests changes on #%d", design), demand)
	const label = "agent:small-job"
	d.did("ann", fmt.Sprintf("sets the label %s on #%d", label, jobIssue), "")
	return errors.Join(err, d.repo.Label(jobIssue, "ann", label))
}

func (d withReviews) look(ctx context.Context) error {
	d.passChapter("a reviewer looks at the bug fix")
	d.say("  quinn is an agent with a point of view, and looks at code before people do. It speaks as %s, so the GitHub shows its reviews as comments; the commit status %s, which a ruleset can require, says what they come to.", operator, review.StatusContext)
	bug, design := d.pulls[bugIssue], d.pulls[designIssue]
	plan, err := d.sees().preview(ctx)
	if err != nil {
		return err
	}
	if err := planned(plan, "turn", fmt.Sprintf("#%d review", bug), fmt.Sprintf("#%d design_feedback", design), "#3 small_job_start"); err != nil {
		return err
	}
	if _, err := d.pass(ctx, "a review of ours, one of bob's"); err != nil {
		return err
	}
	if err := errors.Join(d.sees().paidOnce(6), d.sees().findPulls(3), d.sees().stands(ctx, design, 2, 1), d.sees().wasTold(bug, approves)); err != nil {
		return err
	}
	d.say("  #%d on the GitHub now:", bug)
	d.reviews(bug)
	if err := d.lastCommit(ctx, design); err != nil {
		return err
	}
	d.conversation(design)
	return d.lastCommit(ctx, d.pulls[jobIssue])
}

// lastCommit shows what the last commit of a pull request changes.
func (d withReviews) lastCommit(ctx context.Context, pull int) error {
	p, _ := d.repo.Pull(pull)
	d.say("\n  #%d: %s", pull, d.out.Bold(p.Title))
	return d.diff(ctx, p.HeadOID+"^", p.HeadOID)
}

func (d withReviews) reject(ctx context.Context) error {
	d.passChapter("the bug fix is approved; the small job is not")
	bug, job := d.pulls[bugIssue], d.pulls[jobIssue]
	if _, err := d.pass(ctx, "a review that rejects"); err != nil {
		return err
	}
	if err := errors.Join(d.sees().paidOnce(7), d.sees().wasTold(job, rejects)); err != nil {
		return err
	}
	d.say("  #%d on the GitHub now:", job)
	d.reviews(job)
	d.threads(job)
	if err := d.sees().reviewStands(ctx, job); err != nil {
		return err
	}
	_, err := d.sees().statusIs(job, "pending")
	return errors.Join(err, d.sees().approved(bug))
}

func (d withReviews) mergeApproved(context.Context) error {
	d.chapter("People merge what is approved, and the design")
	return errors.Join(d.merge("ann", d.pulls[bugIssue]), d.merge("bob", d.pulls[designIssue]))
}

func (d withReviews) merge(who string, pull int) error {
	_, err := d.repo.Merge(pull, who, "merge")
	d.did(who, fmt.Sprintf("merges #%d", pull), "")
	return err
}

func (d withReviews) fixAndImplement(ctx context.Context) error {
	d.passChapter("what the reviewer asks for is fixed; the design is implemented")
	job, bug := d.pulls[jobIssue], d.pulls[bugIssue]
	plan, err := d.sees().preview(ctx)
	if err != nil {
		return err
	}
	if err := planned(plan, "turn", fmt.Sprintf("#%d fix", job), "#2 implementation_start"); err != nil {
		return err
	}
	if _, err := d.pass(ctx, "two merges, a fix"); err != nil {
		return err
	}
	if err := errors.Join(d.sees().findImplementation(), d.sees().paidOnce(9), d.sees().stands(ctx, job, 2, 1), d.sees().mergedAsApproved(ctx, bug)); err != nil {
		return err
	}
	if err := d.lastCommit(ctx, job); err != nil {
		return err
	}
	d.threads(job)
	if err := d.lastCommit(ctx, d.pulls[designIssue]); err != nil {
		return err
	}
	return d.sees().inState(ctx, map[int]work.State{
		bugIssue: work.StateCompleted, designIssue: work.StateAwaitingFeedback, jobIssue: work.StateAwaitingFeedback,
	})
}

func (d withReviews) lookAgain(ctx context.Context) error {
	d.passChapter("the reviewer looks again, and at the implementation")
	job, implementation := d.pulls[jobIssue], d.pulls[designIssue]
	plan, err := d.sees().preview(ctx)
	if err != nil {
		return err
	}
	if err := planned(plan, "turn", fmt.Sprintf("#%d review", job), fmt.Sprintf("#%d review", implementation)); err != nil {
		return err
	}
	if _, err := d.pass(ctx, "two reviews"); err != nil {
		return err
	}
	return errors.Join(d.sees().paidOnce(11), d.sees().wasTold(job, rejects, approves), d.sees().wasTold(implementation, approves))
}

func (d withReviews) approved(ctx context.Context) error {
	d.passChapter("both are approved, and merged")
	job, implementation := d.pulls[jobIssue], d.pulls[designIssue]
	if _, err := d.pass(ctx, "two approvals"); err != nil {
		return err
	}
	if err := d.sees().approved(job, implementation); err != nil {
		return err
	}
	return errors.Join(d.merge("bob", job), d.merge("bob", implementation))
}

func (d withReviews) merged(ctx context.Context) error {
	d.passChapter("what was merged is done")
	if _, err := d.pass(ctx, "two merges"); err != nil {
		return err
	}
	return errors.Join(d.sees().mergedAsApproved(ctx, d.pulls[jobIssue], d.pulls[designIssue]), d.sees().inState(ctx, map[int]work.State{
		bugIssue: work.StateCompleted, designIssue: work.StateCompleted, jobIssue: work.StateCompleted,
	}))
}

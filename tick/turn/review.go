package turn

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/compose"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// afterReview looks at the branch once the review stands. A verdict about a head that
// has moved on by then is taken back, and says so: whoever reads it is not to take it
// for one about what the branch has now.
func (p *Turns) afterReview(ctx context.Context, l *env.Lease) error {
	posted, id, err := endings{p.Env}.posted(ctx, l)
	if err != nil || id == 0 {
		return err
	}
	now, ok, err := headNow(ctx, l)
	if err != nil {
		return fmt.Errorf("look at the head again: %w", err)
	}
	if !ok || now == l.Turn.Head {
		return nil
	}
	note := fmt.Sprintf("> This review is about %s. The branch has moved on to %s, so that it counts for nothing.", work.Short(l.Turn.Head), work.Short(now))
	a := actions.Dismissal(l.Repo.Row, posted, id, "", note, p.Now())
	a.TurnID, a.Position = l.Turn.ID, posted.Position+1
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		a, err = tx.AddAction(ctx, a)
		return err
	})
	if err != nil {
		return fmt.Errorf("plan to take the review back: %w", err)
	}
	return p.applyOne(ctx, l, a)
}

// headNow is the head of the turn's pull request. The remote says it, but of somebody
// else's, whose branch is elsewhere.
func headNow(ctx context.Context, l *env.Lease) (oid string, ok bool, err error) {
	if l.Item.Flow == work.FlowReview {
		pull, ok, err := l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, l.Turn.Number)
		return pull.HeadOID, ok, err
	}
	heads, err := l.Repo.Git().RemoteHeads(ctx, l.Turn.Branch)
	oid, ok = heads[l.Turn.Branch]
	return oid, ok, err
}

// posted is the turn's review as it was sent, with its number on GitHub; 0: there is none.
func (p endings) posted(ctx context.Context, l *env.Lease) (work.Action, int64, error) {
	planned, err := p.TurnActions(ctx, l)
	at := slices.IndexFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionReview && a.State == work.ActionApplied })
	if err != nil || at < 0 {
		return work.Action{}, 0, err
	}
	id, err := strconv.ParseInt(planned[at].ResultID, 10, 64)
	if err != nil {
		return work.Action{}, 0, fmt.Errorf("read the number of the review: %w", err)
	}
	return planned[at], id, nil
}

// reviewEnd gathers what the turn's review is remembered by.
func (p endings) reviewEnd(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
	pull, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return nil, err
	}
	e := &ending{pull: pull}
	posted, id, err := p.posted(ctx, l)
	if err != nil || id == 0 { // GitHub takes it no more
		return e, err
	}
	made, err := p.readPosted(ctx, l, posted, id, compose.ReadReview(l, l.Told(), answer))
	if err != nil {
		return nil, err
	}
	v := &made.Verdict
	v.PullID, v.ReviewID, v.URL, v.TurnID = pull.ID, id, posted.ResultURL, l.Turn.ID
	if v.At.IsZero() {
		v.At = posted.SeenAt
	}
	if back, err := p.takenBack(ctx, l); err != nil {
		return nil, err
	} else if back {
		v.Validity = review.Moved
	}
	in, vain := review.CallIn(l.ReviewPolicy(), *v, stored.Inserted)
	if len(vain) > 0 {
		p.Log.WarnContext(ctx, "a reviewer calls in who may not be called in by them", p.TurnAttrs(l, "reviewer", v.Reviewer, "names", vain)...)
	}
	e.made, e.calledIn = &made, in
	e.news = append(e.news, p.newsOf(l, "code_review_created", fmt.Sprintf("%d:%s:%s", pull.Number, v.Reviewer, v.Head), map[string]any{
		"reviewer": v.Reviewer, "decision": v.Decision, "findings": v.Count, "highest_severity": v.Highest, "escalations": v.CalledIn,
		"head": v.Head, "cycle": v.Cycle, "url": v.URL, "validity": v.Validity,
	}))
	return e, nil
}

// takenBack reports whether the turn took its own review back.
func (p endings) takenBack(ctx context.Context, l *env.Lease) (bool, error) {
	planned, err := p.TurnActions(ctx, l)
	return slices.ContainsFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionDismiss }), err
}

// readPosted compares the answer with the review as it stands on GitHub. One that a pass
// made whose database is gone may say something else: what stands there counts.
func (p endings) readPosted(ctx context.Context, l *env.Lease, a work.Action, id int64, made compose.Reviewed) (compose.Reviewed, error) {
	hub, repo := l.Repo.GitHub, l.Repo.Row.Current
	all, err := hub.Reviews(ctx, repo, l.Turn.Number)
	if err != nil {
		return made, err
	}
	at := slices.IndexFunc(all, func(r github.Review) bool { return r.ID == id })
	comments, err := hub.CommentsOfReview(ctx, repo, l.Turn.Number, id)
	if at < 0 && github.IsStatus(err, http.StatusNotFound) {
		return made, nil
	}
	if err != nil {
		return made, err
	}
	if at >= 0 { // else it is not listed yet, so that it is the one that was just made
		if there, ok := otherReview(all[at], a, comments); ok {
			made = there
		}
		made.Verdict.By, made.Verdict.At = all[at].Author, all[at].SubmittedAt
	}
	for i := range made.Findings {
		made.Findings[i].CommentID = commentOf(made.Findings[i].ID, comments)
	}
	return made, nil
}

// otherReview reads a review that is not the one which was planned.
func otherReview(r github.Review, planned work.Action, comments []github.ReviewComment) (compose.Reviewed, bool) {
	there, ok := work.ParseMarks(r.Body)
	own, _ := work.ParseMarks(planned.Body)
	if !ok || there.Review == own.Review {
		return compose.Reviewed{}, false
	}
	if remarks, err := review.DecodeRemarks(planned.Extra); err == nil {
		if whole, _ := work.ParseMarks(remarks.Whole); whole.Review == there.Review {
			return compose.Reviewed{}, false
		}
	}
	v, resolved, found, ok := review.ParseMark(there.Review)
	if !ok {
		return compose.Reviewed{}, false
	}
	for _, c := range comments {
		m, _ := work.ParseMarks(c.Body)
		if x, ok := review.ParseFinding(m.Finding); ok {
			x.Head, x.Path, x.Line = v.Head, c.Path, c.Line
			found = append(found, x)
		}
	}
	v.Body = work.Unmarked(r.Body)
	return compose.Reviewed{Verdict: v, Findings: found, Resolved: resolved}, true
}

// commentOf finds the comment in which a finding stands; 0: none does.
func commentOf(finding string, comments []github.ReviewComment) int64 {
	for _, c := range comments {
		m, _ := work.ParseMarks(c.Body)
		if x, ok := review.ParseFinding(m.Finding); ok && x.ID == finding {
			return c.ID
		}
	}
	return 0
}

// failReview records that a turn about reviews failed for good: where that leads is for
// the plan to say. The item waits as before.
func (p *Turns) failReview(ctx context.Context, tx *store.Tx, l *env.Lease, s Settlement, failed error) error {
	pull, ok, err := tx.FindPullOfItem(ctx, l.Item.ID)
	if err != nil || !ok || len(l.Turn.EventKeys) == 0 {
		return errors.Join(err, p.backToWaiting(ctx, tx, l))
	}
	err = tx.FailReview(ctx, review.Record{
		PullID: pull.ID, FailedKey: l.Turn.EventKeys[0], FailedWhy: s.why, Retries: l.Turn.Attempts, LastError: p.brief(failed),
	})
	if err != nil {
		return err
	}
	if due, ok := l.FixDue(); ok {
		n := endings{p.Env}.newsOf(l, "review_fix_failed", review.FixKey(l.Turn.Number, due), map[string]any{
			"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "outcome": "failed",
		})
		if _, err := tx.AddReviewLog(ctx, n); err != nil {
			return err
		}
	}
	return p.backToWaiting(ctx, tx, l)
}

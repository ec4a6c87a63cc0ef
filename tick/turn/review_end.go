package turn

import (
	"context"
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
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// endOf returns what a review or fix turn stores besides what every turn does. asked: a fix pushed
// nothing and asks people instead. The reviews stop and report the question.
func (p *Turns) endOf(ctx context.Context, l *env.Lease, planned []work.Action, answer prompts.Answer) (ends []change.Change, asked bool, err error) {
	if l.Turn.Reviewer == "" {
		return nil, false, nil
	}
	pull, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return nil, false, err
	}
	ends = []change.Change{change.LookAgain{Pull: pull.ID}}
	if l.Turn.Kind == work.KindReview {
		made, err := p.endOfReview(ctx, l, pull, stored, planned, answer)
		return append(ends, made...), false, err
	}
	due, ok := l.FixDue()
	if !ok {
		return ends, false, nil
	}
	outcome, what := fixOutcome(l, planned, answer), "review_fix_completed"
	if outcome != review.FixPushed {
		what = "review_fix_failed"
	}
	fix := review.Fix{
		PullID: pull.ID, Reviewer: l.Turn.Reviewer, ReviewID: due.ReviewID, Epoch: due.Epoch, Cycle: due.Cycle,
		TurnID: l.Turn.ID, Head: l.Turn.Head, Commit: l.Turn.Commit, Outcome: outcome, At: p.Now(),
	}
	log := reviewLog(l, what, review.FixKey(l.Turn.Number, due), map[string]any{
		"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "commit": l.Turn.Commit, "outcome": outcome,
	})
	return append(ends, change.Fix{Fix: fix, Answered: findingsWithAnswers(stored.Findings, l.StoredContext(), answer)}, log), outcome == review.FixAsked, nil
}

// reviewLog returns one log entry, unique by its key.
func reviewLog(l *env.Lease, what, key string, data map[string]any) change.LogReview {
	log := change.LogReview{Item: l.Item.ID, Number: l.Turn.Number}
	log.Key, log.What, log.Data = what+":"+key, what, data
	return log
}

// fixOutcome returns how a fix ended. A push counts as pushed, no matter which pass pushed or what
// is asked besides: each push counts towards the limit, so fixes end.
func fixOutcome(l *env.Lease, planned []work.Action, answer prompts.Answer) review.FixOutcome {
	switch {
	case l.Committed(), slices.ContainsFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionPush }):
		return review.FixPushed
	case answer.BlockedReason != "":
		return review.FixAsked
	}
	return review.FixUnchanged
}

// findingsWithAnswers returns the findings with the author's answers: from the threads, or from the
// general comment for findings without one.
func findingsWithAnswers(known []review.Finding, told prompts.Context, answer prompts.Answer) []review.Finding {
	var out []review.Finding
	for _, x := range known {
		for _, asked := range told.Findings {
			if asked.ID != x.ID {
				continue
			}
			if said := answerTo(asked, answer); said != "" {
				x.Answer = said
				out = append(out, x)
			}
		}
	}
	return out
}

func answerTo(x prompts.Finding, answer prompts.Answer) string {
	if x.CommentID == 0 {
		return answer.GeneralComment
	}
	for _, r := range answer.ReviewReplies {
		if r.ReviewCommentID == x.CommentID {
			return r.Body
		}
	}
	return ""
}

// afterReview reads the branch after the review was posted. If the head has moved, the review is
// dismissed with a note, so that nobody takes it for one of the new head.
func (p *Turns) afterReview(ctx context.Context, l *env.Lease, planned []work.Action) error {
	posted, id, err := postedReview(planned)
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
	note := fmt.Sprintf("> This review is about %s. The head of the branch is %s now, so the review does not count.", work.Short(l.Turn.Head), work.Short(now))
	a := actions.Dismissal(l.Repo.Row, posted, id, "", note, p.Now())
	a.TurnID, a.Position = l.Turn.ID, posted.Position+1
	return p.applyNew(ctx, l, a, "to take the review back")
}

// headNow returns the head of the turn's pull request: from the git remote, or from GitHub for
// somebody else's, whose branch may be in another repository.
func headNow(ctx context.Context, l *env.Lease) (oid string, ok bool, err error) {
	if l.Item.Flow == work.FlowReview {
		pull, ok, err := l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, l.Turn.Number)
		return pull.HeadOID, ok, err
	}
	heads, err := l.Repo.Git().RemoteHeads(ctx, l.Turn.Branch)
	oid, ok = heads[l.Turn.Branch]
	return oid, ok, err
}

// postedReview returns the applied review action and the review's id on GitHub; 0: none.
func postedReview(planned []work.Action) (work.Action, int64, error) {
	at := slices.IndexFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionReview && a.State == work.ActionApplied })
	if at < 0 {
		return work.Action{}, 0, nil
	}
	id, err := strconv.ParseInt(planned[at].ResultID, 10, 64)
	if err != nil {
		return work.Action{}, 0, fmt.Errorf("read the number of the review: %w", err)
	}
	return planned[at], id, nil
}

// endOfReview returns what a review turn stores.
func (p *Turns) endOfReview(ctx context.Context, l *env.Lease, pull work.PullRequest, stored store.Reviews, planned []work.Action, answer prompts.Answer) ([]change.Change, error) {
	posted, id, err := postedReview(planned)
	if err != nil || id == 0 { // GitHub no longer accepts it
		return nil, err
	}
	made, err := p.readPostedReview(ctx, l, posted, id, readReview(l, l.StoredContext(), answer))
	if err != nil {
		return nil, err
	}
	v := &made.Verdict
	v.PullID, v.ReviewID, v.URL, v.TurnID = pull.ID, id, posted.ResultURL, l.Turn.ID
	if v.At.IsZero() {
		v.At = posted.SeenAt
	}
	if slices.ContainsFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionDismiss }) { // the turn took it back
		v.Validity = review.Moved
	}
	in, vain := review.CallIn(l.ReviewPolicy(), *v, stored.Inserted)
	if len(vain) > 0 {
		p.Log.WarnContext(ctx, "a reviewer calls in somebody outside of its can_escalate", p.TurnAttrs(l, "reviewer", v.Reviewer, "names", vain)...)
	}
	return []change.Change{
		change.PostedReview{Verdict: *v, Findings: made.Findings, Resolved: made.Resolved, Inserted: in},
		reviewLog(l, "code_review_created", fmt.Sprintf("%d:%s:%s", pull.Number, v.Reviewer, v.Head), map[string]any{
			"reviewer": v.Reviewer, "decision": v.Decision, "findings": v.Count, "severity": v.Highest, "escalations": v.CalledIn,
			"head": v.Head, "cycle": v.Cycle, "url": v.URL, "validity": v.Validity,
		}),
	}, nil
}

// readPostedReview compares the answer with the review on GitHub. A review posted before the
// database was lost may differ; GitHub's counts.
func (p *Turns) readPostedReview(ctx context.Context, l *env.Lease, a work.Action, id int64, made reviewed) (reviewed, error) {
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
	if at >= 0 { // else it is not listed yet, so it was just posted
		if there, ok := otherReview(all[at], a, comments); ok {
			made = there
		}
		made.Verdict.By, made.Verdict.At = all[at].Author, all[at].SubmittedAt
	}
	for i := range made.Findings {
		made.Findings[i].CommentID = commentOfFinding(made.Findings[i].ID, comments)
	}
	return made, nil
}

// otherReview reads a posted review that differs from the planned one.
func otherReview(r github.Review, planned work.Action, comments []github.ReviewComment) (reviewed, bool) {
	there, ok := work.ParseMarks(r.Body)
	own, _ := work.ParseMarks(planned.Body)
	if !ok || there.Review == own.Review {
		return reviewed{}, false
	}
	if remarks, err := review.DecodeRemarks(planned.Extra); err == nil {
		if whole, _ := work.ParseMarks(remarks.Whole); whole.Review == there.Review {
			return reviewed{}, false
		}
	}
	v, resolved, found, ok := review.ParseMark(there.Review)
	if !ok {
		return reviewed{}, false
	}
	for _, c := range comments {
		m, _ := work.ParseMarks(c.Body)
		if x, ok := review.ParseFinding(m.Finding); ok {
			x.Head, x.Path, x.Line = v.Head, c.Path, c.Line
			found = append(found, x)
		}
	}
	v.Body = work.Unmarked(r.Body)
	return reviewed{Verdict: v, Findings: found, Resolved: resolved}, true
}

// commentOfFinding returns the id of the comment with a finding; 0: none.
func commentOfFinding(finding string, comments []github.ReviewComment) int64 {
	for _, c := range comments {
		m, _ := work.ParseMarks(c.Body)
		if x, ok := review.ParseFinding(m.Finding); ok && x.ID == finding {
			return c.ID
		}
	}
	return 0
}

// reviewFailed returns what a review or fix turn that failed for good stores; the plan decides what
// comes next.
func (p *Turns) reviewFailed(l *env.Lease, v settlement, f facts, failed error) []change.Change {
	if f.pull.ID == 0 || len(l.Turn.EventKeys) == 0 {
		return nil
	}
	changes := []change.Change{change.FailReview{Record: review.Record{
		PullID: f.pull.ID, FailedKey: l.Turn.EventKeys[0], FailedWhy: v.why, Retries: l.Turn.Attempts, LastError: p.brief(failed),
	}}}
	if due, ok := l.FixDue(); ok {
		changes = append(changes, reviewLog(l, "review_fix_failed", review.FixKey(l.Turn.Number, due), map[string]any{
			"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "outcome": "failed",
		}))
	}
	return changes
}

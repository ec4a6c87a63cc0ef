package turn

import (
	"context"
	"encoding/json"
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
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// ending is what a review or fix turn stores besides what every turn does. It is collected before
// the transaction that closes the turn and stored in it.
type ending struct {
	pull     work.PullRequest
	made     *reviewed // a review; nil: none
	calledIn []review.Insertion
	fix      *review.Fix // nil: none
	answered []review.Finding
	news     []store.ReviewLog // after the transaction: those not logged before
}

// endOf collects the ending; nil: the turn is about no review.
func (p *Turns) endOf(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
	switch {
	case l.Turn.Kind == work.KindReview:
		return p.endOfReview(ctx, l, answer)
	case l.Turn.Reviewer != "":
		return p.endOfFix(ctx, l, answer)
	}
	return nil, nil //nolint:nilnil // most turns
}

// asked reports whether a fix pushed nothing and asks people instead. The reviews stop and report
// the question.
func (e *ending) asked() bool { return e != nil && e.fix != nil && e.fix.Outcome == review.FixAsked }

// stillStopped keeps the item blocked while its reviews are stopped: answering comments does not
// end that stop.
func stillStopped(ctx context.Context, tx *store.Tx, l *env.Lease, m work.Move) (work.Move, error) {
	if l.Turn.Kind.Start() {
		return m, nil
	}
	pull, ok, err := tx.FindPullOfItem(ctx, l.Item.ID)
	if err != nil || !ok {
		return m, err
	}
	stored, err := tx.GetReviews(ctx, pull.ID)
	if r := stored.Record; r.State.Stopped() && !r.Why.None() {
		m.Cause, m.To, m.Reason = work.CauseStopped, work.StateBlocked, r.Why
	}
	return m, err
}

// store stores the ending and keeps in news only the log entries that are new.
func (e *ending) store(ctx context.Context, tx *store.Tx) error {
	if e == nil {
		return nil
	}
	if err := e.storeReview(ctx, tx); err != nil {
		return err
	}
	if e.fix != nil {
		if err := tx.PutFix(ctx, *e.fix); err != nil {
			return err
		}
	}
	if err := tx.PutFindings(ctx, e.answered); err != nil {
		return err
	}
	var news []store.ReviewLog
	for _, n := range e.news {
		fresh, err := tx.AddReviewLog(ctx, n)
		if err != nil {
			return err
		}
		if fresh {
			news = append(news, n)
		}
	}
	e.news = news
	return tx.SetLook(ctx, e.pull.ID)
}

func (e *ending) storeReview(ctx context.Context, tx *store.Tx) error {
	if e.made == nil {
		return nil
	}
	id, _, err := tx.AddVerdict(ctx, e.made.Verdict)
	if err != nil {
		return err
	}
	if e.made.Verdict.Validity == review.Moved { // ingest may have stored the verdict before, without this
		if _, err := tx.MarkVerdict(ctx, id, review.Moved); err != nil {
			return err
		}
	}
	for i := range e.made.Findings {
		e.made.Findings[i].PullID, e.made.Findings[i].VerdictID = e.pull.ID, id
	}
	if err := tx.PutFindings(ctx, e.made.Findings); err != nil {
		return err
	}
	if err := tx.ResolveFindings(ctx, e.pull.ID, id, e.made.Resolved); err != nil {
		return err
	}
	for _, in := range e.calledIn {
		if _, err := tx.AddInsertion(ctx, in); err != nil {
			return err
		}
	}
	return nil
}

// logEnd logs the new entries once they are stored.
func (p *Turns) logEnd(ctx context.Context, l *env.Lease, e *ending) {
	if e == nil {
		return
	}
	for _, n := range e.news {
		notice.TellReview(ctx, p.Log, n, p.TurnAttrs(l)...)
	}
}

// reviewLog returns one log entry, unique by its key.
func (p *Turns) reviewLog(l *env.Lease, what, key string, data map[string]any) store.ReviewLog {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // plain values
	}
	return store.ReviewLog{
		RepoID: l.Turn.RepoID, ItemID: l.Item.ID, Number: l.Turn.Number, Key: what + ":" + key, At: p.Now(), What: what, Data: string(b),
	}
}

// endOfFix collects the ending of a fix turn.
func (p *Turns) endOfFix(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
	pull, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return nil, err
	}
	e := &ending{pull: pull}
	due, ok := l.FixDue()
	if !ok {
		return e, nil
	}
	outcome, err := p.fixOutcome(ctx, l, answer)
	if err != nil {
		return nil, err
	}
	e.fix = &review.Fix{
		PullID: pull.ID, Reviewer: l.Turn.Reviewer, ReviewID: due.ReviewID, Epoch: due.Epoch, Cycle: due.Cycle,
		TurnID: l.Turn.ID, Head: l.Turn.Head, Commit: l.Turn.Commit, Outcome: outcome, At: p.Now(),
	}
	e.answered = answers(stored.Findings, l.Told(), answer)
	what := "review_fix_completed"
	if outcome != review.FixPushed {
		what = "review_fix_failed"
	}
	e.news = append(e.news, p.reviewLog(l, what, review.FixKey(l.Turn.Number, due), map[string]any{
		"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "commit": l.Turn.Commit, "outcome": outcome,
	}))
	return e, nil
}

// fixOutcome returns how a fix ended. A push counts as pushed, no matter which pass pushed or what
// is asked besides: each push counts towards the limit, so fixes end.
func (p *Turns) fixOutcome(ctx context.Context, l *env.Lease, answer prompts.Answer) (review.FixOutcome, error) {
	planned, err := p.TurnActions(ctx, l)
	if err != nil {
		return "", err
	}
	for _, a := range planned {
		if a.Kind == work.ActionPush {
			return review.FixPushed, nil
		}
	}
	switch {
	case l.Committed():
		return review.FixPushed, nil
	case answer.BlockedReason != "":
		return review.FixAsked, nil
	}
	return review.FixUnchanged, nil
}

// answers returns the findings with the author's answers: from the threads, or from the general
// comment for findings without one.
func answers(known []review.Finding, told prompts.Context, answer prompts.Answer) []review.Finding {
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
func (p *Turns) afterReview(ctx context.Context, l *env.Lease) error {
	posted, id, err := p.postedReview(ctx, l)
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
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		a, err = tx.AddAction(ctx, a)
		return err
	})
	if err != nil {
		return fmt.Errorf("plan to take the review back: %w", err)
	}
	return p.applyOne(ctx, l, a)
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
func (p *Turns) postedReview(ctx context.Context, l *env.Lease) (work.Action, int64, error) {
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

// endOfReview collects the ending of a review turn.
func (p *Turns) endOfReview(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
	pull, stored, err := p.Reviews(ctx, l)
	if err != nil {
		return nil, err
	}
	e := &ending{pull: pull}
	posted, id, err := p.postedReview(ctx, l)
	if err != nil || id == 0 { // GitHub no longer accepts it
		return e, err
	}
	made, err := p.readPostedReview(ctx, l, posted, id, readReview(l, l.Told(), answer))
	if err != nil {
		return nil, err
	}
	v := &made.Verdict
	v.PullID, v.ReviewID, v.URL, v.TurnID = pull.ID, id, posted.ResultURL, l.Turn.ID
	if v.At.IsZero() {
		v.At = posted.SeenAt
	}
	if back, err := p.reviewTakenBack(ctx, l); err != nil {
		return nil, err
	} else if back {
		v.Validity = review.Moved
	}
	in, vain := review.CallIn(l.ReviewPolicy(), *v, stored.Inserted)
	if len(vain) > 0 {
		p.Log.WarnContext(ctx, "a reviewer calls in somebody outside of its can_escalate", p.TurnAttrs(l, "reviewer", v.Reviewer, "names", vain)...)
	}
	e.made, e.calledIn = &made, in
	e.news = append(e.news, p.reviewLog(l, "code_review_created", fmt.Sprintf("%d:%s:%s", pull.Number, v.Reviewer, v.Head), map[string]any{
		"reviewer": v.Reviewer, "decision": v.Decision, "findings": v.Count, "severity": v.Highest, "escalations": v.CalledIn,
		"head": v.Head, "cycle": v.Cycle, "url": v.URL, "validity": v.Validity,
	}))
	return e, nil
}

// reviewTakenBack reports whether the turn dismissed its own review.
func (p *Turns) reviewTakenBack(ctx context.Context, l *env.Lease) (bool, error) {
	planned, err := p.TurnActions(ctx, l)
	return slices.ContainsFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionDismiss }), err
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

// failReview stores that a review or fix turn failed for good; the plan decides what comes next.
// The item waits as before.
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
		n := p.reviewLog(l, "review_fix_failed", review.FixKey(l.Turn.Number, due), map[string]any{
			"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "outcome": "failed",
		})
		if _, err := tx.AddReviewLog(ctx, n); err != nil {
			return err
		}
	}
	return p.backToWaiting(ctx, tx, l)
}

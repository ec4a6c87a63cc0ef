package turn

import (
	"context"
	"encoding/json"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/compose"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/notice"
)

// ending is what a turn about reviews leaves behind beside what every turn does. It is
// gathered before the transaction that closes the turn, and stored in that.
type ending struct {
	pull     work.PullRequest
	made     *compose.Reviewed // a review; nil: none
	calledIn []review.Insertion
	fix      *review.Fix // nil: none
	answered []review.Finding
	news     []store.ReviewLog // after the transaction those that nobody was told of
}

// endings gathers what turns about reviews leave behind.
type endings struct{ *env.Env }

// of gathers it; nil: the turn is about no review.
func (p endings) of(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
	switch {
	case l.Turn.Kind == work.KindReview:
		return p.reviewEnd(ctx, l, answer)
	case l.Turn.Reviewer != "":
		return p.fixEnd(ctx, l, answer)
	}
	return nil, nil //nolint:nilnil // most turns
}

// asked reports whether a fix pushed nothing and asks people instead: the reviews stop
// for that, which says so.
func (e *ending) asked() bool { return e != nil && e.fix != nil && e.fix.Outcome == review.FixAsked }

// stillStopped keeps an item stopped whose reviews are: what people said meanwhile is
// answered, and ends no stop of theirs.
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

// store writes it. What was told already is told no more.
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
	if e.made.Verdict.Validity == review.Moved { // one that was read from GitHub meanwhile does not say so
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

// tell tells what nobody was told of, once it is stored.
func (p endings) tell(ctx context.Context, l *env.Lease, e *ending) {
	if e == nil {
		return
	}
	for _, n := range e.news {
		notice.TellReview(ctx, p.Log, n, p.TurnAttrs(l)...)
	}
}

// newsOf is one thing that happened, known by its key.
func (p endings) newsOf(l *env.Lease, what, key string, data map[string]any) store.ReviewLog {
	b, err := json.Marshal(data)
	if err != nil {
		panic(err) // plain values
	}
	return store.ReviewLog{
		RepoID: l.Turn.RepoID, ItemID: l.Item.ID, Number: l.Turn.Number, Key: what + ":" + key, At: p.Now(), What: what, Data: string(b),
	}
}

// fixEnd gathers what the turn's fix is remembered by.
func (p endings) fixEnd(ctx context.Context, l *env.Lease, answer prompts.Answer) (*ending, error) {
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
	e.news = append(e.news, p.newsOf(l, what, review.FixKey(l.Turn.Number, due), map[string]any{
		"reviewer": l.Turn.Reviewer, "review": due.ReviewID, "cycle": due.Cycle, "head": l.Turn.Head, "commit": l.Turn.Commit, "outcome": outcome,
	}))
	return e, nil
}

// fixOutcome says how a fix ended. What is on the branch is pushed, whoever has pushed
// it and whatever is asked beside it: each push counts, so that there is an end.
func (p endings) fixOutcome(ctx context.Context, l *env.Lease, answer prompts.Answer) (review.FixOutcome, error) {
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

// answers are the findings with what the author says to them: in their threads, and in
// the conversation to those that have none.
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

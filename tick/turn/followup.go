package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// While there is no pull request, people and the agent talk on the issue. A start turn that cannot
// continue stores a followup: the reason, and a cursor up to which comments were given to the
// agent. Later comments make the next turn. Comments and the labelling stay pending until a turn
// opens the pull request, whose marker names them all as handled, so losing the database changes
// nothing.

// suspendStart ends a start turn before its first effect because a person must comment or act. Its
// comments stay queued for the next turn.
func (p *Turns) suspendStart(l *env.Lease, v settlement, f facts) []change.Change {
	end := work.StepFailed
	if v.why.Kind == work.WhyNewComments {
		end = work.StepSuperseded
	}
	after := followupOf(l, v, f.followup)
	changes := []change.Change{
		change.Failure{Turn: l.Turn.ID, Kind: v.why.Kind},
		endUnsent(l, end, v.reason),
		change.AwaitComment{Followup: after},
		change.Move{Move: p.waitingMove(after)},
	}
	return append(changes, talkOf(l)...)
}

// logWait logs that a start waits after one of its turns.
func (p *Turns) logWait(ctx context.Context, l *env.Lease, before, after work.Followup) {
	if after.Reason.Kind.Answerable() {
		p.LogComments(ctx, l, "issue comments handled", work.NewIssueComments(l.Events, before.EventCursor))
	}
	p.logRange(ctx, l, "work waits for a comment", after.RunStartComment, after.CommentCursor, "waiting_reason", string(after.Reason.Kind))
}

// followupOf returns the followup of an ended turn.
func followupOf(l *env.Lease, v settlement, before work.Followup) work.Followup {
	f := work.Followup{
		ItemID: l.Item.ID, Reason: v.why, Turn: l.Turn.Key, Commit: cmp.Or(l.Turn.Commit, before.Commit),
		RunStartComment: runStart(l.Turn.Request), CommentCursor: before.CommentCursor, EventCursor: before.EventCursor,
	}
	for _, e := range l.Events {
		f.EventCursor = max(f.EventCursor, e.ID)
		if e.Kind == work.EventSource {
			f.CommentCursor = max(f.CommentCursor, work.CommentID(e))
		}
	}
	return f
}

// waitingMove returns the state of an item with a followup. It is blocked if no comment on the
// issue can answer the reason.
func (p *Turns) waitingMove(f work.Followup) work.Move {
	m := work.Move{Item: f.ItemID, Cause: work.CauseStopped, To: work.StateBlocked, Reason: f.Reason}
	if f.Reason.Kind == work.WhyQuestion {
		m.Cause, m.Asked = work.CauseAsked, f.Turn
	}
	m.Passing = f.Reason.Kind == work.WhyNewComments
	if f.Reason.Kind.Answerable() {
		m.To = work.StateAwaitingIssueFollowup
	}
	return m
}

// talkOf returns what the next turn can use of an answer: the decision summary and the provider's
// session.
func talkOf(l *env.Lease) []change.Change {
	var answer struct {
		DecisionSummary *string `json:"decision_summary"`
	}
	if len(l.Turn.Answer) == 0 {
		return nil
	}
	kept := []change.Change{change.KeepSession{Turn: l.Turn}}
	if err := json.Unmarshal(l.Turn.Answer, &answer); err == nil && answer.DecisionSummary != nil && *answer.DecisionSummary != "" {
		item := l.Item
		item.DecisionSummary = *answer.DecisionSummary
		kept = append(kept, change.ItemResult{Item: item})
	}
	return kept
}

// queue is what people said on a start's issue, and no turn has.
type queue struct {
	comments  []work.Event
	commanded bool // a command waits, too
}

// reading returns what reads it.
func (q *queue) reading(ctx context.Context, l *env.Lease) func(*store.Tx) error {
	return func(tx *store.Tx) error {
		var errs [2]error
		q.comments, errs[0] = env.QueuedComments(ctx, tx, l.Item)
		q.commanded, errs[1] = hasPendingCommand(ctx, tx, l)
		return errors.Join(errs[:]...)
	}
}

// takeInIssueComments takes in what was said on the issue since the claim, right before the first
// effect of a start. New comments end the turn, and another turn handles them before a pull request is
// opened. After the push was sent, new comments go to the first turn on the pull request.
func (p *Turns) takeInIssueComments(ctx context.Context, l *env.Lease, push work.Action, q queue, said []github.Comment) error {
	if !l.Turn.Kind.Start() || push.Base != "" { // on a branch pushed before the state folder was lost
		return nil
	}
	news, err := p.reader.NewComments(ctx, l, said)
	if err != nil {
		return err
	}
	if found := news.OnIssue(); len(found) > 0 {
		p.LogComments(ctx, l, "issue comments seen", found)
	}
	if news.Any() {
		err = p.Store.Update(ctx, func(tx *store.Tx) error {
			if err := news.Put(ctx, tx); err != nil {
				return err
			}
			return q.reading(ctx, l)(tx)
		})
	}
	start := runStart(l.Turn.Request)
	unheard := slices.DeleteFunc(q.comments, func(e work.Event) bool { return work.CommentID(e) <= start })
	switch {
	case err != nil:
		return err
	case q.commanded: // it may cancel or pause the work
		return &work.WaitError{Until: p.Now(), Reason: work.Reason{Kind: work.WhyCommandFirst}}
	case len(unheard) == 0:
		return nil
	}
	p.LogComments(ctx, l, "issue comments queued", unheard)
	return &work.BlockedError{Reason: work.Reason{Kind: work.WhyNewComments}}
}

// runStart returns the newest comment id in a stored prompt; 0: none.
func runStart(stored []byte) int64 {
	var req env.Request
	if err := json.Unmarshal(stored, &req); err != nil {
		return 0
	}
	return req.RunStartComment
}

// LogComments logs what happened to comments on a turn's issue; without comments, nothing.
func (p *Turns) LogComments(ctx context.Context, l *env.Lease, what string, comments []work.Event) {
	if len(comments) > 0 {
		from, to := env.IDRange(comments)
		p.logRange(ctx, l, what, from, to)
	}
}

func (p *Turns) logRange(ctx context.Context, l *env.Lease, what string, from, to int64, more ...any) {
	attrs := append(p.TurnAttrs(l, "comment_id_from", from, "comment_id_to", to), more...)
	p.Log.InfoContext(ctx, what, attrs...) //nolint:sloglint // one of the fixed names of the followups' events
}

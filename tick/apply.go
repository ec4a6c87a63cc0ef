package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// apply sends what comes after the push, in its fixed order, each looked for
// first. A cosmetic action never fails a turn.
func (p *Turns) apply(ctx context.Context, l *lease) error {
	if l.resumed && l.threads == nil {
		if err := p.looks.readAfresh(ctx, l); err != nil {
			return err
		}
	}
	planned, err := p.turnActions(ctx, l)
	if err != nil {
		return err
	}
	for _, a := range planned {
		if a.Kind == work.ActionPush || a.State.Settled() {
			continue
		}
		if err := p.applyOne(ctx, l, a); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := p.announcePull(ctx, l); err != nil {
		return err
	}
	return p.advance(ctx, l, work.StepApplied)
}

func (p *Turns) applyOne(ctx context.Context, l *lease, a work.Action) error {
	if a.Kind == work.ActionResolve {
		top, err := strconv.ParseInt(a.Target, 10, 64)
		if err == nil {
			a.Target = l.threads[top].NodeID
		}
		if a.Target == "" {
			_, err := p.effects().Void(ctx, a, "the thread is gone")
			return err
		}
	}
	_, err := p.effects().Apply(ctx, p.scope(l.remote), a)
	if err != nil && a.Need == work.NeedCosmetic && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "cosmetic action given up", p.effects().LogAttrs(ctx, l.remote.repo, a, "error", err)...)
		_, err = p.effects().Drop(ctx, a, err)
	}
	return err
}

// announcePull tells the issue about the pull request that the turn opened: a
// courtesy. It can only be planned once the number is known, and goes by what
// is stored: a pass may have died between the two.
func (p *Turns) announcePull(ctx context.Context, l *lease) error {
	planned, err := p.turnActions(ctx, l)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(planned, func(a work.Action) bool {
		return a.Kind == work.ActionPullRequest && a.State == work.ActionApplied
	})
	if at < 0 {
		return nil
	}
	pr := planned[at]
	token := work.CommentToken(l.turn.Key, pr.Position+1)
	a := work.Action{
		RepoID: l.turn.RepoID, TurnID: l.turn.ID, ItemID: l.item.ID, Position: pr.Position + 1,
		Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned, Number: l.item.Number,
		Body: work.Mark(fmt.Sprintf("Opened #%s. Please comment there from now on.", pr.ResultID), work.Marks{Token: token}),
		Why:  "the pull request", PlannedAt: p.Now(),
	}
	err = p.Store.Update(ctx, func(tx *store.Tx) error {
		a, err = tx.AddAction(ctx, a)
		return err
	})
	if err != nil {
		return fmt.Errorf("plan the announcement: %w", err)
	}
	return p.applyOne(ctx, l, a)
}

// finish closes the turn in one transaction: every required effect was seen.
func (p *Turns) finish(ctx context.Context, l *lease) error {
	ctx = context.WithoutCancel(ctx)
	answer, violations := prompts.Decode(l.turn.Kind, l.turn.Answer, prompts.Asked{Replies: askedReplies(l.turn)})
	if len(violations) > 0 {
		return fmt.Errorf("decode the stored answer: %s", violations[0])
	}
	var opened *work.PullRequest
	var waited work.Followup
	if l.turn.Kind.Start() {
		var err error
		if opened, err = p.openedPull(ctx, l); err != nil {
			return err
		}
	}
	now := p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if opened != nil {
			var err error
			if waited, err = endFollowup(ctx, tx, l); err != nil {
				return err
			}
			if _, err := tx.PutPull(ctx, *opened); err != nil {
				return err
			}
		}
		if err := p.closeItem(ctx, tx, l, answer); err != nil {
			return err
		}
		if err := tx.FinishTurnEvents(ctx, l.turn.ID, work.OutcomeAnswered, now); err != nil {
			return err
		}
		if l.turn.Session != "" {
			if err := tx.PutSession(ctx, l.item.ID, l.turn.Agent, l.turn.Session, l.turn.Slot, now); err != nil {
				return err
			}
		}
		return tx.EndTurn(ctx, l.turn.ID, work.StepApplied, work.StepDone, "", now)
	})
	if err != nil {
		return fmt.Errorf("close turn %s: %w", l.turn.Key, err)
	}
	l.turn.Step = work.StepDone
	if opened != nil {
		p.logComments(ctx, l, "issue comments handled", work.Fed(l.events, waited.EventCursor))
	}
	return nil
}

// closeItem stores what the turn leaves behind for the item's later turns.
func (p *Turns) closeItem(ctx context.Context, tx *store.Tx, l *lease, answer prompts.Answer) error {
	item := l.item
	item.Branch = l.turn.Branch
	if answer.DecisionSummary != "" {
		item.DecisionSummary = answer.DecisionSummary
	}
	if l.turn.Kind == work.KindDesignStart {
		if l.turn.Commit != "" { // else the branch has it, and its name may be of an older title
			item.Document = work.DocumentPath(item.Number, item.Title)
		}
		item.TouchPaths = answer.TouchPaths
		item.Priority = designPriority(item, answer)
	}
	if err := tx.SetResult(ctx, item); err != nil {
		return err
	}
	m := work.Move{Item: item.ID, Cause: work.CauseAnswered, To: work.StateAwaitingFeedback}
	if answer.BlockedReason != "" {
		m.Cause, m.To = work.CauseAsked, work.StateBlocked
		m.Reason, m.Hint = "the agent asks: "+answer.BlockedReason, "answer in a comment on the pull request"
		m.Asked = l.turn.Key
	}
	if why, err := stuck(ctx, tx, l, answer); err != nil {
		return err
	} else if why != "" && answer.BlockedReason == "" {
		m.Cause, m.To, m.Reason, m.Hint = work.CauseAsked, work.StateBlocked, why, "say in a comment on the pull request what is to be done"
	}
	if unheard, err := p.unheardFeedback(ctx, tx, l); err != nil {
		return err
	} else if unheard { // it may be the answer: the next turn hears it, and asks again if it is none
		m = work.Move{Item: item.ID, Cause: work.CauseAnswered, To: work.StateAwaitingFeedback}
	}
	if m.To == work.StateBlocked {
		var err error
		if m.Told, err = toldBy(ctx, tx, l); err != nil {
			return err
		}
	}
	return movedOrGone(p.notices.move(ctx, tx, m, p.Now()))
}

// unheardFeedback reports whether people said something on the pull request that no
// turn was told of: while this one's agent worked, or more than one turn takes.
func (p *Turns) unheardFeedback(ctx context.Context, tx *store.Tx, l *lease) (bool, error) {
	if !p.Config.Runtime.EnableFeedbackLoop {
		return false, nil
	}
	unheard, err := l.unheard(ctx, tx)
	return len(unheard) > 0, err
}

// talkedMeanwhile is unheardFeedback, of what came while the turn ran alone: it ended
// with nothing, and what it left out for their number would be left out again.
func (p *Turns) talkedMeanwhile(ctx context.Context, tx *store.Tx, l *lease) (bool, error) {
	if !p.Config.Runtime.EnableFeedbackLoop || l.turn.Kind.Start() {
		return false, nil
	}
	unheard, err := l.unheard(ctx, tx)
	return slices.ContainsFunc(unheard, func(e work.Event) bool { return e.SeenAt.After(l.turn.ClaimedAt) }), err
}

// unheard is what people said on the pull request that no turn was told of.
func (l *lease) unheard(ctx context.Context, tx *store.Tx) ([]work.Event, error) {
	pending, err := tx.ListPendingEvents(ctx, l.turn.RepoID)
	return slices.DeleteFunc(pending, func(e work.Event) bool {
		onPull := e.Kind == work.EventIssue || e.Kind == work.EventReview || e.Kind == work.EventSummary
		return !onPull || e.ItemID != l.item.ID || e.TurnID != 0
	}), err
}

// toldBy is the token of the turn's own word to people: where it says why the work
// stands still, no second comment does. A turn that opens the pull request has none.
func toldBy(ctx context.Context, tx *store.Tx, l *lease) (string, error) {
	planned, err := tx.ListTurnActions(ctx, l.turn.ID)
	if err != nil || l.turn.Kind.Start() {
		return "", err
	}
	for _, a := range slices.Backward(planned) {
		if a.Kind == work.ActionComment && a.State == work.ActionApplied {
			return a.Token, nil
		}
	}
	return "", nil
}

// openedPull reads the pull request that the turn opened.
func (p *Turns) openedPull(ctx context.Context, l *lease) (*work.PullRequest, error) {
	planned, err := p.turnActions(ctx, l)
	if err != nil {
		return nil, err
	}
	for _, a := range planned {
		if a.Kind != work.ActionPullRequest {
			continue
		}
		number, err := strconv.Atoi(a.ResultID)
		if err != nil {
			return nil, fmt.Errorf("read the number of the pull request: %w", err)
		}
		d, ok, err := l.remote.GitHub.Pull(ctx, l.remote.repo.Current, number)
		if err != nil {
			return nil, fmt.Errorf("read pull request #%d: %w", number, err)
		}
		if !ok {
			return nil, fmt.Errorf("pull request #%d is not visible", number)
		}
		return &work.PullRequest{
			RepoID: l.turn.RepoID, ItemID: l.item.ID, Number: number, NodeID: d.NodeID, URL: d.URL, Title: d.Title, State: d.State,
			Branch: d.Head, HeadOID: d.HeadOID, Base: d.Base, UpdatedAt: d.UpdatedAt, CreatedAt: d.CreatedAt,
		}, nil
	}
	return nil, errors.New("the turn planned no pull request")
}

package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
)

// Outcomes of events. A void one was overtaken: what it was said about was
// merged, closed or taken back.
const (
	outcomeAnswered = "answered"
	outcomeVoid     = "void: "
)

// finalize reads afresh what the turn is about, and pushes. The agent may have
// taken an hour: the pull request may be merged, the comments deleted, the
// head somebody else's.
func (p *Pass) finalize(ctx context.Context, l *lease) error {
	if err := p.reload(ctx, l); err != nil {
		return err
	}
	if err := p.readAfresh(ctx, l); err != nil {
		return err
	}
	push, planned, err := p.plannedPush(ctx, l)
	if err != nil {
		return err
	}
	if planned {
		if err := p.push(ctx, l, push); err != nil {
			return err
		}
		p.changed(l, "pushed", short(l.turn.Commit))
	}
	return p.advance(ctx, l, work.StepPushed)
}

// readAfresh looks at the issue or pull request as it is now.
func (p *Pass) readAfresh(ctx context.Context, l *lease) error {
	if l.turn.Kind.Start() {
		return p.readIssue(ctx, l)
	}
	return p.readPull(ctx, l)
}

func (p *Pass) readIssue(ctx context.Context, l *lease) error {
	is, ok, err := l.remote.GitHub.Issue(ctx, l.remote.repo.Current, l.item.Number)
	if err != nil {
		return fmt.Errorf("read the issue again: %w", err)
	}
	switch {
	case !ok || is.State != "open":
		return &work.CancelledError{Reason: "the issue was closed meanwhile"}
	case !hasLabel(is.Labels, l.item.Label), hasLabel(is.Labels, l.remote.Settings.Labels.Ignore):
		return &work.CancelledError{Reason: "the label was taken away meanwhile"}
	}
	return nil
}

func (p *Pass) readPull(ctx context.Context, l *lease) error {
	pull, err := p.itemPull(ctx, l)
	if err != nil {
		return err
	}
	details, _, err := l.remote.GitHub.Details(ctx, []string{pull.NodeID})
	if err != nil {
		return fmt.Errorf("read the pull request again: %w", err)
	}
	if len(details) == 0 {
		return &work.CancelledError{Reason: "the pull request is gone"}
	}
	d := details[0]
	if d.State != work.PullOpen {
		return &work.CancelledError{Reason: "the pull request was " + string(d.State) + " meanwhile"}
	}
	if d.Locked {
		return &work.CancelledError{Reason: "the conversation was locked meanwhile"}
	}
	l.threads = map[int64]github.Thread{}
	for _, t := range d.Threads {
		l.threads[t.Top] = t
	}
	return p.voidGone(ctx, l, d)
}

// voidGone ends the replies to comments that are gone or settled by now. When
// nobody is left who asked, and nothing was sent, the turn is off.
func (p *Pass) voidGone(ctx context.Context, l *lease, d github.PullDetail) error {
	left := 0
	for _, e := range l.events {
		why, err := p.gone(ctx, l, e, d)
		if err != nil {
			return err
		}
		if why == "" {
			left++
			continue
		}
		if err := p.voidReplies(ctx, l, e, why); err != nil {
			return err
		}
	}
	begun, err := p.firstEffect(ctx, l)
	if err != nil || left > 0 || begun || len(l.events) == 0 {
		return err
	}
	return &work.CancelledError{Reason: "what it was to answer is gone"}
}

// gone says why an event needs no answer any more.
func (p *Pass) gone(ctx context.Context, l *lease, e work.Event, d github.PullDetail) (string, error) {
	id, err := strconv.ParseInt(e.Source, 10, 64)
	if err != nil {
		return "", nil //nolint:nilerr // not a comment's
	}
	switch e.Kind {
	case work.EventReview:
		t, ok := l.threads[e.ThreadTop]
		if ok && t.Resolved {
			return "its thread was resolved", nil
		}
		for _, c := range t.Comments {
			if c.ID == id {
				return "", nil
			}
		}
		return "the comment was deleted", nil
	case work.EventIssue:
		_, ok, err := l.remote.GitHub.Comment(ctx, l.remote.repo.Current, id)
		if err != nil || ok {
			return "", err
		}
		return "the comment was deleted", nil
	case work.EventSummary:
		for _, r := range d.Reviews {
			if r.ID == id {
				return "", nil
			}
		}
		return "the review was dismissed or deleted", nil
	case work.EventSource, work.EventCheck, work.EventConflict, work.EventHead, work.EventMerged, work.EventClosed, work.EventReopened, work.EventLabelled:
	}
	return "", nil
}

func (p *Pass) voidReplies(ctx context.Context, l *lease, e work.Event, why string) error {
	planned, err := p.turnActions(ctx, l)
	if err != nil {
		return err
	}
	for _, a := range planned {
		if a.Why != e.Key || a.State.Settled() {
			continue
		}
		if _, err := p.runner().Void(ctx, a, why); err != nil {
			return err
		}
	}
	return nil
}

func (p *Pass) turnActions(ctx context.Context, l *lease) (planned []work.Action, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		planned, err = tx.ListTurnActions(ctx, l.turn.ID)
		return err
	})
	return planned, err
}

func (p *Pass) itemPull(ctx context.Context, l *lease) (pull work.PullRequest, err error) {
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		var ok bool
		if pull, ok, err = tx.FindPullOfItem(ctx, l.item.ID); err == nil && !ok {
			err = fmt.Errorf("work item %d has no pull request", l.item.ID)
		}
		return err
	})
	return pull, err
}

func (p *Pass) plannedPush(ctx context.Context, l *lease) (work.Action, bool, error) {
	planned, err := p.turnActions(ctx, l)
	for _, a := range planned {
		if a.Kind == work.ActionPush && !a.State.Settled() {
			return a, true, err // a replayed one has a void one beside it
		}
	}
	return work.Action{}, false, err
}

// push brings the turn's commit to its branch. A head that somebody else moved
// meanwhile gets the commit replayed on top; theirs is never lost.
func (p *Pass) push(ctx context.Context, l *lease, a work.Action) error {
	if l.turn.Commit != "" && !l.remote.mirror().Has(ctx, l.turn.Commit) {
		return fmt.Errorf("the stored commit %s is missing from the mirror", l.turn.Commit)
	}
	_, err := p.runner().Apply(ctx, p.scope(l.remote), a)
	if _, ok := errors.AsType[*git.LeaseError](err); !ok {
		return err
	}
	return p.replay(ctx, l, a)
}

// replay puts the turn's commit on top of what somebody else pushed.
func (p *Pass) replay(ctx context.Context, l *lease, a work.Action) error {
	m := l.remote.mirror()
	heads, err := m.RemoteHeads(ctx, a.Target)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	head, ok := heads[a.Target]
	if !ok || l.turn.Kind.Start() {
		return &work.BlockedError{Reason: fmt.Sprintf("the branch %s is not as it was expected on the remote", a.Target), Hint: wayOn(l)}
	}
	if err := m.Fetch(ctx, head); err != nil {
		return err
	}
	if kept, err := m.IsAncestor(ctx, l.turn.Head, head); err != nil || !kept {
		return errors.Join(err, &work.SupersededError{Reason: "the branch was rewritten while the agent worked"})
	}
	re, err := m.Replay(ctx, l.turn.Commit, head)
	switch {
	case err != nil:
		return fmt.Errorf("replay on %s: %w", short(head), err)
	case re.Conflict:
		return &work.SupersededError{Reason: "somebody pushed a change that conflicts with it"}
	case re.Empty:
		_, err := p.runner().Void(ctx, a, "somebody pushed the same change")
		l.turn.Commit = ""
		return errors.Join(err, p.saveTurn(ctx, l))
	}
	if err := m.KeepTurn(ctx, l.turn.Key, re.OID); err != nil {
		return err
	}
	return p.pushReplayed(ctx, l, a, head, re.OID)
}

// pushReplayed stores the new commit and its lease before it is pushed.
func (p *Pass) pushReplayed(ctx context.Context, l *lease, a work.Action, head, oid string) error {
	l.turn.Commit = oid
	again := a
	again.ID, again.State, again.Sends = 0, work.ActionPlanned, 0
	again.Base, again.Head, again.PlannedAt = head, oid, p.Now()
	again.Token = work.PushToken(l.remote.Name, a.Target, head, l.turn.Key)
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if err := tx.SaveTurn(ctx, l.turn); err != nil {
			return err
		}
		if err := tx.MarkVoid(ctx, a.ID, "replayed on a newer head", p.Now()); err != nil {
			return err
		}
		var err error
		again, err = tx.AddAction(ctx, again)
		return err
	})
	if err != nil {
		return fmt.Errorf("store the replayed commit: %w", err)
	}
	_, err = p.runner().Apply(ctx, p.scope(l.remote), again)
	if _, ok := errors.AsType[*git.LeaseError](err); ok { // once more, from the next pass
		return &work.WaitError{Reason: "the branch keeps moving", Err: err}
	}
	return err
}

// apply sends what comes after the push, in its fixed order, each looked for
// first. A cosmetic action never fails a turn.
func (p *Pass) apply(ctx context.Context, l *lease) error {
	if l.resumed && l.threads == nil {
		if err := p.readAfresh(ctx, l); err != nil {
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

func (p *Pass) applyOne(ctx context.Context, l *lease, a work.Action) error {
	if a.Kind == work.ActionResolve {
		top, err := strconv.ParseInt(a.Target, 10, 64)
		if err == nil {
			a.Target = l.threads[top].NodeID
		}
		if a.Target == "" {
			_, err := p.runner().Void(ctx, a, "the thread is gone")
			return err
		}
	}
	_, err := p.runner().Apply(ctx, p.scope(l.remote), a)
	if err != nil && a.Need == work.NeedCosmetic && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "cosmetic action given up", "action_token", a.Token, "error", err)
		_, err = p.runner().Drop(ctx, a, err)
	}
	return err
}

// announcePull tells the issue about the pull request that the turn opened: a
// courtesy. It can only be planned once the number is known, and goes by what
// is stored: a pass may have died between the two.
func (p *Pass) announcePull(ctx context.Context, l *lease) error {
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
func (p *Pass) finish(ctx context.Context, l *lease) error {
	ctx = context.WithoutCancel(ctx)
	answer, violations := prompts.Decode(l.turn.Kind, l.turn.Answer, askedReplies(l.events))
	if len(violations) > 0 {
		return fmt.Errorf("decode the stored answer: %s", violations[0])
	}
	var opened *work.PullRequest
	if l.turn.Kind.Start() {
		var err error
		if opened, err = p.openedPull(ctx, l); err != nil {
			return err
		}
	}
	now := p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		if opened != nil {
			if _, err := tx.PutPull(ctx, *opened); err != nil {
				return err
			}
		}
		if err := p.closeItem(ctx, tx, l, answer); err != nil {
			return err
		}
		if err := tx.FinishTurnEvents(ctx, l.turn.ID, outcomeAnswered, now); err != nil {
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
	return nil
}

// closeItem stores what the turn leaves behind for the item's later turns.
func (p *Pass) closeItem(ctx context.Context, tx *store.Tx, l *lease, answer prompts.Answer) error {
	item := l.item
	item.Branch, item.UpdatedAt = l.turn.Branch, p.Now()
	if answer.DecisionSummary != "" {
		item.DecisionSummary = answer.DecisionSummary
	}
	if l.turn.Kind == work.KindDesignStart {
		item.Document = work.DocumentPath(item.Number, item.Title)
		item.TouchPaths = answer.TouchPaths
		item.Priority = designPriority(item, answer)
	}
	if err := tx.UpdateItem(ctx, item); err != nil {
		return err
	}
	to, reason, hint := work.StateAwaitingFeedback, "", ""
	if answer.BlockedReason != "" {
		to, reason, hint = work.StateBlocked, "the agent asks: "+answer.BlockedReason, "answer in a comment on the pull request"
	}
	err := tx.MoveItem(ctx, item.ID, []work.State{work.StateRunning, work.StateBlocked}, to, reason, hint, p.Now())
	if errors.Is(err, store.ErrStale) {
		return nil // merged or closed meanwhile: that stands
	}
	return err
}

// openedPull reads the pull request that the turn opened.
func (p *Pass) openedPull(ctx context.Context, l *lease) (*work.PullRequest, error) {
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
			return nil, fmt.Errorf("pull request #%d is not to be seen", number)
		}
		return &work.PullRequest{
			RepoID: l.turn.RepoID, ItemID: l.item.ID, Number: number, NodeID: d.NodeID, URL: d.URL, Title: d.Title, State: work.PullOpen,
			Branch: d.Head, HeadOID: d.HeadOID, Base: d.Base, BaseOID: d.BaseOID, Draft: d.Draft, UpdatedAt: d.UpdatedAt, CreatedAt: d.CreatedAt,
		}, nil
	}
	return nil, errors.New("the turn planned no pull request")
}

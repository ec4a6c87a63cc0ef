package turn

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/actions"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Apply sends the actions after the push in their fixed order and looks for each one's effect
// first. A cosmetic action never fails a turn.
func (p *Turns) Apply(ctx context.Context, l *env.Lease) error {
	if l.Resumed && l.Threads == nil {
		s, err := p.LastLook.read(ctx, l)
		if err != nil {
			return err
		}
		if err := p.LastLook.recheck(ctx, l, s); err != nil {
			return err
		}
	}
	if l.Looks == nil { // else Finalize has read and looked in this pass
		var err error
		if l.Planned, err = p.TurnActions(ctx, l); err != nil {
			return err
		}
		l.Looks = actions.Look(ctx, p.Scope(l.Repo), l.Planned...)
	}
	for i, a := range l.Planned {
		if overtaken(l, l.Planned) {
			break
		}
		if a.Kind == work.ActionPush || a.State.Settled() {
			continue
		}
		var err error
		if l.Planned[i], err = p.applyOne(ctx, l, a); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if err := p.announcePull(ctx, l, l.Planned); err != nil {
		return err
	}
	if err := p.afterReview(ctx, l, l.Planned); err != nil {
		return err
	}
	return p.Advance(ctx, l, work.StepApplied)
}

func (p *Turns) applyOne(ctx context.Context, l *env.Lease, a work.Action) (work.Action, error) {
	if a.Kind == work.ActionResolve {
		top, err := strconv.ParseInt(a.Target, 10, 64)
		if err == nil {
			a.Target = l.Threads[top].NodeID
		}
		if a.Target == "" {
			return p.Effects().Void(ctx, a, "the thread is gone")
		}
	}
	done, err := p.send(ctx, l, a)
	if err != nil && a.Need == work.NeedCosmetic && ctx.Err() == nil {
		if a.Kind == work.ActionResolve {
			if err := p.resolveLater(ctx, l, a); err != nil {
				return a, err
			}
		}
		p.Log.WarnContext(ctx, "cosmetic action dropped", p.Effects().LogAttrs(ctx, l.Repo.Row, a, "error", err)...)
		return p.Effects().Drop(ctx, a, err)
	}
	return done, err
}

// resolveLater has later passes resolve a thread: where rules demand resolved conversations, an open
// one keeps the pull request from being merged. The turn does not wait for it.
func (p *Turns) resolveLater(ctx context.Context, l *env.Lease, a work.Action) error {
	a = work.Action{
		RepoID: a.RepoID, ItemID: a.ItemID, Kind: work.ActionResolve, Need: work.NeedRequired, State: work.ActionPlanned, Number: a.Number, Target: a.Target,
		Token: work.NoticeToken(l.Repo.Row.Key(), a.Number, "resolve "+a.Token), PlannedAt: p.Now(), Why: a.Why,
	}
	a.NotBefore = a.PlannedAt.Add(p.Config.Runtime.RetryBase)
	return p.Store.Update(context.WithoutCancel(ctx), func(tx *store.Tx) error {
		return tx.PlanAction(ctx, a)
	})
}

// send applies an action in the name of its speaker.
func (p *Turns) send(ctx context.Context, l *env.Lease, a work.Action) (work.Action, error) {
	scope := p.scope(l)
	if env.SpeaksFor(a) == "" {
		return p.effect(ctx, l, scope, a)
	}
	pull, err := p.ItemPull(ctx, l)
	if err != nil {
		return a, err
	}
	scope, speaker, err := env.Speakers{Env: p.Env}.ScopeFor(ctx, scope, l.Repo, a, pull.Author)
	if err != nil {
		return a, err
	}
	a, err = p.Effects().Apply(ctx, scope, a)
	return a, speaker.ExplainRefusal(err)
}

// announcePull comments on the issue that the turn opened a pull request (cosmetic). The comment was planned with the
// record of its number.
func (p *Turns) announcePull(ctx context.Context, l *env.Lease, planned []work.Action) error {
	at := slices.IndexFunc(planned, func(a work.Action) bool {
		return a.Kind == work.ActionPullRequest && a.State == work.ActionApplied
	})
	if at < 0 || slices.ContainsFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionComment }) { // an earlier pass planned it
		return nil
	}
	a := announcement(l, planned[at])
	a.PlannedAt = p.Now()
	return p.applyNew(ctx, l, a, "the announcement")
}

// applyNew stores one more action of the turn, unless it is stored, and applies it.
func (p *Turns) applyNew(ctx context.Context, l *env.Lease, a work.Action, what string) error {
	var planned work.Action
	err := p.Store.UpdateIfNeeded(ctx, func(tx *store.Tx) (err error) {
		var known bool
		if planned, known, err = tx.GetAction(ctx, a.Token); err == nil && !known {
			planned, err = tx.AddAction(ctx, a)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("plan %s: %w", what, err)
	}
	_, err = p.applyOne(ctx, l, planned)
	return err
}

// announcement returns the comment about the pull request that pr opened.
func announcement(l *env.Lease, pr work.Action) work.Action {
	token, until := work.CommentToken(l.Turn.Key), "from now on"
	if l.Item.Flow.Document() {
		until = "until it is merged"
	}
	return work.Action{
		RepoID: l.Turn.RepoID, TurnID: l.Turn.ID, ItemID: l.Item.ID, Position: pr.Position + 1,
		Kind: work.ActionComment, Need: work.NeedCosmetic, Token: token, State: work.ActionPlanned, Number: l.Item.Number,
		Body: l.Repo.Mark(fmt.Sprintf("Opened #%s. Please comment there %s.", pr.ResultID, until), work.Marks{Token: token}),
		Why:  "link to the pull request",
	}
}

// Finish closes the turn in one transaction, once GitHub shows every required effect.
func (p *Turns) Finish(ctx context.Context, l *env.Lease) error {
	ctx = context.WithoutCancel(ctx)
	answer, err := storedAnswer(l.Turn)
	if err != nil {
		return err
	}
	f, err := p.facts(ctx, l)
	if err != nil {
		return err
	}
	end := change.EndTurn{Turn: l.Turn, To: work.StepDone, Outcome: work.OutcomeAnswered}
	if overtaken(l, f.planned) {
		end.Why, end.Outcome = "people edited or closed the pull request first", ""
	}
	changes := []change.Change{
		end,
		change.ItemResult{Item: resultOf(l, answer)},
		change.KeepSession{Turn: l.Turn},
	}
	if l.Turn.Kind.Start() {
		opened, err := p.openedPull(ctx, l, f.planned)
		if err != nil {
			return err
		}
		changes = append(changes, change.OpenPull{Pull: opened})
	}
	ends, asked, err := p.endOf(ctx, l, f.planned, answer)
	if err != nil {
		return err
	}
	changes = append(append(changes, ends...), p.answered(l, answer, f, asked))
	replan, err := p.replan(ctx, l)
	if err != nil {
		return err
	}
	changes = append(changes, replan...)
	if err := p.apply(ctx, l, changes...); err != nil {
		return fmt.Errorf("close turn %s: %w", l.Turn.Key, err)
	}
	if l.Turn.Kind.Start() {
		p.LogComments(ctx, l, "issue comments handled", work.NewIssueComments(l.Events, f.followup.EventCursor))
	}
	return nil
}

// resultOf returns the item with the turn's results for its later turns.
func resultOf(l *env.Lease, answer prompts.Answer) work.Item {
	item := l.Item
	item.Branch = l.Turn.Branch
	if answer.DecisionSummary != "" {
		item.DecisionSummary = answer.DecisionSummary
	}
	if l.Turn.Kind.Document() {
		if l.Turn.Commit != "" { // else the branch has it, perhaps under the name of an older title
			item.Document = documentPath(l, "")
		}
	}
	if l.Turn.Kind == work.KindDesignStart {
		item.TouchPaths = answer.TouchPaths
		item.Priority = designPriority(item, answer)
	}
	return item
}

// answered returns the move of an answered turn's item. asked is whether the reviews stop and
// report the agent's question.
func (p *Turns) answered(l *env.Lease, answer prompts.Answer, f facts, asked bool) change.AfterTurn {
	c := change.AfterTurn{Move: work.Move{Item: l.Item.ID, Cause: work.CauseAnswered, To: work.StateAwaitingFeedback}}
	if !l.IssueAt.IsZero() {
		c.Labels = map[int][]string{l.Item.Number: l.Issue.Labels}
	}
	c.Heard = c.Move // a comment may be the answer: the next turn reads it and asks again if not
	switch why := whyStillRed(l, answer, f.planned); {
	case answer.BlockedReason != "" && !asked:
		c.Reason, c.Asked = work.Reason{Kind: work.WhyQuestion, Text: answer.BlockedReason}, l.Turn.Key
	case answer.BlockedReason == "" && !why.None():
		c.Reason = why
	default:
		if !l.Turn.Kind.Start() { // answering comments does not end a stop of the reviews
			c.Reviews = f.pull.ID
		}
		return c
	}
	c.Cause, c.To, c.CommentToken = work.CauseAsked, work.StateBlocked, stopComment(l, f.planned)
	return c
}

// stopComment returns the token of the turn's general comment, which says why the item is stopped,
// so that no second comment does. A start turn has none.
func stopComment(l *env.Lease, planned []work.Action) string {
	for _, a := range slices.Backward(planned) {
		if a.Kind == work.ActionComment && a.State == work.ActionApplied && !l.Turn.Kind.Start() {
			return a.Token
		}
	}
	return ""
}

// openedPull returns the pull request that the turn opened.
func (p *Turns) openedPull(ctx context.Context, l *env.Lease, planned []work.Action) (work.PullRequest, error) {
	at := slices.IndexFunc(planned, func(a work.Action) bool { return a.Kind == work.ActionPullRequest })
	if at < 0 {
		return work.PullRequest{}, errors.New("the turn planned no pull request")
	}
	d := l.Opened
	if d.Number == 0 { // another pass opened it, or the answer was lost
		var err error
		if d, err = readOpened(ctx, l, planned[at]); err != nil {
			return work.PullRequest{}, err
		}
	}
	return work.PullRequest{
		RepoID: l.Turn.RepoID, ItemID: l.Item.ID, Number: d.Number, NodeID: d.NodeID, URL: d.URL, Title: d.Title, State: d.State,
		Branch: d.Head, HeadOID: d.HeadOID, Base: d.Base, Draft: d.Draft, UpdatedAt: d.UpdatedAt, CreatedAt: d.CreatedAt,
	}, nil
}

func readOpened(ctx context.Context, l *env.Lease, opened work.Action) (github.Pull, error) {
	number, err := strconv.Atoi(opened.ResultID)
	if err != nil {
		return github.Pull{}, fmt.Errorf("read the number of the pull request: %w", err)
	}
	d, ok, err := l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, number)
	if err != nil {
		return github.Pull{}, fmt.Errorf("read pull request #%d: %w", number, err)
	}
	if !ok {
		return github.Pull{}, fmt.Errorf("pull request #%d is not visible", number)
	}
	return d, nil
}

// A push that the remote refuses (rules, scopes, permissions, hooks) has no effect. The turn is
// parked with its answer. Once a person has removed the cause, the same commit is pushed. If people
// commented in between, the same commit is still pushed first, because a comment may only say "try
// again". If the remote refuses it again, the turn is superseded and a new turn answers the
// comments.

// unlessRejected returns the error of a push. If the remote refused it, the push counts as never
// sent.
func (p *Turns) unlessRejected(ctx context.Context, l *env.Lease, a work.Action, err error) error {
	rejected, ok := errors.AsType[*git.RejectedError](err)
	if !ok {
		return err
	}
	if seen, lookErr := p.refused(ctx, l, a); seen || lookErr != nil {
		return lookErr
	}
	said, readErr := p.saidAfter(ctx, l, a.SentAt)
	switch {
	case readErr != nil:
		return errors.Join(err, readErr)
	case said:
		return &work.SupersededError{Reason: "its push was refused: " + rejected.Reason}
	}
	return err
}

// saidAfter reports whether people commented on the pull request since the last try of the turn's
// push. A start has no pull request, and takeInIssueComments knows what was said on the issue.
func (p *Turns) saidAfter(ctx context.Context, l *env.Lease, tried time.Time) (said bool, err error) {
	if l.Turn.Kind.Start() || tried.IsZero() {
		return false, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		waiting, err := tx.ListPendingComments(ctx, l.Turn.RepoID, l.Item.ID)
		said = slices.ContainsFunc(waiting, func(e work.Event) bool { return e.Kind != work.EventSource && e.SeenAt.After(tried) })
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read comments since the last push: %w", err)
	}
	return said, nil
}

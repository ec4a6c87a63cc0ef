package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
	"github.com/mergexo/gh-mergexo/tick/tell"
)

// claim applies the changes of the plans and claims their turns, as many as there are free slots.
// Each claim is a compare-and-set: a turn that another pass claimed first is skipped.
func (p *Pass) claim(ctx context.Context, plans []plan.Plan, running int) ([]*env.Lease, error) {
	for i, plan := range plans {
		err := p.apply(ctx, plan)
		if errors.Is(err, store.ErrTaken) {
			p.Log.DebugContext(ctx, "another pass plans for a repository now", "repo_full_name", plan.Repo.Name.FullName())
			plans[i].Decisions = nil
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	most := min(p.maxTurns()-running, p.Day.Left)
	line := order(plans)
	if len(line) > 0 && most > 0 {
		if err := prepare(ctx, p, line[0]); err != nil {
			return nil, err
		}
	}
	var leases []*env.Lease
	for _, planned := range line {
		if len(leases) >= most {
			break
		}
		if !p.Startable(ctx, planned.Item.RepoID, planned.Kind, planned.Reviewer) {
			continue
		}
		l, taken, err := p.claimTurn(ctx, planned)
		if err != nil {
			return leases, err
		}
		if !taken {
			break
		}
		if l != nil {
			leases = append(leases, l)
		}
	}
	return leases, nil
}

// prepare runs Preflight while the first turn's agent and sandbox are tried. Startable reports that
// trial's error.
func prepare(ctx context.Context, p *Pass, first plan.Turn) error {
	var trial sync.WaitGroup
	row := p.RemoteByID(first.Item.RepoID).Row
	trial.Go(func() { _, _ = p.Hire(ctx, row, first.Kind, first.Reviewer) })
	defer trial.Wait()
	return p.Preflight(ctx)
}

func (p *Pass) maxTurns() int {
	if p.MaxTurns > 0 {
		return min(p.MaxTurns, p.Config.Runtime.MaxTurnsPerPass)
	}
	return p.Config.Runtime.MaxTurnsPerPass
}

// apply stores a plan's changes and logs new facts about reviews.
func (p *Pass) apply(ctx context.Context, made plan.Plan) error {
	ctx = store.Under(ctx, p.RemoteByID(made.Repo.ID).Planning())
	news, err := p.changes().Apply(ctx, made.Repo, made.Changes())
	if err == nil {
		p.logReviews(ctx, made.Repo, news)
	}
	return err
}

func (p *Pass) changes() change.Applier {
	return change.Applier{Store: p.Store, Show: p.notices, Now: p.Now}
}

// logReviews logs new facts about reviews after they are stored.
func (p *Pass) logReviews(ctx context.Context, repo work.Repo, news []store.ReviewLog) {
	r := p.RemoteByID(repo.ID)
	for _, n := range news {
		tell.LogReview(ctx, p.Log, n, "repo_full_name", r.Name.FullName(), "work_item_id", n.ItemID, "pr_number", n.Number)
	}
}

// claimTurn takes a slot and claims the turn. taken is false without a free slot, or if the day's
// budgets are spent. The lease is nil if another pass has the turn.
func (p *Pass) claimTurn(ctx context.Context, planned plan.Turn) (l *env.Lease, taken bool, err error) {
	r := p.RemoteByID(planned.Item.RepoID)
	s, err := p.freeSlot(p.knownSlot(ctx, planned))
	if err != nil || s == nil {
		return nil, false, err
	}
	if ok, err := p.TryTurn(ctx, work.Turn{ItemID: planned.Item.ID}, s); err != nil || !ok {
		s.Release()
		return nil, true, err
	}
	claim := &change.Claim{Item: planned.Item, Waiting: planned.Events, Trigger: planned.Trigger, Turn: p.newTurn(planned, s.K), Limits: p.Config.RoadmapLimits(r.Name), Budgets: p.Config.Runtime.Budgets}
	news, err := p.changes().Apply(store.Under(ctx, r.Planning()), r.Row, []change.Change{claim})
	l = &env.Lease{Slot: s, Repo: r, Item: planned.Item, Turn: claim.Claimed, Events: claim.Events}
	if err == nil {
		err = s.Announce(p.holderOf(l))
	}
	if err != nil {
		s.Release()
		if spent, ok := errors.AsType[*change.SpentError](err); ok {
			p.Day = spent.Day
			return nil, false, nil
		}
		if errors.Is(err, store.ErrStale) || errors.Is(err, store.ErrTaken) {
			return nil, true, nil
		}
		return nil, false, fmt.Errorf("begin %s on %s: %w", planned.Kind, work.Ref(r.Name, planned.Number), err)
	}
	p.Held[s.K] = p.holderOf(l)
	p.Changed(l, "claimed", planned.Reason)
	p.logReviews(ctx, r.Row, news)
	if planned.Item.State == work.StateAwaitingIssueFollowup {
		p.turns.LogComments(ctx, l, "work resumes", planned.Unheard)
	}
	return l, true, nil
}

func (p *Pass) newTurn(planned plan.Turn, k int) work.Turn {
	r := p.RemoteByID(planned.Item.RepoID)
	keys := work.EventKeys(planned.Events)
	if planned.Trigger.Key != "" {
		keys = append(keys, planned.Trigger.Key)
	}
	slices.Sort(keys)
	now := p.Now()
	return work.Turn{
		RepoID: planned.Item.RepoID, ItemID: planned.Item.ID, Number: planned.Number, Kind: planned.Kind, Reviewer: planned.Reviewer,
		Key:  work.TurnKey(r.Row.Key(), planned.Number, planned.Kind, planned.Head, keys),
		Step: work.StepClaimed, Slot: k, Reason: planned.Reason, Branch: planned.Branch, Base: planned.Base, Head: planned.Head,
		EventKeys: keys, ClaimedAt: now, UpdatedAt: now, Epoch: store.NewEpoch(),
	}
}

// knownSlot returns the slot of the item's agent session, because providers may find sessions by
// directory; -1: none.
func (p *Pass) knownSlot(ctx context.Context, planned plan.Turn) int {
	r := p.RemoteByID(planned.Item.RepoID)
	a, _, err := p.AgentFor(ctx, r.Name, planned.Kind, planned.Reviewer)
	if err != nil {
		return -1
	}
	known := -1
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		_, k, ok, err := tx.GetSession(ctx, store.SessionKey{ItemID: planned.Item.ID, Agent: a.Name, Role: work.Turn{Kind: planned.Kind, Reviewer: planned.Reviewer}.Role()})
		if ok {
			known = k
		}
		return err
	})
	if err != nil {
		return -1
	}
	return known
}

func (p *Pass) holderOf(l *env.Lease) work.Holder {
	return work.Holder{Repo: l.Repo.Name.String(), Number: l.Turn.Number, Issue: l.Item.Number, Turn: l.Turn.Key, Since: p.Local()}
}

// dropSkippedHosts releases the leases of turns in repositories that this pass skips.
func (p *Pass) dropSkippedHosts(leases []*env.Lease) (kept []*env.Lease) {
	for _, l := range leases {
		if p.Accounts.RepoSkipped(l.Repo.Name) == nil {
			kept = append(kept, l)
			continue
		}
		l.Release()
	}
	return kept
}

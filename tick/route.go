package tick

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// findBusy reads where there is something to decide or to send, and whether everything is paused.
func (p *Pass) findBusy(ctx context.Context) (halted bool, err error) {
	var fleet store.Fleet
	if p.busy, fleet, err = p.loader.Busy(ctx, p.All); err != nil {
		return false, fmt.Errorf("find out where there is something to decide: %w", err)
	}
	_, halted = p.HaltedBy(ctx, func() (store.Fleet, error) { return fleet, nil })
	return halted, nil
}

// route plans every ready repository that findBusy found. If its ingest is late or failed, it plans with the
// stored data.
func (p *Pass) route(ctx context.Context, ready []*env.Repo, rep *env.Report) ([]plan.Plan, error) {
	busy := p.busy
	if len(busy) == 0 && len(p.Config.Notify) == 0 { // a spent budget is told also if nothing waits for it
		return nil, nil
	}
	p.busy = nil // what is decided makes more to send
	var plans []plan.Plan
	for _, r := range ready {
		if !busy[r.Row.ID] {
			continue
		}
		var made plan.Plan
		err := p.ContainRepo(ctx, "plan", r, rep, func() error {
			v, err := p.loader.View(ctx, r)
			if err == nil {
				made = plan.For(v)
			}
			return err
		})
		if _, broken := errors.AsType[*work.PanicError](err); broken {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", r.Name.FullName(), err)
		}
		p.reportPanics(ctx, r, made, rep)
		plans = append(plans, made)
	}
	if len(plans) == 0 {
		if err := p.loader.ReadDay(ctx); err != nil {
			return nil, fmt.Errorf("read what was spent today: %w", err)
		}
	}
	return plans, nil
}

// reportPanics logs why items could not be planned, and prints those that this plan stops.
func (p *Pass) reportPanics(ctx context.Context, r *env.Repo, made plan.Plan, rep *env.Report) {
	for _, broken := range made.Panics {
		p.LogPanic(ctx, r, broken)
	}
	for _, m := range plan.Of[change.Move](made) {
		if m.Reason.Kind == work.WhyPanic {
			rep.Repo(p.Config.Called(r.Name), func(x *env.RepoReport) {
				x.Warnings = append(x.Warnings, fmt.Sprintf("#%d is stopped: %s", m.Says.Number, m.Says.Reason))
			})
		}
	}
}

// chooseMerges notes the merges that plans chose.
func (p *Pass) chooseMerges(plans []plan.Plan) {
	for _, made := range plans {
		for _, m := range plan.Of[change.Merge](made) {
			p.chosen[made.Repo.ID] = append(p.chosen[made.Repo.ID], m.Action.Token)
		}
	}
}

// How long a pass tries for the repositories that other machines planned for while it read.
const (
	lookAgainFor   = 5 * time.Second
	lookAgainFirst = 100 * time.Millisecond // the first wait; each further one is twice as long
	lookAgainLast  = time.Second
)

// lookAgain plans for repositories for which other machines planned until now: they may have more to do
// there than they have slots, and machines with one schedule begin their passes in the same second. It
// waits only while this machine has a free slot and there is something to decide. What it plans with is
// what the others stored: they have asked GitHub.
func (p *Pass) lookAgain(ctx context.Context, elsewhere []*env.Repo, running int, rep *env.Report) (plans []plan.Plan, leases []*env.Lease, err error) {
	elsewhere = slices.DeleteFunc(elsewhere, func(r *env.Repo) bool {
		return r.Removed || r.Row.NodeID == "" || p.Only != nil && !p.Only.Equal(r.Name) || p.Accounts.RepoSkipped(r.Name) != nil
	})
	wait := lookAgainFirst
	for rest := lookAgainFor; rest > 0 && len(elsewhere) > 0; rest, wait = rest-wait, min(2*wait, lookAgainLast) {
		if free, err := p.hasSlot(running + len(leases)); err != nil || !free {
			return plans, leases, err
		}
		busy, _, err := p.loader.Busy(ctx, elsewhere)
		if err != nil {
			return plans, leases, err
		}
		some := slices.DeleteFunc(elsewhere, func(r *env.Repo) bool { return !busy[r.Row.ID] })
		left, err := p.LockPlanning(ctx, some)
		if err != nil {
			return plans, leases, err
		}
		if ready := slices.DeleteFunc(slices.Clone(some), func(r *env.Repo) bool { return slices.Contains(left, r) }); len(ready) > 0 {
			made, more, err := p.planStored(ctx, ready, running+len(leases), rep)
			plans, leases = append(plans, made...), append(leases, more...)
			if err != nil {
				return plans, leases, err
			}
		}
		if elsewhere = left; len(elsewhere) > 0 {
			select {
			case <-ctx.Done():
				return plans, leases, ctx.Err()
			case <-time.After(wait):
			}
		}
	}
	return plans, leases, nil
}

// planStored plans for repositories with what is stored, and claims turns.
func (p *Pass) planStored(ctx context.Context, repos []*env.Repo, running int, rep *env.Report) ([]plan.Plan, []*env.Lease, error) {
	for _, r := range repos {
		r.Ready = true
	}
	if err := p.ReadHeld(ctx); err != nil { // turns that others have claimed until now
		return nil, nil, err
	}
	if _, err := p.findBusy(ctx); err != nil {
		return nil, nil, err
	}
	plans, err := p.route(ctx, repos, rep)
	if err != nil {
		return nil, nil, err
	}
	p.chooseMerges(plans)
	leases, err := p.claim(ctx, plans, running)
	return plans, leases, err
}

// hasSlot reports whether one more turn may start.
func (p *Pass) hasSlot(running int) (bool, error) {
	if running >= p.maxTurns() || p.Day.Left <= 0 {
		return false, nil
	}
	s, err := p.freeSlot(-1)
	if s != nil {
		s.Release()
	}
	return s != nil, err
}

// reposToSend returns the repositories that may have something to send, and those that the config
// no longer names. If that cannot be read, it returns all.
func reposToSend(ctx context.Context, p *Pass) []*env.Repo {
	all, busy := p.All, p.busy
	if busy == nil {
		var err error
		if busy, _, err = p.loader.Busy(ctx, all); err != nil {
			p.Log.WarnContext(ctx, "could not list what is to be sent", "error", err)
			return slices.Concat(all, p.Removed)
		}
	}
	some := slices.DeleteFunc(slices.Clone(all), func(r *env.Repo) bool { return !busy[r.Row.ID] })
	return slices.Concat(some, p.Removed)
}

// previewNotices adds to a plan the comments that the read found due, and the labels that a pass would
// create in its repository. If GitHub does not list labels, it adds none.
func (p *Pass) previewNotices(ctx context.Context, made *plan.Plan) error {
	r := p.RemoteByID(made.Repo.ID)
	due, err := p.notices.DueNotices(ctx, r)
	if err != nil {
		return err
	}
	for _, a := range due {
		if a.Kind == work.ActionComment {
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: change.Line{Item: a.ItemID, Number: a.Number, What: "notice", Reason: a.Why}}})
		}
		if a.Kind != work.ActionRepoLabels {
			continue
		}
		present, err := r.GitHub.RepoLabels(ctx, r.Row.Current)
		if err != nil {
			p.Log.WarnContext(ctx, "labels not read", "repo_full_name", r.Name.FullName(), "error", err)
			continue
		}
		missing := slices.DeleteFunc(strings.Split(a.Target, ","), func(name string) bool { return work.HasLabel(present, name) })
		if len(missing) > 0 {
			lacks := change.Line{What: "labels", Reason: "the repository lacks " + strings.Join(missing, ", ")}
			made.Decisions = append(made.Decisions, plan.Wait{Words: change.Words{Says: lacks}})
		}
	}
	return nil
}

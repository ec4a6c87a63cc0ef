package env

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
)

// Who works on what: within a machine, files say it, tick.lock and the slots among them. Where other
// machines have the same database, each lock is also one of the pass's session there, which ends with
// the session.

// TryNotices takes the lock for sending a repository's notices; false: another pass has it.
func (p *Env) TryNotices(ctx context.Context, r work.Repo) (unlock func(), ok bool, err error) {
	return p.try(ctx, p.Dirs.NoticesLock(r), repoLock("notices", r))
}

// TryMerging takes the lock for merging a repository's pull requests; false: another pass has it.
func (p *Env) TryMerging(ctx context.Context, r work.Repo) (unlock func(), ok bool, err error) {
	return p.try(ctx, p.Dirs.MergeLock(r), repoLock("merging", r))
}

// TryNotify takes the lock for sending messages outside GitHub; false: another pass has it.
func (p *Env) TryNotify(ctx context.Context) (unlock func(), ok bool, err error) {
	return p.try(ctx, p.Dirs.NotifyLock(), store.LockOf("notify"))
}

func (p *Env) try(ctx context.Context, file string, fleet store.Lock) (unlock func(), ok bool, err error) {
	here, ok, err := folder.TryLock(file)
	if err != nil || !ok {
		return nil, false, err
	}
	got, err := p.Session.TryLock(ctx, fleet)
	if err != nil || len(got) == 0 {
		here.Unlock()
		return nil, false, err
	}
	return func() { p.Session.Unlock(ctx, fleet); here.Unlock() }, true, nil
}

// preferFor is how long other machines leave a repository to the one that last claimed a turn there,
// which has its mirror and its agents' sessions.
const preferFor = 5 * time.Minute

// LeftTo returns until when passes of a machine leave a repository to another one, which lately claimed a turn
// there and has a slot for another one, if it has as many as this machine; false: they do not. busy is how many
// turns each machine has begun.
func LeftTo(r work.Repo, here string, workers int, busy map[string]int, now time.Time) (until time.Time, left bool) {
	until = r.ServedAt.Add(preferFor)
	return until, r.Machine != "" && r.Machine != here && now.Sub(r.ServedAt).Abs() < preferFor && busy[r.Machine] < workers
}

// Mine reports whether this pass plans for a repository: no other machine does.
func (p *Env) Mine(repoID int64) bool {
	p.plansMu.Lock()
	defer p.plansMu.Unlock()
	return p.Session == nil && p.planned == nil || p.planned[repoID]
}

// LockPreferred is LockPlanning for all repositories but those that are left to another machine: one that
// claimed a turn there lately, and has a slot for another one, if it has as many as this machine.
func (p *Env) LockPreferred(ctx context.Context) (elsewhere []*Repo, err error) {
	ours, _, err := p.preferred(ctx)
	if err != nil {
		return nil, err
	}
	return p.LockPlanning(ctx, ours)
}

// preferred returns the repositories that are not left to another machine, and those that are.
func (p *Env) preferred(ctx context.Context) (ours, left []*Repo, err error) {
	now, busy := p.Now(), map[string]int{}
	others := func(r *Repo) bool {
		_, left := LeftTo(r.Row, p.Machine.Name, p.Config.Runtime.Workers, busy, now)
		return left
	}
	all := slices.Concat(p.All, p.Removed)
	if p.Store.Shared() && slices.ContainsFunc(all, others) {
		err := p.Store.View(ctx, func(tx *store.Tx) (err error) {
			busy, err = tx.CountUnfinished(ctx)
			return err
		})
		if err != nil {
			return nil, nil, err
		}
	}
	for _, r := range all {
		if others(r) {
			left = append(left, r)
		} else {
			ours = append(ours, r)
		}
	}
	return ours, left, nil
}

// PreviewPreferred is LockPreferred for a dry run, which takes no locks. It returns the repositories that
// are left to another machine, and until when.
func (p *Env) PreviewPreferred(ctx context.Context) (left map[*Repo]time.Time, err error) {
	if !p.Store.Shared() {
		return nil, nil
	}
	ours, others, err := p.preferred(ctx)
	left, p.planned = map[*Repo]time.Time{}, map[int64]bool{}
	for _, r := range ours {
		p.planned[r.Row.ID] = true
	}
	for _, r := range others {
		left[r] = r.Row.ServedAt.Add(preferFor)
	}
	return left, err
}

// LockPlanning takes the planning of repositories with one statement. Then it reads their rows again,
// because another machine may have read, planned or claimed until now: what a pass knows of a repository
// that it plans for was read under the lock. It returns the repositories that other machines plan for.
func (p *Env) LockPlanning(ctx context.Context, repos []*Repo) (elsewhere []*Repo, err error) {
	if p.Session == nil {
		return nil, nil
	}
	got, elsewhere, err := p.tryPlanning(ctx, repos)
	if err != nil || len(got) == 0 {
		return elsewhere, err
	}
	return elsewhere, p.Store.View(ctx, func(tx *store.Tx) error {
		rows, err := tx.ListRepos(ctx)
		for _, row := range rows {
			if r := got[row.ID]; r != nil {
				row.Name = r.Row.Name // as this machine's config spells it
				r.Row = row
			}
		}
		return err
	})
}

// tryPlanning takes the planning of repositories. It returns those that it got, by row, and the others.
func (p *Env) tryPlanning(ctx context.Context, repos []*Repo) (got map[int64]*Repo, elsewhere []*Repo, err error) {
	wanted := make([]store.Lock, len(repos))
	for i, r := range repos {
		wanted[i] = repoLock("planning", r.Row)
	}
	locks, err := p.Session.TryLock(ctx, wanted...)
	if err != nil {
		return nil, nil, err
	}
	p.plansMu.Lock()
	defer p.plansMu.Unlock()
	if p.planned == nil {
		p.planned = map[int64]bool{}
	}
	p.planning, got = append(p.planning, locks...), map[int64]*Repo{}
	for i, r := range repos {
		if !slices.Contains(locks, wanted[i]) {
			p.Log.DebugContext(ctx, "another machine plans for a repository", "repo_full_name", r.Name.FullName())
			elsewhere = append(elsewhere, r)
			continue
		}
		got[r.Row.ID], p.planned[r.Row.ID] = r, true
	}
	return got, elsewhere, nil
}

// PlanReplaced takes the planning of a repository that got another row in this pass. If another machine
// has it, this pass does not plan for it.
func (p *Env) PlanReplaced(ctx context.Context, r *Repo) error {
	if p.Session == nil || p.Mine(r.Row.ID) {
		return nil
	}
	_, _, err := p.tryPlanning(ctx, []*Repo{r})
	return err
}

// UnlockPlanning lets other machines plan.
func (p *Env) UnlockPlanning(ctx context.Context) {
	p.plansMu.Lock()
	locks := p.planning
	p.planning = nil
	p.plansMu.Unlock()
	p.Session.Unlock(ctx, locks...)
}

func repoLock(kind string, r work.Repo) store.Lock {
	return store.LockOf(kind, strconv.FormatInt(r.ID, 10))
}

// TryTurn takes the lock for working on a turn in the held slot; false: a pass of another machine
// works on it. The lease's Release releases it.
func (p *Env) TryTurn(ctx context.Context, t work.Turn, s *folder.Slot) (ok bool, err error) {
	lock := store.TurnLock(t)
	got, err := p.Session.TryLock(ctx, lock)
	if err == nil && len(got) > 0 {
		s.Then(func() { p.Session.Unlock(ctx, lock) })
	}
	return len(got) > 0, err
}

// ReadHeld reads what passes work on: those of this machine by its slots, those of others by the locks
// of their sessions.
func (p *Env) ReadHeld(ctx context.Context) (err error) {
	if p.Held, err = p.Dirs.HeldSlots(); err != nil {
		return err
	}
	p.elsewhere, err = p.Session.Others(ctx)
	return err
}

// InFlight reports whether a pass works on the turn.
func (p *Env) InFlight(t work.Turn) bool {
	for _, h := range p.Held {
		if h.Turn == t.Key {
			return true
		}
	}
	return p.elsewhere.Has(store.TurnLock(t))
}

// InFlightElsewhere returns the unfinished turns of a repository on which passes of other machines
// work.
func (p *Env) InFlightElsewhere(ctx context.Context, tx *store.Tx, r *Repo) (all []work.Holder, err error) {
	if p.elsewhere.Count() == 0 {
		return nil, nil
	}
	unfinished, err := tx.ListUnfinishedTurns(ctx)
	for _, t := range unfinished {
		if err != nil {
			return nil, err
		}
		if t.RepoID != r.Row.ID || !p.elsewhere.Has(store.TurnLock(t)) {
			continue
		}
		var item work.Item
		item, err = tx.GetItem(ctx, t.ItemID)
		all = append(all, work.Holder{Repo: r.Name.String(), Number: t.Number, Issue: item.Number, Turn: t.Key})
	}
	return all, err
}

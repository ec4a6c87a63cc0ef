package tick

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/git"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// restore gives the turn a clean checkout at exactly its commit. The remote,
// not GitHub's API, says what the head is: the API may lag a push.
func (p *Restorer) restore(ctx context.Context, l *lease) error {
	if err := p.looks.reload(ctx, l); err != nil {
		return err
	}
	if err := p.looks.notTaken(ctx, l); err != nil {
		return err
	}
	m := l.remote.mirror()
	if err := m.Ensure(ctx); err != nil {
		return fmt.Errorf("prepare the mirror: %w", err)
	}
	if err := p.readBack(ctx, l); err != nil || l.turn.Step != work.StepClaimed {
		return err
	}
	if err := p.looks.mayRun(ctx, l); err != nil { // only now: an answer that is there counts, whatever it cost
		return err
	}
	if _, err := m.Signer(); err != nil { // before an agent is paid for what cannot be committed
		return err
	}
	known, find := l.turn.Head, p.findHead
	if l.turn.Kind.Start() {
		find = p.findBase
	}
	if err := find(ctx, l); err != nil {
		return err
	}
	if err := m.Fetch(ctx, l.turn.Head); err != nil {
		return fmt.Errorf("fetch %s: %w", l.turn.Head, err)
	}
	if err := p.looks.notRewritten(ctx, l); err != nil {
		l.turn.Head = known // it never worked on the other
		return err
	}
	err := p.saveTurn(ctx, l)
	if err != nil {
		return err
	}
	if l.carried, err = p.carried(ctx, l, l.turn.Base, l.turn.Head); err != nil {
		return fmt.Errorf("look for earlier commits of ours: %w", err)
	}
	if err := p.briefs.prepareFix(ctx, l); err != nil {
		return err
	}
	place, err := p.Dirs.takePlace(l.remote.repo, l.slot.k, func(dir string) bool { return p.occupied(ctx, dir) })
	if err != nil {
		return err
	}
	l.place = place
	err = m.Restore(ctx, git.Restore{
		Dir: place.dir, Index: place.index, Commit: l.turn.Head, Branch: l.turn.Branch, Base: l.turn.Base,
		Ignored: ignored(l.remote.Settings), Merge: l.merge,
	})
	if err != nil {
		return fmt.Errorf("restore the checkout: %w", err)
	}
	p.changed(l, "restored", work.Short(l.turn.Head))
	return nil
}

func ignored(r config.Repo) git.Ignored {
	if r.KeepIgnored {
		return git.KeepIgnored
	}
	return git.RemoveIgnored
}

// reload reads the turn's item and events again: the world may have moved on
// since the turn was claimed, above all when it is resumed.
func (p *Looks) reload(ctx context.Context, l *lease) error {
	return p.Store.View(ctx, func(tx *store.Tx) error {
		item, err := tx.GetItem(ctx, l.item.ID)
		if err != nil {
			return err
		}
		l.item = item
		if !item.State.Open() {
			return &work.CancelledError{Reason: "the work item is " + string(item.State)}
		}
		l.events, err = turnEvents(ctx, tx, l.turn)
		l.events = append(l.events, unread(l.turn, l.events)...)
		return err
	})
}

// turnEvents are the events that a turn answers, oldest first.
func turnEvents(ctx context.Context, tx *store.Tx, t work.Turn) ([]work.Event, error) {
	all, err := tx.ListItemEvents(ctx, t.ItemID)
	return slices.DeleteFunc(all, func(e work.Event) bool { return e.TurnID != t.ID }), err
}

// unread are the events of a turn that was found again in its journal and that
// nobody can read any more: their comments were edited or deleted before the
// new database saw them. Their keys say enough to look at what became of them.
func unread(t work.Turn, known []work.Event) (missing []work.Event) {
	if t.Step == work.StepClaimed {
		return nil
	}
	for _, key := range t.EventKeys {
		e, ok := work.EventOfKey(key)
		if ok && !slices.ContainsFunc(known, func(k work.Event) bool { return k.Key == key }) {
			missing = append(missing, e)
		}
	}
	return missing
}

// findBase chooses where a new branch begins and what it is called. Branches
// of earlier starts stay as they are: history is never rewritten.
func (p *Restorer) findBase(ctx context.Context, l *lease) error {
	heads, err := l.remote.mirror().RemoteHeads(ctx, l.turn.Branch)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	if l.turn.Branch != "" && l.turn.Head != "" { // chosen by an earlier attempt of this turn
		if head, pushed := heads[l.turn.Branch]; pushed {
			_, err = p.adoptBranch(ctx, l, l.turn.Branch, head, l.turn.Base)
		}
		return err
	}
	repo, err := l.remote.GitHub.Repository(ctx, l.remote.repo.Current)
	if err != nil {
		return fmt.Errorf("read the default branch: %w", err)
	}
	head, ok := heads[repo.DefaultBranch]
	if !ok {
		return &work.BlockedError{
			Reason: fmt.Sprintf("the repository has no commit on its default branch %s", repo.DefaultBranch),
			Hint:   "push a first commit, then set the label again",
		}
	}
	taken, adopted, err := p.earlierBranches(ctx, l, heads, repo.DefaultBranch)
	if err != nil || adopted {
		return err
	}
	l.turn.Base, l.turn.Head = repo.DefaultBranch, head
	return p.nameBranch(ctx, l, heads, taken)
}

// earlierBranches counts the branches of earlier starts, or goes on on the one
// that this start pushed before its state folder was lost.
func (p *Restorer) earlierBranches(ctx context.Context, l *lease, heads map[string]string, base string) (n int, adopted bool, err error) {
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		if !strings.HasPrefix(branch, work.BranchPrefix(l.item.Flow, l.item.Number)) {
			continue
		}
		n++
		if used, err := p.hadPull(ctx, l, branch); err != nil {
			return n, false, err
		} else if used {
			continue
		}
		if adopted, err := p.adoptBranch(ctx, l, branch, heads[branch], base); adopted || err != nil {
			return n, adopted, err
		}
	}
	return n, false, nil
}

// nameBranch finds a name that no branch has, and that no pull request ever
// had: a branch may have been deleted since, and its pull request would be
// taken for the one to be opened.
func (p *Restorer) nameBranch(ctx context.Context, l *lease, heads map[string]string, taken int) error {
	for ; ; taken++ {
		name := work.BranchName(l.item.Flow, l.item.Number, l.item.Title, taken)
		if heads[name] != "" || within(heads, name) {
			continue
		}
		if used, err := p.hadPull(ctx, l, name); err != nil {
			return err
		} else if !used {
			l.turn.Branch = name
			return notInTheWay(heads, l)
		}
	}
}

// hadPull reports whether a branch has, or had, a pull request. One of ours
// that is open stops the start: it was made by a pass whose database is gone,
// and the next ingest adopts it.
func (p *Restorer) hadPull(ctx context.Context, l *lease, branch string) (bool, error) {
	pulls, err := l.remote.GitHub.PullsByHead(ctx, l.remote.repo.Current, branch)
	if err != nil {
		return false, fmt.Errorf("look for a pull request of %s: %w", branch, err)
	}
	h := newReading(p.ingest, l.remote)
	used := false
	for _, pull := range pulls {
		used = used || !pull.CrossRepo
		_, ours, err := h.rebuild.ownPull(ctx, pull)
		if err != nil {
			return used, err
		}
		if !ours || pull.State != work.PullOpen {
			continue
		}
		err = p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWalk(ctx, l.turn.RepoID, walkAdopted, "") })
		return true, errors.Join(err, &work.SupersededError{Reason: fmt.Sprintf("pull request #%d for it is open already", pull.Number)})
	}
	return used, nil
}

// findHead asks the remote where the pull request's branch stands.
func (p *Restorer) findHead(ctx context.Context, l *lease) error {
	heads, err := l.remote.mirror().RemoteHeads(ctx, l.turn.Branch)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	head, ok := heads[l.turn.Branch]
	if !ok {
		return &work.BlockedError{
			Reason: fmt.Sprintf("the branch %s is gone from the remote", l.turn.Branch),
			Hint:   "restore the branch (GitHub offers it on the pull request, which it closed) and reopen the pull request, or leave it closed to end the work",
		}
	}
	if l.turn.Head != "" && l.turn.Head != head && l.turn.Request != nil {
		// The prompt names a head; another one needs another prompt.
		l.turn.Request = nil
	}
	l.turn.Head = head
	return nil
}

func (p *Env) saveTurn(ctx context.Context, l *lease) error {
	l.turn.UpdatedAt = p.Now()
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.SaveTurn(ctx, l.turn) })
	if err != nil {
		return fmt.Errorf("save turn %s: %w", l.turn.Key, err)
	}
	return nil
}

// advance stores that the turn has reached a step.
func (p *Env) advance(ctx context.Context, l *lease, to work.Step) error {
	err := p.Store.Update(ctx, func(tx *store.Tx) error { return tx.AdvanceTurn(ctx, l.turn.ID, l.turn.Step, to, p.Now()) })
	if err != nil {
		return fmt.Errorf("advance turn %s: %w", l.turn.Key, err)
	}
	l.turn.Step = to
	return nil
}

// firstEffect reports whether anything of the turn may be on GitHub already.
func (p *Env) firstEffect(ctx context.Context, l *lease) (bool, error) {
	var all []work.Action
	err := p.Store.View(ctx, func(tx *store.Tx) error {
		var err error
		all, err = tx.ListTurnActions(ctx, l.turn.ID)
		return err
	})
	if err != nil {
		return false, errors.Join(errors.New("read the turn's actions"), err)
	}
	return begun(l.turn, all), nil
}

// begun reports whether a turn had its first effect, as its actions have it.
func begun(t work.Turn, planned []work.Action) bool {
	return t.Step == work.StepPushed || t.Step == work.StepApplied || slices.ContainsFunc(planned, func(a work.Action) bool {
		refused := a.Kind == work.ActionPush && a.State == work.ActionVoid
		return !refused && (a.Sends > 0 || a.State == work.ActionApplied)
	})
}

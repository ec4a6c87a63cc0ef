package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
)

// Restore gives the turn a clean checkout at its commit. The head comes from the git remote, as
// GitHub's API may lag behind a push. The remote is asked once: a fetch shows
// all branches that a turn is about.
func (p *restorer) Restore(ctx context.Context, l *env.Lease) error {
	var may error
	s, err := p.looks.wanted(ctx, l, func(tx *store.Tx) error { may = p.looks.affords(ctx, tx, l); return nil })
	if err = cmp.Or(err, may); err != nil {
		return err
	}
	l.Item, l.Events = s.item, s.events
	if err := p.looks.requireNotHeld(ctx, l); err != nil {
		return err
	}
	m := l.Repo.Git()
	if err := m.Ensure(ctx); err != nil {
		return fmt.Errorf("prepare the mirror: %w", err)
	}
	if err := p.Fault(ctx, l.Repo.Row); err != nil { // the answer could not be kept
		return err
	}
	if err := m.Named(p.Accounts.Identity(l.Repo.Name.Host)); err != nil { // before an agent is paid for a change that cannot be committed
		return err
	}
	known := l.Turn.Head
	if err := p.FetchAndFind(ctx, l); err != nil {
		return err
	}
	if err := p.looks.requireNotRewritten(ctx, l); err != nil {
		l.Turn.Head = known // the agent never worked on the new one
		return err
	}
	if l.Item.Flow != work.FlowReview { // in other people's commits trailers prove nothing
		if l.Carried, err = p.eventsOnBranch(ctx, l, l.Turn.Base, l.Turn.Head); err != nil {
			return fmt.Errorf("look for earlier commits of ours: %w", err)
		}
	}
	if err := p.briefs.PrepareFix(ctx, l); err != nil {
		return err
	}
	if l.Checkout, err = p.takeCheckout(ctx, l); err != nil {
		return err
	}
	if err := p.place(ctx, l); err != nil {
		return fmt.Errorf("restore the checkout: %w", err)
	}
	p.Changed(l, "restored", work.Short(l.Turn.Head))
	return nil
}

// FetchAndFind fetches the branches that the turn needs and chooses its commit. A commit that is on none, such as the old head of a rewritten default branch, is fetched by its id.
func (p *restorer) FetchAndFind(ctx context.Context, l *env.Lease) error {
	if err := p.fetch(ctx, l); err != nil {
		return err
	}
	if err := p.find(ctx, l); err != nil {
		return err
	}
	if m := l.Repo.Git(); !m.Has(ctx, l.Turn.Head) {
		return m.Fetch(ctx, l.Turn.Head)
	}
	return nil
}

// fetch fetches our branches and the turn's. The first time that is the whole history.
func (p *restorer) fetch(ctx context.Context, l *env.Lease) error {
	m := l.Repo.Git()
	if !m.Has(ctx, l.Turn.Head) {
		defer p.Slowly(p.Config.Called(l.Repo.Name) + ": its commits are fetched")()
	}
	return m.Fetch(ctx, l.Turn.Base, l.Turn.Branch)
}

// findBase chooses the base and the name of a new branch. Branches of earlier starts are not
// changed: history is never rewritten.
func (p *restorer) findBase(ctx context.Context, l *env.Lease) error {
	heads, err := l.Repo.Git().Heads(ctx)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	if l.Turn.Branch != "" && l.Turn.Head != "" { // chosen in an earlier attempt
		if head, pushed := heads[l.Turn.Branch]; pushed {
			_, err = p.adoptBranch(ctx, l, l.Turn.Branch, head, l.Turn.Base)
		}
		return err
	}
	base, first, err := p.readStart(ctx, l)
	if err != nil {
		return err
	}
	if heads[base] == "" { // GitHub named another default branch a moment ago
		if err := l.Repo.Git().Fetch(ctx, base); err != nil {
			return err
		}
		if heads, err = l.Repo.Git().Heads(ctx); err != nil {
			return fmt.Errorf("list the remote's branches: %w", err)
		}
	}
	head, ok := heads[base]
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBaseGone, Branch: base}}
	}
	taken, adopted, err := p.earlierBranches(ctx, l, heads, base, first)
	if err != nil || adopted {
		return err
	}
	l.Turn.Base, l.Turn.Head = base, head
	return p.nameBranch(ctx, l, heads, taken, first)
}

// firstName is a start's first choice of a branch name, with the pull requests that it has or had.
type firstName struct {
	branch string
	pulls  []github.Pull
}

// readStart reads where a start begins: the default branch, unless GitHub named it less than a minute ago, what its
// first branch name had, and its issue.
func (p *restorer) readStart(ctx context.Context, l *env.Lease) (base string, first firstName, err error) {
	repo, hub := l.Repo.Row.Current, l.Repo.GitHub
	base = l.Repo.Row.DefaultBranch
	first.branch = work.BranchName(l.Item.Flow, l.Item.Number, l.Item.Title, 0)
	var issue github.Issue
	var found bool
	err = firstOf(github.AtOnce(ctx, readsAtOnce, []func(context.Context) error{
		func(ctx context.Context) error {
			if l.Repo.Confirmed(hub.Now(), env.SameFor) {
				return nil
			}
			r, err := hub.Repository(ctx, repo)
			if base = r.DefaultBranch; err != nil {
				return fmt.Errorf("read the default branch: %w", err)
			}
			return nil
		},
		func(ctx context.Context) (err error) { first.pulls, err = pullsOf(ctx, l, first.branch); return err },
		func(ctx context.Context) (err error) {
			issue, found, err = hub.Issue(ctx, repo, l.Item.Number)
			return err
		},
	}))
	if err == nil && found {
		l.Issue, l.IssueAt = issue, p.Now()
	}
	return base, first, err
}

func pullsOf(ctx context.Context, l *env.Lease, branch string) ([]github.Pull, error) {
	pulls, err := l.Repo.GitHub.PullsByHead(ctx, l.Repo.Row.Current, branch)
	if err != nil {
		return nil, fmt.Errorf("look for a pull request of %s: %w", branch, err)
	}
	return pulls, nil
}

// earlierBranches counts the branches of earlier starts. If this start pushed one before its state
// folder was lost, it adopts that branch.
func (p *restorer) earlierBranches(ctx context.Context, l *env.Lease, heads map[string]string, base string, first firstName) (n int, adopted bool, err error) {
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		if !strings.HasPrefix(branch, work.BranchPrefix(l.Item.Flow, l.Item.Number)) {
			continue
		}
		n++
		if used, err := p.hadPull(ctx, l, branch, first); err != nil {
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

// nameBranch chooses a name that no branch has and no pull request had: the old pull request of a
// deleted branch would be taken for the new one.
func (p *restorer) nameBranch(ctx context.Context, l *env.Lease, heads map[string]string, taken int, first firstName) error {
	for ; ; taken++ {
		name := work.BranchName(l.Item.Flow, l.Item.Number, l.Item.Title, taken)
		if heads[name] != "" || hasBranchBelow(heads, name) {
			continue
		}
		if used, err := p.hadPull(ctx, l, name, first); err != nil {
			return err
		} else if !used {
			l.Turn.Branch = name
			return checkBranchFree(ctx, heads, l)
		}
	}
}

// hadPull reports whether a branch has or had a pull request. An open one of ours ends the start: an earlier
// start made it, or a pass whose database was lost, and then the next ingest adopts it.
func (p *restorer) hadPull(ctx context.Context, l *env.Lease, branch string, first firstName) (used bool, err error) {
	pulls := first.pulls
	if branch != first.branch {
		if pulls, err = pullsOf(ctx, l, branch); err != nil {
			return false, err
		}
	}
	for _, pull := range pulls {
		used = used || !pull.CrossRepo
		ours, err := p.reader.OwnPull(ctx, l.Repo, pull)
		if err != nil {
			return used, err
		}
		if !ours || pull.State != work.PullOpen {
			continue
		}
		var row work.PullRequest
		err = p.Store.View(ctx, func(tx *store.Tx) (err error) {
			row, _, err = tx.GetPull(ctx, l.Repo.Row.ID, pull.Number)
			return err
		})
		if err == nil && row.State == work.PullOpen && row.ItemID != 0 && row.ItemID != l.Item.ID {
			return true, &work.BlockedError{Reason: work.Reason{Kind: work.WhyPullInTheWay, Number: pull.Number}}
		}
		err = errors.Join(err, p.reader.AdoptAgain(ctx, l.Repo))
		return true, errors.Join(err, &work.SupersededError{Reason: fmt.Sprintf("pull request #%d for it is open already", pull.Number)})
	}
	return used, nil
}

// findHead reads the head of the pull request's branch.
func (p *restorer) findHead(ctx context.Context, l *env.Lease) error {
	head, ok, err := l.Repo.Git().Head(ctx, l.Turn.Branch)
	if err != nil {
		return fmt.Errorf("find the head of %s: %w", l.Turn.Branch, err)
	}
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBranchGone, Branch: l.Turn.Branch}}
	}
	if l.Turn.Reviewer != "" && head != l.Turn.Head {
		if own, err := p.movedByItself(ctx, l, head); err != nil {
			return err
		} else if !own {
			return p.headMoved(ctx, l, head)
		}
	}
	if l.Turn.Head != "" && l.Turn.Head != head && l.Turn.Request != nil {
		// The prompt names the head, so a new head needs a new prompt.
		l.Turn.Request = nil
	}
	l.Turn.Head = head
	return nil
}

// restorer prepares checkouts.
type restorer struct {
	*env.Env
	reader *ingest.Reader
	looks  *lastLook
	briefs *briefs
}

// hasBranchBelow reports whether branches exist below a name. Git stores branches as files, so such
// a name cannot be a branch.
func hasBranchBelow(heads map[string]string, branch string) bool {
	for head := range heads {
		if strings.HasPrefix(head, branch+"/") {
			return true
		}
	}
	return false
}

// checkBranchFree blocks a start, before its agent is paid, if a branch has the name of one of its
// branch's folders: git could not create the branch. The mirror has only branches below these folders;
// if it has one, no branch is in the way.
func checkBranchFree(ctx context.Context, heads map[string]string, l *env.Lease) error {
	if hasBranchBelow(heads, path.Dir(l.Turn.Branch)) {
		return nil
	}
	heads, err := l.Repo.Git().RemoteHeads(ctx, work.BranchRoot)
	if err != nil {
		return err
	}
	for i, c := range l.Turn.Branch {
		folder := l.Turn.Branch[:i]
		if c != '/' || heads[folder] == "" {
			continue
		}
		branch := l.Turn.Branch
		l.Turn.Branch, l.Turn.Head = "", "" // the next attempt chooses a new branch
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBranchInTheWay, Name: folder, Branch: branch}}
	}
	return nil
}

// occupied reports whether a process works in a folder. If that cannot be read it returns false:
// the previous turn's processes were also ended by their mark.
func (p *restorer) occupied(ctx context.Context, dir string) bool {
	in, err := p.Orphans.Inside(ctx, dir)
	if err != nil {
		p.Log.WarnContext(ctx, "could not look for processes in a checkout", "dir", dir, "error", err)
	}
	return in
}

// movedByItself reports whether the head has the commit of this fix, although its answer is not stored: the
// database was set back by a failover. The agent answers again, and what is pushed counts as its fix.
func (p *restorer) movedByItself(ctx context.Context, l *env.Lease, head string) (bool, error) {
	if l.Turn.Kind != work.KindFix {
		return false, nil
	}
	return l.Repo.Git().ContainsTurn(ctx, head, l.Turn.Key, "")
}

// headMoved ends a turn that is about one head only: a review, or the fix of one. Once GitHub's API
// shows the new head, the plan decides what comes next.
func (p *restorer) headMoved(ctx context.Context, l *env.Lease, head string) error {
	pull, ok, err := l.Repo.GitHub.Pull(ctx, l.Repo.Row.Current, l.Turn.Number)
	switch {
	case err != nil:
		return fmt.Errorf("read the head of the pull request: %w", err)
	case ok && pull.HeadOID == l.Turn.Head:
		return &work.WaitError{Until: p.Now().Add(p.Config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyHeadNotShown, Commit: head}}
	}
	return &work.SupersededError{Reason: "the head moved on"}
}

// addNewComments adds comments written since the claim to a start, right before its agent runs:
// making the checkout may have taken minutes.
func (p *restorer) addNewComments(ctx context.Context, l *env.Lease) error {
	var turn work.Turn
	var events []work.Event
	err := p.Store.Update(ctx, func(tx *store.Tx) error {
		turn, events = l.Turn, l.Events
		queued, err := env.QueuedComments(ctx, tx, l.Item)
		if err != nil || len(queued) == 0 {
			return err
		}
		if err := tx.AssignEvents(ctx, turn.ID, work.EventIDs(queued)); err != nil {
			return err
		}
		turn.EventKeys = slices.Sorted(slices.Values(slices.Concat(turn.EventKeys, work.EventKeys(queued))))
		if events, err = env.TurnEvents(ctx, tx, turn); err != nil {
			return err
		}
		return tx.SaveTurn(ctx, turn)
	})
	if err == nil {
		l.Turn, l.Events = turn, events
	}
	return err
}

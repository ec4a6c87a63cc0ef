package restore

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
	"github.com/mergexo/gh-mergexo/tick/brief"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/ingest"
	"github.com/mergexo/gh-mergexo/tick/notice"
	"github.com/mergexo/gh-mergexo/tick/recheck"
)

// Restore gives the turn a clean checkout at exactly its commit. The remote,
// not GitHub's API, says what the head is: the API may lag a push. It is asked once:
// what a fetch brings is where its branches are.
func (p *Restorer) Restore(ctx context.Context, l *env.Lease) error {
	if err := p.looks.Reload(ctx, l); err != nil {
		return err
	}
	if err := p.looks.RequireNotPaused(ctx, l); err != nil {
		return err
	}
	ctx = p.foresee(ctx, l)
	m := l.Repo.Git()
	if err := m.Ensure(ctx); err != nil {
		return fmt.Errorf("prepare the mirror: %w", err)
	}
	if err := p.readBack(ctx, l); err != nil || l.Turn.Step != work.StepClaimed {
		return err
	}
	if err := p.looks.MayRun(ctx, l); err != nil { // only now: an answer that is there counts, whatever it cost
		return err
	}
	if _, err := m.Signer(); err != nil { // before an agent is paid for what cannot be committed
		return err
	}
	known := l.Turn.Head
	if err := p.FetchAndFind(ctx, l); err != nil {
		return err
	}
	if err := p.looks.NotRewritten(ctx, l); err != nil {
		l.Turn.Head = known // it never worked on the other
		return err
	}
	err := p.SaveTurn(ctx, l)
	if err != nil {
		return err
	}
	if l.Item.Flow != work.FlowReview { // in anybody else's commits a trailer proves nothing
		if l.Carried, err = p.carried(ctx, l, l.Turn.Base, l.Turn.Head); err != nil {
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

// FetchAndFind brings the remote's branches into the mirror, and chooses the commit that
// the turn works on. One that no branch has, such as where a default branch was that
// somebody rewrote, is fetched by itself.
func (p *Restorer) FetchAndFind(ctx context.Context, l *env.Lease) error {
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

// fetch brings the remote's branches into the mirror. The first time that is the whole
// repository.
func (p *Restorer) fetch(ctx context.Context, l *env.Lease) error {
	m := l.Repo.Git()
	if !m.Has(ctx, l.Turn.Head) {
		defer p.Slowly(p.Config.Called(l.Repo.Name) + ": its commits are fetched")()
	}
	return m.Fetch(ctx)
}

// Ignored says what becomes of ignored files in a checkout.
func Ignored(r config.Repo) git.Ignored {
	if r.KeepIgnored {
		return git.KeepIgnored
	}
	return git.RemoveIgnored
}

// FindBase chooses where a new branch begins and what it is called. Branches
// of earlier starts stay as they are: history is never rewritten.
func (p *Restorer) FindBase(ctx context.Context, l *env.Lease) error {
	heads, err := l.Repo.Git().Heads(ctx)
	if err != nil {
		return fmt.Errorf("list the remote's branches: %w", err)
	}
	if l.Turn.Branch != "" && l.Turn.Head != "" { // chosen by an earlier attempt of this turn
		if head, pushed := heads[l.Turn.Branch]; pushed {
			_, err = p.adoptBranch(ctx, l, l.Turn.Branch, head, l.Turn.Base)
		}
		return err
	}
	repo, err := l.Repo.GitHub.Repository(ctx, l.Repo.Row.Current)
	if err != nil {
		return fmt.Errorf("read the default branch: %w", err)
	}
	head, ok := heads[repo.DefaultBranch]
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyNoCommit, Branch: repo.DefaultBranch}}
	}
	taken, adopted, err := p.earlierBranches(ctx, l, heads, repo.DefaultBranch)
	if err != nil || adopted {
		return err
	}
	l.Turn.Base, l.Turn.Head = repo.DefaultBranch, head
	return p.nameBranch(ctx, l, heads, taken)
}

// earlierBranches counts the branches of earlier starts, or continues on the one
// that this start pushed before its state folder was lost.
func (p *Restorer) earlierBranches(ctx context.Context, l *env.Lease, heads map[string]string, base string) (n int, adopted bool, err error) {
	for _, branch := range slices.Sorted(maps.Keys(heads)) {
		if !strings.HasPrefix(branch, work.BranchPrefix(l.Item.Flow, l.Item.Number)) {
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
func (p *Restorer) nameBranch(ctx context.Context, l *env.Lease, heads map[string]string, taken int) error {
	for ; ; taken++ {
		name := work.BranchName(l.Item.Flow, l.Item.Number, l.Item.Title, taken)
		if heads[name] != "" || within(heads, name) {
			continue
		}
		if used, err := p.hadPull(ctx, l, name); err != nil {
			return err
		} else if !used {
			l.Turn.Branch = name
			return notInTheWay(heads, l)
		}
	}
}

// hadPull reports whether a branch has, or had, a pull request. One of ours
// that is open stops the start: it was made by a pass whose database is gone,
// and the next ingest adopts it.
func (p *Restorer) hadPull(ctx context.Context, l *env.Lease, branch string) (bool, error) {
	pulls, err := l.Repo.GitHub.PullsByHead(ctx, l.Repo.Row.Current, branch)
	if err != nil {
		return false, fmt.Errorf("look for a pull request of %s: %w", branch, err)
	}
	used := false
	for _, pull := range pulls {
		used = used || !pull.CrossRepo
		ours, err := p.reader.OwnPull(ctx, l.Repo, pull)
		if err != nil {
			return used, err
		}
		if !ours || pull.State != work.PullOpen {
			continue
		}
		err = p.reader.AdoptAgain(ctx, l.Repo)
		return true, errors.Join(err, &work.SupersededError{Reason: fmt.Sprintf("pull request #%d for it is open already", pull.Number)})
	}
	return used, nil
}

// FindHead says where the pull request's branch stands.
func (p *Restorer) FindHead(ctx context.Context, l *env.Lease) error {
	head, ok, err := l.Repo.Git().Head(ctx, l.Turn.Branch)
	if err != nil {
		return fmt.Errorf("find the head of %s: %w", l.Turn.Branch, err)
	}
	if !ok {
		return &work.BlockedError{Reason: work.Reason{Kind: work.WhyBranchGone, Branch: l.Turn.Branch}}
	}
	if l.Turn.Reviewer != "" && head != l.Turn.Head {
		return p.headMoved(ctx, l, head)
	}
	if l.Turn.Head != "" && l.Turn.Head != head && l.Turn.Request != nil {
		// The prompt names a head; another one needs another prompt.
		l.Turn.Request = nil
	}
	l.Turn.Head = head
	return nil
}

// Restorer prepares checkouts.
type Restorer struct {
	*env.Env
	reader  *ingest.Reader
	notices *notice.Notices
	looks   *recheck.Looks
	briefs  *brief.Briefs
}

// New makes a Restorer.
func New(e *env.Env, r *ingest.Reader, n *notice.Notices, l *recheck.Looks, b *brief.Briefs) *Restorer {
	return &Restorer{e, r, n, l, b}
}

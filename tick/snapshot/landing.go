package snapshot

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// landing reads what merging the item's pull request depends on, if the config lets us merge it; otherwise whether
// GitHub has the commit status of an approved head, without which people may not be able to.
func (r *reading) landing(ctx context.Context, i *known.Item) (err error) {
	if !i.HasPull() || i.Pull.State != work.PullOpen {
		return nil
	}
	l := &i.Landing
	l.Policy = r.settings.MergePolicy(i.Flow)
	if !l.Policy.Auto {
		if i.Reviews.Record.State == review.Approved {
			l.Status, _, err = r.tx.GetAction(ctx, work.StatusToken(r.repo.Key(), i.Pull.HeadOID))
		}
		return err
	}
	l.Accounts = r.accounts
	r.splitApprovers(&l.Policy, i.Pull.Author.Login)
	if l.Box, _, err = r.tx.GetBox(ctx, i.Pull.ID); err != nil {
		return err
	}
	if l.Against, err = r.against(ctx, i.Pull, l.Box); err != nil {
		return err
	}
	if l.MergeApprovals, err = r.tx.ListMergeApprovals(ctx, i.Pull.ID); err != nil {
		return err
	}
	head, why, err := r.tx.GetMergeTrouble(ctx, i.Pull.ID)
	if err != nil {
		return err
	}
	if head == i.Pull.HeadOID {
		l.Trouble = why
	}
	if l.Intent, _, err = r.tx.FindMerge(ctx, i.Pull.ID, i.Pull.HeadOID); err != nil {
		return err
	}
	all, err := r.tx.ListItemActions(ctx, i.ID)
	for _, a := range all {
		switch {
		case a.Number != i.Pull.Number:
		case a.Kind.Merging():
			l.Actions = append(l.Actions, a)
		case a.Kind == work.ActionStatus && a.Head == i.Pull.HeadOID:
			l.Status = a
		}
	}
	return err
}

// splitApprovers leaves those approvers whose approvals GitHub counts, as far as it was asked: not the
// author's, and nobody's who may not write.
func (r *reading) splitApprovers(p *merging.Policy, author string) {
	all := p.Approvers
	p.Approvers = nil
	for _, login := range all {
		level, asked := r.levels[strings.ToLower(login)]
		switch {
		case login != "" && strings.EqualFold(login, author):
		case asked && !work.MayWrite(level.Level):
			p.Unable = append(p.Unable, login)
		default:
			p.Approvers = append(p.Approvers, login)
		}
	}
}

// against returns the accounts whose last review requests changes, except our own, bots and those
// that may not write. If a review is newer than GitHub's last answer about its author, it counts
// until GitHub is asked again.
func (r *reading) against(ctx context.Context, pull work.PullRequest, box merging.Box) (logins []string, err error) {
	for _, o := range box.Opinions() {
		if o.State != "CHANGES_REQUESTED" || o.By.Bot || o.By.ID == pull.Author.ID || slices.Contains(r.writers, o.By.ID) {
			continue
		}
		level, at, asked, err := r.tx.GetPermission(ctx, r.repo.ID, o.By.ID)
		if err != nil {
			return nil, err
		}
		if !asked || work.MayWrite(level) || !o.At.Before(at.Truncate(time.Second)) {
			logins = append(logins, o.By.Login)
		}
	}
	return logins, nil
}

// mergedBy returns MergedAuto if we merged the item's pull request: our request for its head landed
// or was on its way.
func (r *reading) mergedBy(ctx context.Context, i known.Item) (review.MergeType, error) {
	if i.Pull.State != work.PullMerged || i.Reviews.Record.State.Ended() {
		return "", nil
	}
	m, meant, err := r.tx.FindMerge(ctx, i.Pull.ID, i.Pull.HeadOID)
	if err != nil || !meant {
		return "", err
	}
	a, _, err := r.tx.GetAction(ctx, work.MergeToken(r.repo.Key(), i.Pull.Number, i.Pull.HeadOID))
	sent := a.State == work.ActionSent || a.State == work.ActionApplied
	if m.Stage == merging.Landed || m.Stage == merging.Queued || m.Stage != merging.Void && sent {
		return review.MergedAuto, err
	}
	return "", err
}

// landings reads what merging in the whole repository depends on.
func (r *reading) landings(ctx context.Context, v *known.Snapshot) error {
	if !r.merges() {
		return nil
	}
	halt, halted, err := r.tx.MergingStopped(ctx, r.repo.ID)
	if err != nil {
		return err
	}
	if halted {
		v.Halt = &halt
	}
	all, err := r.tx.ListMergingActions(ctx, r.repo.ID)
	for _, a := range all {
		if err != nil {
			return err
		}
		moves := false
		if moves, err = r.moves(ctx, a); moves {
			v.Sent = append(v.Sent, a)
		}
	}
	if err != nil {
		return err
	}
	// An updated branch is merged next, though its reviews and checks are still running.
	fresh, err := r.tx.ListUpdates(ctx, r.repo.ID, v.Now.Add(-r.settings.Review.Merge.ChecksTimeout))
	v.Sent = append(v.Sent, fresh...)
	return err
}

// moves reports whether a sent action may still move the base. A half-merged one has moved it; it
// needs a person, and others need not wait for that.
func (r *reading) moves(ctx context.Context, a work.Action) (bool, error) {
	if a.State != work.ActionSent || a.Kind != work.ActionMerge {
		return a.State == work.ActionSent, nil
	}
	pull, found, err := r.tx.GetPull(ctx, r.repo.ID, a.Number)
	if err != nil || !found {
		return !found, err
	}
	m, _, err := r.tx.FindMerge(ctx, pull.ID, a.Head)
	return m.Stage != merging.Half, err
}

// merges reports whether we merge pull requests in the repository.
func (r *reading) merges() bool {
	return slices.ContainsFunc(work.Flows(), func(f work.Flow) bool { return r.settings.MergePolicy(f).Auto })
}

// candidates returns the items whose pull requests may be merged. Every pass decides about them:
// time alone may close a gate, and a change on GitHub need not be an event of the item.
func (r *reading) candidates(ctx context.Context) (ids []int64, err error) {
	if !r.merges() {
		return nil, nil
	}
	all, err := r.tx.ListMergeCandidates(ctx, r.repo.ID)
	for _, pull := range all {
		ids = append(ids, pull.ItemID)
	}
	return ids, err
}

// ForMerge reads what merging one pull request depends on again, with the merge box just read from
// GitHub. plan.Merging decides by it as the plan did.
func (p *Loader) ForMerge(ctx context.Context, tx *store.Tx, r *env.Repo, number int, box merging.Box) (known.Snapshot, known.Item, error) {
	v, from, err := p.begin(ctx, tx, r)
	if err != nil {
		return v, known.Item{}, err
	}
	row, err := itemOn(ctx, tx, r.Row.ID, number)
	if err != nil || row.ID == 0 {
		return v, known.Item{Item: row}, err
	}
	items, err := from.items(ctx, []int64{row.ID})
	if err != nil {
		return v, known.Item{Item: row}, err
	}
	items[0].Landing.Box = box
	items[0].Landing.Against, err = from.against(ctx, items[0].Pull, box)
	return v, items[0], err
}

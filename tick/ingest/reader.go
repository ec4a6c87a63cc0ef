package ingest

import (
	"cmp"
	"context"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Reader reads once more, for one turn, what ingest read before: the turn may
// have waited for a slot, or worked for an hour. It is all of ingest that a turn
// knows, and judges by the same rules.
type Reader struct{ ingest *Ingest }

// Reader reads for turns.
func (p *Ingest) Reader() *Reader { return &Reader{p} }

// MayCommand reports whether somebody may give commands in a repository.
func (r *Reader) MayCommand(ctx context.Context, repo *env.Repo, who work.Account) (bool, error) {
	return newReading(r.ingest, repo).permissions.mayCommand(ctx, who, r.ingest.Now())
}

// Confirm gives the item the text of its issue as far as somebody who may write
// stands for it. edited says why people must confirm it first; empty: they need not.
func (r *Reader) Confirm(ctx context.Context, repo *env.Repo, item work.Item, is github.Issue) (confirmed work.Item, edited string, err error) {
	h := newReading(r.ingest, repo)
	trusted, err := h.permissions.mayCommand(ctx, item.Author, is.UpdatedAt)
	if err != nil || trusted {
		return item, "", err
	}
	timeline, err := repo.GitHub.TimelineOf(ctx, repo.Row.Current, item.Number)
	if err != nil {
		return item, "", err
	}
	c, err := h.confirmText(ctx, item, is, timeline)
	if err != nil {
		return item, "", err
	}
	item.Title, item.Body = c.Title, c.Body
	return item, c.Edited, nil
}

// Lost are those of a turn's events whose authors may ask for nothing any more.
// begun says why what began the work does not count any more; empty: it does.
func (r *Reader) Lost(ctx context.Context, repo *env.Repo, events []work.Event) (lost []work.Event, begun string, err error) {
	h := newReading(r.ingest, repo)
	for _, e := range events {
		may, why, err := h.stillMay(ctx, e)
		if err != nil {
			return nil, "", err
		}
		if !may {
			lost = append(lost, e)
			begun = cmp.Or(begun, why)
		}
	}
	return lost, begun, nil
}

// OwnPull reports whether a pull request is one of ours.
func (r *Reader) OwnPull(ctx context.Context, repo *env.Repo, pull github.Pull) (bool, error) {
	_, ours, err := newReading(r.ingest, repo).ownPull(ctx, pull)
	return ours, err
}

// AdoptAgain has the next ingest look for pull requests of ours that nobody knows.
func (r *Reader) AdoptAgain(ctx context.Context, repo *env.Repo) error {
	return r.ingest.Store.Update(ctx, func(tx *store.Tx) error { return tx.SetWalk(ctx, repo.Row.ID, work.FirstLookList, "") })
}

// News are comments on a turn's issue that were read once more and are not stored.
type News struct{ reading *reading }

// NewComments reads what people wrote on a turn's issue since it was claimed.
func (r *Reader) NewComments(ctx context.Context, l *env.Lease) (*News, error) {
	h := newReading(r.ingest, l.Repo)
	return &News{h}, h.readNewComments(ctx, l)
}

// ForeseeComments asks in advance what NewComments asks.
func (r *Reader) ForeseeComments(ctx context.Context, l *env.Lease) {
	_, _ = newReading(r.ingest, l.Repo).commentsSinceClaim(ctx, l)
}

// OnIssue are those that stand on the issue itself.
func (n *News) OnIssue() []work.Event { return sourceEvents(n.reading.events) }

// Put stores them.
func (n *News) Put(ctx context.Context, tx *store.Tx) error {
	return n.reading.storeEvents(ctx, tx, n.reading.env.Now())
}

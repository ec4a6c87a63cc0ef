package ingest

import (
	"cmp"
	"context"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"

	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Reader reads again, for one turn, what ingest read before: the turn may have waited for a slot,
// or worked for an hour. It is the only part of ingest that turns use, and judges by the same
// rules.
type Reader struct{ ingest *Ingest }

// Reader returns the reader for turns.
func (p *Ingest) Reader() *Reader { return &Reader{p} }

// MayCommand reports whether who may give commands in a repository now.
func (r *Reader) MayCommand(ctx context.Context, repo *env.Repo, who work.Account) (bool, error) {
	return newReading(r.ingest, repo).mayCommand(ctx, who, repo.GitHub.Now())
}

// MayApprove reports whether an approval of who counts now. A reviewer's does also if allowed_users
// names them.
func (r *Reader) MayApprove(ctx context.Context, repo *env.Repo, who work.Account, reviewer bool) (bool, error) {
	return newReading(r.ingest, repo).mayNow(ctx, who, reviewer)
}

// Confirm gives the item the text of its issue that a writer has confirmed. edited says why people
// must confirm the issue first; "" if they need not.
func (r *Reader) Confirm(ctx context.Context, repo *env.Repo, item work.Item, is github.Issue) (confirmed work.Item, edited string, err error) {
	h := newReading(r.ingest, repo)
	trusted, err := h.mayCommand(ctx, item.Author, is.UpdatedAt)
	if err != nil || trusted {
		return item, "", err
	}
	timeline, err := repo.GitHub.TimelineOf(ctx, repo.Row.Current, item.Number)
	if err != nil {
		return item, "", err
	}
	c, err := h.confirmText(ctx, item, item.Label, issueRead{Issue: is, timeline: timeline})
	if err != nil {
		return item, "", err
	}
	item.Title, item.Body = c.Title, c.Body
	return item, c.Edited, nil
}

// Lost returns the events that no longer count, each with its outcome: their authors lost the
// permission for them, somebody else edited them, or people hid them. begun says why the event that
// began the work no longer counts; "" if it does.
func (r *Reader) Lost(ctx context.Context, repo *env.Repo, events []work.Event) (lost []work.Event, begun string, err error) {
	h := newReading(r.ingest, repo)
	var nodes []string
	for _, e := range events {
		if e.Kind.IsComment() && e.Node != "" && len(nodes) < github.MaxWords {
			nodes = append(nodes, e.Node)
		}
	}
	var words map[string]work.Word
	if len(nodes) > 0 {
		if words, err = repo.GitHub.Words(ctx, nodes); err != nil {
			return nil, "", err
		}
	}
	for _, e := range events {
		may, why := true, ""
		switch {
		case e.Author.Login == "": // the event is known by its key alone, or has no author
		case e.Kind == work.EventLabelled:
			may, why, err = h.mayBegin(ctx, e)
		case e.Kind.IsComment():
			may, err = h.mayCommand(ctx, e.Author, h.now())
		}
		if err != nil {
			return nil, "", err
		}
		e.Outcome = ""
		if e.Kind.IsComment() {
			e.Outcome = words[e.Node].Ignored(e.Author)
		}
		switch {
		case may && e.Outcome == "":
			continue
		case may:
		case e.Kind == work.EventLabelled:
			e.Outcome = work.OutcomeNoLabeller
		default:
			e.Outcome = work.OutcomeNoPermission
		}
		lost = append(lost, e)
		begun = cmp.Or(begun, why)
	}
	return lost, begun, nil
}

// OwnPull reports whether a pull request is one of ours.
func (r *Reader) OwnPull(ctx context.Context, repo *env.Repo, pull github.Pull) (bool, error) {
	_, ours, err := newReading(r.ingest, repo).ownPull(ctx, pull)
	return ours, err
}

// AdoptAgain makes the next ingest look for pull requests of ours that the database lacks.
func (r *Reader) AdoptAgain(ctx context.Context, repo *env.Repo) error {
	return r.ingest.db.Update(ctx, func(tx *store.Tx) error { return tx.SetFirstLook(ctx, repo.Row.ID, "") })
}

// News are new comments on a turn's issue that are not stored yet.
type News struct{ reading *reading }

// SaidSinceClaim returns those of the comments on a turn's issue that changed since the turn was claimed.
func (r *Reader) SaidSinceClaim(l *env.Lease, all []github.Comment) []github.Comment {
	return slices.DeleteFunc(all, func(c github.Comment) bool { return c.UpdatedAt.Before(l.Turn.ClaimedAt.Add(-overlap)) })
}

// NewComments judges what was said on a turn's issue.
func (r *Reader) NewComments(ctx context.Context, l *env.Lease, said []github.Comment) (*News, error) {
	h := newReading(r.ingest, l.Repo)
	h.addTalk(work.EventSource, l.Item.ID, said)
	if err := h.judgeEvents(ctx); err != nil && github.IsItemError(err) {
		return nil, &work.WaitError{Until: h.now().Add(h.config.Runtime.RetryBase), Reason: work.Reason{Kind: work.WhyNotRead, Local: err.Error()}}
	} else if err != nil {
		return nil, err
	}
	h.events = slices.DeleteFunc(h.events, func(c candidate) bool { return c.event.Outcome != "" }) // the others are left to ingest
	return &News{h}, nil
}

// OnIssue returns the comments on the issue itself.
func (n *News) OnIssue() []work.Event { return sourceEvents(n.reading.events) }

// Any reports whether there are some.
func (n *News) Any() bool { return len(n.reading.events) > 0 }

// Put stores the comments.
func (n *News) Put(ctx context.Context, tx *store.Tx) error {
	return n.reading.storeEvents(ctx, tx, n.reading.now())
}

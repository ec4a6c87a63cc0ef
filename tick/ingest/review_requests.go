package ingest

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// Somebody else's pull request is reviewed when a person with triage permission sets the label for
// it. It becomes a work item under its own number, and is only reviewed.
//
// The label covers the head at that time. A later push by somebody without write permission is
// reviewed only after the label is set again: a review costs money, and reads code that nobody here
// has seen. GitHub's timeline does not tell when a commit was pushed: it shows the commits' own
// dates, which their authors choose. So a head is covered only if one of these proves it:
//
//   - An earlier pass saw it before the second in which the label was set.
//   - Nothing changed on the pull request after that second, and the last push to the repository of
//     its branch is from before it.
//   - Everybody who can push to it may write here.

// beginReview tracks a pull request that is not ours if its label asks for a review.
func (h *reading) beginReview(ctx context.Context, is github.Issue) error {
	label := h.repo.Settings.ReviewLabel()
	_, ours := h.adopted[is.Number]
	if ours || label == "" || is.State != "open" || !work.HasLabel(is.Labels, label) {
		return nil
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, is.Number)
	if err != nil {
		return err
	}
	set, ok := lastEvent(timeline, "labeled", label)
	if !ok {
		h.noteLag(issueRead{Issue: is, timeline: timeline}, true)
		return nil
	}
	if may, err := h.mayAsk(ctx, is.Number, set, label); err != nil || !may {
		return err
	}
	p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, is.Number)
	_, _, named := work.ParseBranch(p.Head)
	if err != nil || !ok || p.State != work.PullOpen || named && h.byUs(p) { // one that we opened is adopted once its issue can be read
		return err
	}
	item := work.Item{
		RepoID: h.row.ID, Number: p.Number, Flow: work.FlowReview, State: work.StateAwaitingFeedback, Since: h.now(),
		Title: is.Title, Body: is.Body, Author: p.Author, URL: p.URL, Priority: work.DefaultPriority, Label: label,
	}
	h.adopt(item, p, time.Time{})
	h.lights[p.Number] = ""
	return nil
}

// mayAsk reports whether the person who set the label may ask for reviews. A person who may not gets
// one comment that says so.
func (h *reading) mayAsk(ctx context.Context, number int, set github.TimelineEvent, label string) (bool, error) {
	may, err := h.maySetLabel(ctx, set.Actor, set.CreatedAt)
	if may || err != nil {
		return may, err
	}
	body := fmt.Sprintf("The label `%s` starts no review here: it was set in the name of %s, who has no triage permission on this repository. "+
		"To start one, somebody with triage permission removes the label and adds it again.", label, set.Actor.Login)
	h.refuseLabel(work.Item{}, number, set, label, "may not ask for reviews ", body)
	return false, nil
}

// takeReviewLabel stores whether the label of somebody else's pull request is set, and which head it covers:
// an earlier one, until this one is proven.
func (h *reading) takeReviewLabel(ctx context.Context, r pullRead) error {
	item, old, d := r.item, r.old, r.PullDetail
	label := h.repo.Settings.ReviewLabel()
	on := work.HasLabel(d.Labels, label)
	if label == "" || d.State != work.PullOpen || !on && item.Label == "" {
		return nil
	}
	item.Title, item.Author = d.Title, d.Author
	if !on {
		off, ok := lastEvent(r.timeline, "unlabeled", item.Label)
		if !ok { // deleting a label leaves nothing on the timeline
			off = github.TimelineEvent{ID: d.UpdatedAt.UnixMilli(), CreatedAt: d.UpdatedAt}
		}
		item.Label = ""
		h.items[item.Number] = item
		h.add(timelineEvent(item, work.EventClosed, d.Number, off, "unlabelled"))
		return nil
	}
	covers := !d.CrossRepo // everybody who can push to this repository may write here
	if set, ok := lastEvent(r.timeline, "labeled", label); ok && newer(set, item) {
		if may, err := h.mayAsk(ctx, d.Number, set, label); err != nil || !may {
			return err
		}
		item.Label, item.LabelEvent = label, strconv.FormatInt(set.ID, 10)
		h.items[item.Number] = item
		h.add(timelineEvent(item, work.EventLabelled, d.Number, set, label))
		covers = covers || headPrecedesLabel(set.CreatedAt, old, d)
	} else if old.HeadOID == d.HeadOID {
		return nil
	}
	if !covers { // the author's permission as of now
		var err error
		if covers, err = h.mayCommand(ctx, d.Author, h.now().Add(time.Second)); err != nil {
			return err
		}
	}
	if covers {
		h.putOfPull(d.Number, func(ctx context.Context, tx *store.Tx, id int64) error { return tx.SetLabelHead(ctx, id, d.HeadOID) })
	}
	return nil
}

// headPrecedesLabel reports whether the pull request certainly had its head when the label was set.
// Stamps are whole seconds, so that a push of the label's own second may have come after it.
func headPrecedesLabel(set time.Time, old work.PullRequest, d github.PullDetail) bool {
	seen := old.HeadOID == d.HeadOID && !old.DetailsAt.IsZero() && old.DetailsAt.Before(set)
	pushed := d.HeadPushed.IsZero() || !d.HeadPushed.Before(set)
	return seen || !pushed && !d.UpdatedAt.After(set)
}

package merge

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/github/transport"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/internal/work/review"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// decision is what a last look decides.
type decision struct {
	merging.Choice
	item  known.Item
	order work.Action // the action that the choice asks for, as it is planned now
	fresh bool        // something changed in the second in which the look began
}

// decideAgain repeats the plan's decision for this pull request right before a send, with the
// current state of GitHub and the database. If something changed in the second in which it looked,
// it looks again in a later one: GitHub's stamps are whole seconds.
func (o round) decideAgain(ctx context.Context, j *job) (decision, error) {
	d, err := o.look(ctx, j)
	if err != nil || !d.fresh || d.Ask == askOf(j.a.Kind) {
		return d, err
	}
	o.nextSecond(ctx)
	return o.look(ctx, j)
}

// look reads everything that a merge depends on. The merge box comes last: what changes during the
// other reads shows in it, or in its stamps.
func (o round) look(ctx context.Context, j *job) (d decision, err error) {
	ctx, began := transport.WithDate(ctx)
	some := false
	if j.a.Kind == work.ActionMerge || j.a.Kind == work.ActionEnqueue {
		if some, err = (news{o}).hasNew(ctx, j); err != nil {
			return d, err
		}
		if err := o.askApprovers(ctx, j); err != nil {
			return d, err
		}
	}
	box, err := o.box(ctx, j)
	if err != nil {
		return d, err
	}
	box.Looked = *began
	var v known.Snapshot
	err = o.store.View(ctx, func(tx *store.Tx) (err error) {
		v, d.item, err = o.loader.ForMerge(ctx, tx, o.r, j.pull.Number, box)
		return err
	})
	if err != nil {
		return d, fmt.Errorf("read #%d again: %w", j.pull.Number, err)
	}
	if d.item.Pull.ID != j.pull.ID {
		return d, errors.New("its work item has another pull request now")
	}
	j.looked = box
	d.Choice, d.fresh = plan.Merging(v, d.item), box.Fresh()
	d.order = d.item.MergeAction(v, d.Choice, "")
	if (some || !box.Counted(j.pull)) && (d.Ask == merging.AskMerge || d.Ask == merging.AskEnqueue) {
		d.Choice = merging.Choice{Gates: d.Gates, Why: work.Reason{Kind: work.WhyMergeNotRead, Number: j.pull.Number}}
	}
	return d, nil
}

// askApprovers asks GitHub what the people may do whose word opens a gate for this head. The
// approval of somebody who may not write any more is over: if they may again, they approve again.
func (o round) askApprovers(ctx context.Context, j *job) error {
	var given store.Reviews
	var words []merging.MergeApproval
	err := o.store.View(ctx, func(tx *store.Tx) (err error) {
		if given, err = tx.GetReviews(ctx, j.pull.ID); err != nil {
			return err
		}
		words, err = tx.ListMergeApprovals(ctx, j.pull.ID)
		return err
	})
	if err != nil {
		return err
	}
	lost := func(who work.Account, comment int64, reviewer bool) (bool, error) {
		if comment < 0 { // given on this machine
			return false, nil
		}
		may, err := o.mayApprove(ctx, o.r, who, reviewer)
		if err == nil && !may {
			o.log.WarnContext(ctx, "an approval is over: its author may not write any more", o.attrs(ctx, j.a, "head", j.a.Head, "login", who.Login)...)
		}
		return !may, err
	}
	var verdicts []int64
	var comments []int64
	for _, v := range given.Verdicts {
		if !v.Human || v.Decision != review.Approve || v.Head != j.a.Head || v.Validity == review.TakenBack {
			continue
		}
		if gone, err := lost(v.By, v.CommentID, v.Reviewer != "" || v.CommentID != 0); err != nil {
			return err
		} else if gone {
			verdicts = append(verdicts, v.ID)
		}
	}
	for _, w := range words {
		if w.Head != j.a.Head {
			continue
		}
		if gone, err := lost(w.By, w.CommentID, false); err != nil {
			return err
		} else if gone {
			comments = append(comments, w.CommentID)
		}
	}
	if len(verdicts)+len(comments) == 0 {
		return nil
	}
	return o.store.Update(ctx, func(tx *store.Tx) error {
		for _, id := range verdicts {
			if _, err := tx.MarkVerdict(ctx, id, review.TakenBack); err != nil {
				return err
			}
		}
		for _, id := range comments {
			if err := tx.DropMergeApproval(ctx, j.pull.ID, j.a.Head, id); err != nil {
				return err
			}
		}
		return nil
	})
}

// box reads a pull request's merge box with the rules of its base, and the issue of its work item.
func (o round) box(ctx context.Context, j *job) (merging.Box, error) {
	policy, issue, err := o.settingsOf(ctx, j)
	if err != nil {
		return merging.Box{}, err
	}
	read := o.readBoxes(ctx, o.r, []env.BoxOf{{Pull: j.pull, Issue: issue, Policy: policy}})[0]
	return read.Box, read.Err
}

// askOf returns the decision that calls for an action of this kind.
func askOf(k work.ActionKind) merging.Ask {
	switch k { //nolint:exhaustive // no other is chosen
	case work.ActionEnqueue:
		return merging.AskEnqueue
	case work.ActionDequeue:
		return merging.AskDequeue
	case work.ActionUpdateBranch:
		return merging.AskUpdate
	}
	return merging.AskMerge
}

// news looks for new comments on a pull request that is about to be merged, and on its issue.
type news struct{ o round }

// hasNew reports whether there is a comment that no pass has stored. A pass lists comments before
// it reads the pull request, so the pull request's stamp covers comments written in between; only
// the lists show them.
func (n news) hasNew(ctx context.Context, j *job) (bool, error) {
	_, issue, err := n.o.settingsOf(ctx, j)
	if err != nil {
		return false, err
	}
	said, err := n.said(ctx, j.pull, issue)
	if err != nil {
		return false, err
	}
	return n.unknown(ctx, said)
}

// said lists comments on a pull request and its issue since the time up to which passes have stored
// everything. That time lies before the overlap in which GitHub's lists may lag.
func (n news) said(ctx context.Context, pull work.PullRequest, issue int) (all []work.Event, err error) {
	row := n.o.r.Row
	talk, err := n.o.r.GitHub.CommentsOf(ctx, row.Current, pull.Number, row.CommentsSince)
	if err != nil {
		return nil, err
	}
	for _, c := range talk {
		all = append(all, written(work.EventIssue, pull.Number, c.ID, c.Author, c.Body))
	}
	asked, err := n.o.r.GitHub.CommentsOf(ctx, row.Current, issue, row.CommentsSince)
	if err != nil {
		return nil, err
	}
	for _, c := range asked {
		all = append(all, written(work.EventSource, issue, c.ID, c.Author, c.Body))
	}
	diff, err := n.o.r.GitHub.ReviewCommentsOf(ctx, row.Current, pull.Number, row.ReviewCommentsSince)
	for _, c := range diff {
		all = append(all, written(work.EventReview, pull.Number, c.ID, c.Author, c.Body))
	}
	return all, err
}

// written returns a comment's event with the fields needed to find its row.
func written(kind work.EventKind, number int, id int64, by work.Account, body string) work.Event {
	source, hash := strconv.FormatInt(id, 10), work.ContentHash(body)
	return work.AsCommand(work.Event{
		Number: number, Kind: kind, Source: source, Hash: hash, Key: work.EventKey(number, kind, source, hash), Author: by, Body: work.Normalise(body),
	})
}

// unknown reports whether one of the events is not ours and has no row with its current content.
func (n news) unknown(ctx context.Context, said []work.Event) (some bool, err error) {
	ours := n.o.accounts.Writers(n.o.r.Name.Host)
	err = n.o.store.View(ctx, func(tx *store.Tx) error {
		some = false
		for _, e := range said {
			if work.Ours(e.Body, e.Author, ours) {
				continue
			}
			known, err := tx.HasEvent(ctx, n.o.r.Row.ID, e.Key)
			if err != nil {
				return err
			}
			if !known {
				some = true
			}
		}
		return nil
	})
	return some, err
}

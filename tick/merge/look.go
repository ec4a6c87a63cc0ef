package merge

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
	"github.com/mergexo/gh-mergexo/tick/known"
	"github.com/mergexo/gh-mergexo/tick/plan"
)

// decideAgain repeats the plan's decision for this pull request right before a send, with the
// current state of GitHub and the database. New comments are read before the box: one written in
// between shows in the box.
func (o round) decideAgain(ctx context.Context, j *job) (merging.Choice, known.Item, error) {
	some, err := news{o}.hasNew(ctx, j)
	if err != nil {
		return merging.Choice{}, known.Item{}, err
	}
	box, err := o.box(ctx, j)
	if err != nil {
		return merging.Choice{}, known.Item{}, err
	}
	var v known.Snapshot
	var item known.Item
	err = o.Store.View(ctx, func(tx *store.Tx) (err error) {
		v, item, err = o.loader.ForMerge(ctx, tx, o.r, j.pull.Number, box)
		return err
	})
	if err != nil {
		return merging.Choice{}, item, fmt.Errorf("read #%d again: %w", j.pull.Number, err)
	}
	if item.Pull.ID != j.pull.ID {
		return merging.Choice{}, item, errors.New("its work item has another pull request now")
	}
	choice := plan.Merging(v, item)
	if some && (choice.Ask == merging.AskMerge || choice.Ask == merging.AskEnqueue) {
		choice = merging.Choice{Gates: choice.Gates, Why: work.Reason{Kind: work.WhyMergeUnread, Number: j.pull.Number}}
	}
	return choice, item, nil
}

// box reads a pull request's merge box with the rules of its base.
func (o round) box(ctx context.Context, j *job) (merging.Box, error) {
	pull := j.pull
	policy, err := o.policy(ctx, j)
	if err != nil {
		return merging.Box{}, err
	}
	from := env.BoxReader{R: o.r}
	return from.Read(ctx, pull, policy, merging.Box{})
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

// news looks for new comments on a pull request that is about to be merged.
type news struct{ o round }

// hasNew reports whether the pull request has a comment that no pass has stored. A pass lists
// comments before it reads the pull request, so the pull request's stamp covers comments written in
// between; only the lists show them.
func (n news) hasNew(ctx context.Context, j *job) (bool, error) {
	if j.a.Kind != work.ActionMerge && j.a.Kind != work.ActionEnqueue {
		return false, nil
	}
	said, err := n.said(ctx, j.pull)
	if err != nil {
		return false, err
	}
	return n.unknown(ctx, said)
}

// said lists comments on a pull request since the time up to which passes have stored everything.
// That time lies before the overlap in which GitHub's lists may lag.
func (n news) said(ctx context.Context, pull work.PullRequest) (all []work.Event, err error) {
	row := n.o.r.Row
	talk, err := n.o.r.GitHub.CommentsOf(ctx, row.Current, pull.Number, row.CommentsSince)
	if err != nil {
		return nil, err
	}
	for _, c := range talk {
		all = append(all, written(work.EventIssue, pull.Number, c.ID, c.Author, c.Body))
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
	ours := n.o.Accounts.Writers(n.o.r.Name.Host)
	err = n.o.Store.View(ctx, func(tx *store.Tx) error {
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

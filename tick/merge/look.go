package merge

import (
	"context"
	"errors"
	"fmt"

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

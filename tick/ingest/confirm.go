package ingest

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick/ingest/batch"
)

// withheld stands for a description of which no confirmed version is known.
const withheld = "(The description was edited after the label was set, and nobody who may write has confirmed it. It is left out here.)"

// confirmed is an issue's text as far as somebody whose word counts stands for
// it.
type confirmed struct {
	Title, Body string
	Edited      string // what was changed since; empty: nothing
}

// ConfirmText finds out which text of an issue counts. known is what is stored of
// it: its text was confirmed.
//
// Who sets a flow's label confirms the issue as it reads then; who has it set by a
// command, as it reads at that moment. An author who may not write can still edit it
// afterwards: no agent sees what they write then until the label is set again.
func (h *Issues) ConfirmText(ctx context.Context, known work.Item, is github.Issue, timeline []github.TimelineEvent) (confirmed, error) {
	c := confirmed{Title: is.Title, Body: is.Body}
	labelled, ok := batch.Last(timeline, "labeled", known.Label)
	if !ok {
		return c, nil
	}
	if trusted, err := h.people.MayCommand(ctx, is.Author, is.UpdatedAt); trusted || err != nil {
		return c, err
	}
	// The text and its stamp are read together: a list may lag behind both.
	text, ok, err := h.Ahead().TextOf(ctx, is.NodeID)
	if err != nil || !ok {
		return c, err
	}
	c.Title, c.Body = text.Title, text.Body
	word, err := h.wordFor(ctx, is, labelled)
	if err != nil {
		return c, err
	}
	if err := h.confirmTitle(ctx, &c, word, timeline); err != nil {
		return c, err
	}
	if text.EditedAt.IsZero() || text.EditedAt.Before(word.at) {
		return c, nil
	}
	c.Body = withheld
	if known.ID != 0 {
		c.Body = known.Body
	}
	c.Edited = fmt.Sprintf("its description was edited after %s, and its author %s may not write to the repository", word.given, is.Author.Login)
	return c, nil
}

// confirmTitle takes back what somebody whose word does not count renamed since
// the labelling. A name is given as a whole: who gave the last one stands for it.
func (h *Issues) confirmTitle(ctx context.Context, c *confirmed, word word, timeline []github.TimelineEvent) error {
	for _, t := range slices.Backward(timeline) {
		if t.Event != "renamed" {
			continue
		}
		if word.covers(t) {
			return nil
		}
		trusted, err := h.people.MayCommand(ctx, t.Actor, t.CreatedAt)
		if err != nil || trusted {
			return err
		}
		c.Title = t.RenamedFrom
		c.Edited = fmt.Sprintf("its title was changed after %s, by %s, who may not write to the repository", word.given, t.Actor.Login)
	}
	return nil
}

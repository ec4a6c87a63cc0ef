package tick

import (
	"context"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// Who sets a flow's label confirms the issue as it reads then; who has it set by
// a command, as it reads at that moment. An author who may not write can still
// edit it afterwards: what they write then is no word that an agent may hear,
// until the label is set anew.

// withheld stands for a description of which no confirmed version is known.
const withheld = "(The description was edited after the label was set, and nobody who may write has confirmed it. It is left out here.)"

// confirmed is an issue's text as far as somebody whose word counts stands for
// it.
type confirmed struct {
	title, body string
	edited      string // what was changed since; empty: nothing
}

// confirmText finds out which text of an issue counts. known is what is stored of
// it: its text was confirmed.
func (h *Issues) confirmText(ctx context.Context, known work.Item, is github.Issue, timeline []github.TimelineEvent) (confirmed, error) {
	c := confirmed{title: is.Title, body: is.Body}
	labelled, ok := last(timeline, "labeled", known.Label)
	if !ok {
		return c, nil
	}
	if trusted, err := h.people.mayCommand(ctx, is.Author, is.UpdatedAt); trusted || err != nil {
		return c, err
	}
	// The text and its stamp are read together: a list may lag behind both.
	text, ok, err := h.r.GitHub.Text(ctx, is.NodeID)
	if err != nil || !ok {
		return c, err
	}
	c.title, c.body = text.Title, text.Body
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
	c.body = withheld
	if known.ID != 0 {
		c.body = known.Body
	}
	c.edited = fmt.Sprintf("its description was edited after %s, and its author %s may not write to the repository", word.given, is.Author.Login)
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
		trusted, err := h.people.mayCommand(ctx, t.Actor, t.CreatedAt)
		if err != nil || trusted {
			return err
		}
		c.title = t.RenamedFrom
		c.edited = fmt.Sprintf("its title was changed after %s, by %s, who may not write to the repository", word.given, t.Actor.Login)
	}
	return nil
}

// lookConfirmed looks once more right before a prompt is made of an issue: the
// turn may have waited, for a slot or for its checkout. An agent that nobody
// wants any more, or whose text nobody confirmed, is not paid.
func (p *Looks) lookConfirmed(ctx context.Context, l *lease) error {
	if !l.turn.Kind.Start() {
		return nil
	}
	is, err := p.readIssue(ctx, l)
	if err != nil {
		return err
	}
	h := newReading(p.ingest, l.remote)
	trusted, err := h.people.mayCommand(ctx, l.item.Author, is.UpdatedAt)
	if err != nil || trusted {
		return err
	}
	timeline, err := l.remote.GitHub.TimelineOf(ctx, l.remote.repo.Current, l.item.Number)
	if err != nil {
		return err
	}
	c, err := h.issues.confirmText(ctx, l.item, is, timeline)
	if err != nil {
		return err
	}
	l.item.Title, l.item.Body = c.title, c.body
	if c.edited != "" {
		return &work.BlockedError{Reason: c.edited, Hint: work.ConfirmHint(l.item)}
	}
	return nil
}

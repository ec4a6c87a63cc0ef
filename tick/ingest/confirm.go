package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/store"
)

// withheld stands for a description of which no confirmed version is known.
const withheld = "(The description was edited after the label was set, and nobody who may write has confirmed it. It is left out here.)"

// confirmed is an issue's text as far as somebody whose word counts stands for
// it.
type confirmed struct {
	Title, Body string
	Edited      string // what was changed since; empty: nothing
}

// confirmText finds out which text of an issue counts. known is what is stored of
// it: its text was confirmed.
//
// Who sets a flow's label confirms the issue as it reads then; who has it set by a
// command, as it reads at that moment. An author who may not write can still edit it
// afterwards: no agent sees what they write then until the label is set again.
func (h *reading) confirmText(ctx context.Context, known work.Item, is github.Issue, timeline []github.TimelineEvent) (confirmed, error) {
	c := confirmed{Title: is.Title, Body: is.Body}
	labelled, ok := lastEvent(timeline, "labeled", known.Label)
	if !ok {
		return c, nil
	}
	if trusted, err := h.permissions.mayCommand(ctx, is.Author, is.UpdatedAt); trusted || err != nil {
		return c, err
	}
	// The text and its stamp are read together: a list may lag behind both.
	text, ok, err := h.textOf(ctx, is.NodeID)
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
func (h *reading) confirmTitle(ctx context.Context, c *confirmed, word word, timeline []github.TimelineEvent) error {
	for _, t := range slices.Backward(timeline) {
		if t.Event != "renamed" {
			continue
		}
		if word.covers(t) {
			return nil
		}
		trusted, err := h.permissions.mayCommand(ctx, t.Actor, t.CreatedAt)
		if err != nil || trusted {
			return err
		}
		c.Title = t.RenamedFrom
		c.Edited = fmt.Sprintf("its title was changed after %s, by %s, who may not write to the repository", word.given, t.Actor.Login)
	}
	return nil
}

// word is somebody's word for an issue's text: a label that they set, or a command
// for which we set it, perhaps much later.
type word struct {
	at    time.Time
	event int64  // of the label that a person set; 0 of a command
	given string // for people: "the label agent:bugfix was set"
	lost  string // for people: who gave the command for which we set it, and may give none any more
}

// covers reports whether a change of the title came before the word. The timeline's
// ids rise, also within a second; a command has none there.
func (w word) covers(t github.TimelineEvent) bool {
	if w.event != 0 {
		return t.ID < w.event
	}
	return t.CreatedAt.Before(w.at)
}

// wordFor finds whose word stands behind a label: of one that our account set, that
// of the newest command that was not answered yet when it was set. The answer comes
// after the label; so what the operator sets by hand later is a word of its own.
func (h *reading) wordFor(ctx context.Context, is github.Issue, labelled github.TimelineEvent) (word, error) {
	w := word{at: labelled.CreatedAt, event: labelled.ID, given: fmt.Sprintf("the label %s was set", labelled.Label)}
	ids := h.env.Accounts.Operators(h.repo.Name.Host)
	if !slices.Contains(ids, labelled.Actor.ID) {
		return w, nil
	}
	since, by, err := h.commanded(ctx, is.Number, labelled)
	if err != nil {
		return w, err
	}
	said, err := h.commentsOf(ctx, is.Number, since)
	if err != nil {
		return w, err
	}
	answered := answeredBefore(said, ids, labelled.CreatedAt)
	for _, c := range slices.Backward(said) {
		e := command.AsCommand(commentEvent(work.EventSource, 0, c).event)
		cmd, ok := command.Parse(c.Body)
		flow, begins := cmd.Verb.Flow()
		if !ok || !begins || answered[e.Key] || !strings.EqualFold(h.repo.Settings.Labels.Of(flow), labelled.Label) {
			continue
		}
		at, err := h.writtenAt(ctx, c)
		if err != nil {
			return w, err
		}
		if at.After(labelled.CreatedAt) {
			continue
		}
		given := fmt.Sprintf("%s commented %s", c.Author.Login, cmd)
		may, err := h.permissions.mayCommand(ctx, c.Author, h.env.Now())
		if may || err != nil {
			return word{at: at, given: given}, err
		}
		if strings.HasPrefix(by, c.Author.Login+" ") { // else nobody obeyed it
			w.lost = given
		}
	}
	return w, nil
}

// commanded is since when the command for which a label was set may have been written,
// and whose it was: its row says so, while there is one.
func (h *reading) commanded(ctx context.Context, number int, labelled github.TimelineEvent) (since time.Time, by string, err error) {
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		a, known, err := tx.GetAction(ctx, work.FlowToken(h.row.Key(), number))
		if at, bad := time.Parse(time.RFC3339, a.Head); known && bad == nil && !at.After(labelled.CreatedAt) {
			since, by = at, a.Why // "ann said /mergexo bugfix"
		}
		return err
	})
	return since, by, err
}

// answeredBefore are the keys of the events that our own comments name as handled
// which were there before a time.
func answeredBefore(said []github.Comment, ids []int64, at time.Time) map[string]bool {
	keys := map[string]bool{}
	for _, c := range said {
		if !c.CreatedAt.Before(at) || !work.Ours(c.Body, c.Author, ids) {
			continue
		}
		marks, _ := work.ParseMarks(c.Body)
		for _, key := range marks.Handled {
			keys[key] = true
		}
	}
	return keys
}

// writtenAt is when a comment got the words that it has. Its stamp is moved by
// reactions, too, which anybody may leave.
func (h *reading) writtenAt(ctx context.Context, c github.Comment) (time.Time, error) {
	if !c.UpdatedAt.After(c.CreatedAt) || c.NodeID == "" {
		return c.CreatedAt, nil
	}
	text, ok, err := h.repo.GitHub.Text(ctx, c.NodeID)
	if err != nil || !ok || text.EditedAt.IsZero() {
		return c.CreatedAt, err
	}
	return text.EditedAt, nil
}

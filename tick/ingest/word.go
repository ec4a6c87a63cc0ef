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
	"github.com/mergexo/gh-mergexo/tick/ingest/comments"
)

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
func (h *Issues) wordFor(ctx context.Context, is github.Issue, labelled github.TimelineEvent) (word, error) {
	w := word{at: labelled.CreatedAt, event: labelled.ID, given: fmt.Sprintf("the label %s was set", labelled.Label)}
	ids := h.P.Accounts.Operators(h.R.Name.Host)
	if !slices.Contains(ids, labelled.Actor.ID) {
		return w, nil
	}
	since, by, err := h.commanded(ctx, is.Number, labelled)
	if err != nil {
		return w, err
	}
	said, err := h.Ahead().CommentsOf(ctx, is.Number, since)
	if err != nil {
		return w, err
	}
	answered := answeredBefore(said, ids, labelled.CreatedAt)
	for _, c := range slices.Backward(said) {
		e := command.AsCommand(comments.CommentEvent(work.EventSource, 0, c).Event)
		cmd, ok := command.Parse(c.Body)
		flow, begins := cmd.Verb.Flow()
		if !ok || !begins || answered[e.Key] || !strings.EqualFold(h.R.Settings.Labels.Of(flow), labelled.Label) {
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
		may, err := h.people.MayCommand(ctx, c.Author, h.P.Now())
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
func (h *Issues) commanded(ctx context.Context, number int, labelled github.TimelineEvent) (since time.Time, by string, err error) {
	err = h.View(ctx, func(ctx context.Context, tx *store.Tx) error {
		a, known, err := tx.GetAction(ctx, work.FlowToken(h.Repo.Key(), number))
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
func (h *Issues) writtenAt(ctx context.Context, c github.Comment) (time.Time, error) {
	if !c.UpdatedAt.After(c.CreatedAt) || c.NodeID == "" {
		return c.CreatedAt, nil
	}
	text, ok, err := h.R.GitHub.Text(ctx, c.NodeID)
	if err != nil || !ok || text.EditedAt.IsZero() {
		return c.CreatedAt, err
	}
	return text.EditedAt, nil
}

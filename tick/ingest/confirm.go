package ingest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// withheld replaces a description that has no known confirmed version.
const withheld = "(The description was edited after the label was set, and nobody who may write has confirmed it. It is left out here.)"

// confirmText gives an item the text of its issue that counts, and what was changed since that was confirmed. The text
// stored in known was confirmed.
//
// Setting a flow's label confirms the issue as it reads at that moment; a command that sets the
// label confirms it as of the command. An author without write permission can still edit it
// afterwards: agents do not see those edits until the label is set again.
func (h *reading) confirmText(ctx context.Context, known work.Item, label string, r issueRead) (work.Item, error) {
	c := known
	c.Title, c.Body, c.Edited = r.Title, r.Body, ""
	if h.isOurs(r.Author) { // such as a roadmap's sub-issue: nobody edits it who may not write, and its markers are not for agents
		c.Body = work.Unmarked(r.Body)
		return c, nil
	}
	labelled, ok := lastEvent(r.timeline, "labeled", label)
	if !ok || known.ID != 0 && known.Edited == "" && known.Title == r.Title && known.Body == r.Body {
		return c, nil
	}
	if trusted, err := h.mayCommand(ctx, r.Author, r.UpdatedAt); trusted || err != nil {
		return c, err
	}
	// Read the text and its stamp together: a list may lag behind both.
	text, ok, err := h.repo.GitHub.Text(ctx, r.NodeID)
	if err != nil || !ok {
		return c, err
	}
	c.Title, c.Body = text.Title, text.Body
	word, err := h.findConfirmation(ctx, r.Number, labelled)
	if err != nil {
		return c, err
	}
	// A title is replaced as a whole, so the person who set the last one confirms it. Renames since the confirmation by
	// people who may not write are reverted.
	for _, t := range slices.Backward(r.timeline) {
		if t.Event != "renamed" {
			continue
		}
		// The ids of a timeline rise even within a second. A command has none there, so its time is compared.
		confirmed := t.ID < word.event
		if word.event == 0 {
			confirmed = t.CreatedAt.Before(word.at)
		}
		if !confirmed {
			confirmed, err = h.mayCommand(ctx, t.Actor, t.CreatedAt)
		}
		if err != nil {
			return c, err
		}
		if confirmed {
			break
		}
		c.Title = t.RenamedFrom
		c.Edited = fmt.Sprintf("its title was changed after %s, by %s, who may not write to the repository", word.given, t.Actor.Login)
	}
	if text.EditedAt.IsZero() || text.EditedAt.Before(word.at) {
		return c, nil
	}
	c.Body = withheld
	if known.ID != 0 {
		c.Body = known.Body
	}
	c.Edited = fmt.Sprintf("its description was edited after %s, and its author %s may not write to the repository", word.given, r.Author.Login)
	return c, nil
}

// confirmation is the act that confirms an issue's text: a person set the label, or gave the
// command for which we set it. We may set it much later.
type confirmation struct {
	at    time.Time
	event int64  // id of the event of a label that a person set; 0 for a command
	given string // for people: "the label agent:bugfix was set"
	lost  string // for people: the command for which we set the label, if its author may no longer give commands
}

// findConfirmation finds who confirmed the text by setting a label. For a label set by our account
// it is the author of the newest command not answered before the label was set. We answer after
// setting the label, so a label that the operator sets by hand later is the operator's own.
func (h *reading) findConfirmation(ctx context.Context, number int, labelled github.TimelineEvent) (confirmation, error) {
	w := confirmation{at: labelled.CreatedAt, event: labelled.ID, given: fmt.Sprintf("the label %s was set", labelled.Label)}
	ids := h.accounts.Operators(h.repo.Name.Host)
	if !slices.Contains(ids, labelled.Actor.ID) {
		return w, nil
	}
	// The row of the action that set it says when its command may have been written, and whose it was.
	a, err := readRows(ctx, h.database, func(ctx context.Context, tx *store.Tx) (work.Action, error) {
		a, _, err := tx.GetAction(ctx, work.FlowToken(h.row.Key(), number))
		return a, err
	})
	if err != nil {
		return w, err
	}
	since, bad := time.Parse(time.RFC3339, a.Head)
	by := a.Why // "ann said /mergexo bugfix"
	if bad != nil || since.After(labelled.CreatedAt) {
		since, by = time.Time{}, ""
	}
	said, err := h.commentsOf(ctx, number, since)
	if err != nil {
		return w, err
	}
	answered := map[string]bool{} // event keys that comments of ours from before name as handled
	for _, c := range said {
		if marks, _ := work.ParseMarks(c.Body); c.CreatedAt.Before(labelled.CreatedAt) && work.Ours(c.Body, c.Author, ids) {
			for _, key := range marks.Handled {
				answered[key] = true
			}
		}
	}
	for _, c := range slices.Backward(said) {
		e := work.AsCommand(commentEvent(work.EventSource, 0, c).event)
		cmd, ok := work.ParseCommand(c.Body)
		flow, begins := cmd.Verb.Flow()
		if !ok || !begins || answered[e.Key] || !strings.EqualFold(h.repo.Settings.Labels.Of(flow), labelled.Label) {
			continue
		}
		// When it got its current text, and whether from its author. UpdatedAt is no proof: reactions move it, and anybody
		// may leave one.
		at, theirs := c.CreatedAt, true
		if c.UpdatedAt.After(c.CreatedAt) && c.NodeID != "" {
			words, err := h.repo.GitHub.Words(ctx, []string{c.NodeID})
			if err != nil {
				return w, err
			}
			if word := words[c.NodeID]; !word.EditedAt.IsZero() {
				at, theirs = word.EditedAt, work.Word{Editor: word.Editor}.Ignored(c.Author) == ""
			}
		}
		if !theirs || at.After(labelled.CreatedAt) {
			continue
		}
		given := fmt.Sprintf("%s commented %s", c.Author.Login, cmd)
		may, err := h.mayCommand(ctx, c.Author, h.now())
		if may || err != nil {
			return confirmation{at: at, given: given}, err
		}
		if strings.HasPrefix(by, c.Author.Login+" ") { // nobody obeyed it otherwise
			w.lost = given
		}
	}
	return w, nil
}

package ingest

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// A pass that dies after it read a command leaves it pending. If somebody else edits the comment then, an
// approval is not carried out by the next pass, and a hold is.
func TestAnotherOnesEditOfAPendingCommand(t *testing.T) {
	bob := work.Account{ID: 3, Login: "bob"}
	for said, want := range map[string]string{"/mergexo approve": store.OutcomeEdited, "/mergexo hold": "", "/mergexo pause": ""} {
		for editor, want := range map[work.Account]string{bob: want, ann: store.OutcomeEdited} {
			m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 100)
			m.pass(fate{})
			at := m.hub.now
			c := github.Comment{ID: 7000, NodeID: "IC_1", Number: 2000, Author: ann, CreatedAt: at, UpdatedAt: at, Body: said}
			m.hub.add("comments", at, c)
			m.hub.now = at.Add(time.Minute)
			m.pass(fate{})
			c.Body, c.UpdatedAt = "Looks good!", m.hub.now
			m.hub.editors = map[string]work.Account{"IC_1": editor}
			m.hub.add("comments", c.UpdatedAt, c)
			m.hub.now = m.hub.now.Add(time.Minute)
			m.pass(fate{})
			found := map[work.EventKind]string{}
			for _, e := range m.events(2000) {
				if e.Author == ann {
					found[e.Kind] = e.Outcome
				}
			}
			text := work.OutcomeEditedByOther
			if editor == ann {
				text = ""
			}
			if got, known := found[work.EventCommand]; !known || got != want || found[work.EventIssue] != text {
				t.Errorf("%s, edited by %s: %q, want %q; the text that replaced it %q", said, editor.Login, got, want, found[work.EventIssue])
			}
		}
	}
}

func (m *machine) events(number int) (all []work.Event) {
	err := m.db.View(m.t.Context(), func(tx *store.Tx) (err error) {
		all, err = tx.ListEvents(m.t.Context(), 1, number)
		return err
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return all
}

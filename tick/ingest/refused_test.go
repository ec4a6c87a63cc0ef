package ingest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// If any one request of a first look is refused, the next passes record what it would have brought.
// That includes all comments, answered or not, on what the same pass left and then found in another
// way.
func TestARefusedFirstLook(t *testing.T) {
	testhome.NotShort(t)
	for seed := range uint64(2) {
		l := lost{seed: 1 + seed, pulls: 4, ours: 10, comments: 24, people: 2}
		whole := newLostMachine(t, l, 10_000)
		whole.pass(fate{})
		whole.pass(fate{})
		want := whole.stored()
		for refused := 1; ; refused++ {
			m := newLostMachine(t, l, 3)
			m.pass(fate{refused: refused})
			if m.hub.time.asked < refused {
				break // all were refused once
			}
			for !m.pass(fate{}) {
			}
			m.pass(fate{}) // asks about those that were found singly
			if d := differences(m.stored(), want); d != "" {
				t.Errorf("with seed %d, where request %d is refused, stored is something else:\n%s", l.seed, refused, d)
			}
		}
	}
}

// If any one request of a pass is refused, comments on a pull request, on more than one page, are
// known in the end.
func TestARefusedLookAtComments(t *testing.T) {
	for refused := 1; ; refused++ {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Hour)
		for i := range 5 {
			at, who := m.hub.now.Add(time.Duration(i-40)*time.Minute), work.Account{ID: int64(crowd + 3*i + 1), Login: fmt.Sprint("person", i)}
			c := github.Comment{ID: int64(7000 + i), Number: 2000, Author: who, CreatedAt: at, UpdatedAt: at, Body: "Why?"}
			m.hub.add("comments", at, c)
			m.hub.comments = append(m.hub.comments, c)
			m.hub.add("reviews", at, github.ReviewComment{ID: int64(8000 + i), Pull: 2000, Author: who, CreatedAt: at, UpdatedAt: at, Path: "a.go", Line: 1, Body: "Here."})
		}
		m.hub.sort()
		if !m.refusedOnce(refused) {
			return // all were refused once
		}
		if known := m.outcomes(); len(known) != 10 {
			t.Errorf("where request %d is refused, %d comments of 10 are known: %v", refused, len(known), known)
		}
	}
}

// The same for commands on a closed pull request.
func TestARefusedLookAtCommandsOnAClosedPullRequest(t *testing.T) {
	for refused := 1; ; refused++ {
		m := newMachine(t, news{seed: 1, pulls: 1, seconds: 1}, 2)
		m.pass(fate{})
		d := m.hub.pulls[2000]
		d.State, d.UpdatedAt = work.PullClosed, m.hub.now.Add(time.Minute)
		m.hub.pulls[2000] = d
		m.hub.now = m.hub.now.Add(10 * time.Minute)
		m.pass(fate{})
		m.hub.now = m.hub.now.Add(time.Hour)
		for i := range 5 {
			at, who := m.hub.now.Add(time.Duration(i-40)*time.Minute), work.Account{ID: int64(crowd + 3*i + 1), Login: fmt.Sprint("person", i)}
			c := github.Comment{ID: int64(7000 + i), Number: 2000, Author: who, CreatedAt: at, UpdatedAt: at, Body: "/mergexo status"}
			m.hub.add("comments", at, c)
			m.hub.comments = append(m.hub.comments, c)
		}
		m.hub.sort()
		if !m.refusedOnce(refused) {
			return // all were refused once
		}
		if state, commands := m.commandsOf(2000); state != work.PullClosed || commands != 5 {
			t.Errorf("where request %d is refused, %d commands of 5 are known of a pull request that is %s", refused, commands, state)
		}
	}
}

// refusedOnce runs a pass with one request refused, and six more. It returns false if the pass made
// fewer requests.
func (m *machine) refusedOnce(refused int) bool {
	m.pass(fate{refused: refused})
	if m.hub.time.asked < refused {
		return false
	}
	for range 6 {
		m.hub.now = m.hub.now.Add(10 * time.Minute)
		m.pass(fate{})
	}
	return true
}

// commandsOf returns the state of a pull request and the number of commands stored for it.
func (m *machine) commandsOf(number int) (state work.PullState, commands int) {
	m.update(func(ctx context.Context, tx *store.Tx, repo work.Repo) error {
		pull, _, err := tx.GetPull(ctx, repo.ID, number)
		if err != nil {
			return err
		}
		all, err := tx.ListEvents(ctx, repo.ID, number)
		commands = 0
		for _, e := range all {
			if e.Kind == work.EventCommand {
				commands++
			}
		}
		state = pull.State
		return err
	})
	return state, commands
}

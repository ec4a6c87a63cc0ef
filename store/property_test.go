package store

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// model is what the database must agree with, move by move.
type model struct {
	db     *DB
	ctx    context.Context
	repo   work.Repo
	items  []int64
	states map[int64]work.State
	turns  []int64
	turn   map[int64]work.Turn
	events []int64
	event  map[int64]work.Event
	keys   int
}

// must runs a move that has to succeed exactly when ok, and to lose by
// ErrStale otherwise.
func (m *model) must(t *rapid.T, ok bool, fn func(*Tx) error) {
	err := m.db.Update(m.ctx, fn)
	if ok && err != nil || !ok && !errors.Is(err, ErrStale) {
		t.Fatalf("error %v, should succeed: %v", err, ok)
	}
}

func (m *model) anyItem(t *rapid.T) int64 { return rapid.SampledFrom(m.items).Draw(t, "item") }

func (m *model) anyTurn(t *rapid.T) int64 {
	if len(m.turns) == 0 {
		t.Skip("no turn")
	}
	return rapid.SampledFrom(m.turns).Draw(t, "turn")
}

func (m *model) anyEvent(t *rapid.T) int64 {
	if len(m.events) == 0 {
		t.Skip("no event")
	}
	return rapid.SampledFrom(m.events).Draw(t, "event")
}

func (m *model) addTurn(t *rapid.T) {
	u := work.Turn{RepoID: m.repo.ID, ItemID: m.anyItem(t), Number: rapid.IntRange(1, 4).Draw(t, "number"), Step: work.StepClaimed}
	fresh := rapid.IntRange(0, 3).Draw(t, "key") > 0
	if fresh {
		m.keys++
	}
	u.Key = fmt.Sprint(m.repo.ID, "-", m.keys)
	ok := true
	for _, known := range m.turn {
		same := known.ItemID == u.ItemID || known.Number == u.Number
		ok = ok && known.Key != u.Key && (known.Step.Ended() || !same)
	}
	m.must(t, ok, func(tx *Tx) (err error) {
		u.ID, err = tx.AddTurn(m.ctx, u)
		return err
	})
	if ok {
		m.turns, m.turn[u.ID] = append(m.turns, u.ID), u
	}
}

func (m *model) moveTurn(t *rapid.T) {
	u := m.turn[m.anyTurn(t)]
	from, to := rapid.SampledFrom(steps).Draw(t, "from"), rapid.SampledFrom(steps).Draw(t, "to")
	move := func(tx *Tx) error {
		if to.Ended() {
			return tx.EndTurn(m.ctx, u.ID, from, to, "", t0)
		}
		return tx.AdvanceTurn(m.ctx, u.ID, from, to, t0)
	}
	if !from.MayMoveTo(to) {
		if err := m.db.Update(m.ctx, move); err == nil {
			t.Fatalf("a turn moved from %q to %q", from, to)
		}
		return
	}
	ok := u.Step == from
	m.must(t, ok, move)
	if ok {
		u.Step = to
		m.turn[u.ID] = u
	}
}

func (m *model) moveItem(t *rapid.T) {
	id := m.anyItem(t)
	from := rapid.SliceOfN(rapid.SampledFrom(states), 1, 4).Draw(t, "from")
	to := rapid.SampledFrom(states).Draw(t, "to")
	ok := false
	for _, s := range from {
		ok = ok || s == m.states[id]
	}
	m.must(t, ok, func(tx *Tx) error { return tx.MoveItem(m.ctx, id, from, to, work.Reason{}, "", t0) })
	if ok {
		m.states[id] = to
	}
}

func (m *model) addEvent(t *rapid.T) {
	key := fmt.Sprint(rapid.IntRange(1, 12).Draw(t, "key"))
	known := false
	for _, e := range m.event {
		known = known || e.Key == key
	}
	var got work.Event
	m.must(t, true, func(tx *Tx) error {
		added, err := tx.AddEvent(m.ctx, work.Event{RepoID: m.repo.ID, Number: 1, Key: key})
		if err != nil {
			return err
		}
		if added == known {
			t.Fatalf("event %s: added %v, known %v", key, added, known)
		}
		all, err := tx.ListEvents(m.ctx, m.repo.ID, 1)
		got = all[len(all)-1]
		return err
	})
	if !known {
		m.events, m.event[got.ID] = append(m.events, got.ID), got
	}
}

func (m *model) assign(t *rapid.T) {
	turn, a, b := m.anyTurn(t), m.anyEvent(t), m.anyEvent(t)
	free := func(id int64) bool { return m.event[id].TurnID == 0 && m.event[id].Outcome == "" }
	ok := a != b && free(a) && free(b)
	m.must(t, ok, func(tx *Tx) error { return tx.AssignEvents(m.ctx, turn, []int64{a, b}) })
	for _, id := range []int64{a, b} {
		if e := m.event[id]; ok {
			e.TurnID = turn
			m.event[id] = e
		}
	}
}

func (m *model) release(t *rapid.T) {
	turn := m.anyTurn(t)
	m.must(t, true, func(tx *Tx) error { return tx.ReleaseEvents(m.ctx, turn) })
	for id, e := range m.event {
		if e.TurnID == turn && e.Outcome == "" {
			e.TurnID = 0
			m.event[id] = e
		}
	}
}

func (m *model) finish(t *rapid.T) {
	turn, outcome := m.anyTurn(t), fmt.Sprint("by ", rapid.IntRange(1, 9).Draw(t, "outcome"))
	m.must(t, true, func(tx *Tx) error { return tx.FinishTurnEvents(m.ctx, turn, outcome, t0) })
	for id, e := range m.event {
		if e.TurnID == turn && e.Outcome == "" {
			e.Outcome = outcome
			m.event[id] = e
		}
	}
}

// agree compares everything, and counts the invariants by itself.
func (m *model) agree(t *rapid.T) {
	err := m.db.Update(m.ctx, func(tx *Tx) error {
		items, err := tx.ListItems(m.ctx, m.repo.ID)
		if err != nil {
			return err
		}
		numbers := map[int]int{}
		for _, i := range items {
			if i.State != m.states[i.ID] {
				t.Fatalf("item %d is %q, want %q", i.ID, i.State, m.states[i.ID])
			}
			turns, err := tx.ListTurns(m.ctx, i.ID)
			if err != nil {
				return err
			}
			live := 0
			for _, u := range turns {
				if u.Step != m.turn[u.ID].Step {
					t.Fatalf("turn %d is %q, want %q", u.ID, u.Step, m.turn[u.ID].Step)
				}
				if !u.Step.Ended() {
					live++
					numbers[u.Number]++
				}
				if live > 1 || numbers[u.Number] > 1 {
					t.Fatalf("two live turns: %+v", turns)
				}
			}
		}
		all, err := tx.ListEvents(m.ctx, m.repo.ID, 1)
		if err != nil || len(all) != len(m.event) {
			t.Fatalf("%d events, %v; want %d", len(all), err, len(m.event))
		}
		for _, got := range all {
			if want := m.event[got.ID]; got.TurnID != want.TurnID || got.Outcome != want.Outcome || got.ProcessedAt.IsZero() != (want.Outcome == "") {
				t.Fatalf("event %+v, want %+v", got, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPropertyMovesKeepTheInvariants(t *testing.T) {
	testhome.NotShort(t)
	d := newDB(t)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		m := &model{db: d, ctx: t.Context(), states: map[int64]work.State{}, turn: map[int64]work.Turn{}, event: map[int64]work.Event{}}
		m.must(rt, true, func(tx *Tx) (err error) {
			m.items, m.states = nil, map[int64]work.State{} // a server may have it run again, with other ids
			m.repo, err = tx.EnsureRepo(m.ctx, work.RepoName{Host: "github.com", Owner: "o", Name: fmt.Sprint(round)})
			for n := 1; n <= 3 && err == nil; n++ {
				var id int64
				id, err = tx.AddItem(m.ctx, work.Item{RepoID: m.repo.ID, Number: n, State: work.StatePending})
				m.items, m.states[id] = append(m.items, id), work.StatePending
			}
			return err
		})
		rt.Repeat(map[string]func(*rapid.T){
			"":          m.agree,
			"add turn":  m.addTurn,
			"move turn": m.moveTurn,
			"move item": m.moveItem,
			"add event": m.addEvent,
			"assign":    m.assign,
			"release":   m.release,
			"finish":    m.finish,
		})
	})
}

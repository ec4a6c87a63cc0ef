package store

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// aRoadmap is a roadmap of two nodes, of an item that is merged.
func aRoadmap(t *testing.T, d *DB) (work.Repo, roadmap.Record) {
	t.Helper()
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 7, State: work.StateMerged, Title: "Faster", Since: t0})
	m := roadmap.Record{ItemID: i.ID, RepoID: r.ID, State: roadmap.Unfolding, Document: "docs/roadmap/7-faster.md", Pull: 8, Revision: 1, Look: 1, LookAt: t0, Goal: "Reads."}
	update(t, d, func(tx *Tx) error {
		return tx.AddRoadmap(t.Context(), m, []roadmap.Child{
			{Node: "b", Position: 1, Title: "B", Flow: work.FlowBugfix, Needs: []string{"a"}, Hash: "hb", Step: roadmap.Planned, Body: "b"},
			{Node: "a", Position: 0, Title: "A", Flow: work.FlowSmallJob, Hash: "ha", Step: roadmap.Planned, Body: "a"},
		})
	})
	return r, found(t, d, i.ID)
}

func found(t *testing.T, d *DB, item int64) roadmap.Record {
	t.Helper()
	return inTx(t, d, func(tx *Tx) (roadmap.Record, error) {
		m, ok, err := tx.FindRoadmap(t.Context(), item)
		if !ok {
			t.Errorf("item %d has no roadmap", item)
		}
		return m, err
	})
}

func TestARoadmapKeepsEveryField(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	i := addItem(t, d, work.Item{RepoID: r.ID, Number: 3, Title: "The issue", IssueClosed: true, SubIssueOf: "h/o/r#1"})
	var m roadmap.Record
	fill(t, &m)
	m.ItemID, m.RepoID, m.Number, m.Title, m.Closed, m.Changing, m.State = i.ID, r.ID, 3, "The issue", true, false, roadmap.Followed
	m.Repo, m.Ref, m.Parent, m.Pause = r.Name, work.Dependency{Repo: r.Name, Number: 3}.String(), "h/o/r#1", work.Pause{}
	var c roadmap.Child
	fill(t, &c)
	c.ItemID = i.ID
	var s roadmap.SubIssue
	fill(t, &s)
	s.ItemID = i.ID
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.AddRoadmap(t.Context(), m, []roadmap.Child{c}), tx.SetSubIssues(t.Context(), i.ID, []roadmap.SubIssue{s}, m.LookAt))
	})
	m.Look++ // what is below it changed
	equal(t, found(t, d, i.ID), m)
	equal(t, inTx(t, d, func(tx *Tx) ([]roadmap.Child, error) { return tx.ListChildren(t.Context(), i.ID) }), []roadmap.Child{c})
	equal(t, inTx(t, d, func(tx *Tx) ([]roadmap.SubIssue, error) { return tx.ListSubIssues(t.Context(), i.ID) }), []roadmap.SubIssue{s})
	equal(t, inTx(t, d, func(tx *Tx) ([]roadmap.Record, error) { return tx.ListRoadmaps(t.Context(), r.ID) }), []roadmap.Record{m})
	addItem(t, d, work.Item{RepoID: r.ID, Number: 3})
	if found(t, d, i.ID).Changing {
		t.Error("other work on its issue is open")
	}
	addItem(t, d, work.Item{RepoID: r.ID, Number: 3, Parent: i.ID})
	if !found(t, d, i.ID).Changing {
		t.Error("a work item that changes it is open")
	}
	wantErr(t, d, ErrStale, func(tx *Tx) error { return tx.AddRoadmap(t.Context(), m, nil) })
}

// What two passes read, one of them moves. A node has one sub-issue for good.
func TestARoadmapMovesOnce(t *testing.T) {
	d := newDB(t)
	r, before := aRoadmap(t, d)
	after := before
	after.State, after.Why = roadmap.Stopped, work.Reason{Kind: work.WhyFailed, Text: "no"}
	move := func(tx *Tx) error { return tx.MoveRoadmap(t.Context(), before, after) }
	update(t, d, move)
	wantErr(t, d, ErrStale, move)
	if m := found(t, d, before.ItemID); m.State != roadmap.Stopped || m.Why.Text != "no" || m.Look != before.Look+1 {
		t.Errorf("%+v", m)
	}
	nodes := inTx(t, d, func(tx *Tx) ([]roadmap.Child, error) { return tx.ListChildren(t.Context(), before.ItemID) })
	if len(nodes) != 2 || nodes[0].Node != "a" {
		t.Fatalf("%+v", nodes)
	}
	made := nodes[0]
	made.Step, made.Number = roadmap.Made, 9
	child := func(tx *Tx) error { return tx.MoveChild(t.Context(), nodes[0], made) }
	update(t, d, child)
	wantErr(t, d, ErrStale, child)
	other := made
	other.Number = 10
	back := made
	back.Step = roadmap.Planned
	for what, to := range map[string]roadmap.Child{"another sub-issue": other, "no sub-issue again": back} {
		if err := d.Update(t.Context(), func(tx *Tx) error { return tx.MoveChild(t.Context(), made, to) }); err == nil {
			t.Errorf("a node got %s", what)
		}
	}
	wantErr(t, d, ErrStale, func(tx *Tx) error { return tx.MoveChild(t.Context(), roadmap.Child{}, made) })

	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.MarkRoadmapChanged(t.Context(), before.ItemID), tx.MarkRoadmapDecided(t.Context(), before.ItemID, 1))
	})
	if m := found(t, d, before.ItemID); m.Look != before.Look+1 {
		t.Errorf("a change that was not read is decided: %d", m.Look)
	}
	ended := after
	ended.State = roadmap.Ended
	update(t, d, func(tx *Tx) error { return tx.MoveRoadmap(t.Context(), after, ended) })
	if live := inTx(t, d, func(tx *Tx) ([]roadmap.Record, error) { return tx.ListRoadmaps(t.Context(), r.ID) }); len(live) > 0 {
		t.Errorf("%+v", live)
	}
}

// Where a roadmap has something to decide or to read, the passes look into its repository; else not.
func TestARoadmapIsBusyWhileItChanges(t *testing.T) {
	d := newDB(t)
	r, m := aRoadmap(t, d)
	later := t0.Add(time.Hour)
	busy := func(now time.Time) (decide, read bool) {
		update(t, d, func(tx *Tx) error {
			some, err := tx.ListBusy(t.Context(), now, now)
			decide = some[r.ID]
			if err == nil {
				some, err = tx.ListUnread(t.Context(), now, now)
				read = some[r.ID]
			}
			return err
		})
		return decide, read
	}
	update(t, d, func(tx *Tx) error { return tx.SetFirstLook(t.Context(), r.ID, work.FirstLookDone) })
	is := func(what string, decide, read bool) {
		t.Helper()
		if d, r := busy(t0); d != decide || r != read {
			t.Errorf("%s: decides %v, reads %v", what, d, r)
		}
	}
	is("unfolding", true, true)
	sub := []roadmap.SubIssue{{Ref: "github.com/o/r#9", State: work.DependencyOpen, Title: "A"}}
	followed := m
	followed.State = roadmap.Followed
	update(t, d, func(tx *Tx) error {
		return errors.Join(tx.MoveRoadmap(t.Context(), m, followed), tx.SetSubIssues(t.Context(), m.ItemID, sub, later))
	})
	is("what is below it changed", true, false)
	changes := found(t, d, m.ItemID).Look
	update(t, d, func(tx *Tx) error { return tx.MarkRoadmapDecided(t.Context(), m.ItemID, changes) })
	is("its table is due", true, false)
	update(t, d, func(tx *Tx) error { return tx.SetTableAt(t.Context(), m.ItemID, time.Time{}) })
	is("followed", false, false)
	update(t, d, func(tx *Tx) error { return tx.SetSubIssues(t.Context(), m.ItemID, sub, later) })
	is("read again", false, false)
	update(t, d, func(tx *Tx) error { return tx.WakeRoadmaps(t.Context(), 99, "github.com/o/r#10", t0) })
	is("another issue was closed", false, false)
	update(t, d, func(tx *Tx) error { return tx.WakeRoadmaps(t.Context(), 99, "github.com/o/r#9", t0) })
	is("a sub-issue was closed", false, true)
}

func TestWorkOnIssues(t *testing.T) {
	d := newDB(t)
	r := addRepo(t, d)
	design := addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateCompleted})
	addItem(t, d, work.Item{RepoID: r.ID, Number: 1, Parent: design.ID, State: work.StateReady})
	addItem(t, d, work.Item{RepoID: r.ID, Number: 2, Title: "T", Body: "B"})
	ran := addItem(t, d, work.Item{RepoID: r.ID, Number: 3, State: work.StateRunning})
	addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: ran.ID, Number: 3, Key: "k", Runs: 1})
	update(t, d, func(tx *Tx) error {
		_, err := tx.PutPull(t.Context(), work.PullRequest{RepoID: r.ID, ItemID: design.ID, Number: 11, State: work.PullMerged})
		return err
	})
	none := work.IssueHash("", "")
	equal(t, inTx(t, d, func(tx *Tx) (map[int]roadmap.Work, error) { return tx.ListWorkOn(t.Context(), r.ID, []int{1, 2, 3, 4}) }), map[int]roadmap.Work{
		1: {State: work.StateReady, Begun: true, Pull: 11, Merged: true, Text: none}, 2: {State: work.StatePending, Text: work.IssueHash("T", "B")}, 3: {State: work.StateRunning, Begun: true, Text: none},
	})
}

// The keys of a roadmap that is followed stay for as long as it is: nothing of it is made again.
func TestAFollowedRoadmapIsNotPruned(t *testing.T) {
	d := newDB(t)
	_, m := aRoadmap(t, d)
	a := addAction(t, d, work.Action{RepoID: m.RepoID, ItemID: m.ItemID, Number: 7, Token: "child"})
	update(t, d, func(tx *Tx) error { return tx.MarkApplied(t.Context(), a.ID, "9", "", t0) })
	prune := func() (actions map[string]work.Action, nodes []roadmap.Child) {
		if _, err := d.Prune(t.Context(), t0.Add(month)); err != nil {
			t.Fatal(err)
		}
		actions = inTx(t, d, func(tx *Tx) (map[string]work.Action, error) {
			return tx.ListActions(t.Context(), []string{"child", "none"})
		})
		return actions, inTx(t, d, func(tx *Tx) ([]roadmap.Child, error) { return tx.ListChildren(t.Context(), m.ItemID) })
	}
	if actions, nodes := prune(); len(actions) != 1 || actions["child"].ResultID != "9" || len(nodes) != 2 {
		t.Errorf("%v %v", actions, nodes)
	}
	ended := m
	ended.State = roadmap.Ended
	update(t, d, func(tx *Tx) error { return tx.MoveRoadmap(t.Context(), m, ended) })
	if actions, nodes := prune(); len(actions) != 0 || len(nodes) != 0 {
		t.Errorf("%v %v", actions, nodes)
	}
}

func TestTheLifeOfARoadmap(t *testing.T) {
	reached := []roadmap.State{""}
	for i := 0; i < len(reached); i++ {
		for _, x := range roadmap.Transitions() {
			if x.From == reached[i] && !slices.Contains(reached, x.To) {
				reached = append(reached, x.To)
			}
			if to, ok := x.From.After(x.Event); x.From == reached[i] && (!ok || to != x.To) {
				t.Errorf("%q after %q is %q", x.From, x.Event, to)
			}
		}
	}
	for _, s := range roadmap.States() {
		if !slices.Contains(reached, s) {
			t.Errorf("%s is not reached", s)
		}
		if _, ends := s.After(roadmap.EventEnded); ends == (s == roadmap.Ended) {
			t.Errorf("%s: ends %v", s, ends)
		}
	}
	for _, from := range roadmap.Steps() {
		if from.MayMoveTo(roadmap.Planned) && from != roadmap.Planned {
			t.Errorf("%s becomes planned again", from)
		}
	}
}

// A new document plans its edges, texts and labels again, in its own order: what was planned for the one before
// and not sent is gone. A document with faults asks for nothing, and changes nothing.
func TestANewDocumentPlansItsPartsAgain(t *testing.T) {
	d := newDB(t)
	r, m := aRoadmap(t, d)
	update(t, d, func(tx *Tx) error {
		for _, a := range []work.Action{
			{Kind: work.ActionBlock, Token: "edge"},
			{Kind: work.ActionEditIssue, Token: "text"},
			{Kind: work.ActionFlow, Extra: "7", Token: "label"},
			{Kind: work.ActionFlow, Token: "a command's"},
			{Kind: work.ActionChild, Token: "child"},
			{Kind: work.ActionBlock, Token: "sent"},
		} {
			a.RepoID, a.ItemID, a.State, a.Need = r.ID, m.ItemID, work.ActionPlanned, work.NeedRequired
			added, err := tx.AddAction(t.Context(), a)
			if err == nil && a.Token == "sent" {
				err = tx.MarkSent(t.Context(), added.ID, t0)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	left := func() []string {
		return slices.Sorted(maps.Keys(inTx(t, d, func(tx *Tx) (map[string]work.Action, error) {
			return tx.ListActions(t.Context(), []string{"edge", "text", "label", "a command's", "child", "sent"})
		})))
	}
	move := func(state roadmap.State, revision int) {
		before, after := found(t, d, m.ItemID), found(t, d, m.ItemID)
		after.State, after.Revision = state, revision
		update(t, d, func(tx *Tx) error { return tx.MoveRoadmap(t.Context(), before, after) })
	}
	move(roadmap.Stopped, 1)
	if got := left(); len(got) != 6 {
		t.Errorf("after a document with faults: %q", got)
	}
	move(roadmap.Unfolding, 2)
	equal(t, left(), []string{"a command's", "child", "sent"})
}

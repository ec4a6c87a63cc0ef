package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// legalMoves are all that a row may go through, as "table from to". The
// database itself keeps count (see watch), so that no method's own view of what
// it did is trusted. An action that was seen or given up stays so, one that was
// sent is never planned again, and a void one comes back only if it was never
// sent; a turn moves by work.Step.MayMoveTo; a merge that landed or is half done is never meant
// again.
var legalMoves = []string{
	"action planned planned", "action planned sent", "action planned applied", "action planned void", "action planned dropped",
	"action sent sent", "action sent applied", "action sent void", "action sent dropped",
	"action void planned",
	"turn claimed answered", "turn answered claimed", "turn answered pushed", "turn pushed applied",
	"turn claimed done", "turn answered done", "turn pushed done", "turn applied done",
	"turn claimed superseded", "turn claimed failed", "turn claimed cancelled",
	"turn answered superseded", "turn answered failed", "turn answered cancelled",
	// Of those that merge also what was sent and came to nothing comes back.
	"merging planned planned", "merging planned sent", "merging planned applied", "merging planned void", "merging planned dropped",
	"merging sent sent", "merging sent applied", "merging sent void", "merging sent dropped", "merging void planned", "merging dropped planned",
	"merge intended intended", "merge intended queued", "merge intended half", "merge intended void", "merge intended landed",
	"merge queued intended", "merge queued queued", "merge queued half", "merge queued void", "merge queued landed",
	"merge void intended", "merge void queued", "merge void half", "merge void void", "merge void landed",
	"merge half half", "merge half void", "merge half landed",
}

// watch has the database write down every move, and every change that breaks
// what is always true of a row.
func watch(t *testing.T, d *DB) {
	t.Helper()
	_, err := d.SQL.ExecContext(t.Context(), `
		CREATE TABLE moves (move TEXT NOT NULL);
		CREATE TRIGGER a AFTER UPDATE OF state ON actions WHEN old.state <> new.state OR old.state IN ('planned', 'sent')
			BEGIN INSERT INTO moves VALUES (iif(old.kind = 'merge', 'merging ', 'action ') || old.state || ' ' || new.state); END;
		CREATE TRIGGER u AFTER UPDATE OF step ON turns
			BEGIN INSERT INTO moves VALUES ('turn ' || old.step || ' ' || new.step); END;
		CREATE TRIGGER m AFTER UPDATE OF stage ON merges
			BEGIN INSERT INTO moves VALUES ('merge ' || old.stage || ' ' || new.stage); END;
		CREATE TRIGGER landed AFTER UPDATE ON merges WHEN (new.landed_at > 0) <> (new.stage = 'landed')
			OR old.stage = 'landed' AND (old.commit_oid <> new.commit_oid OR old.differs <> new.differs OR old.red NOT IN ('[]', new.red))
			OR new.stage <> 'landed' AND new.red <> '[]' OR old.pull_id <> new.pull_id OR old.head <> new.head
			BEGIN INSERT INTO moves VALUES ('merge of ' || new.head || ' broke: ' || old.stage || ' to ' || new.stage); END;
		CREATE TRIGGER halted AFTER UPDATE ON repositories WHEN old.merge_why <> '' AND new.merge_why NOT IN ('', old.merge_why) OR new.merge_why = '' AND (new.merge_told > 0 OR new.merge_differs > 2)
			BEGIN INSERT INTO moves VALUES ('merging in ' || new.id || ' broke: ' || old.merge_why || ' to ' || new.merge_why); END;
		CREATE TRIGGER sends AFTER UPDATE ON actions WHEN new.sends < old.sends AND NOT (old.kind = 'merge' AND old.state IN ('void', 'dropped'))
			OR new.state = 'sent' AND (new.sends = 0 OR new.sent_at = 0)
			OR new.state = 'planned' AND new.sends > 0
			OR new.state = 'applied' AND new.seen_at = 0
			OR (new.settled_at > 0) <> (new.state IN ('applied', 'void', 'dropped'))
			OR old.state IN ('applied', 'dropped') AND old.state <> new.state AND NOT (old.kind = 'merge' AND old.state = 'dropped')
			OR old.token <> new.token
			BEGIN INSERT INTO moves VALUES ('action ' || new.token || ' broke: ' || old.state || ' ' || old.sends || ' to ' || new.state || ' ' || new.sends); END;
		CREATE TRIGGER ended AFTER UPDATE ON turns WHEN old.step IN ('done', 'superseded', 'failed', 'cancelled')
			OR (new.ended_at > 0) <> (new.step IN ('done', 'superseded', 'failed', 'cancelled'))
			OR old.turn_key <> new.turn_key
			BEGIN INSERT INTO moves VALUES ('turn ' || new.turn_key || ' broke: ' || old.step || ' to ' || new.step); END;
		CREATE TRIGGER processed AFTER UPDATE ON events WHEN old.processed_at > 0 AND (new.outcome <> old.outcome OR new.turn_id IS NOT old.turn_id)
			BEGIN INSERT INTO moves VALUES ('event ' || new.event_key || ' broke: ' || old.outcome || ' to ' || new.outcome); END;`)
	if err != nil {
		t.Fatal(err)
	}
}

// caller makes any call at all, with whatever ids and steps, as a pass does
// whose knowledge is old, or one that is told nonsense.
type caller struct {
	db    *DB
	ctx   context.Context
	turns []int64
	keys  int
	acted []int64
	pull  int64
}

// try runs one call. What the rules forbid fails; it never half succeeds.
func (c *caller) try(t *rapid.T, what string, fn func(*Tx) error) {
	err := c.db.Update(c.ctx, fn)
	t.Logf("%s: %v", what, err)
}

func (c *caller) turn(t *rapid.T) int64 { return rapid.SampledFrom(c.turns).Draw(t, "turn") }

func (c *caller) action(t *rapid.T) int64 {
	if len(c.acted) == 0 {
		t.Skip("no action")
	}
	return rapid.SampledFrom(c.acted).Draw(t, "action")
}

func (c *caller) step(t *rapid.T, name string) work.Step {
	return rapid.SampledFrom(steps).Draw(t, name)
}

func (c *caller) plan(t *rapid.T) {
	u := rapid.SampledFrom(append([]int64{0}, c.turns...)).Draw(t, "of turn")
	token := fmt.Sprint(c.keys, "-", rapid.IntRange(1, 4).Draw(t, "token"))
	c.try(t, "plan "+token, func(tx *Tx) error {
		a, err := tx.AddAction(c.ctx, work.Action{RepoID: 1, TurnID: u, Token: token, Body: fmt.Sprint("by ", u)})
		if err == nil && !slices.Contains(c.acted, a.ID) {
			c.acted = append(c.acted, a.ID)
		}
		return err
	})
}

// planMerge is what chooses a merge once more, whatever became of it.
func (c *caller) planMerge(t *rapid.T) {
	token := fmt.Sprint(c.keys, "-m", rapid.IntRange(1, 2).Draw(t, "token"))
	c.try(t, "plan "+token, func(tx *Tx) error {
		a, err := tx.PlanMerging(c.ctx, work.Action{RepoID: 1, Kind: work.ActionMerge, Token: token, Title: rapid.SampledFrom([]string{"a", "b"}).Draw(t, "title")})
		if err == nil && !slices.Contains(c.acted, a.ID) {
			c.acted = append(c.acted, a.ID)
		}
		return err
	})
}

// merge says anything at all of a merge.
func (c *caller) merge(t *rapid.T) {
	stage := rapid.SampledFrom([]merging.Stage{merging.Intended, merging.Queued, merging.Half, merging.Void, merging.Landed}).Draw(t, "stage")
	m := merging.Merge{RepoID: 1, PullID: c.pull, Head: fmt.Sprint(c.keys, "-h", rapid.IntRange(1, 2).Draw(t, "head")), Stage: stage, Commit: "c"}
	c.try(t, "merge to "+string(stage), func(tx *Tx) error {
		known, _, err := tx.FindMerge(c.ctx, m.PullID, m.Head)
		m.ID, m.Differs = known.ID, rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, "differs")
		switch {
		case err != nil:
			return err
		case stage != merging.Landed || rapid.Bool().Draw(t, "past LandMerge"):
			return second(tx.PutMerge(c.ctx, m))
		}
		return second(tx.LandMerge(c.ctx, m, work.Reason{Kind: work.WhyMergeDiffers, Text: m.Head}))
	})
}

func (c *caller) halt(t *rapid.T) {
	c.try(t, "halt", func(tx *Tx) error {
		switch rapid.IntRange(0, 2).Draw(t, "how") {
		case 0:
			return tx.StopMerging(c.ctx, 1, work.Reason{Kind: work.WhyMergeDiffers, Text: fmt.Sprint(c.keys)})
		case 1:
			return second(tx.ResumeMerging(c.ctx, 1))
		default:
			return second(tx.MarkHaltReported(c.ctx, 1))
		}
	})
}

func (c *caller) settle(t *rapid.T) {
	id := c.action(t)
	c.try(t, "settle", func(tx *Tx) error {
		switch rapid.IntRange(0, 5).Draw(t, "how") {
		case 0:
			return tx.MarkApplied(c.ctx, id, "1", "", t0)
		case 1:
			return tx.MarkVoid(c.ctx, id, "", "gone", t0)
		case 2:
			return tx.MarkDropped(c.ctx, id, "given up", t0)
		case 3:
			return tx.DeferAction(c.ctx, id, t0, "later")
		case 4:
			return tx.VoidTurnActions(c.ctx, c.turn(t), "merged", t0)
		default:
			return errors.Join(tx.MarkApplied(c.ctx, id, "1", "", t0), errors.New("the pass dies before the commit"))
		}
	})
}

func (c *caller) send(t *rapid.T) {
	id := c.action(t)
	c.try(t, "send", func(tx *Tx) error { return tx.MarkSent(c.ctx, id, t0) })
}

func (c *caller) move(t *rapid.T) {
	id, from, to := c.turn(t), c.step(t, "from"), c.step(t, "to")
	c.try(t, fmt.Sprintf("move from %s to %s", from, to), func(tx *Tx) error {
		if rapid.Bool().Draw(t, "as an end") {
			return tx.EndTurn(c.ctx, id, from, to, "", t0)
		}
		return tx.AdvanceTurn(c.ctx, id, from, to, t0)
	})
}

// onward moves a turn from where it stands, so that the later steps are seen.
func (c *caller) onward(t *rapid.T) {
	id, to := c.turn(t), c.step(t, "to")
	c.try(t, "onward to "+string(to), func(tx *Tx) error {
		u, err := tx.GetTurn(c.ctx, id)
		if err != nil {
			return err
		}
		if to.Ended() {
			return tx.EndTurn(c.ctx, id, u.Step, to, "", t0)
		}
		return tx.AdvanceTurn(c.ctx, id, u.Step, to, t0)
	})
}

func (c *caller) save(t *rapid.T) {
	id := c.turn(t)
	c.try(t, "save", func(tx *Tx) error {
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0: // the step of a stale copy must not be stored
			return tx.SaveTurn(c.ctx, work.Turn{ID: id, Step: c.step(t, "stale"), EndedAt: t0, Key: "another"})
		case 1:
			return tx.DeferTurn(c.ctx, id, t0, work.Reason{Kind: work.WhyGitHubLimit, Text: "later"}, true, "")
		case 2:
			return tx.BlockTurn(c.ctx, id, work.Reason{Kind: work.WhyFailed})
		default:
			return tx.ResumeTurn(c.ctx, id)
		}
	})
}

func (c *caller) events(t *rapid.T) {
	id, key := c.turn(t), fmt.Sprint(c.keys, ":", rapid.IntRange(1, 3).Draw(t, "event"))
	c.try(t, "events", func(tx *Tx) error {
		if _, err := tx.AddEvent(c.ctx, work.Event{RepoID: 1, Number: 1, Key: key}); err != nil {
			return err
		}
		event, err := getRow(c.ctx, tx, "event", scanID, `SELECT id FROM events WHERE event_key = ?`, key)
		switch rapid.IntRange(0, 3).Draw(t, "what") {
		case 0:
			return errors.Join(err, tx.ReleaseEvents(c.ctx, id))
		case 1:
			return tx.AssignEvents(c.ctx, id, []int64{event})
		case 2:
			return tx.FinishTurnEvents(c.ctx, id, fmt.Sprint("by turn ", id), t0)
		default:
			return tx.FinishEvents(c.ctx, []int64{event}, fmt.Sprint("alone ", id), t0)
		}
	})
}

// check reads what the database wrote down.
func (c *caller) check(t *rapid.T) {
	err := c.db.Update(c.ctx, func(tx *Tx) error {
		moves, err := listRows(c.ctx, tx, "moves", scanString, `SELECT DISTINCT move FROM moves`)
		for _, move := range moves {
			if !slices.Contains(legalMoves, move) {
				t.Errorf("illegal: %s", move)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPropertyNoCallReachesAnIllegalState(t *testing.T) {
	d := newFile(t)
	watch(t, d)
	addRepo(t, d)
	round := 0
	rapid.Check(t, func(rt *rapid.T) {
		round++
		c := &caller{db: d, ctx: t.Context(), keys: round}
		c.try(rt, "begin", func(tx *Tx) error {
			for n := range 2 {
				item, err := tx.AddItem(c.ctx, work.Item{RepoID: 1, Number: 2*round + n, State: work.StatePending})
				if err != nil {
					return err
				}
				u := work.Turn{RepoID: 1, ItemID: item, Number: 2*round + n, Key: fmt.Sprint(round, "-", n), Step: work.StepClaimed}
				id, err := tx.AddTurn(c.ctx, u)
				if err != nil {
					return err
				}
				c.turns = append(c.turns, id)
			}
			var err error
			c.pull, err = tx.PutPull(c.ctx, work.PullRequest{RepoID: 1, Number: 2 * round, State: work.PullOpen})
			return err
		})
		rt.Repeat(map[string]func(*rapid.T){
			"": c.check, "plan": c.plan, "plan a merge": c.planMerge, "merge": c.merge, "halt": c.halt, "send": c.send, "settle": c.settle, "move": c.move, "onward": c.onward, "save": c.save, "events": c.events,
		})
	})
	seen := inTx(t, d, func(tx *Tx) ([]string, error) {
		return listRows(t.Context(), tx, "moves", scanString, `SELECT DISTINCT move FROM moves`)
	})
	for _, move := range legalMoves {
		if !slices.Contains(seen, move) {
			t.Logf("never seen: %s", move) // which ones depends on the seed
		}
	}
}

package store

import (
	"fmt"
	"testing"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// TestABundleLastsAsLongAsItsTurnIsAnswered: the database has a turn's commit from its answer on, until
// the turn leaves that step on any way.
func TestABundleLastsAsLongAsItsTurnIsAnswered(t *testing.T) {
	d, ctx := newDB(t), t.Context()
	r := addRepo(t, d)
	number := 0
	answered := func(b Bundle) (u work.Turn, only string) {
		number++
		i := addItem(t, d, work.Item{RepoID: r.ID, Number: number})
		u = addTurn(t, d, work.Turn{RepoID: r.ID, ItemID: i.ID, Number: number, Key: fmt.Sprint(number), Step: work.StepClaimed})
		update(t, d, func(tx *Tx) (err error) {
			b.Turn = u.ID
			if only, err = tx.PutBundle(ctx, b); err != nil {
				return err
			}
			return tx.AdvanceTurn(ctx, u.ID, work.StepClaimed, work.StepAnswered, t0)
		})
		return u, only
	}
	find := func(u work.Turn) (b Bundle, kept bool) {
		update(t, d, func(tx *Tx) (err error) { b, kept, err = tx.FindBundle(ctx, u.ID); return err })
		return b, kept
	}
	for _, to := range steps {
		if !work.StepAnswered.MayMoveTo(to) {
			continue
		}
		u, _ := answered(Bundle{Commit: "c0ffee", Content: []byte("PACK")})
		if b, kept := find(u); !kept || b.Commit != "c0ffee" || string(b.Content) != "PACK" {
			t.Errorf("answered: %+v, %v", b, kept)
		}
		update(t, d, func(tx *Tx) error {
			if to.Ended() {
				return tx.EndTurn(ctx, u.ID, work.StepAnswered, to, "", t0)
			}
			return tx.AdvanceTurn(ctx, u.ID, work.StepAnswered, to, t0)
		})
		if _, kept := find(u); kept {
			t.Errorf("a turn that is %s still has its bundle", to)
		}
	}

	// A replayed commit takes the place of the first.
	u, _ := answered(Bundle{Commit: "c0ffee", Content: []byte("PACK")})
	update(t, d, func(tx *Tx) error {
		_, err := tx.PutBundle(ctx, Bundle{Turn: u.ID, Commit: "beef", Content: []byte("PACK2")})
		return err
	})
	if b, _ := find(u); b.Commit != "beef" || string(b.Content) != "PACK2" {
		t.Errorf("replayed: %+v", b)
	}

	// All together are bounded. A commit without room is its own machine's to push, as one that is too large.
	d.machine = "box"
	update(t, d, func(tx *Tx) error {
		if err := tx.PutMachine(ctx, work.Machine{Name: "box"}); err != nil {
			return err
		}
		_, err := tx.exec(ctx, "fill", `UPDATE bundles SET size = ?`, maxBundles-5)
		return err
	})
	for content, want := range map[string]string{"PACK": "", "PACK34": "box", "\x00": "", "": "box"} {
		b := Bundle{Commit: "c0ffee", Content: []byte(content)}
		if content == "" {
			b.Content = nil
		}
		u, only := answered(b)
		stored := inTx(t, d, func(tx *Tx) (string, error) { return tx.OnlyOn(ctx, u.ID) })
		if b, _ := find(u); only != want || stored != want || (want == "") != (string(b.Content) == content && content != "") || b.Machine != "box" {
			t.Errorf("%q: only on %q, stored %q, %+v", content, only, stored, b)
		}
		update(t, d, func(tx *Tx) error { return tx.AdvanceTurn(ctx, u.ID, work.StepAnswered, work.StepPushed, t0) })
	}

	// Once a person has said that the machine is gone, nobody waits for it.
	u, only := answered(Bundle{Commit: "c0ffee"})
	update(t, d, func(tx *Tx) error { _, err := tx.ForgetMachine(ctx, only); return err })
	if stored := inTx(t, d, func(tx *Tx) (string, error) { return tx.OnlyOn(ctx, u.ID) }); only != "box" || stored != "" {
		t.Errorf("only on %q, then on %q", only, stored)
	}
}

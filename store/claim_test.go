package store

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
)

// claimed is one row of each kind that only the holder of a claim moves.
type claimed struct {
	repo                            work.Repo
	turn                            work.Turn
	run                             int64
	planned, sent, applied, dropped work.Action
	merge                           merging.Merge
}

func newClaimed(t *testing.T, d *DB) (c claimed) {
	t.Helper()
	err := d.Update(t.Context(), func(tx *Tx) (err error) {
		ctx := t.Context()
		if c.repo, err = tx.EnsureRepo(ctx, work.RepoName{Host: "github.com", Owner: "octo", Name: "app"}); err != nil {
			return err
		}
		item, err := tx.AddItem(ctx, work.Item{RepoID: c.repo.ID, Number: 1, Flow: work.FlowBugfix, State: work.StateRunning})
		if err != nil {
			return err
		}
		pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: c.repo.ID, ItemID: item, Number: 2, State: work.PullOpen, HeadOID: "h"})
		if err != nil {
			return err
		}
		id, err := tx.AddTurn(ctx, work.Turn{RepoID: c.repo.ID, ItemID: item, Number: 2, Key: "k", Kind: work.KindFix, Step: work.StepClaimed})
		if err != nil {
			return err
		}
		if c.turn, err = tx.GetTurn(ctx, id); err != nil {
			return err
		}
		if c.run, err = tx.BeginRun(ctx, work.Run{Turn: id, Attempt: true, Began: t0}); err != nil {
			return err
		}
		for state, a := range map[work.ActionState]*work.Action{
			work.ActionPlanned: &c.planned, work.ActionSent: &c.sent, work.ActionApplied: &c.applied, work.ActionDropped: &c.dropped,
		} {
			*a, err = tx.AddAction(ctx, work.Action{RepoID: c.repo.ID, TurnID: id, ItemID: item, Kind: work.ActionLabels, Token: string(state), State: state})
			if err != nil {
				return err
			}
		}
		c.merge = merging.Merge{RepoID: c.repo.ID, ItemID: item, PullID: pull, Number: 2, Head: "h", Stage: merging.Intended}
		c.merge.ID, err = tx.PutMerge(ctx, c.merge)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// moving has the methods that move a turn, a run, an action or a merge, or add a work item or an event.
func moving(c claimed) map[string]func(context.Context, *Tx) error {
	fresh := work.Action{RepoID: c.repo.ID, TurnID: c.turn.ID, Kind: work.ActionReply, Token: "fresh"}
	renewed := work.Action{RepoID: c.repo.ID, Kind: work.ActionLabels, Token: c.applied.Token, Target: "other"}
	later := func(int) time.Time { return t0 }
	return map[string]func(context.Context, *Tx) error{
		"AddTurn": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddTurn(ctx, work.Turn{RepoID: c.repo.ID, ItemID: c.turn.ItemID, Number: 2, Key: "k2", Step: work.StepDone}))
		},
		"AdvanceTurn": func(ctx context.Context, tx *Tx) error {
			return tx.AdvanceTurn(ctx, c.turn.ID, work.StepClaimed, work.StepAnswered, t0)
		},
		"SaveTurn": func(ctx context.Context, tx *Tx) error { return tx.SaveTurn(ctx, c.turn) },
		"DeferTurn": func(ctx context.Context, tx *Tx) error {
			return tx.DeferTurn(ctx, c.turn.ID, t0, work.Reason{}, true, "")
		},
		"BlockTurn":  func(ctx context.Context, tx *Tx) error { return tx.BlockTurn(ctx, c.turn.ID, work.Reason{}) },
		"ResumeTurn": func(ctx context.Context, tx *Tx) error { return tx.ResumeTurn(ctx, c.turn.ID) },
		"EndTurn": func(ctx context.Context, tx *Tx) error {
			return tx.EndTurn(ctx, c.turn.ID, work.StepClaimed, work.StepFailed, "", t0)
		},
		"AddRun": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddRun(ctx, work.Run{Turn: c.turn.ID, Began: t0}))
		},
		"BeginRun": func(ctx context.Context, tx *Tx) error {
			return second(tx.BeginRun(ctx, work.Run{Turn: c.turn.ID, Began: t0}))
		},
		"NoteRun": func(ctx context.Context, tx *Tx) error {
			return tx.NoteRun(ctx, c.run, "s", work.Usage{}, work.Known{})
		},
		"EndRun":        func(ctx context.Context, tx *Tx) error { return tx.EndRun(ctx, work.Run{ID: c.run, Ended: t0}) },
		"RefundAttempt": func(ctx context.Context, tx *Tx) error { return tx.RefundAttempt(ctx, c.turn.ID) },
		"RefundTurn":    func(ctx context.Context, tx *Tx) error { return tx.RefundTurn(ctx, c.run) },
		"AddTurnUsage": func(ctx context.Context, tx *Tx) error {
			return tx.AddTurnUsage(ctx, c.turn.ID, work.Usage{InputTokens: 1}, work.Known{})
		},
		"PutSessionUsage": func(ctx context.Context, tx *Tx) error {
			return tx.PutSessionUsage(ctx, c.run, work.Usage{InputTokens: 1})
		},
		"AddAction":       func(ctx context.Context, tx *Tx) error { return second(tx.AddAction(ctx, fresh)) },
		"PlanAction":      func(ctx context.Context, tx *Tx) error { return tx.PlanAction(ctx, fresh) },
		"CheckRenewal":    func(ctx context.Context, tx *Tx) error { return tx.CheckRenewal(ctx, c.planned) },
		"MarkSent":        func(ctx context.Context, tx *Tx) error { return tx.MarkSent(ctx, c.planned.ID, t0) },
		"MarkEdited":      func(ctx context.Context, tx *Tx) error { return tx.MarkEdited(ctx, c.planned.ID) },
		"SetActionBody":   func(ctx context.Context, tx *Tx) error { return tx.SetActionBody(ctx, c.planned.ID, "said") },
		"MarkUnsent":      func(ctx context.Context, tx *Tx) error { return tx.MarkUnsent(ctx, c.sent.ID) },
		"MarkApplied":     func(ctx context.Context, tx *Tx) error { return tx.MarkApplied(ctx, c.sent.ID, "1", "", t0) },
		"MarkVoid":        func(ctx context.Context, tx *Tx) error { return tx.MarkVoid(ctx, c.planned.ID, "", "", t0) },
		"VoidUnsent":      func(ctx context.Context, tx *Tx) error { return tx.VoidUnsent(ctx, c.planned.ID, "", t0) },
		"MarkDropped":     func(ctx context.Context, tx *Tx) error { return tx.MarkDropped(ctx, c.planned.ID, "", t0) },
		"DeferAction":     func(ctx context.Context, tx *Tx) error { return tx.DeferAction(ctx, c.planned.ID, t0, "") },
		"RefuseAction":    func(ctx context.Context, tx *Tx) error { return tx.RefuseAction(ctx, c.sent.ID, t0, work.Reason{}) },
		"HastenAction":    func(ctx context.Context, tx *Tx) error { return tx.HastenAction(ctx, c.planned.ID) },
		"VoidTurnActions": func(ctx context.Context, tx *Tx) error { return tx.VoidTurnActions(ctx, c.turn.ID, "", t0) },
		"RenewAction":     func(ctx context.Context, tx *Tx) error { return tx.RenewAction(ctx, renewed) },
		"RedoAction":      func(ctx context.Context, tx *Tx) error { return tx.RedoAction(ctx, c.applied.ID) },
		"RepeatAction":    func(ctx context.Context, tx *Tx) error { return tx.RepeatAction(ctx, renewed) },
		"DeferDropped":    func(ctx context.Context, tx *Tx) error { return tx.DeferDropped(ctx, c.dropped.ID, later) },
		"ReplanDropped":   func(ctx context.Context, tx *Tx) error { return tx.ReplanDropped(ctx, c.dropped.ID) },
		"PlanMerging":     func(ctx context.Context, tx *Tx) error { return second(tx.PlanMerging(ctx, fresh)) },
		"PutMerge":        func(ctx context.Context, tx *Tx) error { return second(tx.PutMerge(ctx, c.merge)) },
		"LandMerge":       func(ctx context.Context, tx *Tx) error { return second(tx.LandMerge(ctx, c.merge, work.Reason{})) },
		"AddItem": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddItem(ctx, work.Item{RepoID: c.repo.ID, Number: 9, State: work.StatePending}))
		},
		"AddEvent": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddEvent(ctx, work.Event{RepoID: c.repo.ID, ItemID: c.turn.ItemID, Key: "fresh"}))
		},
		"AddOrReopenEvent": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddOrReopenEvent(ctx, work.Event{RepoID: c.repo.ID, ItemID: c.turn.ItemID, Key: "fresh"}))
		},
		"AddEvents": func(ctx context.Context, tx *Tx) error {
			return second(tx.AddEvents(ctx, []work.Event{{RepoID: c.repo.ID, ItemID: c.turn.ItemID, Key: "fresh"}}))
		},
	}
}

// A pass that lost a turn, or the planning, the notices or the merges of a repository, moves nothing any
// more: no turn, run, action or merge, and adds no work item or event. With the claim, the same call is not refused.
func TestALostClaimMovesNothing(t *testing.T) {
	for name := range moving(claimed{}) {
		d := newDB(t)
		c := newClaimed(t, d)
		now := c.repo
		var notices, merges Claim
		do := func(ctx context.Context, fn func(context.Context, *Tx) error) error {
			return d.Update(ctx, func(tx *Tx) error { return fn(ctx, tx) })
		}
		if err := do(t.Context(), func(ctx context.Context, tx *Tx) (err error) {
			if notices, err = tx.TakeNotices(ctx, c.repo.ID); err == nil {
				merges, err = tx.TakeMerging(ctx, c.repo.ID)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		held := map[string]Claim{"turn": HoldTurn(c.turn), "planning": PlanningClaim(now, "mine"), "notices": notices, "merges": merges}
		move := moving(c)[name]
		for kind, mine := range held {
			err := do(Under(t.Context(), mine), func(ctx context.Context, tx *Tx) error { return firstOf(move(ctx, tx), errGiveUp) })
			if !errors.Is(err, errGiveUp) {
				t.Errorf("%s with the %s: %v", name, kind, err)
			}
		}
		if err := do(t.Context(), func(ctx context.Context, tx *Tx) error { // as another pass does
			_, err := tx.TakeTurn(ctx, c.turn)
			_, noticesErr := tx.TakeNotices(ctx, c.repo.ID)
			_, mergingErr := tx.TakeMerging(ctx, c.repo.ID)
			return errors.Join(err, noticesErr, mergingErr)
		}); err != nil {
			t.Fatal(err)
		}
		if err := do(Under(t.Context(), PlanningClaim(now, "theirs")), func(ctx context.Context, tx *Tx) error { return tx.HastenAction(ctx, c.planned.ID) }); err != nil {
			t.Fatal(err)
		}
		before := dumpMoved(t, d)
		for kind, mine := range held {
			for _, swallowed := range []bool{false, true} { // a function that continues after the error commits nothing either
				err := do(Under(t.Context(), mine), func(ctx context.Context, tx *Tx) error {
					if err := move(ctx, tx); !swallowed {
						return err
					}
					return nil
				})
				if !errors.Is(err, ErrTaken) {
					t.Errorf("%s without the %s (swallowed: %t): %v", name, kind, swallowed, err)
				}
			}
		}
		if after := dumpMoved(t, d); after != before {
			t.Errorf("%s changed something:\n%s\n%s", name, before, after)
		}
	}
}

var errGiveUp = errors.New("rolled back")

func dumpMoved(t *testing.T, d *DB) string {
	t.Helper()
	var all strings.Builder
	err := d.View(t.Context(), func(tx *Tx) error {
		for _, read := range []func() error{
			func() error { return dumpRows(t.Context(), tx, &all, scanTurn, selectTurn+"ORDER BY id") },
			func() error {
				return dumpRows(t.Context(), tx, &all, scanRun, "SELECT id, "+runColumns+" FROM runs ORDER BY id")
			},
			func() error { return dumpRows(t.Context(), tx, &all, scanAction, selectAction+"ORDER BY id") },
			func() error { return dumpRows(t.Context(), tx, &all, scanMerge, selectMerge+"ORDER BY id") },
			func() error { return dumpRows(t.Context(), tx, &all, scanItem, selectItem+"ORDER BY id") },
			func() error { return dumpRows(t.Context(), tx, &all, scanEvents(), selectEvent+"ORDER BY id") },
		} {
			if err := read(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}

func dumpRows[T any](ctx context.Context, tx *Tx, to *strings.Builder, scan func(scanner) (T, error), query string) error {
	rows, err := listRows(ctx, tx, "dump", scan, query)
	fmt.Fprintf(to, "%+v\n", rows)
	return err
}

// A transaction of a whole pass that moves something without a claim fails.
func TestNothingMovesWithoutAClaim(t *testing.T) {
	d := newDB(t)
	c := newClaimed(t, d)
	d.claimed = true
	for name, move := range moving(c) {
		err := d.Update(t.Context(), func(tx *Tx) error { return move(t.Context(), tx) })
		if !errors.Is(err, errUnclaimed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A replaced epoch is not taken again by who read the one before it.
func TestATurnIsTakenOverOnce(t *testing.T) {
	d := newDB(t)
	c := newClaimed(t, d)
	take := func() (u work.Turn, err error) {
		err = d.Update(t.Context(), func(tx *Tx) (err error) { u, err = tx.TakeTurn(t.Context(), c.turn); return err })
		return u, err
	}
	first, err := take()
	if err != nil || first.Epoch == c.turn.Epoch {
		t.Fatal(first.Epoch, err)
	}
	if _, err := take(); !errors.Is(err, ErrTaken) {
		t.Errorf("again: %v", err)
	}
	err = d.Update(Under(t.Context(), HoldTurn(first)), func(tx *Tx) error {
		return tx.EndTurn(t.Context(), first.ID, work.StepClaimed, work.StepFailed, "", t0)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Update(Under(t.Context(), HoldTurn(first)), func(tx *Tx) error { return tx.SaveTurn(t.Context(), first) }); !errors.Is(err, ErrTaken) {
		t.Errorf("an ended turn: %v", err)
	}
}

// Each statement of a pass is asked whether it moves something: that looks at its beginning alone.
func TestOnlyTheBeginningOfAStatementIsLookedAt(t *testing.T) {
	columns := strings.Repeat(" column,", 100)
	for statement, want := range map[string]bool{
		"SELECT" + columns + " id FROM turns": false, "UPDATE repositories SET" + columns: false,
		"\n\tUPDATE turns\n\tSET" + columns: true, "DELETE FROM turns WHERE" + columns: false, "INSERT INTO runs": true,
		"INSERT INTO events (" + columns: true, "UPDATE events SET" + columns: false,
	} {
		var got bool
		if n := testing.AllocsPerRun(10, func() { got = moves(statement) }); got != want || n > 0 {
			t.Errorf("%.20q: %t, and %.0f allocations", statement, got, n)
		}
	}
}

// The table above has every exported method that moves something: by a statement of its own, or by a
// method that it calls.
func TestTheTableOfMovesIsComplete(t *testing.T) {
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	statement := regexp.MustCompile(`^\s*(UPDATE|INSERT INTO) (turns|runs|actions|merges)\b|^\s*INSERT INTO (events|work_items)\b|^(turns|runs|actions|merges|work_items)$`)
	moves, calls := map[string]bool{}, map[string][]string{}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") || f.Name() == "claim.go" {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.BasicLit:
					if text, err := strconv.Unquote(n.Value); err == nil && statement.MatchString(text) {
						moves[fn.Name.Name] = true
					}
				case *ast.SelectorExpr:
					calls[fn.Name.Name] = append(calls[fn.Name.Name], n.Sel.Name)
				}
				return true
			})
		}
	}
	for more := true; more; {
		more = false
		for name, called := range calls {
			if !moves[name] && slices.ContainsFunc(called, func(c string) bool { return moves[c] }) {
				moves[name], more = true, true
			}
		}
	}
	want := slices.DeleteFunc(slices.Sorted(maps.Keys(moves)), func(name string) bool { return !ast.IsExported(name) })
	if got := slices.Sorted(maps.Keys(moving(claimed{}))); !slices.Equal(got, want) {
		t.Errorf("the table has\n%q, the store\n%q", got, want)
	}
}

package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/testhome"
	"github.com/mergexo/gh-mergexo/internal/work"
)

// BenchmarkPass compares what a pass asks after 1,000 processed events and
// after a million, turn about in one run:
//
//	go test ./store -run - -bench Pass
//
// and how long it takes to look for what may be forgotten, once a day, when
// none of it may.
func BenchmarkPass(b *testing.B) {
	sizes := []int{1_000, 1_000_000}
	var dbs []*DB
	var repos []work.Repo
	for _, n := range sizes {
		d := openAt(b, newPath(b))
		dbs, repos = append(dbs, d), append(repos, lived(b, d, n))
	}
	for name, pass := range map[string]func(context.Context, *DB, work.Repo) error{
		"idle": idlePass, "routed": routedPass,
		"forget": func(ctx context.Context, d *DB, _ work.Repo) error {
			n, err := d.Prune(ctx, t0.Add(-30*24*time.Hour))
			if n != 0 {
				b.Errorf("%d rows pruned", n)
			}
			return err
		},
	} {
		b.Run(name, func(b *testing.B) {
			var took [2]time.Duration
			for b.Loop() {
				for i := range sizes {
					begin := time.Now()
					if err := pass(b.Context(), dbs[i], repos[i]); err != nil {
						b.Fatal(err)
					}
					took[i] += time.Since(begin)
				}
			}
			for i, n := range sizes {
				b.ReportMetric(took[i].Seconds()*1000/float64(b.N), fmt.Sprintf("ms/after-%d", n))
			}
			b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// sizeOf is the database's whole size on disk, its WAL put away.
func sizeOf(t *testing.T, d *DB) int64 {
	t.Helper()
	if _, err := d.SQL.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.Path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

// Months of the same work need no more room than the first two did, but
// for the items and pull requests themselves, which are kept: an issue may be
// labelled again in a year.
func TestTheFileStaysBounded(t *testing.T) {
	testhome.OnlyLong(t)
	const months, stories, kept = 6, 10, 2 << 10
	at := t0
	d, err := Open(t.Context(), newPath(t), Options{Now: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	addRepo(t, d)
	var sizes, counts []int64
	for m := range months {
		for n := range stories {
			wholeStory(t, d, m*stories+n+1, at)
		}
		at = at.Add(month)
		if _, err := d.Prune(t.Context(), at.Add(-month/2)); err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, sizeOf(t, d))
		counts = append(counts, inTx(t, d, func(tx *Tx) (int64, error) {
			return getRow(t.Context(), tx, "count", scanID, `SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM turns) +
				(SELECT count(*) FROM actions) + (SELECT count(*) FROM history) + (SELECT count(*) FROM agent_sessions) +
				(SELECT count(*) FROM pull_reviews) + (SELECT count(*) FROM reviews) + (SELECT count(*) FROM findings) +
				(SELECT count(*) FROM merges) + (SELECT count(*) FROM merge_words)`)
		}))
	}
	for m := 2; m < months; m++ {
		if most := sizes[1] + int64(m-1)*stories*kept; sizes[m] > most || counts[m] > counts[1] {
			t.Errorf("after month %d: %d bytes and %d rows of what is over; after the second %d and %d", m+1, sizes[m], counts[m], sizes[1], counts[1])
		}
	}
	t.Logf("bytes by month: %d", sizes)
}

// wholeStory is an item from its label to its merge, with twenty comments, each
// answered, and what its agent was told and said.
func wholeStory(t *testing.T, d *DB, number int, at time.Time) {
	t.Helper()
	ctx := t.Context()
	body := strings.Repeat("what people write ", 30)
	update(t, d, func(tx *Tx) error {
		id, err := tx.AddItem(ctx, work.Item{RepoID: 1, Number: number, State: work.StateRunning, Title: "title", Body: body})
		if err != nil {
			return err
		}
		pull, err := tx.PutPull(ctx, work.PullRequest{RepoID: 1, ItemID: id, Number: number + 100_000, State: work.PullMerged})
		if err := firstOf(err, reviewed(ctx, tx, pull, at), merged(ctx, tx, 1, pull, at)); err != nil {
			return err
		}
		for n := range 20 {
			if err := wholeTurn(ctx, tx, work.Turn{
				RepoID: 1, ItemID: id, Number: number + 100_000, Key: fmt.Sprint(number, "-", n), Step: work.StepApplied,
				Request: []byte(body), Answer: []byte(body),
			}, at); err != nil {
				return err
			}
		}
		if err := tx.PutSession(ctx, SessionKey{id, "codex", ""}, "s", 0, at); err != nil {
			return err
		}
		return tx.MoveItem(ctx, id, nil, work.StateCompleted, work.Reason{}, "", at)
	})
}

func wholeTurn(ctx context.Context, tx *Tx, u work.Turn, at time.Time) error {
	id, err := tx.AddTurn(ctx, u)
	if err != nil {
		return err
	}
	_, eventErr := tx.AddEvent(ctx, work.Event{RepoID: u.RepoID, ItemID: u.ItemID, TurnID: id, Number: u.Number, Key: u.Key, Body: string(u.Answer)})
	a, planErr := tx.AddAction(ctx, work.Action{RepoID: u.RepoID, TurnID: id, ItemID: u.ItemID, Number: u.Number, Token: u.Key, Body: string(u.Answer)})
	return firstOf(
		eventErr, planErr, tx.MarkApplied(ctx, a.ID, "1", "", at), tx.FinishTurnEvents(ctx, id, "answered", at),
		tx.EndTurn(ctx, id, work.StepApplied, work.StepDone, "", at),
	)
}

package store

import (
	"testing"
	"time"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// What passes count adds up, and of a limit the newest word stays.
func TestCountsOfPasses(t *testing.T) {
	d := openAt(t, newPath(t))
	ctx := t.Context()
	limit := work.RateLimit{Host: "github.com", Resource: "core", Remaining: 7, Most: 5000, ResetAt: t0, At: t0}
	older := limit
	older.Remaining, older.At = 9, t0.Add(-time.Second)
	for range 2 {
		update(t, d, func(tx *Tx) error {
			return firstOf(
				tx.CountPass(ctx, work.PassOK, time.Second),
				tx.CountRequests(ctx, []work.RequestCount{{Host: "github.com", API: "rest", Status: "304", Count: 3}}),
				tx.PutRateLimits(ctx, []work.RateLimit{limit, older}),
			)
		})
	}
	r := addRepo(t, d)
	addItem(t, d, work.Item{RepoID: r.ID, Number: 1, State: work.StateReady})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.PassCount, error) { return tx.ListPasses(ctx) }), []work.PassCount{{Outcome: work.PassOK, Count: 2}})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.RequestCount, error) { return tx.ListRequests(ctx) }), []work.RequestCount{{Host: "github.com", API: "rest", Status: "304", Count: 6}})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.RateLimit, error) { return tx.ListRateLimits(ctx) }), []work.RateLimit{limit})
	equal(t, inTx(t, d, func(tx *Tx) ([]work.ItemCount, error) { return tx.CountItems(ctx) }), []work.ItemCount{{RepoID: r.ID, State: work.StateReady, Count: 1}})
}

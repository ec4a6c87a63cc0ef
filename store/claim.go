package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// ErrTaken says that another pass has claimed the work for which a transaction was to write.
var ErrTaken = errors.New("another pass has claimed this work")

// errUnclaimed says that a transaction moves work for which nobody holds a claim.
var errUnclaimed = errors.New("written without a claim")

// Claim is one pass's hold on a turn, or on the planning, the notices or the merges of a repository.
// The row has an epoch. A pass that claims the work replaces it, so that writes of the pass that had
// it before fail with ErrTaken. An epoch is a random text and no counter: a database that was
// restored may count to the same number twice.
type Claim struct {
	of          epoch
	id          int64
	from, epoch string
}

// epoch is a column with an epoch.
type epoch struct{ what, table, column string }

var (
	turnEpoch     = epoch{"turn", "turns", "epoch"}
	planningEpoch = epoch{"planning of repository", "repositories", "planning_epoch"}
	noticesEpoch  = epoch{"notices of repository", "repositories", "notices_epoch"}
	mergingEpoch  = epoch{"merges of repository", "repositories", "merging_epoch"}
)

// NewEpoch returns an epoch that no row ever had.
func NewEpoch() string { return rand.Text() }

// HoldTurn returns the claim of the pass that works on a turn.
func HoldTurn(u work.Turn) Claim { return Claim{turnEpoch, u.ID, u.Epoch, u.Epoch} }

// PlanningClaim returns the claim of a pass that plans for a repository, whose row it read under the
// lock for planning. The first transaction that moves something under it stores the epoch.
func PlanningClaim(r work.Repo, epoch string) Claim {
	return Claim{planningEpoch, r.ID, r.PlanningEpoch, epoch}
}

// TakeTurn takes over a turn that no pass works on, and returns its row as it is now. It fails with
// ErrTaken if another pass took it over since it was read.
func (t *Tx) TakeTurn(ctx context.Context, u work.Turn) (work.Turn, error) {
	c := Claim{turnEpoch, u.ID, u.Epoch, NewEpoch()}
	if err := t.hold(ctx, c); err != nil {
		return u, err
	}
	t.Hold(c)
	return t.GetTurn(ctx, u.ID)
}

// TakeNotices takes over the notices of a repository. What is to be sent is read afterwards: the pass
// that had them before may have sent some.
func (t *Tx) TakeNotices(ctx context.Context, repoID int64) (Claim, error) {
	return t.take(ctx, noticesEpoch, repoID)
}

// TakeMerging is TakeNotices for the merges of a repository.
func (t *Tx) TakeMerging(ctx context.Context, repoID int64) (Claim, error) {
	return t.take(ctx, mergingEpoch, repoID)
}

func (t *Tx) take(ctx context.Context, of epoch, id int64) (Claim, error) {
	epoch := NewEpoch()
	c := Claim{of, id, epoch, epoch}
	err := t.execOne(ctx, fmt.Sprintf("take the %s %d", of.what, id), ErrNotFound, `UPDATE `+of.table+` SET `+of.column+` = ? WHERE id = ?`, c.epoch, id)
	t.Hold(c)
	return c, err
}

// hold gives a row the claim's epoch, if its epoch is from, or the claim's already.
func (t *Tx) hold(ctx context.Context, c Claim) error {
	of := c.of
	was := t.checked
	t.checked = true // this statement is the check
	err := t.execOne(ctx, fmt.Sprintf("hold the %s %d", of.what, c.id), ErrTaken,
		`UPDATE `+of.table+` SET `+of.column+` = ? WHERE id = ? AND `+of.column+` IN (?, ?)`, c.epoch, c.id, c.from, c.epoch)
	t.checked = was
	return err
}

type claimsKey struct{}

// Under returns a context under whose claims Update writes. A transaction checks them before its
// first write to a turn, a run, an action or a merge, and before it adds a work item or an event, and fails with ErrTaken if one is lost.
func Under(ctx context.Context, claims ...Claim) context.Context {
	return context.WithValue(ctx, claimsKey{}, append(slices.Clone(claimsOf(ctx)), claims...))
}

func claimsOf(ctx context.Context) []Claim {
	claims, _ := ctx.Value(claimsKey{}).([]Claim)
	return claims
}

// Hold adds a claim to the transaction, for work that it finds only by reading.
func (t *Tx) Hold(c Claim) { t.claims, t.checked = append(slices.Clone(t.claims), c), false }

// moves reports whether a statement writes to a table whose rows only the holder of a claim moves.
// Prune may delete: it deletes what has ended. Work items and events are added under a claim, too: among
// those of a repository a higher id is then a later one. A transaction that commits late, without the
// claim, would add an older version of a comment as the newest.
func moves(query string) bool {
	verb, table := written(query)
	switch table {
	case "turns", "runs", "actions", "merges":
		return verb != "DELETE FROM "
	case "work_items", "events":
		return verb == "INSERT INTO "
	}
	return false
}

// checkClaims checks the transaction's claims before its first statement that needs them. Writing the
// epoch, even an equal one, locks the row: a take-over waits until this transaction has ended.
func (t *Tx) checkClaims(ctx context.Context, query string) error {
	if !moves(query) || t.reads != nil {
		return nil
	}
	if t.checked || t.taken != nil {
		return t.taken
	}
	if len(t.claims) == 0 && t.claimedOnly {
		t.taken = fmt.Errorf("%s: %w", query, errUnclaimed)
	}
	for _, c := range t.claims {
		if err := t.hold(ctx, c); err != nil {
			t.taken = err
		}
	}
	t.checked = true
	return t.taken
}

package store

import (
	"context"
	"fmt"

	"github.com/mergexo/gh-mergexo/internal/work"
)

// Limits of the bundles in the database. Changes of agents are some kilobytes of text when packed;
// more than MaxBundle is a change with large binary files. A statement, the write-ahead log and each
// replica hold a bundle whole.
const (
	MaxBundle  = 8 << 20
	maxBundles = 256 << 20 // of all turns
)

// Bundle is a turn's commit for other machines.
type Bundle struct {
	Turn    int64
	Commit  string
	Machine string // whose mirror has the commit; PutBundle sets it
	Content []byte // as git made it; nil: it is too large
}

// PutBundle stores the bundle of a commit that a live turn made on this machine, in place of an
// earlier one. If all bundles together would be too large, it stores it without its content. It
// returns the machine that alone can push the commit; empty: every machine can.
func (t *Tx) PutBundle(ctx context.Context, b Bundle) (only string, err error) {
	what := fmt.Sprintf("put the commit of turn %d", b.Turn)
	if b.Content != nil {
		stored, _, err := findRow(ctx, t, what, scanID, `SELECT CAST(coalesce(sum(size), 0) AS BIGINT) FROM bundles WHERE content IS NOT NULL AND turn_id <> ?`, b.Turn)
		if err != nil {
			return "", err
		}
		if stored+int64(len(b.Content)) > maxBundles {
			b.Content = nil
		}
	}
	err = t.write(ctx, what,
		`INSERT INTO bundles (turn_id, commit_oid, machine, size, content) VALUES (?, ?, ?, ?, ?)
		 ON CONFLICT (turn_id) DO UPDATE SET commit_oid = excluded.commit_oid, machine = excluded.machine, size = excluded.size, content = excluded.content`,
		b.Turn, b.Commit, t.machine, len(b.Content), b.Content)
	if b.Content == nil {
		only = t.machine
	}
	return only, err
}

// Machine returns the name of the machine that this program runs on.
func (t *Tx) Machine() string { return t.machine }

// FindBundle returns the bundle of a turn's commit.
func (t *Tx) FindBundle(ctx context.Context, turnID int64) (Bundle, bool, error) {
	scan := func(row scanner) (b Bundle, err error) {
		return b, row.Scan(&b.Turn, &b.Commit, &b.Machine, &b.Content)
	}
	return findRow(ctx, t, fmt.Sprintf("find the commit of turn %d", turnID), scan,
		`SELECT turn_id, commit_oid, machine, content FROM bundles WHERE turn_id = ?`, turnID)
}

// OnlyOn returns the machine that alone can push the commit of an answered turn, because the commit is
// too large for the database; empty: every machine can, or a person has said that this one is gone.
func (t *Tx) OnlyOn(ctx context.Context, turnID int64) (machine string, err error) {
	machine, _, err = findRow(ctx, t, fmt.Sprintf("find who has the commit of turn %d", turnID), scanString,
		`SELECT b.machine FROM bundles b JOIN machines m ON m.name = b.machine WHERE b.turn_id = ? AND b.content IS NULL`, turnID)
	return machine, err
}

// dropBundle deletes the bundle of a turn that leaves a step: once its answer is sent or discarded,
// nobody asks for it.
func (t *Tx) dropBundle(ctx context.Context, turnID int64, from work.Step) error {
	if from != work.StepAnswered {
		return nil
	}
	return t.write(ctx, fmt.Sprintf("drop the commit of turn %d", turnID), `DELETE FROM bundles WHERE turn_id = ?`, turnID)
}

package git

import (
	"context"
	"fmt"
	"time"
)

// Revert is the input of RevertCommit.
type Revert struct {
	Tip     string    // required; the new commit's parent
	Landed  string    // required; the last commit to undo
	Parent  string    // the base before the first commit to undo; "" means Landed's first parent
	Message string    // required
	Date    time.Time // required; equal inputs give equal commits
	Account Identity  // the author if neither Voice nor the operator's git names one
}

// RevertCommit makes a commit that undoes what landed, with the mirror's Voice. clean is false if
// later changes conflict. oid is "" and clean is true if nothing is left to undo.
func (m *Mirror) RevertCommit(ctx context.Context, r Revert) (oid string, clean bool, err error) {
	for _, oid := range []string{r.Tip, r.Landed} {
		if !m.Has(ctx, oid) {
			return "", false, fmt.Errorf("revert: %w", &MissingError{OID: oid})
		}
	}
	err = m.inQuarantine(ctx, "revert "+r.Landed+" "+r.Tip, func(q *quarantine) error {
		oid, clean, err = m.revert(ctx, r, q)
		return err
	})
	if err != nil {
		return "", false, fmt.Errorf("revert: %w", err)
	}
	return oid, clean, nil
}

func (m *Mirror) revert(ctx context.Context, r Revert, q *quarantine) (oid string, clean bool, err error) {
	if r.Parent == "" {
		landed, err := m.readCommit(ctx, r.Landed)
		if err != nil {
			return "", false, err
		}
		if len(landed.parents) > 0 {
			r.Parent = landed.parents[0]
		}
	}
	trees := make([]string, 3)
	for i, oid := range []string{r.Landed, r.Parent, r.Tip} {
		if trees[i], err = m.treeOf(ctx, oid); err != nil {
			return "", false, err
		}
	}
	tree, clean, err := replayChange(ctx, q, trees[0], trees[1], trees[2])
	if err != nil || !clean || tree == trees[2] {
		return "", clean, err
	}
	signedOff, err := m.signedOff()
	if err != nil {
		return "", false, err
	}
	message, err := assemble(r.Message, signedOff)
	if err != nil {
		return "", false, err
	}
	author, err := m.author(r.Account)
	if err != nil {
		return "", false, err
	}
	oid, err = m.writeCommit(ctx, rawCommit{
		tree: tree, parents: []string{r.Tip}, message: message, date: stamp(r.Date), author: author, in: q, signing: asOperator,
	})
	return oid, err == nil, err
}

package mirror

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/files"
)

const mergeRefs = ownRefs + "merges/"

// Merges are what a mirror keeps of merges of ours: the heads that were approved, whatever
// became of their branches.
type Merges struct{ mirror *Mirror }

// Merges are what the mirror keeps of merges.
func (m *Mirror) Merges() Merges { return Merges{m} }

// KeepMerged keeps the head of a pull request as refs/mergexo/merges/<number>-<unix>-<head>.
// One that is kept already stays as it is. It is durable when it returns.
func (k Merges) KeepMerged(ctx context.Context, number int, head string, at time.Time) error {
	if !k.mirror.Has(ctx, head) {
		return fmt.Errorf("keep what was merged: %w", &MissingError{OID: head})
	}
	if known, err := k.Merged(ctx, number, head); err != nil || known {
		return err
	}
	if err := k.mirror.SetRef(ctx, fmt.Sprintf("%s%d-%d-%s", mergeRefs, number, at.Unix(), head), head); err != nil {
		return fmt.Errorf("keep what was merged: %w", err)
	}
	return nil
}

// Merged reports whether a head of a pull request is kept.
func (k Merges) Merged(ctx context.Context, number int, head string) (bool, error) {
	kept, err := k.kept(ctx)
	if err != nil {
		return false, fmt.Errorf("look what was merged: %w", err)
	}
	return slices.ContainsFunc(kept, func(m merged) bool { return m.number == number && m.head == head }), nil
}

// DropMerged forgets the heads that were kept before a time. A mirror that is gone has none.
func (k Merges) DropMerged(ctx context.Context, before time.Time) error {
	if !files.Exists(k.mirror.Path(stampName)) {
		return nil
	}
	kept, err := k.kept(ctx)
	if err != nil {
		return fmt.Errorf("drop what was merged: %w", err)
	}
	var commands strings.Builder
	for _, m := range kept {
		if m.at.Before(before) {
			commands.WriteString("delete " + m.ref + "\n")
		}
	}
	if commands.Len() == 0 {
		return nil
	}
	c := k.mirror.Call("update-ref", "--no-deref", "--stdin")
	c.Stdin = []byte(commands.String())
	err = k.mirror.locked(ctx, func() error {
		_, err := c.Run(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop what was merged: %w", err)
	}
	return nil
}

// merged is a head that is kept.
type merged struct {
	ref    string
	number int
	at     time.Time
	head   string
}

func (k Merges) kept(ctx context.Context) ([]merged, error) {
	out, err := k.mirror.Call("for-each-ref", "--format=%(refname)", mergeRefs).Text(ctx)
	if err != nil {
		return nil, err
	}
	var all []merged
	for ref := range strings.FieldsSeq(out) {
		f := strings.SplitN(strings.TrimPrefix(ref, mergeRefs), "-", 3)
		if len(f) != 3 {
			continue
		}
		number, err := strconv.Atoi(f[0])
		unix, err2 := strconv.ParseInt(f[1], 10, 64)
		if err == nil && err2 == nil {
			all = append(all, merged{ref: ref, number: number, at: time.Unix(unix, 0), head: f[2]})
		}
	}
	return all, nil
}

package git

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

// KeepMerged keeps the head of a pull request as refs/mergexo/merges/<number>-<unix>-<head>. A head
// that is kept already keeps its time. It is durable when KeepMerged returns.
func (m *Mirror) KeepMerged(ctx context.Context, number int, head string, at time.Time) error {
	if !m.Has(ctx, head) {
		return fmt.Errorf("keep what was merged: %w", &MissingError{OID: head})
	}
	kept, err := m.keptHeads(ctx)
	if err != nil {
		return fmt.Errorf("look what was merged: %w", err)
	}
	if slices.ContainsFunc(kept, func(h keptHead) bool { return h.number == number && h.head == head }) {
		return nil
	}
	if err := m.setRef(ctx, fmt.Sprintf("%s%d-%d-%s", mergeRefs, number, at.Unix(), head), head); err != nil {
		return fmt.Errorf("keep what was merged: %w", err)
	}
	return nil
}

// Merged returns the numbers of the pull requests of which a head was kept since a time, newest
// number first. A missing mirror has none.
func (m *Mirror) Merged(ctx context.Context, since time.Time) (numbers []int, err error) {
	if !files.Exists(m.path(stampName)) {
		return nil, nil
	}
	kept, err := m.keptHeads(ctx)
	if err != nil {
		return nil, fmt.Errorf("list what was merged: %w", err)
	}
	for _, h := range kept {
		if !h.at.Before(since) && !slices.Contains(numbers, h.number) {
			numbers = append(numbers, h.number)
		}
	}
	slices.SortFunc(numbers, func(a, b int) int { return b - a })
	return numbers, nil
}

// DropMerged drops the heads that were kept before a time. A missing mirror has none.
func (m *Mirror) DropMerged(ctx context.Context, before time.Time) error {
	if !files.Exists(m.path(stampName)) {
		return nil
	}
	kept, err := m.keptHeads(ctx)
	if err != nil {
		return fmt.Errorf("drop what was merged: %w", err)
	}
	var commands strings.Builder
	for _, h := range kept {
		if h.at.Before(before) {
			commands.WriteString("delete " + h.ref + "\n")
		}
	}
	if commands.Len() == 0 {
		return nil
	}
	c := m.command("update-ref", "--no-deref", "--stdin")
	c.Stdin = []byte(commands.String())
	err = m.locked(ctx, func() error {
		_, err := c.Run(ctx)
		return err
	})
	if err != nil {
		return fmt.Errorf("drop what was merged: %w", err)
	}
	return nil
}

// keptHead is a parsed ref of KeepMerged.
type keptHead struct {
	ref    string
	number int
	at     time.Time
	head   string
}

func (m *Mirror) keptHeads(ctx context.Context) ([]keptHead, error) {
	out, err := m.command("for-each-ref", "--format=%(refname)", mergeRefs).text(ctx)
	if err != nil {
		return nil, err
	}
	var all []keptHead
	for ref := range strings.FieldsSeq(out) {
		f := strings.SplitN(strings.TrimPrefix(ref, mergeRefs), "-", 3)
		if len(f) != 3 {
			continue
		}
		number, err := strconv.Atoi(f[0])
		unix, err2 := strconv.ParseInt(f[1], 10, 64)
		if err == nil && err2 == nil {
			all = append(all, keptHead{ref: ref, number: number, at: time.Unix(unix, 0), head: f[2]})
		}
	}
	return all, nil
}

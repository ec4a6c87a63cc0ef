package git

import (
	"context"
	"fmt"
	"strings"
)

// Edit changes one file of a commit made from a checkout, after the agent's work. It changes the
// index alone, because the agent may have put links into the checkout. It is skipped if the agent
// changed nothing or the path is no file.
type Edit struct {
	Path string // slash-separated
	Do   func([]byte) ([]byte, error)
}

func (m *Mirror) edit(ctx context.Context, c Commit, index string, q *quarantine) error {
	if c.Edit == nil {
		return nil
	}
	write := q.command("write-tree")
	write.Index = index
	tree, err := write.text(ctx)
	if err != nil {
		return err
	}
	if same, err := m.unchanged(ctx, c, tree); err != nil || same {
		return err
	}
	at, ok, err := q.reader.entryAt(ctx, tree, c.Edit.Path)
	if err != nil || !ok || !strings.HasPrefix(at.Mode, "100") {
		return err
	}
	before, err := q.reader.content(ctx, object{OID: at.OID, Kind: "blob"})
	if err != nil {
		return err
	}
	content, err := c.Edit.Do(before)
	if err != nil {
		return fmt.Errorf("edit %s: %w", c.Edit.Path, err)
	}
	return m.addFiles(ctx, index, map[string][]byte{c.Edit.Path: content}, q)
}

// unchanged reports whether a tree equals that of the only parent.
func (m *Mirror) unchanged(ctx context.Context, c Commit, tree string) (bool, error) {
	if len(c.Parents) != 1 {
		return false, nil
	}
	before, err := m.treeOf(ctx, c.Parents[0])
	return tree == before, err
}

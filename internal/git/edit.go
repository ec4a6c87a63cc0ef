package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/git/mirror"
)

// Edit changes one file of a commit that is made of a checkout, after the
// agent's work and in the index alone: nothing is written where an agent can
// lay links. It is left out when the agent changed nothing, or the path holds
// no file.
type Edit struct {
	Path string // slashed
	Do   func([]byte) ([]byte, error)
}

func (m *Mirror) edit(ctx context.Context, c Commit, index string, q *mirror.Quarantine) error {
	if c.Edit == nil {
		return nil
	}
	if same, err := m.unchanged(ctx, c, index, q); err != nil || same {
		return err
	}
	list := m.Call("ls-files", "--stage", "-z", "--", c.Edit.Path)
	list.Index = index
	listed, err := list.Run(ctx)
	if err != nil {
		return err
	}
	entry, path, _ := strings.Cut(strings.TrimSuffix(string(listed.Stdout), "\x00"), "\t")
	entries := strings.Fields(entry)
	if path != c.Edit.Path || len(entries) != 3 || !strings.HasPrefix(entries[0], "100") {
		return nil
	}
	show := q.Call("cat-file", "blob", entries[1])
	shown, err := show.Run(ctx)
	if err != nil {
		return err
	}
	content, err := c.Edit.Do(shown.Stdout)
	if err != nil {
		return fmt.Errorf("edit %s: %w", c.Edit.Path, err)
	}
	return m.addFiles(ctx, index, map[string][]byte{c.Edit.Path: content}, q)
}

// unchanged reports whether the index holds the one parent's tree.
func (m *Mirror) unchanged(ctx context.Context, c Commit, index string, q *mirror.Quarantine) (bool, error) {
	if len(c.Parents) != 1 {
		return false, nil
	}
	write := q.Call("write-tree")
	write.Index = index
	tree, err := write.Text(ctx)
	if err != nil {
		return false, err
	}
	before, err := m.Tree(ctx, c.Parents[0])
	return tree == before, err
}

package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// handoff returns what an implementation turn gets from its design: its document and the
// decisions.
func (p *briefs) handoff(ctx context.Context, l *env.Lease) (*prompts.Handoff, error) {
	item := l.Item
	if item.Flow != work.FlowImplementation {
		return nil, nil //nolint:nilnil // there is none
	}
	h := &prompts.Handoff{
		DocumentPath: item.Document, MergeCommit: item.DesignCommit, Base: l.Turn.Base, BaseSHA: l.Turn.Head, TouchPaths: item.TouchPaths,
	}
	doc, err := p.mergedDocument(ctx, l)
	if err != nil {
		return nil, err
	}
	h.Document = string(doc)
	shown := public.AsShown(h.Document).Text
	h.NonGoals, h.Criteria = document.Points(shown, nonGoals), document.Points(shown, criteria)
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		if item.Parent != 0 {
			design, err := tx.GetItem(ctx, item.Parent)
			if err != nil {
				return err
			}
			h.Decisions = document.Split(design.DecisionSummary)
		}
		h.Risks, err = risks(ctx, tx, item)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the design: %w", err)
	}
	return h, nil
}

// mergedDocument reads the design at the commit that was merged: what others write into the file later
// was not approved as the design. A design without a document has none.
func (p *briefs) mergedDocument(ctx context.Context, l *env.Lease) ([]byte, error) {
	m, at, path := l.Repo.Git(), l.Item.DesignCommit, l.Item.Document
	if path == "" {
		return nil, nil
	}
	if !m.Has(ctx, at) {
		if err := m.Fetch(ctx, at); err != nil {
			return nil, fmt.Errorf("fetch the merge of the design #%d: %w", l.Item.DesignPull, err)
		}
	}
	doc, ok, err := m.ReadFile(ctx, at, path)
	if err == nil && !ok {
		err = fmt.Errorf("%s is not in %s, the merge of the design #%d", path, at, l.Item.DesignPull)
	}
	return doc, err
}

// risks lists what an implementation may collide with.
func risks(ctx context.Context, tx *store.Tx, item work.Item) ([]string, error) {
	var found []string
	if item.Size == "L" {
		found = append(found, "its design calls it large: keep to what the document asks for")
	}
	open, err := tx.ListWholeOpenPulls(ctx, item.RepoID)
	if err != nil {
		return nil, err
	}
	for _, pull := range open {
		if pull.ItemID == item.ID {
			continue
		}
		var both []string
		for _, path := range pull.Files {
			if slices.ContainsFunc(item.TouchPaths, func(glob string) bool { return env.Matches(glob, path) }) {
				both = append(both, path)
			}
		}
		if len(both) > 0 {
			found = append(found, fmt.Sprintf("pull request #%d, which is open, changes %s", pull.Number, strings.Join(both[:min(len(both), 10)], ", ")))
		}
	}
	return found, nil
}

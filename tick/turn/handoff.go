package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// handoff returns what an implementation turn gets from its design: the document from the base
// branch, or else from the merged design, and the decisions.
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
	h.NonGoals, h.Criteria = document.Points(h.Document, nonGoals), document.Points(h.Document, criteria)
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

func (p *briefs) mergedDocument(ctx context.Context, l *env.Lease) ([]byte, error) {
	m := l.Repo.Git()
	for _, at := range []string{l.Turn.Head, l.Item.DesignCommit} {
		if l.Item.Document == "" || !m.Has(ctx, at) {
			continue
		}
		doc, ok, err := m.ReadFile(ctx, at, l.Item.Document)
		if err != nil || ok {
			return doc, err
		}
	}
	return nil, nil
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

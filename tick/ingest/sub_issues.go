package ingest

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

// roadmapLife is the time after which the sub-issues of a roadmap, and its document, are read again
// if nothing shows that they changed. What a list of sub-issues leaves out although it exists is
// looked for sooner.
const (
	roadmapLife = 30 * time.Minute
	lagLife     = 5 * time.Minute
)

// below is what GitHub lists below a roadmap's issue.
type below struct {
	roadmap roadmap.Record
	gone    bool // the issue was deleted or transferred
	list    []roadmap.SubIssue
	moves   []roadmap.Move // nodes whose sub-issues people took away or put back
	back    bool           // people put one back
	lookAt  time.Time
}

// readSubIssues reads what is below the repository's roadmaps: where this pass has read something else than the rows
// say, every roadmapLife, and if a person wants it at once. Then it also looks whether people changed the document.
func (h *reading) readSubIssues(ctx context.Context) error {
	for _, m := range h.due.roadmaps {
		if m.State == roadmap.Deleted {
			continue
		}
		var err error
		due := h.atOnce || !m.LookAt.After(h.now())
		if due || len(h.changed) > 0 {
			err = h.readBelow(ctx, m, due)
		}
		if err == nil && (due || h.pullEnded) {
			err = h.readDocument(ctx, m)
		}
		if err := h.deferOne(err, "read the roadmap of #%d", m.Number); err != nil {
			return err
		}
	}
	return nil
}

// changedBelow reports whether an issue that this pass has read, or a node, says something else than the rows of a
// roadmap's sub-issues. Their order alone shows on none.
func (h *reading) changedBelow(m roadmap.Record, nodes []roadmap.Child, before []roadmap.SubIssue) bool {
	rows := map[int]roadmap.SubIssue{}
	for _, s := range before {
		if d, ok := work.ParseDependency(s.Ref, h.repo.Name); ok && d.Repo.Equal(h.repo.Name) {
			rows[d.Number] = s
		}
	}
	for _, c := range nodes {
		if _, known := rows[c.Number]; c.Number != 0 && c.Step != roadmap.Gone && !known {
			return true
		}
	}
	for n := range h.changed {
		is, ok := h.readNow(n)
		row, known := rows[n]
		part := strings.EqualFold(h.called(is.Parent), m.Ref)
		if ok && (known != part || known && (row.State != is.Dependency() || row.Title != is.Title) || n == m.Number && is.SubIssues.Total != len(before)) {
			return true
		}
	}
	return false
}

// readBelow reads the sub-issues of a roadmap's issue, if that is due or their rows differ from what this pass has
// read. A node whose sub-issue is not among them is gone if people deleted it, transferred it or took it out;
// otherwise the list lags. One that they put back is compared with the document again.
func (h *reading) readBelow(ctx context.Context, m roadmap.Record, due bool) error {
	var nodes []roadmap.Child
	var before []roadmap.SubIssue
	err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if nodes, err = tx.ListChildren(ctx, m.ItemID); err == nil {
			before, err = tx.ListSubIssues(ctx, m.ItemID)
		}
		return err
	})
	if err != nil || !due && !h.changedBelow(m, nodes, before) {
		return err
	}
	subs, ok, err := h.repo.GitHub.SubIssues(ctx, h.row.Current, m.Number)
	if err != nil {
		return err
	}
	b := below{roadmap: m, lookAt: h.now().Add(roadmapLife)}
	if !ok { // one answer is not enough to close what is below it
		_, exists, err := h.repo.GitHub.Issue(ctx, h.row.Current, m.Number)
		if err == nil && exists {
			err = fmt.Errorf("GitHub has %s, and does not find its sub-issues", work.Ref(h.row.Current, m.Number))
		}
		if err != nil {
			return err
		}
		b.gone = true
	}
	listed := map[int]github.Issue{}
	for i, is := range subs {
		b.list = append(b.list, roadmap.SubIssue{Ref: h.called(is.Ref()), Position: i, Title: is.Title, State: is.Dependency()})
		if is.Repo.Equal(h.row.Current) {
			listed[is.Number] = is
		}
	}
	if ok {
		is, err := h.issueOf(ctx, m.Number)
		if err != nil {
			return err
		}
		// GitHub counts those, too, that the account may not see: the roadmap does not end without them.
		if n := is.SubIssues.Total - len(b.list); n > 0 {
			hidden := roadmap.SubIssue{Title: fmt.Sprintf("%d not visible", n), State: work.DependencyRefused, Position: len(b.list)}
			b.list, b.lookAt = append(b.list, hidden), h.now().Add(lagLife)
		}
	}
	for _, c := range nodes {
		is, in := listed[c.Number]
		if in && c.Step == roadmap.Gone {
			b.putBack(c, is, nodes)
		}
		if b.gone || c.Number == 0 || in || c.Step == roadmap.Gone {
			continue
		}
		is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, c.Number)
		if err != nil {
			return err
		}
		if ok && strings.EqualFold(h.called(is.Parent), m.Ref) {
			b.lookAt = h.now().Add(lagLife)
			continue
		}
		after := c
		after.Step = roadmap.Gone
		b.moves = append(b.moves, roadmap.Move{Before: c, After: after})
	}
	h.put(func(ctx context.Context, tx *store.Tx, _ time.Time) error { return h.storeBelow(ctx, tx, b) })
	return nil
}

// putBack has the label and the edges of a node looked at again, also those of the nodes that need it.
func (b *below) putBack(c roadmap.Child, is github.Issue, nodes []roadmap.Child) {
	after := c
	if after.Step, after.Edges = roadmap.Made, nil; is.State != "open" {
		after.Step, after.Edges = roadmap.Labelled, c.Needs
	}
	b.back, b.moves = true, append(b.moves, roadmap.Move{Before: c, After: after})
	for _, on := range nodes {
		if at := slices.Index(on.Edges, c.Node); at >= 0 && on.Step != roadmap.Gone {
			after := on
			after.Edges = slices.Delete(slices.Clone(on.Edges), at, at+1)
			b.moves = append(b.moves, roadmap.Move{Before: on, After: after})
		}
	}
}

// readDocument reads the document of a roadmap from the default branch, where people may have changed or renamed
// it by a pull request of their own. One that is gone is a fault; a branch that is not found is an error.
func (h *reading) readDocument(ctx context.Context, m roadmap.Record) error {
	others := func() ([]string, error) {
		files, ok, err := h.repo.GitHub.Files(ctx, h.row.Current, path.Dir(m.Document), h.row.DefaultBranch)
		if err == nil && !ok {
			if _, ok, err = h.repo.GitHub.Descends(ctx, h.row.Current, h.row.DefaultBranch, h.row.DefaultBranch); err == nil && !ok {
				err = fmt.Errorf("GitHub does not find the branch %s", h.row.DefaultBranch)
			}
		}
		return files, err
	}
	doc, at, err := h.findFile(ctx, m.Document, h.row.DefaultBranch, others, func(at string) bool { return roadmap.IsPath(at, m.Number) })
	switch {
	case err != nil:
		return err
	case at == "":
		gone := roadmap.Fault{Says: fmt.Sprintf("the file is gone from %s: restore it there, in the folder %s and with a name that begins with %d-", h.row.DefaultBranch, path.Dir(m.Document), m.Number)}
		h.roadmaps = append(h.roadmaps, mergedRoadmap{number: m.Number, run: m.Run, first: m.ItemID, doc: roadmap.Merged{Document: m.Document, Hash: "gone", Faults: []roadmap.Fault{gone}}})
		return nil
	case work.ContentHash(string(doc)) == m.Hash:
		if at != m.Document {
			h.roadmaps = append(h.roadmaps, mergedRoadmap{number: m.Number, run: m.Run, first: m.ItemID, doc: roadmap.Merged{Document: at, Hash: m.Hash}})
		}
		return nil
	}
	subs, _, err := h.repo.GitHub.SubIssues(ctx, h.row.Current, m.Number)
	if err != nil {
		return err
	}
	changed := mergedRoadmap{number: m.Number, run: m.Run, first: m.ItemID}
	if changed.doc, err = h.readRoadmap(ctx, doc, changed, subs); err != nil {
		return err
	}
	changed.doc.Document = at
	h.roadmaps = append(h.roadmaps, changed)
	return nil
}

// storeBelow stores what was read below a roadmap. What a person or the document changed in between is read again.
func (h *reading) storeBelow(ctx context.Context, tx *store.Tx, b below) error {
	after := b.roadmap
	if b.gone {
		after.State, _ = after.State.After(roadmap.EventDeleted)
		err := tx.MoveRoadmap(ctx, b.roadmap, after)
		if err == nil {
			err = h.notices.ShowRoadmap(ctx, tx, after, h.now())
		}
		return ignoreStale(err)
	}
	for _, m := range b.moves {
		if err := ignoreStale(tx.MoveChild(ctx, m.Before, m.After)); err != nil {
			return err
		}
	}
	err := tx.SetSubIssues(ctx, b.roadmap.ItemID, b.list, b.lookAt)
	if err == nil && len(b.moves) > 0 {
		err = tx.MarkRoadmapChanged(ctx, b.roadmap.ItemID)
	}
	if err != nil || !b.back {
		return err
	}
	if err := tx.ForgetGone(ctx, b.roadmap.ItemID); err != nil {
		return err
	}
	if after.State, _ = after.State.After(roadmap.EventReturned); after.State == b.roadmap.State {
		return nil
	}
	return ignoreStale(tx.MoveRoadmap(ctx, b.roadmap, after))
}

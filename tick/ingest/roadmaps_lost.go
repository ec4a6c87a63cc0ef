package ingest

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
)

// A database that was lost knew what was made of a roadmap: GitHub shows it, and passes find it there.

// findRoadmapAbove tracks the merged roadmap above an issue, and those above that, before work on the issue
// begins: a database that was lost knows none of them, and they bound what begins.
func (h *reading) findRoadmapAbove(ctx context.Context, is github.Issue) error {
	mark, _ := h.nodeOf(is, 0)
	above := mark.Roadmap
	if d, ok := work.ParseDependency(h.called(is.Parent), h.repo.Name); ok && is.Parent != "" && d.Repo.Equal(h.repo.Name) {
		above = d.Number
	}
	if above == 0 || above == is.Number || h.sought[above] {
		return nil
	}
	h.sought[above] = true // texts that people edited may name each other as roadmaps
	if _, known := h.item(ctx, above); known {
		return nil
	}
	_, err := h.adoptMergedRoadmap(ctx, above)
	return err
}

// adoptMergedRoadmap tracks the merged roadmap of an issue. It is false if none was merged.
func (h *reading) adoptMergedRoadmap(ctx context.Context, issue int) (bool, error) {
	r, err := h.issueWhole(ctx, issue)
	if err != nil || r.Number == 0 {
		return false, err
	}
	if err := h.findRoadmapAbove(ctx, r.Issue); err != nil {
		return false, err
	}
	h.noteIssuePauses(r, work.FlowRoadmap)
	labelled := r.labelled(h.labelOf(work.FlowRoadmap))
	past, known, err := h.pastPull(ctx, r, labelled, work.PullMerged)
	if err != nil || known || past.Number == 0 {
		return false, err
	}
	return true, h.adoptClosed(ctx, r, labelled, past.Pull)
}

// findNodes returns the nodes for which sub-issues exist that the database does not know: it was
// lost. What was labelled once is not labelled again. Which node a sub-issue is for, the table says before the
// sub-issue's own marker. If the table says that all of the document was made, each edge of it was set, and people
// removed those that GitHub lacks.
func (h *reading) findNodes(ctx context.Context, m mergedRoadmap, table work.NodesMark, subs []github.Issue) (found []roadmap.Child, err error) {
	doc, faulty, linked := m.doc, len(m.doc.Faults) > 0, map[string]bool{}
	subs, gone, err := h.tabled(ctx, m, table, subs)
	if err != nil {
		return nil, err
	}
	for _, is := range subs {
		mark, ours := h.nodeOf(is, m.number)
		if at := slices.IndexFunc(doc.Nodes, func(n roadmap.Child) bool { return n.Adopted() && n.Number == is.Number }); at >= 0 && is.Repo.Equal(h.row.Current) {
			mark, ours = work.NodeMark{Node: doc.Nodes[at].Node, Run: m.run}, true
		} else if id := table.Node(is.Number); id != "" && h.isOurs(is.Author) && is.Repo.Equal(h.row.Current) { // people remove and copy markers
			mark.Node, mark.Run, ours = id, m.run, true
		}
		if n := table.Nodes[mark.Node]; !ours || mark.Run != m.run || n != 0 && n != is.Number || slices.ContainsFunc(found, func(c roadmap.Child) bool { return c.Node == mark.Node }) {
			continue
		}
		// What the document lacks now, or does not say because it has faults.
		c, flows := roadmap.Child{Node: mark.Node, Title: is.Title, Step: roadmap.Removed, Hash: cmp.Or(mark.Hash, "edited")}, work.Flows()
		i := slices.IndexFunc(doc.Nodes, func(n roadmap.Child) bool { return n.Node == mark.Node })
		if i >= 0 {
			c, flows = doc.Nodes[i], []work.Flow{doc.Nodes[i].Flow}
		}
		if !c.Adopted() {
			c.Applied = cmp.Or(mark.Hash, c.Hash)
		}
		if c.Number = is.Number; !c.Adopted() && (i >= 0 || faulty) {
			flow, begun, err := h.flowSet(ctx, is, flows...)
			if err != nil {
				return nil, err
			}
			if c.Flow, c.Step = cmp.Or(c.Flow, flow), roadmap.Made; begun || is.State != "open" {
				c.Step = roadmap.Labelled
			}
		}
		found, linked[c.Node] = append(found, c), is.Blockers.All > 0
	}
	for i, c := range found {
		switch {
		case table.Made == doc.Hash:
			found[i].Edges = c.Needs
		case linked[c.Node]:
			if found[i].Edges, err = h.edgesOf(ctx, c, found, faulty); err != nil {
				return nil, err
			}
		}
	}
	return append(found, gone...), nil
}

// flowSet returns the one of the flows whose label the issue has, or ever had.
func (h *reading) flowSet(ctx context.Context, is github.Issue, flows ...work.Flow) (work.Flow, bool, error) {
	labels := h.repo.Settings.Labels
	flows = slices.DeleteFunc(flows, func(f work.Flow) bool { return labels.Of(f) == "" })
	if i := slices.IndexFunc(flows, func(f work.Flow) bool { return work.HasLabel(is.Labels, labels.Of(f)) }); i >= 0 {
		return flows[i], true, nil
	}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, is.Number)
	for _, f := range flows {
		if _, set := lastEvent(timeline, "labeled", labels.Of(f)); set {
			return f, true, err
		}
	}
	return "", false, err
}

// toldOf returns what our comment with the table of a roadmap says was made, and whether a comment of ours since
// a time says that a person cancelled it.
func (h *reading) toldOf(ctx context.Context, m mergedRoadmap, since time.Time) (table work.NodesMark, cancelled bool, err error) {
	said, err := h.commentsOf(ctx, m.number, time.Time{})
	for _, c := range said {
		if !h.isOurs(c.Author) {
			continue
		}
		marks, _ := work.ParseMarks(c.Body)
		if found, ok := work.ParseNodes(marks.Nodes, m.number, m.run); ok {
			table = found
		}
		cancelled = cancelled || marks.Cancelled == strconv.Itoa(m.number) && !c.CreatedAt.Before(since)
	}
	return table, cancelled, err
}

// edgesOf returns the edges of a node that GitHub has and that are the roadmap's: those that the
// document asks for, and those on nodes that it does not have any more. Others are people's. Of a faulty
// document nobody knows what the one before asked for: all between its nodes are the roadmap's.
func (h *reading) edgesOf(ctx context.Context, c roadmap.Child, found []roadmap.Child, faulty bool) (edges []string, err error) {
	list, err := h.repo.GitHub.BlockedBy(ctx, h.row.Current, c.Number)
	for _, on := range found {
		ref := work.Dependency{Repo: h.repo.Name, Number: on.Number}.String()
		set := slices.ContainsFunc(list, func(b work.Blocker) bool { return strings.EqualFold(h.called(b.Ref), ref) })
		if set && (faulty || on.Step == roadmap.Removed || slices.Contains(c.Needs, on.Node)) {
			edges = append(edges, on.Node)
		}
	}
	return edges, err
}

// tabled returns the nodes whose sub-issues people took away before the database was lost: our comment with the
// table of the roadmap names them, and GitHub's list does not. It adds those that the list only shows late.
func (h *reading) tabled(ctx context.Context, m mergedRoadmap, table work.NodesMark, subs []github.Issue) (all []github.Issue, gone []roadmap.Child, err error) {
	ref := work.Dependency{Repo: h.repo.Name, Number: m.number}.String()
	all = slices.Clone(subs)
	for _, c := range m.doc.Nodes {
		n := table.Nodes[c.Node]
		if n == 0 || slices.ContainsFunc(subs, func(is github.Issue) bool { return is.Number == n && is.Repo.Equal(h.row.Current) }) {
			continue
		}
		is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, n)
		switch {
		case err != nil:
			return nil, nil, err
		case ok && strings.EqualFold(h.called(is.Parent), ref):
			all = append(all, is)
		default:
			c.Number, c.Step = n, roadmap.Gone
			gone = append(gone, c)
		}
	}
	return all, gone, nil
}

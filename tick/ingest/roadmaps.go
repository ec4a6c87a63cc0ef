package ingest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// Once a roadmap is merged, its nodes are stored with the merge, and the plan unfolds them. From then
// on GitHub's list of sub-issues says what is below it: people add to it, and take from it.

// mergedRoadmap is a document of a roadmap that was merged, and what a lost database had made of it.
type mergedRoadmap struct {
	number int            // of the roadmap's issue
	run    int            // number of the pull request that began it
	first  int64          // its first work item; 0: it is new
	parent string         // the issue above its issue
	doc    roadmap.Merged //
	found  []roadmap.Child

	cancelled bool // a person cancelled it before the database was lost
}

// promoteRoadmapAt reads the document at a commit or branch, and what was made of it since its label was set.
func (h *reading) promoteRoadmapAt(ctx context.Context, item work.Item, pull work.PullRequest, at string, run int, labelled time.Time) error {
	m, subs, err := h.documentAt(ctx, item, pull, at, run)
	if err != nil {
		return err
	}
	if !item.Replans() { // else its roadmap is known
		var table work.NodesMark
		if table, m.cancelled, err = h.toldOf(ctx, m, labelled); err != nil {
			return err
		}
		if m.found, err = h.findNodes(ctx, m, table, subs); err != nil {
			return err
		}
	}
	h.roadmaps = append(h.roadmaps, m)
	return nil
}

// documentFaults returns the faults of the document that an open pull request has, a line for each. It is
// false for one of another flow.
func (h *reading) documentFaults(ctx context.Context, item work.Item, pull work.PullRequest) (string, bool, error) {
	if !item.Flow.Document() || pull.State != work.PullOpen {
		return "", false, nil
	}
	if item.Flow == work.FlowDesign {
		doc, path, err := h.findDocument(ctx, item, pull, pull.HeadOID)
		if err != nil {
			return "", false, fmt.Errorf("read the design of #%d: %w", item.Number, err)
		}
		return strings.Join(h.whyFaults(path, prompts.FaultsOf(doc)).Names, "\n"), true, nil
	}
	m, _, err := h.documentAt(ctx, item, pull, pull.HeadOID, h.runOf(ctx, item, pull))
	return strings.Join(document.Strings(m.doc.Faults), "\n"), true, err
}

// runOf returns the number of the pull request that began the roadmap which a pull request makes or changes.
func (h *reading) runOf(ctx context.Context, item work.Item, pull work.PullRequest) int {
	if !item.Replans() {
		return pull.Number
	}
	return stored(ctx, h, func(ctx context.Context, tx *store.Tx) (int, error) {
		m, _, err := tx.FindRoadmap(ctx, item.Parent)
		return m.Run, err
	})
}

// documentAt reads and checks the document of a roadmap at a commit or branch, and what is below its issue.
// If run is 0, somebody removed the mark that names the pull request that began the roadmap: its newest
// sub-issue names it, too.
func (h *reading) documentAt(ctx context.Context, item work.Item, pull work.PullRequest, at string, run int) (m mergedRoadmap, subs []github.Issue, err error) {
	doc, path, err := h.findDocument(ctx, item, pull, at)
	if err != nil {
		return m, nil, fmt.Errorf("read the roadmap of #%d: %w", item.Number, err)
	}
	m = mergedRoadmap{number: item.Number, run: run, first: cmp.Or(item.Parent, item.ID), parent: item.SubIssueOf}
	subs, ok, err := h.subIssuesOf(ctx, item.Number)
	if err != nil {
		return m, nil, err
	}
	for _, is := range subs {
		if mark, ours := h.nodeOf(is, item.Number); ours && run == 0 {
			m.run = max(m.run, mark.Run)
		}
	}
	m.run = cmp.Or(m.run, pull.Number)
	if m.doc, err = h.readRoadmap(ctx, doc, m, subs); err != nil {
		return m, nil, err
	}
	m.doc.Document, m.doc.Pull, m.doc.Commit = path, pull.Number, pull.MergeCommit
	switch {
	case len(doc) == 0:
		m.doc.Document = work.DocumentPath(item.Flow, item.Number, item.Title)
		m.doc.Faults = []roadmap.Fault{{Says: fmt.Sprintf("pull request #%d has no file %s, or one that is empty or larger than GitHub's API returns", pull.Number, m.doc.Document)}}
	case !ok:
		m.doc.Faults = []roadmap.Fault{{Says: h.repo.Name.Host + " has no sub-issues"}}
	}
	return m, subs, nil
}

// readRoadmap parses and checks a document. What its nodes say is made fit for GitHub, as an agent
// wrote it.
func (h *reading) readRoadmap(ctx context.Context, doc []byte, of mergedRoadmap, subs []github.Issue) (roadmap.Merged, error) {
	is, err := h.issueOf(ctx, of.number)
	if err != nil {
		return roadmap.Merged{}, err
	}
	var live []roadmap.Record
	var children []roadmap.Child
	if err = h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		if live, err = tx.ListLiveRoadmaps(ctx); err == nil && of.first != 0 {
			children, err = tx.ListChildren(ctx, of.first)
		}
		return err
	}); err != nil {
		return roadmap.Merged{}, err
	}
	for _, m := range h.roadmaps { // not stored yet
		live = append(live, roadmap.Record{Ref: h.called(fmt.Sprintf("#%d", m.number)), Parent: m.parent})
	}
	present := env.Present(h.row.Current, subs, children)
	parsed, _ := roadmap.Parse(doc)
	others := len(subs)
	for i, is := range subs {
		if mark, ours := h.nodeOf(is, of.number); ours && mark.Run == of.run {
			present[i].Node = mark.Node
			if _, in := parsed.Node(mark.Node); in {
				others--
			}
		}
	}
	parsed, faults := roadmap.Read(doc, roadmap.Bounds{
		Depth: 1 + len(roadmap.Chain(h.called(is.Parent), live)), SubIssues: others, NoEdges: is.Number != 0 && !is.Blockers.Supported, Present: present,
	})
	m := roadmap.Merged{Hash: work.ContentHash(string(doc)), Goal: h.secrets.Redact(parsed.Goal), Faults: faults}
	for i := range m.Faults {
		m.Faults[i].Says = h.secrets.Redact(m.Faults[i].Says)
	}
	for i, n := range parsed.Nodes {
		title, text := public.Title(h.secrets.Redact(n.Title)), public.Body(h.secrets.Redact(n.Text))
		c := roadmap.Child{
			Node: n.ID, Position: i, Title: title, Flow: n.Flow, Needs: n.Needs, Hash: work.IssueHash(title, text), Step: roadmap.Planned, Body: text,
		}
		if at := slices.IndexFunc(subs, func(is github.Issue) bool { return is.Number == n.Issue && is.Repo.Equal(h.row.Current) }); at >= 0 {
			// It is taken as it is. Its label and edges are set only if it is open, and the label only if nobody ever set one
			// that starts work.
			is := subs[at]
			c.Number, c.Hash, c.Body, c.Step = is.Number, "", "", roadmap.Labelled
			if is.State != "open" {
				c.Edges = c.Needs
			} else if _, begun, err := h.flowSet(ctx, is, work.Flows()...); err != nil {
				return m, err
			} else if !begun {
				c.Step = roadmap.Made
			}
		}
		m.Nodes = append(m.Nodes, c)
	}
	return m, nil
}

// nodeOf returns the node of which an issue is the sub-issue, if we opened it. number is the roadmap's; 0: any.
func (h *reading) nodeOf(is github.Issue, number int) (work.NodeMark, bool) {
	marks, _ := work.ParseMarks(is.Body)
	mark, ok := work.ParseNode(marks.Node, number)
	return mark, ok && is.Repo.Equal(h.row.Current) && h.isOurs(is.Author)
}

// isOurs reports whether an account is one of ours.
func (h *reading) isOurs(who work.Account) bool {
	return who.ID != 0 && slices.Contains(h.accounts.Operators(h.repo.Name.Host), who.ID)
}

// storeRoadmaps stores merged documents. It runs after the work items have their rows.
func (h *reading) storeRoadmaps(ctx context.Context, tx *store.Tx, _ time.Time) error {
	for _, m := range h.roadmaps {
		first := cmp.Or(m.first, h.itemID(m.number))
		before, known, err := tx.FindRoadmap(ctx, first)
		if err != nil {
			return err
		}
		if !known {
			if err := h.addRoadmap(ctx, tx, first, m); err != nil {
				return err
			}
			continue
		}
		nodes, results, err := h.settledNodes(ctx, tx, before)
		if err != nil {
			return err
		}
		after, moves := before.Apply(nodes, m.doc)
		if after.Hash == before.Hash && after.Document == before.Document {
			continue
		}
		for _, move := range slices.Concat(results, moves) {
			if err := tx.MoveChild(ctx, move.Before, move.After); err != nil {
				return err
			}
		}
		if err := tx.MoveRoadmap(ctx, before, after); err != nil {
			return err
		}
		if err := h.notices.ShowRoadmap(ctx, tx, after, h.now()); err != nil {
			return err
		}
	}
	return nil
}

// settledNodes returns a roadmap's nodes with what its actions did since the last plan: none of those for the next document
// knows it, and a text of ours would be taken for a person's.
func (h *reading) settledNodes(ctx context.Context, tx *store.Tx, r roadmap.Record) (nodes []roadmap.Child, moves []roadmap.Move, err error) {
	f := roadmap.Facts{Repo: h.row.Key(), Record: r}
	if f.Nodes, err = tx.ListChildren(ctx, r.ItemID); err != nil {
		return nil, nil, err
	}
	if f.Actions, err = tx.ListActions(ctx, f.Tokens()); err != nil {
		return nil, nil, err
	}
	nodes, moves = roadmap.Settled(f)
	return nodes, moves, nil
}

// addRoadmap stores a roadmap whose first document was merged, or that is found again.
func (h *reading) addRoadmap(ctx context.Context, tx *store.Tx, first int64, m mergedRoadmap) error {
	r := roadmap.Record{
		ItemID: first, RepoID: h.row.ID, State: roadmap.Unfolding, Document: m.doc.Document, Hash: m.doc.Hash, Pull: m.doc.Pull, Commit: m.doc.Commit,
		Run: m.run, Revision: 1, Look: 1, LookAt: h.now(), Goal: m.doc.Goal,
	}
	nodes := m.doc.Nodes
	if len(m.doc.Faults) > 0 {
		r.State, r.Why, nodes = roadmap.Stopped, roadmap.WhyFaults(m.doc.Document, m.doc.Faults), nil
	}
	if m.cancelled {
		r.State, r.Why = roadmap.Cancelled, work.Reason{}
	}
	all := m.found
	for _, n := range nodes {
		if !slices.ContainsFunc(m.found, func(c roadmap.Child) bool { return c.Node == n.Node }) {
			all = append(all, n)
		}
	}
	if err := tx.AddRoadmap(ctx, r, all); err != nil {
		return err
	}
	return h.notices.ShowRoadmap(ctx, tx, r, h.now())
}

package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
)

// Once a roadmap is merged, its nodes are stored with the merge, and the plan unfolds them. From then
// on GitHub's list of sub-issues says what is below it: people add to it, and take from it.

// roadmapLife is the time after which the sub-issues of a roadmap, and its document, are read again
// if nothing shows that they changed. What a list of sub-issues leaves out although it exists is
// looked for sooner.
const (
	roadmapLife = 30 * time.Minute
	lagLife     = 5 * time.Minute
)

// mergedRoadmap is a document of a roadmap that was merged, and what a lost database had made of it.
type mergedRoadmap struct {
	number int            // of the roadmap's issue
	run    int            // number of the pull request that began it
	first  int64          // its first work item; 0: it is new
	depth  int            // of the issue
	doc    roadmap.Merged //
	found  []roadmap.Child

	cancelled bool // a person cancelled it before the database was lost
}

// below is what GitHub lists below a roadmap's issue.
type below struct {
	roadmap roadmap.Record
	gone    bool // the issue was deleted or transferred
	list    []roadmap.SubIssue
	lost    []roadmap.Move // nodes whose sub-issues people took away
	lookAt  time.Time
}

// promoteRoadmap reads the document of a merged roadmap, or of its revision.
func (h *reading) promoteRoadmap(ctx context.Context, item work.Item, pull work.PullRequest) error {
	run, err := h.runOf(ctx, item, pull)
	if err != nil {
		return err
	}
	return h.promoteRoadmapAt(ctx, item, pull, cmp.Or(pull.MergeCommit, pull.Base), run)
}

// findRoadmapAgain reads the document that the base branch has now: a database that was lost had applied
// what was merged since, too, and what it had made for that is no removed part of the first document.
// p is the pull request that merged it last, and labelled is when the label of roadmaps was set last.
func (h *reading) findRoadmapAgain(ctx context.Context, item work.Item, pull work.PullRequest, p github.Pull, labelled time.Time) error {
	run := 0
	if mark, marked := work.ParsePullMark(p.Body); marked {
		run = cmp.Or(mark.Run, p.Number)
	}
	said, err := h.commentsOf(ctx, item.Number, time.Time{})
	if err != nil {
		return err
	}
	if err := h.promoteRoadmapAt(ctx, item, pull, pull.Base, run); err != nil {
		return err
	}
	h.roadmaps[len(h.roadmaps)-1].cancelled = slices.ContainsFunc(said, func(c github.Comment) bool {
		marks, _ := work.ParseMarks(c.Body)
		return marks.Cancelled == strconv.Itoa(item.Number) && h.isOurs(c.Author) && !c.CreatedAt.Before(labelled)
	})
	return nil
}

// findRoadmapAbove tracks the merged roadmap above an issue, and those above that, before work on the issue
// begins: a database that was lost knows none of them, and they bound what begins. orphan means that the
// issue is the sub-issue of a node whose roadmap is not found, because its issue was deleted.
func (h *reading) findRoadmapAbove(ctx context.Context, is github.Issue) (orphan bool, err error) {
	mark, node := h.nodeOf(is, 0)
	above := mark.Roadmap
	if d, ok := work.ParseDependency(h.called(is.Parent), h.repo.Name); ok && is.Parent != "" && d.Repo.Equal(h.repo.Name) {
		above = d.Number
	}
	if above == 0 || above == is.Number {
		return false, nil
	}
	if _, known, err := h.item(ctx, above); known || err != nil {
		return false, err
	}
	lost, sought := h.sought[above]
	if sought {
		return lost && node, nil
	}
	if h.sought == nil {
		h.sought = map[int]bool{}
	}
	h.sought[above] = true // texts that people edited may name each other as roadmaps
	parent, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, above)
	if err != nil {
		delete(h.sought, above)
		return false, err
	}
	merged := false
	if ok {
		if _, err := h.findRoadmapAbove(ctx, parent); err != nil {
			delete(h.sought, above)
			return false, err
		}
		before, some := h.issues[above]
		if merged, err = h.adoptMergedRoadmap(ctx, above); err != nil {
			if h.issues[above] = before; !some {
				delete(h.issues, above)
			}
			delete(h.sought, above)
			return false, err
		}
	}
	h.sought[above] = !merged
	return !merged && node, nil
}

// declineOrphan plans a comment that a label starts nothing, because the roadmap that asked for it is not
// found. A label that was set again since counts.
func (h *reading) declineOrphan(is github.Issue, label flowAsked, timeline []github.TimelineEvent) bool {
	set, last := 0, work.Account{}
	for _, t := range timeline {
		if t.Event == "labeled" && strings.EqualFold(t.Label, label.Name) {
			set++
			last = t.Actor
		}
	}
	if set > 1 || !h.isOurs(last) {
		return false
	}
	token := work.NoticeToken(h.row.Key(), is.Number, "its roadmap is not found")
	body := fmt.Sprintf("The label `%s` starts nothing: the roadmap that set it is not found any more. To start the work all the same, remove the label and set it again.", label.Name)
	h.declined = append(h.declined, work.Action{
		RepoID: h.row.ID, Kind: work.ActionComment, Need: work.NeedRequired, Token: token, State: work.ActionPlanned,
		Number: is.Number, Body: h.repo.Mark(body, work.Marks{Token: token}), Why: "its roadmap is not found",
	})
	return true
}

// promoteRoadmapAt reads the document at a commit or branch, and what was made of it.
func (h *reading) promoteRoadmapAt(ctx context.Context, item work.Item, pull work.PullRequest, at string, run int) error {
	m, subs, err := h.documentAt(ctx, item, pull, at, run)
	if err == nil && !item.Replans() { // else its roadmap is known
		m.found, err = h.findNodes(ctx, m, subs)
	}
	if err == nil {
		h.roadmaps = append(h.roadmaps, m)
	}
	return err
}

// documentFaults returns the faults of the document that an open pull request of a roadmap has, a line for
// each. It is false for any other pull request.
func (h *reading) documentFaults(ctx context.Context, item work.Item, pull work.PullRequest) (string, bool, error) {
	if item.Flow != work.FlowRoadmap || pull.State != work.PullOpen {
		return "", false, nil
	}
	run, err := h.runOf(ctx, item, pull)
	if err != nil {
		return "", false, err
	}
	m, _, err := h.documentAt(ctx, item, pull, pull.HeadOID, run)
	return strings.Join(roadmap.Strings(m.doc.Faults), "\n"), true, err
}

// runOf returns the number of the pull request that began the roadmap which a pull request makes or changes.
func (h *reading) runOf(ctx context.Context, item work.Item, pull work.PullRequest) (run int, err error) {
	if !item.Replans() {
		return pull.Number, nil
	}
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		m, _, err := tx.FindRoadmap(ctx, item.Parent)
		run = m.Run
		return err
	})
	return run, err
}

// documentAt reads and checks the document of a roadmap at a commit or branch, and what is below its issue.
// If run is 0, somebody removed the mark that names the pull request that began the roadmap: its newest
// sub-issue names it, too.
func (h *reading) documentAt(ctx context.Context, item work.Item, pull work.PullRequest, at string, run int) (m mergedRoadmap, subs []github.Issue, err error) {
	path := cmp.Or(item.Document, work.DocumentPath(item.Flow, item.Number, item.Title))
	doc, path, err := h.findDocument(ctx, item, pull, path, at)
	if err != nil {
		return m, nil, fmt.Errorf("read the roadmap of #%d: %w", item.Number, err)
	}
	m = mergedRoadmap{number: item.Number, run: run, first: cmp.Or(item.Parent, item.ID)}
	if m.depth, err = h.depthOf(ctx, item.SubIssueOf); err != nil {
		return m, nil, err
	}
	subs, ok, err := h.repo.GitHub.SubIssues(ctx, h.row.Current, item.Number)
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

// adoptMergedRoadmap tracks the merged roadmap of an issue of which an open pull request is the
// revision. It is false if none was merged.
func (h *reading) adoptMergedRoadmap(ctx context.Context, issue int) (bool, error) {
	is, ok, err := h.issueOf(ctx, issue)
	if err != nil || !ok {
		return false, err
	}
	label := config.FlowLabel{Name: h.repo.Settings.Labels.Of(work.FlowRoadmap), Flow: work.FlowRoadmap}
	timeline, err := h.repo.GitHub.TimelineOf(ctx, h.row.Current, issue)
	if err != nil {
		return false, err
	}
	h.noteIssuePauses(is, label.Flow, timeline)
	for _, t := range slices.Backward(timeline) {
		if t.FromPull == 0 || !h.isOurs(t.Actor) {
			continue
		}
		p, ok, err := h.repo.GitHub.Pull(ctx, h.row.Current, t.FromPull)
		if err != nil {
			return false, err
		}
		if !ok || p.State != work.PullMerged {
			continue
		}
		past, made, err := h.madeFor(ctx, is, label, p)
		if err != nil {
			return false, err
		}
		if made {
			labelled, _ := lastEvent(timeline, "labeled", label.Name)
			return true, h.adoptClosed(ctx, is, label, labelled, timeline, past.Pull)
		}
	}
	return false, nil
}

// depthOf returns how deep an issue is nested below roadmaps, by the issue above it. A roadmap that
// is merged in another repository does not count.
func (h *reading) depthOf(ctx context.Context, parent string) (depth int, err error) {
	d, ok := work.ParseDependency(parent, h.repo.Name)
	if !ok || !d.Repo.Equal(h.repo.Name) {
		return 1, nil
	}
	for _, m := range h.roadmaps {
		if m.number == d.Number {
			return m.depth + 1, nil
		}
	}
	depth = 1
	err = h.view(ctx, func(ctx context.Context, tx *store.Tx) error {
		live, err := tx.ListRoadmaps(ctx, h.row.ID)
		for _, m := range live {
			if m.Number == d.Number {
				depth = m.Depth + 1
			}
		}
		return err
	})
	return depth, err
}

// readRoadmap parses and checks a document. What its nodes say is made fit for GitHub, as an agent
// wrote it.
func (h *reading) readRoadmap(ctx context.Context, doc []byte, of mergedRoadmap, subs []github.Issue) (roadmap.Merged, error) {
	is, ok, err := h.repo.GitHub.Issue(ctx, h.row.Current, of.number)
	if err != nil {
		return roadmap.Merged{}, err
	}
	parsed, faults := roadmap.Parse(doc)
	others := len(subs)
	for _, is := range subs {
		if mark, ours := h.nodeOf(is, of.number); ours && mark.Run == of.run {
			if _, in := parsed.Node(mark.Node); in {
				others--
			}
		}
	}
	if len(faults) == 0 {
		faults = parsed.Check(roadmap.Bounds{Depth: of.depth, SubIssues: others, NoEdges: ok && !is.Blockers.Supported})
	}
	m := roadmap.Merged{Hash: work.ContentHash(string(doc)), Goal: h.env.Secrets.Redact(parsed.Goal), Faults: faults}
	for i := range m.Faults {
		m.Faults[i].Says = h.env.Secrets.Redact(m.Faults[i].Says)
	}
	for i, n := range parsed.Nodes {
		title, text := public.Title(h.env.Secrets.Redact(n.Title)), public.Body(h.env.Secrets.Redact(n.Text))
		m.Nodes = append(m.Nodes, roadmap.Child{
			Node: n.ID, Position: i, Title: title, Flow: n.Flow, Needs: n.Needs, Hash: work.IssueHash(title, text), Step: roadmap.Planned, Body: text,
		})
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
	return who.ID != 0 && slices.Contains(h.env.Accounts.Operators(h.repo.Name.Host), who.ID)
}

// findNodes returns the nodes for which sub-issues exist that the database does not know: it was
// lost. What was labelled once is not labelled again. Which node a sub-issue is for, the table says before the
// sub-issue's own marker. If the table says that all of the document was made, each edge of it was set, and people
// removed those that GitHub lacks.
func (h *reading) findNodes(ctx context.Context, m mergedRoadmap, subs []github.Issue) (found []roadmap.Child, err error) {
	doc, faulty, linked := m.doc, len(m.doc.Faults) > 0, map[string]bool{}
	table, err := h.tableOf(ctx, m.number, m.run)
	if err != nil {
		return nil, err
	}
	subs, gone, err := h.tabled(ctx, m, table, subs)
	if err != nil {
		return nil, err
	}
	for _, is := range subs {
		mark, ours := h.nodeOf(is, m.number)
		if id := table.Node(is.Number); id != "" && h.isOurs(is.Author) && is.Repo.Equal(h.row.Current) { // people remove and copy markers
			mark.Node, mark.Run, ours = id, m.run, true
		}
		if n := table.Nodes[mark.Node]; !ours || mark.Run != m.run || n != 0 && n != is.Number || slices.ContainsFunc(found, func(c roadmap.Child) bool { return c.Node == mark.Node }) {
			continue
		}
		c, flows := roadmap.Child{Node: mark.Node, Title: is.Title, Step: roadmap.Removed}, work.Flows()
		i := slices.IndexFunc(doc.Nodes, func(n roadmap.Child) bool { return n.Node == mark.Node })
		if i >= 0 {
			c, flows = doc.Nodes[i], []work.Flow{doc.Nodes[i].Flow}
		} else if faulty { // the document says nothing about what the one before had
			c.Hash = mark.Hash
		}
		if c.Number, c.Applied = is.Number, cmp.Or(mark.Hash, c.Hash); i >= 0 || faulty {
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

// tableOf returns what our comment with the table of a roadmap says was made.
func (h *reading) tableOf(ctx context.Context, number, run int) (table work.NodesMark, err error) {
	said, err := h.commentsOf(ctx, number, time.Time{})
	for _, comment := range said {
		marks, _ := work.ParseMarks(comment.Body)
		if found, ok := work.ParseNodes(marks.Nodes, number, run); ok && h.isOurs(comment.Author) {
			table = found
		}
	}
	return table, err
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

// storeRoadmaps stores merged documents. It runs after the work items have their rows.
func (h *reading) storeRoadmaps(ctx context.Context, tx *store.Tx) error {
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
		nodes, err := tx.ListChildren(ctx, first)
		if err != nil {
			return err
		}
		after, moves := before.Apply(nodes, m.doc)
		if after.Hash == before.Hash {
			continue
		}
		for _, move := range moves {
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
	return h.storeBelow(ctx, tx)
}

// addRoadmap stores a roadmap whose first document was merged, or that is found again.
func (h *reading) addRoadmap(ctx context.Context, tx *store.Tx, first int64, m mergedRoadmap) error {
	r := roadmap.Record{
		ItemID: first, RepoID: h.row.ID, State: roadmap.Unfolding, Document: m.doc.Document, Hash: m.doc.Hash, Pull: m.doc.Pull, Commit: m.doc.Commit,
		Run: m.run, Revision: 1, Depth: m.depth, Look: 1, LookAt: h.now(), Goal: m.doc.Goal,
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

// readSubIssues reads what is below the repository's roadmaps: where their issues or one of their
// sub-issues changed, and every roadmapLife. Then it also looks whether people changed the document.
func (h *reading) readSubIssues(ctx context.Context) error {
	var live []roadmap.Record
	if err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		live, err = tx.ListRoadmaps(ctx, h.row.ID)
		return err
	}); err != nil {
		return err
	}
	for _, m := range live {
		if m.State == roadmap.Deleted {
			continue
		}
		due := !m.LookAt.After(h.now())
		var err error
		if due || h.changed[m.Number] || h.parents[strings.ToLower(m.Ref)] {
			err = h.readBelow(ctx, m)
		}
		if err == nil && (due || h.pullEnded) {
			err = h.readDocument(ctx, m)
		}
		if err != nil {
			if done, err := h.laterOrFail(ctx, m, err); done || err != nil {
				return err
			}
		}
	}
	return nil
}

// laterOrFail leaves a roadmap that could not be read to the next pass. done means that the time is up.
func (h *reading) laterOrFail(ctx context.Context, m roadmap.Record, err error) (done bool, _ error) {
	if github.OutOfTime(err) {
		h.stopReading(err)
		return true, nil
	}
	if errors.Is(err, context.Canceled) {
		return true, err
	}
	h.env.Log.WarnContext(ctx, "a roadmap was not read", "repo_full_name", h.repo.Name.FullName(), "issue_number", m.Number, "error", err)
	h.trouble = append(h.trouble, err.Error())
	return false, nil
}

// readBelow reads the sub-issues of a roadmap's issue. A node whose sub-issue is not among them is
// gone for good if people deleted it, transferred it or took it out; otherwise the list lags.
func (h *reading) readBelow(ctx context.Context, m roadmap.Record) error {
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
	listed := map[int]bool{}
	for i, is := range subs {
		b.list = append(b.list, roadmap.SubIssue{Ref: h.called(is.Ref()), Position: i, Title: is.Title, State: is.Dependency()})
		listed[is.Number] = listed[is.Number] || is.Repo.Equal(h.row.Current)
	}
	var nodes []roadmap.Child
	if err := h.view(ctx, func(ctx context.Context, tx *store.Tx) (err error) {
		nodes, err = tx.ListChildren(ctx, m.ItemID)
		return err
	}); err != nil {
		return err
	}
	for _, c := range nodes {
		if b.gone || c.Number == 0 || listed[c.Number] || c.Step == roadmap.Gone {
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
		b.lost = append(b.lost, roadmap.Move{Before: c, After: after})
	}
	h.below = append(h.below, b)
	return nil
}

// readDocument reads the document of a roadmap from the default branch, where people may have changed
// it by a pull request of their own. One that they deleted or moved says nothing.
func (h *reading) readDocument(ctx context.Context, m roadmap.Record) error {
	doc, ok, err := h.repo.GitHub.File(ctx, h.row.Current, m.Document, h.row.DefaultBranch)
	if err != nil || !ok || work.ContentHash(string(doc)) == m.Hash {
		return err
	}
	subs, _, err := h.repo.GitHub.SubIssues(ctx, h.row.Current, m.Number)
	if err != nil {
		return err
	}
	changed := mergedRoadmap{number: m.Number, run: m.Run, first: m.ItemID, depth: m.Depth}
	if changed.doc, err = h.readRoadmap(ctx, doc, changed, subs); err != nil {
		return err
	}
	changed.doc.Document = m.Document
	h.roadmaps = append(h.roadmaps, changed)
	return nil
}

// storeBelow stores what was read below roadmaps.
func (h *reading) storeBelow(ctx context.Context, tx *store.Tx) error {
	for _, b := range h.below {
		if b.gone {
			after := b.roadmap
			after.State, _ = after.State.After(roadmap.EventDeleted)
			err := tx.MoveRoadmap(ctx, b.roadmap, after)
			if err == nil {
				err = h.notices.ShowRoadmap(ctx, tx, after, h.now())
			}
			if err != nil && !errors.Is(err, store.ErrStale) {
				return err
			}
			continue
		}
		for _, m := range b.lost {
			if err := tx.MoveChild(ctx, m.Before, m.After); err != nil && !errors.Is(err, store.ErrStale) {
				return err
			}
		}
		if err := tx.SetSubIssues(ctx, b.roadmap.ItemID, b.list, b.lookAt); err != nil {
			return err
		}
		if len(b.lost) > 0 {
			if err := tx.MarkRoadmapChanged(ctx, b.roadmap.ItemID); err != nil {
				return err
			}
		}
	}
	return nil
}

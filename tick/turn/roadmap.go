package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/document"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/prompts"
	"github.com/mergexo/gh-mergexo/prompts/public"
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/change"
	"github.com/mergexo/gh-mergexo/tick/env"
)

// A document passes one gate before each push, whoever wrote it: nothing is made of one that is merged
// with a fault.

// documentRepairs is how often an agent mends a document before a person must act.
const documentRepairs = 2

// roadmapBounds reads what bounds the document of a turn's item: its issue, and what is below it, as GitHub has them now.
func (p *lastLook) roadmapBounds(ctx context.Context, l *env.Lease) (b roadmap.Bounds, subs []github.Issue, err error) {
	is, ok, err := p.issueOf(ctx, l)
	switch {
	case err != nil:
		return b, nil, fmt.Errorf("read the roadmap's issue: %w", err)
	case !ok: // deleted: this turn ends elsewhere
		return roadmap.Bounds{Depth: 1}, nil, nil
	case !is.SubIssues.Supported:
		return b, nil, &work.BlockedError{Reason: work.Reason{Kind: work.WhyNoSubIssues, Name: l.Repo.Name.Host}}
	}
	if is.SubIssues.Total > 0 {
		if subs, _, err = l.Repo.GitHub.SubIssues(ctx, l.Repo.Row.Current, l.Item.Number); err != nil {
			return b, nil, err
		}
	}
	var children []roadmap.Child
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		b = roadmap.Bounds{Depth: 1, SubIssues: is.SubIssues.Total, NoEdges: !is.Blockers.Supported}
		live, err := tx.ListLiveRoadmaps(ctx)
		if err != nil {
			return err
		}
		b.Depth += len(roadmap.Chain(cmp.Or(is.Parent, l.Item.SubIssueOf), live))
		if !l.Item.Replans() {
			return nil
		}
		children, err = tx.ListChildren(ctx, l.Item.Parent)
		for _, c := range children {
			if c.Number != 0 && c.Step != roadmap.Gone { // a node of the document, and one of the sub-issues
				b.SubIssues = max(0, b.SubIssues-1)
			}
		}
		return err
	})
	if err != nil {
		return b, nil, fmt.Errorf("read the roadmap: %w", err)
	}
	b.Present = env.Present(l.Repo.Row.Current, subs, children)
	return b, subs, nil
}

// roadmapContext adds what a turn about a roadmap must know.
func (p *briefs) roadmapContext(ctx context.Context, l *env.Lease, c *prompts.Context) error {
	if l.Item.Flow != work.FlowRoadmap {
		return nil
	}
	bounds, subs, err := p.looks.roadmapBounds(ctx, l)
	if err != nil {
		return err
	}
	c.Roadmap = &prompts.Roadmap{Depth: bounds.Depth, SubIssues: bounds.SubIssues, NoEdges: bounds.NoEdges}
	for _, s := range bounds.Present {
		c.Roadmap.Present = append(c.Roadmap.Present, prompts.SubIssue(s))
	}
	if c.Roadmap.Below, err = p.below(ctx, l, subs); err != nil {
		return err
	}
	switch {
	case l.Turn.Kind.Start() && l.Item.Replans():
		return p.replanContext(ctx, l, c.Roadmap)
	case l.Turn.Kind.Start():
		return nil
	}
	faults, err := faultsAt(ctx, l, l.Turn.Head, c.Task.Document, bounds)
	c.Roadmap.Faults = document.Strings(faults)
	return err
}

// below says what is below a roadmap's issue, a line for each sub-issue: what is done must not be planned again.
func (p *briefs) below(ctx context.Context, l *env.Lease, subs []github.Issue) (lines []string, err error) {
	var numbers []int
	for _, is := range subs {
		if is.Repo.Equal(l.Repo.Row.Current) {
			numbers = append(numbers, is.Number)
		}
	}
	var works map[int]roadmap.Work
	if err = p.Store.View(ctx, func(tx *store.Tx) (err error) { works, err = tx.ListWorkOn(ctx, l.Item.RepoID, numbers); return err }); err != nil {
		return nil, fmt.Errorf("read the work below the roadmap: %w", err)
	}
	for _, is := range subs {
		name, pull := is.Ref(), 0
		if is.Repo.Equal(l.Repo.Row.Current) {
			name, pull = fmt.Sprintf("#%d", is.Number), works[is.Number].Pull
		}
		state := map[work.DependencyState]string{work.DependencyOpen: "open", work.DependencyClosed: "completed", work.DependencyDropped: "closed as not planned"}[is.Dependency()]
		line := fmt.Sprintf("%s: %s, %s", name, is.Title, state)
		if pull != 0 {
			line += fmt.Sprintf(", pull request #%d", pull)
			if works[is.Number].Merged {
				line += " (merged)"
			}
		}
		if len(is.Labels) > 0 {
			line += ", labels " + strings.Join(is.Labels, ", ")
		}
		if marks, _ := work.ParseMarks(is.Body); marks.Token == "" || !slices.Contains(p.Accounts.Operators(l.Repo.Name.Host), is.Author.ID) {
			line += ", opened by " + is.Author.Login
		}
		lines = append(lines, line)
	}
	return lines, nil
}

// replanContext adds what a turn that changes a merged roadmap must know: its document on the base,
// what has become of its nodes, and why it is to change.
func (p *briefs) replanContext(ctx context.Context, l *env.Lease, r *prompts.Roadmap) error {
	doc, _, err := l.Repo.Git().ReadFile(ctx, l.Turn.Head, documentPath(l, ""))
	if err != nil {
		return fmt.Errorf("read the roadmap: %w", err)
	}
	r.Document = string(doc)
	for _, e := range l.Events {
		if e.Kind == work.EventReplan {
			r.Why = strings.TrimPrefix(r.Why+"\n"+e.Body, "\n")
		}
	}
	return p.Store.View(ctx, func(tx *store.Tx) error {
		m, _, err := tx.FindRoadmap(ctx, l.Item.Parent)
		if err != nil {
			return err
		}
		r.Run, r.Begun = m.Run, nil
		children, err := tx.ListChildren(ctx, l.Item.Parent)
		if err != nil {
			return err
		}
		var numbers []int
		for _, c := range children {
			numbers = append(numbers, c.Number)
		}
		works, err := tx.ListWorkOn(ctx, l.Item.RepoID, numbers)
		for _, c := range children {
			r.Begun = append(r.Begun, became(c, works[c.Number]))
		}
		return err
	})
}

// became says what has become of a node.
func became(c roadmap.Child, w roadmap.Work) string {
	text := c.Node + ": "
	if c.Number != 0 {
		text += fmt.Sprintf("#%d, ", c.Number)
	}
	switch {
	case c.Step == roadmap.Removed:
		return text + "no longer in the document"
	case c.Step == roadmap.Gone:
		return text + "deleted, or taken out of the roadmap, by a person"
	case w.Merged:
		return text + fmt.Sprintf("merged as #%d", w.Pull)
	case w.Pull != 0:
		return text + fmt.Sprintf("begun, in #%d", w.Pull)
	case w.Begun:
		return text + "begun"
	}
	return text + "not begun"
}

// faultsAt returns the faults of the turn's document at a commit. People may move a design.
func faultsAt(ctx context.Context, l *env.Lease, commit, path string, b roadmap.Bounds) ([]document.Fault, error) {
	doc, ok, err := l.Repo.Git().ReadFile(ctx, commit, path)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the %s: %w", l.Item.Flow, err)
	case l.Item.Flow == work.FlowDesign:
		return prompts.FaultsOf(doc), nil
	case !ok:
		return []document.Fault{{Says: fmt.Sprintf("there is no file %s", path)}}, nil
	}
	_, faults := roadmap.Read(doc, b)
	return faults, nil
}

// askedRoadmap returns what the stored prompt of a turn says about its roadmap.
func askedRoadmap(t work.Turn) (r *prompts.Roadmap, document string, err error) {
	var req env.Request
	if err := json.Unmarshal(t.Request, &req); err != nil {
		return nil, "", fmt.Errorf("decode the stored prompt: %w", err)
	}
	return req.Context.Roadmap, req.Context.Task.Document, nil
}

// roadmapOf returns the document of an answer, and what the prompt that it answers says of the
// roadmap.
func roadmapOf(l *env.Lease, a prompts.Answer) (roadmap.Document, *prompts.Roadmap) {
	r, _, err := askedRoadmap(l.Turn)
	if err != nil {
		r = nil // the answer was checked by the same prompt
	}
	return prompts.RoadmapDocument(l.Item.Number, a, r), r
}

// documentFlaw returns why the document may not be pushed as the turn left it; nil: it may, or the turn
// has none.
func (p *runner) documentFlaw(ctx context.Context, l *env.Lease) (*flaw, error) {
	if !l.Item.Flow.Document() {
		return nil, nil //nolint:nilnil // no flaw is an answer
	}
	r, path, err := askedRoadmap(l.Turn)
	if err != nil {
		return nil, err
	}
	faults, err := faultsAt(ctx, l, l.Turn.Commit, documentPath(l, path), r.Bounds())
	if err != nil || len(faults) == 0 {
		return nil, err
	}
	f := &flaw{Unproven: prompts.Unproven{Failure: countFaults(l, len(faults)), Output: strings.Join(document.Strings(faults), "\n"), Document: true}, repairs: documentRepairs}
	if !l.Turn.Kind.Start() {
		faults, err = faultsAt(ctx, l, l.Turn.Head, documentPath(l, path), r.Bounds())
		f.there = len(faults) > 0
	}
	return f, err
}

// documentPath returns the path of the document that a turn writes or changes. known is that of its
// prompt.
func documentPath(l *env.Lease, known string) string {
	switch {
	case l.Turn.Kind.Start() && l.Item.Replans() && l.Item.Document != "":
		return l.Item.Document
	case l.Turn.Kind.Start() || known == "":
		return work.DocumentPath(l.Item.Flow, l.Item.Number, l.Item.Title)
	}
	return known
}

// requireSound checks the document once more right before its first push, by the issue as it is now:
// people may have made sub-issues while the agent worked.
func (p *lastLook) requireSound(ctx context.Context, l *env.Lease, commit string) error {
	if l.Item.Flow != work.FlowRoadmap || commit == "" || !l.Repo.Git().Has(ctx, commit) {
		return nil
	}
	if begun, err := p.FirstEffect(ctx, l); err != nil || begun {
		return err
	}
	faults, err := p.faultsNow(ctx, l, commit)
	if err != nil || len(faults) == 0 {
		return err
	}
	return &work.BlockedError{Reason: documentFaults(countFaults(l, len(faults)), document.Strings(faults), false)} // what is on GitHub changed while the agent worked
}

func countFaults(l *env.Lease, n int) string {
	return fmt.Sprintf("the %s has %s", l.Item.Flow, work.Count(n, "fault"))
}

// documentFaults is why a document with faults is not pushed. Only if the head has faults, too, may a push of
// people end them.
func documentFaults(counted string, faults []string, there bool) work.Reason {
	text := counted + ": " + strings.Join(faults[:min(len(faults), shownFaults)], "; ")
	if left := len(faults) - shownFaults; left > 0 {
		text += fmt.Sprintf("; and %d more", left)
	}
	if there {
		return work.Reason{Kind: work.WhyDocumentFaults, Text: text}
	}
	return work.Reason{Kind: work.WhyChangeRefused, Text: text}
}

// shownFaults is how many faults of a document a comment names.
const shownFaults = 10

// replayedSound checks the document of a commit that was replayed on what somebody pushed.
func (p *lastLook) replayedSound(ctx context.Context, l *env.Lease, commit string) error {
	if !l.Item.Flow.Document() || l.Turn.Kind == work.KindDesignStart {
		return nil
	}
	faults, err := p.faultsNow(ctx, l, commit)
	if err != nil || len(faults) == 0 {
		return err
	}
	return &work.SupersededError{Reason: fmt.Sprintf("with what somebody pushed the %s has faults: %s", l.Item.Flow, faults[0])}
}

// faultsNow returns the faults of the document at a commit, by its issue as it is now.
func (p *lastLook) faultsNow(ctx context.Context, l *env.Lease, commit string) ([]document.Fault, error) {
	var bounds roadmap.Bounds
	_, path, err := askedRoadmap(l.Turn)
	if err == nil && l.Item.Flow == work.FlowRoadmap {
		bounds, _, err = p.roadmapBounds(ctx, l)
	}
	if err != nil {
		return nil, err
	}
	return faultsAt(ctx, l, commit, documentPath(l, path), bounds)
}

// staysError ends a turn that was to change a merged roadmap and whose agent changes nothing in it.
type staysError struct {
	*work.CancelledError
	why string // in the agent's words; empty: it gives no reason
}

// Unwrap returns the kind of error that ends the turn.
func (e *staysError) Unwrap() error { return e.CancelledError }

// roadmapStays returns a staysError if the answer leaves a merged roadmap as it is; nil otherwise.
func roadmapStays(l *env.Lease, a prompts.Answer) error {
	if !l.Item.Replans() || !l.Turn.Kind.Start() || l.Adopted {
		return nil
	}
	if d, r := roadmapOf(l, a); !prompts.SameRoadmap(d, r) {
		return nil
	}
	return &staysError{&work.CancelledError{Reason: "the agent finds nothing to change in the roadmap"}, strings.TrimSpace(a.DecisionSummary)}
}

// says is the comment on the roadmap's issue about the turn.
func (e *staysError) says(l *env.Lease) change.Change {
	text := "The roadmap stays as it is: the agent that was asked to change it finds nothing to change."
	if e.why != "" {
		text += " It says:\n\n> " + strings.ReplaceAll(public.Body(public.Visible(e.why)), "\n", "\n> ")
	}
	text += "\n\nTo ask for something else, comment `/mergexo replan WHY`."
	token := work.NoticeToken(l.Repo.Row.Key(), l.Item.Number, "the roadmap stays "+l.Turn.Key)
	return change.Notice{Action: work.Action{
		RepoID: l.Item.RepoID, ItemID: l.Item.ID, Kind: work.ActionComment, Need: work.NeedRequired, State: work.ActionPlanned, Token: token, Number: l.Item.Number,
		Body: l.Repo.Mark(text, work.Marks{Token: token}), Why: "the roadmap stays as it is",
	}}
}

// replan returns the change of the roadmap above the turn's issue that its agent asks for. Each issue
// may ask once.
func (p *Turns) replan(ctx context.Context, l *env.Lease) (asked []change.Change, err error) {
	var a struct {
		Replan string `json:"replan"`
	}
	if err := json.Unmarshal(l.Turn.Answer, &a); err != nil { // it has not answered
		return nil, nil //nolint:nilerr // it asks for nothing
	}
	why := strings.TrimSpace(a.Replan)
	if why == "" {
		return nil, nil
	}
	err = p.Store.View(ctx, func(tx *store.Tx) error {
		asked = nil
		live, err := tx.ListLiveRoadmaps(ctx)
		if err != nil {
			return err
		}
		chain := roadmap.Chain(l.Item.SubIssueOf, live)
		if len(chain) == 0 {
			return nil
		}
		first, err := tx.GetItem(ctx, chain[0].ItemID)
		if err != nil || first.RepoID != l.Item.RepoID {
			return err
		}
		source := fmt.Sprintf("issue %d", l.Item.Number)
		token := work.NoticeToken(l.Repo.Row.Key(), first.Number, "replan for "+source)
		body := fmt.Sprintf("The agent that works on #%d asks to change this roadmap, and the next pass begins a pull request for it: %s", l.Item.Number, public.Body(why))
		asked = []change.Change{change.Replan{Roadmap: first.ID, Source: source, Why: why, URL: l.Item.URL, Say: &work.Action{
			RepoID: first.RepoID, ItemID: first.ID, Kind: work.ActionComment, Need: work.NeedRequired, State: work.ActionPlanned, Token: token, Number: first.Number,
			Body: l.Repo.Mark(body, work.Marks{Token: token}), Why: "replan for #" + strconv.Itoa(l.Item.Number),
		}}}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the roadmap above: %w", err)
	}
	return asked, nil
}

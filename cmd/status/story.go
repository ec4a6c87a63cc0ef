package status

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/merging"
	"github.com/mergexo/gh-mergexo/store"
)

// Story is everything that the database holds about one work item.
type Story struct {
	Facts
	turns   []work.Turn
	events  []work.Event
	actions []work.Action
	history []work.History // newest first
	log     []store.ReviewLog
	merged  *merging.Merge // our merge of the pull request's head; nil: none
	revert  string         // URL of the pull request that reverts it; empty: none
	unread  string         // why its repository could not be read last time; empty: it was read
}

// LoadStory finds a work item by the number of its issue or pull request, in the one repository of
// the query.
func LoadStory(ctx context.Context, tx *store.Tx, q Query, number int) (s Story, found bool, err error) {
	b, err := Load(ctx, tx, q)
	if err != nil {
		return s, false, err
	}
	for _, f := range b.items { // of several items of an issue, the last is the newest
		if f.Number == number || f.Pull.Number == number {
			s.Facts, found = f, true
		}
	}
	if !found {
		for _, r := range b.repos {
			s.unread = r.LastError
		}
		return s, false, nil
	}
	id := s.ID
	if s.turns, err = tx.ListTurns(ctx, id); err != nil {
		return s, false, err
	}
	if s.events, err = tx.ListItemEvents(ctx, id); err != nil {
		return s, false, err
	}
	if s.actions, err = tx.ListItemActions(ctx, id); err != nil {
		return s, false, err
	}
	if s.log, err = tx.ListReviewLog(ctx, id); err != nil {
		return s, false, err
	}
	if err := s.loadMerged(ctx, tx); err != nil {
		return s, false, err
	}
	s.history, err = tx.ListHistory(ctx, id, 0)
	return s, err == nil, err
}

// Unread is why the repository of an item that was not found could not be read; empty if it was
// read.
func (s Story) Unread() string { return s.unread }

func (s Story) Print(out terminal.Output) error {
	if err := s.printHead(out); err != nil {
		return err
	}
	if err := s.printGates(out); err != nil {
		return err
	}
	if err := s.printReviewing(out); err != nil {
		return err
	}
	if !out.TTY {
		return s.printRows(out)
	}
	return s.printTimeline(out)
}

// StoryView is the output of show as JSON.
type StoryView struct {
	Item    itemView      `json:"item"`    // the item and its state
	Turns   []turnView    `json:"turns"`   // its turns, the oldest first
	Events  []eventView   `json:"events"`  // what people and checks did
	Actions []actionView  `json:"actions"` // what was, or will be, sent to GitHub
	History []historyView `json:"history"` // its changes of state
	Review  *reviewView   `json:"review"`  // where the reviews of its pull request stand; null: nothing is reviewed
	Merge   *mergeView    `json:"merge"`   // the state of its merge; null: gh mergexo does not merge it
	Log     []logView     `json:"log"`     // events of its reviews, oldest first
}

// View returns the story as JSON.
func (s Story) View() StoryView {
	keys := make(map[int64]string, len(s.turns))
	for _, t := range s.turns {
		keys[t.ID] = t.Key
	}
	return StoryView{
		Item: viewItem(s.Facts), Turns: terminal.Each(s.turns, viewTurn), Actions: terminal.Each(s.actions, viewAction), History: terminal.Each(s.history, viewHistory),
		Events: terminal.Each(s.events, func(e work.Event) eventView { return viewEvent(e, keys) }),
		Review: viewReview(s.Facts), Merge: viewMerge(s), Log: terminal.Each(s.log, viewLog),
	}
}

// printHead prints the item itself, one line per fact.
func (s Story) printHead(out terminal.Output) error {
	r := s.row()
	lines := [][2]string{
		{"item", r.ref},
		{"title", terminal.OneLine(s.Title)},
		{"url", s.URL},
		{"state", r.state},
		{"since", out.When(r.since, s.Now)},
		{waitsLabel(out), r.waits},
		{"next", r.next},
		{"comment on GitHub", terminal.OneLine(r.comment)},
		{"flow", string(s.Flow)},
		{"spent", r.spent},
		{"priority", fmt.Sprint(s.Priority)},
		{"branch", s.Branch},
		{"document", s.Document},
	}
	if p := s.Pull; s.HasPull() {
		lines = append(lines,
			[2]string{"pull request", p.URL},
			[2]string{"pull request is", pullIs(p)},
			[2]string{"pull request trouble", terminal.OneLine(p.LastError)},
		)
	}
	if reviewed, ok := s.reviewed(); ok {
		lines = append(lines, reviewed.head()...)
	}
	if s.Worked != nil {
		lines = append(lines, [2]string{"works", s.Worked.Says(s.Local)})
	}
	return printLabelled(out, append(lines, s.mergeHead(out)...))
}

// waitsLabel labels why an item waits, which may be a whole sentence. The label for programs never
// changes.
func waitsLabel(out terminal.Output) string {
	if out.TTY {
		return "waits"
	}
	return "waiting for"
}

// why is a reason in words.
func (s Story) why(r work.Reason) string { return explain.Reason(r, s.Place).Here() }

// pullIs sums up a pull request. Only an open one can be mergeable.
func pullIs(p work.PullRequest) string {
	is := []string{string(p.State)}
	if p.State == work.PullOpen {
		is = append(is, p.Mergeable)
	}
	return terminal.OneLine(strings.ToLower(strings.Join(append(is, p.Rollup), " ")))
}

// part is one table of the story.
type part struct {
	name     string
	headings []string
	rows     [][]string
}

// printReviewing prints the reviewers with their verdicts, and the open findings.
func (s Story) printReviewing(out terminal.Output) error {
	r, ok := s.reviewed()
	if !ok {
		return nil
	}
	return printParts(out,
		part{"reviewer", []string{"NAME", "TYPE", "VERDICT", "COMMIT", "WHEN", "CALLED IN BY", "LINK"}, r.reviewerRows(func(at time.Time) string { return out.When(at, s.Now) })},
		part{"finding", []string{"SEVERITY", "WHERE", "REVIEWER", "TEXT", "LINK"}, r.findingRows()})
}

// printRows prints the history for programs, oldest first. Each line begins with its kind.
func (s Story) printRows(out terminal.Output) error {
	var events, turns, actions, history [][]string
	for _, e := range s.events {
		events = append(events, []string{
			out.When(e.CreatedAt, s.Now), string(e.Kind), e.Author.Login, cmp.Or(e.Outcome, "pending"), said(e), e.URL,
		})
	}
	for _, t := range s.turns {
		turns = append(turns, []string{
			out.When(t.ClaimedAt, s.Now), string(t.Kind), turnStep(t), work.Count(t.Runs, "run"), t.Reason, cmp.Or(t.LastError, s.why(t.WaitReason)), t.Key, string(t.Sandbox),
		})
	}
	for _, x := range s.actions {
		actions = append(actions, []string{
			out.When(x.PlannedAt, s.Now), string(x.Kind), string(x.State), x.Why, x.LastError, x.ResultURL,
		})
	}
	for _, h := range slices.Backward(s.history) {
		history = append(history, []string{out.When(h.At, s.Now), h.What, h.Detail})
	}
	return printParts(out, part{"event", nil, events}, part{"turn", nil, turns}, part{"action", nil, actions}, part{"history", nil, history})
}

func printParts(out terminal.Output, parts ...part) error {
	for _, p := range parts {
		if err := printPart(out, p.name, p.headings, p.rows); err != nil {
			return err
		}
	}
	return nil
}

func printPart(out terminal.Output, name string, headings []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	if out.TTY {
		fmt.Fprintf(out.W, "\n%s\n", out.Bold(strings.ToUpper(name)))
	} else {
		for i := range rows {
			rows[i] = append([]string{name}, rows[i]...)
		}
	}
	return out.Table(headings, rows)
}

func turnStep(t work.Turn) string {
	if t.Blocked {
		return string(t.Step) + ", blocked"
	}
	return string(t.Step)
}

// said summarises an event in one line: its text, its state (a label's name, a review's verdict),
// or both.
func said(e work.Event) string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Body), "\n")
	if e.Kind == work.EventCommand {
		return line
	}
	return strings.TrimSpace(strings.ToLower(e.State) + " " + line)
}

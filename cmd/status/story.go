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
	"github.com/mergexo/gh-mergexo/store"
	"github.com/mergexo/gh-mergexo/tick/folder"
	"github.com/mergexo/gh-mergexo/tick/known"
)

// Story is everything that the database holds about one work item. It is the output of show.
type Story struct {
	Item    Item      `json:"item"`
	Turns   []Turn    `json:"turns"`   // the oldest first
	Events  []Event   `json:"events"`  // what people and checks did
	Actions []Action  `json:"actions"` // what was, or will be, sent to GitHub
	History []History `json:"history"` // its changes of state, the newest first
	Merge   *Merge    `json:"merge"`   // null: gh mergexo does not merge it
	Roadmap *Roadmap  `json:"roadmap"` // that was merged

	Others []PullRequest `json:"otherPullRequests"` // of other work on the issue, the oldest first

	Repo   work.Repo    `json:"-"`
	Halt   *folder.Halt `json:"-"` // `pause --all` is in force; nil: it is not
	Unread string       `json:"-"` // why the repository of an item that was not found could not be read; empty: it was read
	Begins bool         `json:"-"` // a command sets a label on a number that is no item, and no pass has read it
	near   string       // why the label of a number that is no item starts nothing; empty: it has none
}

// Event is one inbound fact.
type Event struct {
	Kind        work.EventKind `json:"kind"`   // `issue`, `review`, `summary`, `check` and so on
	Author      string         `json:"author"` // a login
	State       string         `json:"state"`  // a review's verdict, a check's result
	URL         string         `json:"url"`
	Body        string         `json:"body"`
	CreatedAt   terminal.Time  `json:"createdAt"`
	ProcessedAt terminal.Time  `json:"processedAt"` // null: it waits
	Outcome     string         `json:"outcome"`     // handled, or why it was ignored
	Turn        string         `json:"turn"`        // the key of the turn that answers it

	seenAt time.Time // when a pass read it
	place  string    // of a comment on code
	head   string    // that a push made; empty: it is no push
}

// outcomeRefused is that of a command that did nothing; the answer to it says why.
const outcomeRefused = "refused"

// Action is one outbound effect.
type Action struct {
	Kind      work.ActionKind  `json:"kind"`  // `push`, `pull_request`, `comment`, `reply`, `labels` and so on
	State     work.ActionState `json:"state"` // [states](../design.md#an-action)
	Number    int              `json:"number"`
	Turn      string           `json:"turn"`   // the key of the turn that sends it
	Why       string           `json:"reason"` // why it was planned, or is void or dropped
	URL       string           `json:"url"`
	Error     string           `json:"error"`
	PlannedAt terminal.Time    `json:"plannedAt"`

	at           time.Time // when it was sent last, as what shows a state is renewed; planned, if it was not
	need         work.Need
	ending       work.Ending
	head, target string // of a push: the commit and its branch
}

// History is a change of an item's state.
type History struct {
	At     terminal.Time `json:"at"`
	What   string        `json:"what"`
	Detail string        `json:"detail"`
}

// loadStory finds a work item by the number of its issue or pull request, in the one repository of
// the query.
func loadStory(ctx context.Context, tx *store.Tx, q Query, number int) (s Story, found bool, err error) {
	b, err := load(ctx, tx, q)
	if err != nil {
		return s, false, err
	}
	var f ItemFacts
	for _, x := range b.facts { // of several items of an issue, the last is the newest
		if x.Number == number || x.Pull.Number == number {
			f, found = x, true
		}
	}
	for _, r := range b.Repos {
		s.Repo, s.Unread = r.row, r.Error
	}
	for _, r := range b.Repos {
		for _, l := range r.Near {
			if l.Number == number {
				s.near = l.says(r.Name)
			}
		}
	}
	if !found {
		begun, _, err := tx.GetAction(ctx, work.FlowToken(s.Repo.Key(), number))
		s.Begins = known.Item{}.RestartedBy(begun, s.Repo.HeartbeatAt) != ""
		return s, false, err
	}
	turns, err := tx.ListTurns(ctx, f.ID)
	if err != nil {
		return s, false, err
	}
	events, err := tx.ListItemEvents(ctx, f.ID)
	if err != nil {
		return s, false, err
	}
	actions, err := tx.ListItemActions(ctx, f.ID)
	if err != nil {
		return s, false, err
	}
	merged, err := loadMerged(ctx, tx, f.Pull)
	if err != nil {
		return s, false, err
	}
	history, err := tx.ListHistory(ctx, f.ID, 0)
	if err != nil {
		return s, false, err
	}
	road, err := loadRoadmap(ctx, tx, q.Config, f.Repo, number)
	if err != nil {
		return s, false, err
	}
	keys, refused := map[int64]string{}, map[string]bool{}
	for _, a := range actions {
		refused[a.Token] = strings.HasPrefix(a.Why, work.OutcomeRefused)
	}
	for _, t := range turns {
		keys[t.ID] = t.Key
	}
	for _, a := range actions {
		f.Restarted = cmp.Or(f.Restarted, f.RestartedBy(a, f.Repo.HeartbeatAt))
	}
	s = f.story(merged)
	s.Others = []PullRequest{}
	for _, x := range b.facts {
		if x.Number == f.Number && x.ID != f.ID && x.HasPull() {
			p := PullOf(x.Pull)
			p.closing = x.Closing()
			s.Others = append(s.Others, p)
		}
	}
	s.Turns = terminal.Each(turns, func(t work.Turn) Turn { return turnOf(t, f.Place, b.machines) })
	s.Events = terminal.Each(events, func(e work.Event) Event {
		v := eventOf(e, keys[e.TurnID])
		if e.Kind == work.EventCommand && refused[work.NoticeToken(f.Repo.Key(), e.Number, e.Key)] {
			v.Outcome = outcomeRefused
		}
		return v
	})
	s.Actions = terminal.Each(actions, func(a work.Action) Action {
		v := actionOf(a, keys[a.TurnID])
		if a.Kind == work.ActionReply || a.Kind == work.ActionResolve {
			v.answers(a, events, turns)
		}
		return v
	})
	s.History = terminal.Each(history, func(h work.History) History { return History{terminal.Stamp(h.At), h.What, h.Detail} })
	s.Roadmap = road
	return s, true, nil
}

// story returns the parts of the Story that follow from the stored facts.
func (f ItemFacts) story(merged *Merged) Story {
	return Story{Item: f.item(), Merge: f.merge(merged), Repo: f.Repo, Halt: f.Halt}
}

func eventOf(e work.Event, turn string) Event {
	head := ""
	if e.Kind == work.EventHead {
		head = e.Source
	}
	return Event{
		head: head, Kind: e.Kind, Author: e.Author.Login, State: e.State, URL: e.URL, Body: e.Body, CreatedAt: terminal.Stamp(e.CreatedAt),
		ProcessedAt: terminal.Stamp(e.ProcessedAt), Outcome: e.Outcome, Turn: turn, seenAt: e.SeenAt, place: place(e.Path, e.Line),
	}
}

func actionOf(a work.Action, turn string) Action {
	return Action{
		Kind: a.Kind, State: a.State, Number: a.Number, Turn: turn, Why: a.Why, URL: a.ResultURL, Error: a.LastError, PlannedAt: terminal.Stamp(a.PlannedAt),
		at: cmp.Or(a.SentAt, a.PlannedAt), need: a.Need, ending: a.Ending, head: a.Head, target: a.Target,
	}
}

// answers names the comment or the finding about which a reply is, or whose thread it resolves: the row has its key.
// Until the reply is sent, its link is that of the comment.
func (x *Action) answers(a work.Action, events []work.Event, turns []work.Turn) {
	for _, e := range events {
		if e.Key == a.Why {
			x.Why, x.URL = e.Author.Login+"'s comment on "+place(e.Path, e.Line), cmp.Or(x.URL, e.URL)
			return
		}
	}
	x.Why = "a finding"
	for _, t := range turns {
		if t.ID == a.TurnID && t.Reviewer != "" {
			x.Why += " of " + t.Reviewer
		}
	}
}

// Print prints the story for people or programs.
func (s Story) Print(out terminal.Output) error {
	head := append(s.Item.head(out), s.Item.Review.head()...)
	for _, p := range s.Others {
		head = append(head, [2]string{"another pull request", fmt.Sprintf("#%d, %s: %s", p.Number, p.is(), p.URL)})
	}
	if w := s.Item.Turn; w != nil {
		head = append(head, [2]string{"works", w.Says(s.Item.local)})
	}
	if err := printLabelled(out, append(head, s.Merge.head(out, s.Item.now)...)); err != nil {
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

// waitsLabel labels why an item waits, which may be a whole sentence. The label for programs never
// changes.
func waitsLabel(out terminal.Output) string {
	if out.TTY {
		return "waits"
	}
	return "waiting for"
}

// printRows prints the history for programs, oldest first. Each line begins with its kind.
func (s Story) printRows(out terminal.Output) error {
	when := func(t terminal.Time) string { return out.When(t.Time, s.Item.now) }
	events := terminal.Each(s.Events, func(e Event) []string {
		return []string{when(e.CreatedAt), string(e.Kind), e.Author, cmp.Or(e.Outcome, "pending"), e.summary(), e.URL}
	})
	turns := terminal.Each(s.Turns, func(t Turn) []string {
		return []string{when(t.StartedAt), string(t.Kind), t.is(), work.Count(t.Runs, "run"), t.Reason, t.trouble(), t.Key, string(t.sandbox)}
	})
	actions := terminal.Each(s.Actions, func(x Action) []string {
		return []string{when(x.PlannedAt), string(x.Kind), string(x.State), x.Why, x.Error, x.URL}
	})
	history := terminal.Each(s.History, func(h History) []string { return []string{when(h.At), h.What, h.Detail} })
	slices.Reverse(history)
	return printParts(out, part{"event", nil, events}, part{"turn", nil, turns}, part{"action", nil, actions}, part{"history", nil, history})
}

// summary is an event in one line: its text, its state (a label's name, a review's verdict), or
// both.
func (e Event) summary() string {
	if e.Kind == work.EventCommand {
		return firstLine(e.Body)
	}
	return strings.TrimSpace(strings.ToLower(e.State) + " " + firstLine(e.Body))
}

// printLabelled prints one line per fact; empty ones are skipped.
func printLabelled(out terminal.Output, lines [][2]string) error {
	for _, l := range lines {
		text := terminal.OneLine(l[1])
		if l[0] != "title" { // which are words of people
			text = out.Ours(text)
		}
		if text == "" {
			continue
		}
		line := fmt.Sprintf("%s:\t%s\n", l[0], text)
		if out.TTY {
			line = out.Labelled("", fmt.Sprintf("%-20s", l[0]), text)
		}
		if _, err := fmt.Fprint(out.W, line); err != nil {
			return err
		}
	}
	return nil
}

// part is one table of the story.
type part struct {
	name     string
	headings []string
	rows     [][]string
}

func printParts(out terminal.Output, parts ...part) error {
	for _, p := range parts {
		if len(p.rows) == 0 {
			continue
		}
		if out.TTY {
			fmt.Fprintf(out.W, "\n%s\n", out.Bold(strings.ToUpper(p.name)))
		} else {
			for i := range p.rows {
				p.rows[i] = append([]string{p.name}, p.rows[i]...)
			}
		}
		if err := out.Table(p.headings, p.rows); err != nil {
			return err
		}
	}
	return nil
}

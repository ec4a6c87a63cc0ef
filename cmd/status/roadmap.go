package status

import (
	"context"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/explain"
	"github.com/mergexo/gh-mergexo/internal/work/roadmap"
	"github.com/mergexo/gh-mergexo/store"
)

// Roadmap is a merged roadmap with its issues.
type Roadmap struct {
	State      roadmap.State  `json:"state"`    // [states](states.md); `cancelled` also once that is over
	Document   string         `json:"document"` // its path
	Issues     []RoadmapIssue `json:"issues"`   // in GitHub's order, then those that are still to be opened
	WaitingFor string         `json:"waitingFor"`
	NextStep   string         `json:"nextStep"`

	repo  string
	lead  roadmap.Lead
	lines []roadmap.Line
}

// RoadmapIssue is one issue of a roadmap.
type RoadmapIssue struct {
	Issue       string           `json:"issue"` // as in #12 or owner/name#12; empty: still to be opened
	Node        string           `json:"node"`  // its id in the document; empty: people added it
	Title       string           `json:"title"`
	State       roadmap.Progress `json:"state"`       // `planned`, `idle`, `waiting`, `in_progress`, `in_review`, `merged`, `stopped`, `done`, `dropped`, `taken_out`, `hidden`
	PullRequest int              `json:"pullRequest"` // the number of the newest
	Needs       []string         `json:"needs"`       // issues and nodes that must be closed first
	WaitingFor  string           `json:"waitingFor"`
	ReasonCode  work.ReasonKind  `json:"reasonCode"`
}

// printGraph draws the merged roadmap of an item.
func (s *showCmd) printGraph(cfg *config.Config, which cli.Ref, story Story) error {
	if story.Roadmap == nil {
		return noRoadmap(cfg, which, story.Item)
	}
	return story.Roadmap.print(s.Output())
}

// noRoadmap is why there is no merged roadmap to draw, with the next step.
func noRoadmap(cfg *config.Config, which cli.Ref, is Item) error {
	called := which.Called(cfg)
	next := "gh mergexo show " + called
	said := fmt.Sprintf("the roadmap of %s has no plan yet", called)
	switch pull := is.pull(); {
	case is.Flow != work.FlowRoadmap:
		said = fmt.Sprintf("%s is no roadmap: its flow is %s", called, strings.ReplaceAll(string(is.Flow), "_", " "))
	case is.Number != which.Number:
		said, next = fmt.Sprintf("%s is a pull request of the roadmap %s", called, is.ref()), "gh mergexo show --graph "+is.ref()
	case pull.State == work.PullOpen:
		said, next = fmt.Sprintf("the plan of %s is in pull request #%d, which is not merged, or no pass has read its merge (gh mergexo tick)", called, pull.Number), "gh pr view "+pull.URL
	case !is.open:
		said = fmt.Sprintf("the work on the roadmap %s ended before its plan was merged", called)
	}
	return &cli.CodedError{Code: cli.CodeUnknownItem, Do: next, Err: fmt.Errorf("%s: %s", said, next)}
}

// loadRoadmap reads the merged roadmap of an issue; nil: the issue has none.
func loadRoadmap(ctx context.Context, tx *store.Tx, cfg *config.Config, repo work.Repo, number int) (*Roadmap, error) {
	m, found, err := tx.FindRoadmapOf(ctx, repo.ID, number)
	if err != nil || !found {
		return nil, err
	}
	issues, err := tx.ListIssuesBelow(ctx, m)
	if err != nil {
		return nil, err
	}
	which := cli.Ref{Repo: repo.Name, Number: number}
	called := cfg.Called(which.Repo)
	at := explain.Place{Spending: true, Repo: called, Item: which.Called(cfg)}
	w := roadmap.Words{
		Short: func(ref string) string { return shortRef(ref, which.Repo) },
		Clean: terminal.OneLine,
		Why:   func(why work.Reason) string { return explain.Reason(why, at).Here() },
	}
	r := &Roadmap{State: m.State, Document: m.Document, repo: called, lead: roadmap.LeadOf(m, issues)}
	if m.State == roadmap.Ended && m.Why.Text == string(roadmap.Cancelled) {
		r.State = roadmap.Cancelled
	}
	if m.State != roadmap.Ended {
		why, _ := r.lead.Waits()
		said := explain.Reason(why, at)
		r.WaitingFor, r.NextStep = terminal.OneLine(said.Here()), said.Next()
	}
	r.Issues = terminal.Each(issues, func(i roadmap.Issue) RoadmapIssue { return issueOf(i, w) })
	r.lines = roadmap.Tree(issues)
	return r, nil
}

// shortRef is a reference as people write it in a repository.
func shortRef(ref string, home work.RepoName) string {
	d, ok := work.ParseDependency(ref, home)
	switch {
	case !ok:
		return ref
	case d.Repo.Equal(home):
		return fmt.Sprintf("#%d", d.Number)
	case d.Repo.Host == home.Host:
		return fmt.Sprintf("%s#%d", d.Repo.FullName(), d.Number)
	}
	return d.String()
}

func issueOf(i roadmap.Issue, w roadmap.Words) RoadmapIssue {
	v := RoadmapIssue{Node: i.Node, Title: i.Title, State: i.Progress, PullRequest: i.Pull, Needs: i.Names(w.Short), WaitingFor: terminal.OneLine(i.WaitsFor(w)), ReasonCode: i.Waits.Kind}
	if i.Ref != "" {
		v.Issue = w.Short(i.Ref)
	}
	return v
}

// print draws the roadmap.
func (r Roadmap) print(out terminal.Output) error {
	if !out.TTY {
		rows := [][]string{{fmt.Sprintf("#%d", r.lead.Number), "", string(r.State), "", "", r.WaitingFor, r.lead.Title}}
		for _, i := range r.Issues {
			rows = append(rows, []string{i.Issue, i.Node, string(i.State), i.number(), strings.Join(i.Needs, ","), i.WaitingFor, i.Title})
		}
		return out.Table(nil, rows)
	}
	fmt.Fprintf(out.W, "%s  %s, %d of %s closed\n", out.Bold(fmt.Sprintf("%s#%d %s", r.repo, r.lead.Number, terminal.OneLine(r.lead.Title))), r.State, r.lead.Over, work.Count(r.lead.All, "issue"))
	if r.State == roadmap.Stopped {
		fmt.Fprint(out.W, strings.Join(terminal.Wrap(r.WaitingFor, out.Width), "\n")+"\n"+out.Indented("  → ", out.Ours(r.NextStep)))
	}
	for _, l := range r.lines {
		if _, err := fmt.Fprintln(out.W, out.Fit(out.Dim(l.Indent)+r.Issues[l.At].says())); err != nil {
			return err
		}
	}
	return nil
}

func (i RoadmapIssue) number() string {
	if i.PullRequest == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", i.PullRequest)
}

// says describes the issue in one line.
func (i RoadmapIssue) says() string {
	said := strings.TrimSpace(i.Issue+" "+i.Node) + " " + terminal.OneLine(i.Title) + ": " + i.State.Says()
	if i.PullRequest != 0 {
		said += " in #" + fmt.Sprint(i.PullRequest)
	}
	if i.WaitingFor != "" {
		said += "; waits for " + i.WaitingFor
	}
	if len(i.Needs) > 1 {
		said += "; needs " + work.JoinNames(i.Needs)
	}
	return said
}

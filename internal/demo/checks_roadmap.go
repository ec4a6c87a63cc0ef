package demo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mergexo/gh-mergexo/internal/githubsim"
	"github.com/mergexo/gh-mergexo/internal/terminal"
)

// children are the sub-issues of the roadmap's issue, in the order of the document.
func (d witness) children() (list []githubsim.Issue, err error) {
	for _, ref := range d.repo.SubIssues(d.roadmap) {
		n, err := strconv.Atoi(strings.TrimPrefix(ref, repoName+"#"))
		if err != nil {
			return nil, fmt.Errorf("#%d has the sub-issue %s: %w", d.roadmap, ref, err)
		}
		is, _ := d.repo.Issue(n)
		list = append(list, is)
	}
	if len(list) != len(farewell) {
		return nil, fmt.Errorf("#%d has %d sub-issues, not %d", d.roadmap, len(list), len(farewell))
	}
	return list, nil
}

// unfolding is how far the unfolding of a roadmap has come.
type unfolding int

const (
	opened unfolding = iota
	linked
	labelled
)

// unfolded checks and shows how far the unfolding has come: the sub-issues are there, or also what blocks
// each of them, or all. A node that needs nothing has its label as early as the others have their edges.
func (d witness) unfolded(far unfolding) error {
	list, err := d.children()
	if err != nil {
		return err
	}
	at := map[string]int{}
	var rows [][]string
	for i, is := range list {
		n := farewell[i]
		at[n.id] = is.Number
		var blockers, labels []string
		for _, need := range n.needs {
			if far >= linked {
				blockers = append(blockers, fmt.Sprintf("%s#%d", repoName, at[need]))
			}
		}
		if far == labelled || far == linked && len(n.needs) == 0 {
			labels = []string{"agent:small-job"}
		}
		if is.Title != n.title || !slices.Equal(d.repo.Blockers(is.Number), blockers) || !slices.Equal(is.Labels, labels) {
			return fmt.Errorf("#%d %q has the labels %q, blocked by %q; not %q: %q, %q", is.Number, is.Title, is.Labels, d.repo.Blockers(is.Number), n.title, labels, blockers)
		}
		stands := bracketed(strings.Join(labels, ", "))
		if len(blockers) > 0 {
			stands += " blocked by " + strings.ReplaceAll(strings.Join(blockers, ", "), repoName, "")
		}
		rows = append(rows, []string{fmt.Sprintf("#%d", is.Number), is.Title, strings.TrimSpace(stands)})
	}
	d.say("  The sub-issues of #%d on the GitHub:", d.roadmap)
	d.columns(rows)
	return nil
}

// roadmapStands checks the state of the roadmap and of its nodes, in the order of the document, and
// shows them.
func (d witness) roadmapStands(ctx context.Context, state string, nodes ...string) error {
	var shown struct {
		Roadmap roadmapOf `json:"roadmap"`
	}
	if err := d.ask(ctx, &shown, "show", strconv.Itoa(d.roadmap), "--json", "roadmap"); err != nil {
		return err
	}
	r := shown.Roadmap
	d.ran(fmt.Sprintf("show --graph %d", d.roadmap))
	var got []string
	var rows [][]string
	for _, i := range r.Issues {
		got = append(got, i.State)
		pull := ""
		if i.PullRequest != 0 {
			pull = fmt.Sprintf("#%d", i.PullRequest)
		}
		rows = append(rows, []string{i.Issue, i.Node, terminal.OneLine(strings.ReplaceAll(i.State, "_", " ")), pull, i.WaitingFor})
	}
	d.columns(rows)
	if r.State != state || !slices.Equal(got, nodes) {
		return fmt.Errorf("the roadmap is %s, with nodes that are %q; not %s, %q", r.State, got, state, nodes)
	}
	return nil
}

// findOpened checks that each turn opened a pull request of one commit, and notes it.
func (d witness) findOpened(ctx context.Context, turns []turn) error {
	for _, t := range turns {
		p, err := strconv.Atoi(t.URL[strings.LastIndexByte(t.URL, '/')+1:])
		if err != nil {
			return fmt.Errorf("#%d has the pull request %q: %w", t.Number, t.URL, err)
		}
		d.pulls[t.Number] = p
		if err := d.stands(ctx, p, 1, 0); err != nil {
			return err
		}
	}
	return nil
}

package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/store"
)

// story is everything that the database knows of one work item.
type story struct {
	facts
	turns   []work.Turn
	events  []work.Event
	actions []work.Action
	history []store.History // newest first
}

func (a *app) newShowCmd() *cobra.Command {
	var flags *jsonFlags
	c := &cobra.Command{
		Use:   "show <owner/name#number>",
		Short: "Show the events, turns and actions of one work item",
		Long: `Show one work item: where it stands, what people did, what each turn made of it,
and what was sent to GitHub, with links.

The item is named by its issue or its pull request: owner/name#12, its address,
or #12 (quote it for your shell) or 12 when one repository is configured.`,
		Example: `  $ gh mergexo show octo/repo#12
  $ gh mergexo show 12
  $ gh mergexo show 12 --json actions --jq '.actions[].url'`,
		Args: args(words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error { return a.show(c.Context(), given[0], flags) },
	}
	flags = addJSONFlags(c, "item", "turns", "events", "actions", "history")
	return c
}

func (a *app) show(ctx context.Context, name string, flags *jsonFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	configured, err := repos(cfg, "")
	if err != nil {
		return err
	}
	which, err := parseRef(name, github.DefaultHost(), configured)
	if err != nil {
		return err
	}
	var s story
	found := false
	if _, err := a.view(ctx, cfg.Runtime.StateDir, func(tx *store.Tx) error {
		s, found, err = a.loadStory(ctx, tx, which, cfg)
		return err
	}); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s is no work item: it has no label yet, or no pass has seen it (gh mergexo tick)", which.called(cfg))
	}
	out := newOutput(a.env)
	if flags.asked() {
		return flags.write(out, s.object())
	}
	if s.Halt != nil {
		a.printHalt(s.Halt)
	}
	if err := s.printHead(out); err != nil {
		return err
	}
	return s.printTables(out)
}

// loadStory finds a work item by the number of its issue or pull request.
func (a *app) loadStory(ctx context.Context, tx *store.Tx, which ref, cfg *config.Config) (s story, found bool, err error) {
	b, err := loadBoard(ctx, tx, []work.RepoName{which.repo}, true, cfg, a.now())
	if err != nil {
		return s, false, err
	}
	for _, f := range b.items { // the newest of an issue's items is the last
		if f.Item.Number == which.number || (f.Pull != nil && f.Pull.Number == which.number) {
			s.facts, found = f, true
		}
	}
	if !found {
		return s, false, nil
	}
	id := s.Item.ID
	if s.turns, err = tx.ListTurns(ctx, id); err != nil {
		return s, false, err
	}
	if s.events, err = tx.ListItemEvents(ctx, id); err != nil {
		return s, false, err
	}
	if s.actions, err = tx.ListItemActions(ctx, id); err != nil {
		return s, false, err
	}
	s.history, err = tx.ListHistory(ctx, id, 0)
	return s, err == nil, err
}

func (s story) object() map[string]any {
	keys := make(map[int64]string, len(s.turns))
	for _, t := range s.turns {
		keys[t.ID] = t.Key
	}
	return map[string]any{
		"item":    viewItem(s.facts),
		"turns":   each(s.turns, viewTurn),
		"events":  each(s.events, func(e work.Event) eventView { return viewEvent(e, keys) }),
		"actions": each(s.actions, viewAction),
		"history": each(s.history, viewHistory),
	}
}

// printHead prints the item itself, a line for each thing to know.
func (s story) printHead(out output) error {
	st := s.standing()
	lines := [][2]string{
		{"item", s.ref()},
		{"title", oneLine(s.Item.Title)},
		{"url", s.Item.URL},
		{"state", s.state()},
		{"since", out.when(s.since(), s.Now)},
		{"waiting for", out.local(oneLine(st.waits))},
		{"next", out.local(oneLine(st.next))},
		{"said on GitHub", oneLine(s.comment())},
		{"flow", string(s.Item.Flow)},
		{"spent", spentLine(s.facts)},
		{"priority", fmt.Sprint(s.Item.Priority)},
		{"branch", s.Item.Branch},
		{"document", s.Item.Document},
	}
	if p := s.Pull; p != nil {
		lines = append(lines,
			[2]string{"pull request", p.URL},
			[2]string{"pull request is", pullIs(*p)},
			[2]string{"pull request trouble", oneLine(p.LastError)},
		)
	}
	for _, l := range lines {
		if l[1] == "" {
			continue
		}
		var err error
		if out.tty {
			_, err = fmt.Fprint(out.w, out.labelled("", fmt.Sprintf("%-20s", l[0]), l[1]))
		} else {
			_, err = fmt.Fprintf(out.w, "%s:\t%s\n", l[0], l[1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// pullIs sums a pull request up. Whether it could be merged is a question about
// an open one only.
func pullIs(p work.PullRequest) string {
	is := []string{string(p.State)}
	if p.State == work.PullOpen {
		is = append(is, p.Mergeable)
	}
	return oneLine(strings.ToLower(strings.Join(append(is, p.Rollup), " ")))
}

// printTables prints what happened, oldest first. Piped, each line begins with
// what it is.
func (s story) printTables(out output) error {
	var events, turns, actions, history [][]string
	for _, e := range s.events {
		events = append(events, []string{
			out.when(e.CreatedAt, s.Now), string(e.Kind), e.Author.Login, or(e.Outcome, "pending"), said(e), e.URL,
		})
	}
	for _, t := range s.turns {
		turns = append(turns, []string{
			out.when(t.ClaimedAt, s.Now), string(t.Kind), turnStep(t), count(t.Runs, "run"), t.Reason, or(t.LastError, t.WaitReason), t.Key, string(t.Sandbox),
		})
	}
	for _, x := range s.actions {
		actions = append(actions, []string{
			out.when(x.PlannedAt, s.Now), string(x.Kind), string(x.State), x.Why, x.LastError, or(x.ResultURL, x.Target),
		})
	}
	for _, h := range slices.Backward(s.history) {
		history = append(history, []string{out.when(h.At, s.Now), h.What, h.Detail})
	}
	for _, part := range []struct {
		name     string
		headings []string
		rows     [][]string
	}{
		{"event", []string{"WHEN", "KIND", "AUTHOR", "OUTCOME", "SAID", "LINK"}, events},
		{"turn", []string{"CLAIMED", "KIND", "STEP", "RUNS", "WHY", "TROUBLE", "KEY", "SANDBOX"}, turns},
		{"action", []string{"PLANNED", "KIND", "STATE", "WHY", "TROUBLE", "LINK"}, actions},
		{"history", []string{"WHEN", "WHAT", "DETAIL"}, history},
	} {
		if err := printPart(out, part.name, part.headings, part.rows); err != nil {
			return err
		}
	}
	return nil
}

func printPart(out output, name string, headings []string, rows [][]string) error {
	if len(rows) == 0 {
		return nil
	}
	if out.tty {
		fmt.Fprintf(out.w, "\n%s\n", out.bold(strings.ToUpper(name)))
	} else {
		for i := range rows {
			rows[i] = append([]string{name}, rows[i]...)
		}
	}
	return out.table(headings, rows)
}

func turnStep(t work.Turn) string {
	if t.Blocked {
		return string(t.Step) + ", blocked"
	}
	return string(t.Step)
}

// said is what an event says in a line: its words, its state (a label's name,
// a review's verdict), or both.
func said(e work.Event) string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Body), "\n")
	if e.Kind == work.EventCommand {
		return line
	}
	return strings.TrimSpace(strings.ToLower(e.State) + " " + line)
}

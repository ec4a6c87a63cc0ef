package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/status"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/tick"
)

// commandMakers returns the commands that people can also give in comments.
func (a *app) commandMakers() []maker {
	var all []maker
	for _, row := range work.CommandTable() {
		if !row.OtherForm {
			all = append(all, maker{string(row.Verb), groupItem, func() *cobra.Command { return newItemCmd(a, row) }})
		}
	}
	return all
}

func newItemCmd(a *app, row work.CommandSpec) *cobra.Command {
	var flags *terminal.JSON
	head := ""
	c := &cobra.Command{
		Use:        string(row.Verb) + " <owner/name#number>",
		Short:      row.Does,
		SuggestFor: row.Also,
		Long: row.Does + ".\n\n" + `Does the same as the comment "/mergexo ` + string(row.Verb) + `" on the issue or the pull request, and
prints the answer. If GitHub cannot be reached now, the next pass makes the changes
there.

Exit codes: 0 done, or it was so already; 1 an error, or nothing was done, and the
answer says why; 2 cancelled; 4 no GitHub login, or GitHub rejects it.

Name the item as for "gh mergexo show".`,
		Example: fmt.Sprintf("  $ gh mergexo %s octo/repo#12", row.Verb),
		Args:    cli.Args(cli.Words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error {
			cmd, err := localCommand(row.Verb, head)
			if err != nil {
				return err
			}
			return a.command(c.Context(), given[0], cmd, flags)
		},
	}
	if words, takesAll := everythingWords[row.Verb]; takesAll {
		a.addAll(c, row.Verb, words, &flags)
	}
	flags = cli.AddJSONFlags(c, answerView{})
	if row.TakesHead {
		c.Flags().StringVar(&head, "head", "", "Only if the branch is at this `commit`")
		c.Example += fmt.Sprintf("\n  $ gh mergexo %s octo/repo#12 --head 1a2b3c4", row.Verb)
	}
	return c
}

// answerView is the output of the commands for one item.
type answerView struct {
	Item    string `json:"item"`    // the item, as in owner/name#12; empty with --all
	Command string `json:"command"` // the command, as one writes it behind /mergexo
	Answer  string `json:"answer"`  // the answer, for people
	Left    int    `json:"left"`    // changes that GitHub does not show yet
	Why     string `json:"why"`     // why it does not; empty: it does, or the next pass tries
}

// localCommand parses a command line as if it were a comment.
func localCommand(verb work.Verb, head string) (work.Command, error) {
	var rest []string
	if head != "" {
		rest = []string{"--head", head}
	}
	cmd := work.NewCommand(string(verb), rest)
	if cmd.Wrong != "" {
		return cmd, &cli.UsageError{Err: errors.New(cli.Plain(cmd.Wrong))}
	}
	return cmd, nil
}

func (a *app) command(ctx context.Context, name string, cmd work.Command, flags *terminal.JSON) error {
	cfg, which, err := a.Item(name)
	if err != nil {
		return err
	}
	item := which.Called(cfg)
	row, _ := work.FindCommand(cmd.Verb)
	story, known, seen, err := status.ReadItem(ctx, a.App, cfg, which)
	switch {
	case err != nil:
		return err
	case !seen:
		return cli.ErrNothingYet
	case !known && row.NeedsItem:
		return status.UnknownItem(story, item)
	}
	pass, done, err := a.newPass(ctx, cfg, &tickOptions{json: flags})
	if err != nil {
		return err
	}
	told, err := pass.Command(ctx, which.Repo, which.Number, cmd, func() {
		fmt.Fprintln(a.Env.Stderr, "a pass is planning; this waits for it")
	})
	if err = errors.Join(err, done()); err != nil {
		return err
	}
	return a.printResult(told, item, cmd, flags)
}

func (a *app) printResult(told *tick.CommandResult, item string, cmd work.Command, flags *terminal.JSON) error {
	out := a.Output()
	answer := cli.Plain(told.Answer)
	if flags.Asked() {
		err := flags.Write(out, answerView{item, strings.TrimPrefix(cmd.String(), "/mergexo "), answer, told.Left, told.Why})
		if err != nil || !told.Refused {
			return err
		}
	}
	if told.Refused {
		return cli.Coded(cli.CodeRefused, errors.New(out.LocalTimes(answer)))
	}
	fmt.Fprintln(out.W, out.LocalTimes(answer))
	if told.Left > 0 {
		then := "the next pass sees to it"
		switch {
		case told.Halted:
			then = "a pass after the pause sees to it: " + out.LocalTimes(cli.Plain(terminal.OneLine(told.Why)))
		case told.Why != "":
			then += ": " + terminal.OneLine(told.Why)
		}
		fmt.Fprintf(a.Env.Stderr, "GitHub does not show it yet (%s left); %s\n", work.Count(told.Left, "change"), then)
	}
	return nil
}

package cmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/show"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/terminal"
	"github.com/mergexo/gh-mergexo/internal/work"
	"github.com/mergexo/gh-mergexo/internal/work/command"
	"github.com/mergexo/gh-mergexo/tick"
)

// commandMakers make the commands that people also give in comments. help and
// status have a form of their own here.
func (a *app) commandMakers() []maker {
	var all []maker
	for _, u := range command.VerbUses() {
		if u.Verb != command.VerbHelp && u.Verb != command.VerbStatus {
			all = append(all, maker{string(u.Verb), groupItem, func() *cobra.Command { return newCommandCmd(a, u) }})
		}
	}
	return all
}

// calledElsewhere are other words that people try for a command.
var calledElsewhere = map[command.Verb][]string{
	command.VerbResume: {"unhold", "unpause", "continue", "release"},
	command.VerbPause:  {"stop", "halt", "suspend"},
	command.VerbRetry:  {"rerun", "restart"},
	command.VerbCancel: {"abort", "close", "kill"},
}

func newCommandCmd(a *app, u command.VerbUse) *cobra.Command {
	var flags *terminal.JSON
	head := ""
	c := &cobra.Command{
		Use:        string(u.Verb) + " <owner/name#number>",
		Short:      u.Does,
		SuggestFor: calledElsewhere[u.Verb],
		Long: u.Does + ".\n\n" + `It is what "/mergexo ` + string(u.Verb) + `" does in a comment on the issue or the pull request, and says what it did and
what comes next. What it changes on GitHub is changed at once if GitHub can be
reached, and else by the next pass.

The item is named as in "gh mergexo show".`,
		Example: fmt.Sprintf("  $ gh mergexo %s octo/repo#12", u.Verb),
		Args:    cli.Args(cli.Words(1, 1)),
		RunE: func(c *cobra.Command, given []string) error {
			cmd, err := localCommand(u.Verb, head)
			if err != nil {
				return err
			}
			return a.command(c.Context(), given[0], cmd, flags)
		},
	}
	if u.Verb == command.VerbPause || u.Verb == command.VerbResume {
		a.addAll(c, u.Verb, &flags)
	}
	flags = cli.AddJSONFlags(c, "item", "command", "answer", "left", "why")
	if u.Verb.TakesHead() {
		c.Flags().StringVar(&head, "head", "", "Only if the branch is at this `commit`")
		c.Example += fmt.Sprintf("\n  $ gh mergexo %s octo/repo#12 --head 1a2b3c4", u.Verb)
	}
	return c
}

// localCommand reads a command line as a comment would be read.
func localCommand(verb command.Verb, head string) (command.Command, error) {
	var rest []string
	if head != "" {
		rest = []string{"--head", head}
	}
	cmd := command.New(string(verb), rest)
	if cmd.Wrong != "" {
		return cmd, &cli.UsageError{Err: errors.New(cli.Plain(cmd.Wrong))}
	}
	return cmd, nil
}

func (a *app) command(ctx context.Context, name string, cmd command.Command, flags *terminal.JSON) error {
	cfg, which, err := a.Item(name)
	if err != nil {
		return err
	}
	item := which.Called(cfg)
	story, known, seen, err := show.Read(ctx, a.App, cfg, which)
	switch {
	case err != nil:
		return err
	case !seen:
		return cli.ErrNothingYet
	case !known && cmd.Verb.NeedsItem():
		return show.Unknown(story, item)
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
	return a.printTold(told, item, cmd, flags)
}

func (a *app) printTold(told *tick.CommandResult, item string, cmd command.Command, flags *terminal.JSON) error {
	out := a.Output()
	answer := cli.Plain(told.Answer)
	if flags.Asked() {
		err := flags.Write(out, map[string]any{
			"item": item, "command": strings.TrimPrefix(cmd.String(), "/mergexo "), "answer": answer, "left": told.Left, "why": told.Why,
		})
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

package cmd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/mergexo/gh-mergexo/cmd/cli"
	"github.com/mergexo/gh-mergexo/cmd/status"

	"github.com/spf13/cobra"

	"github.com/mergexo/gh-mergexo/internal/config"
	"github.com/mergexo/gh-mergexo/internal/github"
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
	use, takes, example := string(row.Verb)+" <owner/name#number>", cli.Words(1, 1), fmt.Sprintf("  $ gh mergexo %s octo/repo#12", row.Verb)
	if arg := row.Argument; arg.Value != "" {
		use, takes, example = use+" <"+strings.ToLower(arg.Value)+">", cli.Words(2, 2), example+" "+arg.Example
		if arg.Words {
			use, takes = use+"...", cli.Words(2, math.MaxInt)
		}
	}
	short, _, _ := strings.Cut(row.Does, ";") // a line of the help
	more := ""
	if row.Roadmap != "" {
		more = "\n\n" + strings.Join(terminal.Wrap(row.Roadmap+".", helpWidth), "\n")
	}
	c := &cobra.Command{
		Use:        use,
		Short:      short,
		SuggestFor: row.Also,
		Long: row.Does + "." + more + "\n\n" + `Does the same as the comment "/mergexo ` + string(row.Verb) + `" on the issue or the pull request, and
prints the answer. If GitHub cannot be reached now, the next pass makes the changes
there.

Exit codes: 0 done, or it was so already; 1 an error, or nothing was done, and the
answer says why; 2 cancelled; 4 no GitHub login, or GitHub rejects it.

Name the item as for "gh mergexo show".`,
		Example: example,
		Args:    cli.Args(takes),
		RunE: func(c *cobra.Command, given []string) error {
			cmd, err := localCommand(row, given[1:], c)
			if err != nil {
				return err
			}
			return a.command(c.Context(), given[0], cmd)
		},
	}
	if words, takesAll := everythingWords[row.Verb]; takesAll {
		a.addAll(c, row.Verb, words)
	}
	switch row.Verb { //nolint:exhaustive // the others are about one item
	case work.VerbRetry:
		a.addRetryAll(c)
	case work.VerbResume:
		a.addMerging(c)
	}
	a.WithJSON(answerView{}, c)
	if row.All != "" {
		c.Flags().Bool("all", false, row.All)
	}
	for _, f := range row.Flags {
		c.Flags().String(f.Name, "", f.Does)
		c.Example += fmt.Sprintf("\n  $ gh mergexo %s octo/repo#12 --%s %s", row.Verb, f.Name, f.Example)
	}
	return c
}

// answerView is the output of the commands for one item.
type answerView struct {
	Answer string `json:"answer"` // for people
	Left   int    `json:"left"`   // changes that a pass still sends to GitHub
}

// localCommand parses a command line as if it were a comment. args is what stands behind the item.
func localCommand(row work.CommandSpec, args []string, c *cobra.Command) (work.Command, error) {
	for _, f := range row.Flags {
		if flag := c.Flags().Lookup(f.Name); flag.Changed {
			args = append(args, "--"+f.Name, flag.Value.String())
		}
	}
	if all, _ := c.Flags().GetBool("all"); all && row.All != "" {
		args = append(args, "--all")
	}
	cmd := work.NewCommand(string(row.Verb), args)
	if cmd.Wrong != "" {
		return cmd, &cli.UsageError{Err: errors.New(cli.Plain(cmd.Wrong))}
	}
	return cmd, nil
}

func (a *app) command(ctx context.Context, name string, cmd work.Command) error {
	cfg, which, err := a.Item(name)
	if err != nil {
		return err
	}
	item := which.Called(cfg)
	row, _ := work.FindCommand(cmd.Verb)
	story, known, seen, err := status.ReadItem(ctx, a.App, cfg, which)
	switch {
	case err != nil:
		return cli.NotDone(err)
	case !seen:
		return cli.ErrNothingYet
	case !known && row.NeedsItem && (!story.Begins || cmd.Verb != work.VerbCancel): // a cancel takes the label back
		return status.UnknownItem(story, item)
	}
	told, err := a.give(ctx, cfg, which, cmd)
	if err != nil {
		return err
	}
	return a.printResult(told)
}

// give executes a command.
func (a *app) give(ctx context.Context, cfg *config.Config, which cli.Ref, cmd work.Command) (*tick.CommandResult, error) {
	pass, done, err := a.newPass(ctx, cfg, &tickOptions{})
	if err != nil {
		return nil, err
	}
	told, err := pass.Command(ctx, which.Repo, which.Number, cmd, func() {
		fmt.Fprintln(a.Env.Stderr, "a pass is planning; this waits for it")
	})
	if err = errors.Join(err, done()); err != nil {
		return nil, orLogin(err, which.Repo)
	}
	return told, nil
}

// orLogin is why a command failed: without a login, no pass reads the repository.
func orLogin(err error, repo work.RepoName) error {
	if _, unread := errors.AsType[*tick.UnreadError](err); unread && github.Token(repo.Host) == "" {
		return cli.Coded(cli.CodeNoLogin, errors.New("gh is not logged in: gh auth login, with --hostname HOST if that is not github.com"))
	}
	return err
}

func (a *app) printResult(told *tick.CommandResult) error {
	out := a.Output()
	answer := cli.Plain(told.Answer)
	if a.JSON.Asked() {
		err := a.JSON.Write(out, answerView{answer, told.Left})
		if err != nil || !told.Refused {
			return err
		}
	}
	if told.Refused {
		return cli.Coded(cli.CodeRefused, errors.New(out.Ours(answer)))
	}
	fmt.Fprintln(out.W, out.Ours(answer))
	a.printLeft(told.Left, told.Why, told.Halted)
	return nil
}

// printLeft says that changes on GitHub are left to a pass, and why; and that everything is paused.
func (a *app) printLeft(left int, why string, halted bool) {
	if left == 0 {
		if halted {
			fmt.Fprintln(a.Env.Stderr, a.Output().Ours(cli.Plain(terminal.OneLine(why))))
		}
		return
	}
	then := "the next pass sees to it"
	switch {
	case halted:
		then = "a pass after the pause sees to it: " + a.Output().Ours(cli.Plain(terminal.OneLine(why)))
	case why != "":
		then += ": " + terminal.OneLine(why)
	}
	fmt.Fprintf(a.Env.Stderr, "not on GitHub yet (%s left); %s\n", work.Count(left, "change"), then)
}
